"""Arguments of vector operations that cannot be right, and the problem that they work on."""

import numpy as np
import pytest
from test_vector_operations import GUARD

from course_pkg.core import CourseError
from course_pkg.vector.problem import VectorProblem

# ---- wrong arguments


CALLS = {
    "copy": lambda ops, a, b, out: ops.copy(a, out),
    "scale": lambda ops, a, b, out: ops.scale(a, 3.0, out),
    "add": lambda ops, a, b, out: ops.add(a, b, out),
    "triad": lambda ops, a, b, out: ops.triad(a, b, 3.0, out),
    "horner": lambda ops, a, b, out: ops.horner(a, 2, out),
}


@pytest.mark.parametrize("operation", CALLS)
def test_wrong_arguments_are_named_before_anything_is_written(checked, operation):
    ops, put, put_wrong = checked
    call = CALLS[operation]
    a, b, out = put(np.ones(8)), put(np.ones(8)), put(np.full(8, GUARD))
    for wrong, message in (
        (put(np.ones(8, "int64")), "out has dtype int64"),
        (put(np.ones(8, "float32")), "out has dtype float32 but a has float64"),
        (put(np.ones(7)), r"out has shape \(7,\) but a has \(8,\)"),
        (put(np.ones((8, 2)))[:, 0], "out is not C-contiguous"),
        (put_wrong(np.ones(8)), "out lives in (host|GPU) memory"),
        ([1.0] * 8, "out is a list"),
        (a, "a and out share memory"),
    ):
        with pytest.raises(CourseError, match=message):
            call(ops, a, b, wrong)
    with pytest.raises(CourseError, match=r"a lives in (host|GPU) memory"):
        call(ops, put_wrong(np.ones(8)), b, out)
    if operation in ("add", "triad"):
        with pytest.raises(CourseError, match=r"b has shape \(9,\)"):
            call(ops, a, put(np.ones(9)), out)
        with pytest.raises(CourseError, match="b and out share memory"):
            call(ops, a, b, b)
    written = out if isinstance(out, np.ndarray) else out.copy_to_host()
    assert np.all(written == GUARD)


def test_wrong_arguments_of_dot(checked):
    ops, put, put_wrong = checked
    a, out = put(np.ones(8)), put(np.zeros(1))
    for wrong, message in (
        (put(np.ones(7)), "b has shape"),
        (put(np.ones(8, "float32")), "b has dtype float32"),
        (put_wrong(np.ones(8)), "b lives in"),
    ):
        with pytest.raises(CourseError, match=message):
            ops.dot(a, wrong, out)


# ---- the problem


def test_the_problem_is_reproducible_and_poisoned():
    one, same, other = (VectorProblem.random(100, "float32", seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.a, same.a)
    np.testing.assert_array_equal(one.b, same.b)
    assert not np.array_equal(one.a, other.a)
    assert not np.array_equal(one.a, one.b)
    assert np.all(np.isnan(one.out))
    assert {x.dtype.name for x in (one.a, one.b, one.out)} == {"float32"}
    assert {x.shape for x in (one.a, one.b, one.out)} == {(100,)}
    assert one.a.min() < 0 < one.a.max() < 1
    assert one.s not in (0, 1), "a scalar that multiplies visibly"
    with pytest.raises(CourseError, match="n is 0: a vector needs at least one element"):
        VectorProblem.random(0)


def test_vectors_have_one_dimension_and_scalars_are_numbers(backend):
    if backend.name == "reference":
        return  # NumPy checks for itself
    grid, line, out = (backend.put(np.ones(shape)) for shape in ((3, 3), (9,), (9,)))
    wide = backend.put(np.ones((3, 3)))
    for call, message in (
        (lambda: backend.ops.copy(grid, wide), r"a has 2 dimension\(s\), expected 1"),
        (lambda: backend.ops.dot(grid, wide, backend.put(np.ones(1))), r"a has 2 dimension\(s\)"),
        (lambda: backend.ops.dot(line, line, out), r"out has shape \(9,\), expected \(1,\)"),
        (lambda: backend.ops.scale(line, "x", out), "s is 'x': it must be one real number"),
        (lambda: backend.ops.horner(line, -1, out), "degree is -1: it must be an integer"),
        (lambda: backend.ops.horner(line, 2.5, out), "degree is 2.5"),
    ):
        with pytest.raises(CourseError, match=message):
            call()
