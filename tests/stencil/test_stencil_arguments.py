"""Wrong arguments of the stencils: the error names each, and nothing is written before it is raised."""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.stencil import cpu_numba, gpu_numba
from course_pkg.stencil.problem import HeatProblem

GUARD = -77.0


class Checked:
    """An implementation that checks its arguments, and how to bring arrays to it."""

    def __init__(self, ops, put, put_wrong):
        self.ops, self.put, self.put_wrong = ops, put, put_wrong


@pytest.fixture(params=["cpu_numba", "gpu_numba"])
def checked(request):
    if request.param == "cpu_numba":
        return Checked(cpu_numba, lambda array: array, cuda.to_device)
    return Checked(gpu_numba, cuda.to_device, lambda array: array)


def laplacians(ops):
    return [
        getattr(ops, name)
        for name in ("laplacian", "laplacian_naive", "laplacian_flat")
        if hasattr(ops, name)
    ]


def test_wrong_arguments_of_the_laplacian(checked):
    put = checked.put
    good = put(np.full((4, 4, 4), GUARD))
    for laplacian in laplacians(checked.ops):
        for u, out, message in (
            (put(np.ones((4, 4, 4), "int32")), good, "u has dtype int32"),
            (good, put(np.ones((4, 4, 4), "float32")), "out has dtype float32 but u has float64"),
            (good, put(np.ones((4, 4, 5))), r"out has shape \(4, 4, 5\) but u has \(4, 4, 4\)"),
            (put(np.ones((4, 4, 8)))[:, :, ::2], good, "u is not C-contiguous"),
            (checked.put_wrong(np.ones((4, 4, 4))), good, r"u lives in (host|GPU) memory"),
            (good, checked.put_wrong(np.ones((4, 4, 4))), r"out lives in (host|GPU) memory"),
            (good, good, "u and out share memory"),
            (put(np.ones((4, 4))), put(np.ones((4, 4))), r"u has 2 dimension\(s\), expected 3"),
            (put(np.ones((4, 2, 4))), put(np.ones((4, 2, 4))), "u has shape .* at least 3 elements"),
            (1.0, good, "u is a float"),
        ):
            with pytest.raises(CourseError, match=message):
                laplacian(u, out)
    written = good if isinstance(good, np.ndarray) else good.copy_to_host()
    assert np.all(written == GUARD), "nothing is written before the checks"


@pytest.mark.parametrize(
    "name", ["diffusion_step_2d", "diffusion_step_3d", "diffusion_step_2d_four_statements"]
)
def test_wrong_arguments_of_the_diffusion_step(checked, name):
    shape = (4, 4, 4) if "3d" in name else (4, 4)
    put = checked.put
    T, Cp, out = put(np.ones(shape)), put(np.ones(shape)), put(np.full(shape, GUARD))
    work = tuple(put(np.full(s, GUARD)) for s in ((4, 3), (3, 4), (4, 4)))

    def call(**changes):
        arguments = {"T": T, "Cp": Cp, "lam": 1.0, "dt": 0.1, "h": 1.0, "out": out, **changes}
        if "four" in name:
            arguments["work"] = work
        getattr(checked.ops, name)(**arguments)

    two = np.ones((*shape[:-1], 8))
    for changes, message in (
        ({"Cp": put(np.ones(shape, "float32"))}, "Cp has dtype float32 but T has float64"),
        ({"T": put(np.ones(shape, "int64"))}, "T has dtype int64"),
        ({"Cp": put(np.ones((5, *shape[1:])))}, "Cp has shape .* but T has"),
        ({"out": put(np.ones((5, *shape[1:])))}, "out has shape .* but T has"),
        (
            {"Cp": put(two)[(slice(None),) * (len(shape) - 1) + (slice(None, None, 2),)]},
            "Cp is not C-contiguous",
        ),
        ({"T": checked.put_wrong(np.ones(shape))}, r"T lives in (host|GPU) memory"),
        ({"Cp": checked.put_wrong(np.ones(shape))}, r"Cp lives in (host|GPU) memory"),
        ({"out": T}, "T and out share memory"),
        ({"out": Cp}, "Cp and out share memory"),
        ({"dt": 0.0}, "dt is 0.0: it must be a positive"),
        ({"dt": float("nan")}, "dt is nan"),
        ({"lam": -1.0}, "lam is -1.0"),
        ({"h": float("inf")}, "h is inf"),
        (
            {k: put(np.ones((2, *shape[1:]))) for k in ("T", "Cp", "out")},
            "T has shape .* at least 3 elements",
        ),
        ({k: put(np.ones(9)) for k in ("T", "Cp", "out")}, r"T has 1 dimension\(s\), expected [23]"),
    ):
        with pytest.raises(CourseError, match=message):
            call(**changes)
    if "four" in name:
        qx, qy, dTdt = work
        for wrong, message in (
            (None, "work must hold three arrays"),
            ((qx, qy), "work must hold three arrays"),
            ((qx, qx, dTdt), "qy has shape"),
            ((qx, qy, T), "T and dTdt share memory"),
            ((qx, qy, out), "out and dTdt share memory"),
            ((qx, qy, put(np.ones(shape, "float32"))), "dTdt has dtype float32, expected float64"),
        ):
            with pytest.raises(CourseError, match=message):
                checked.ops.diffusion_step_2d_four_statements(T, Cp, 1.0, 0.1, 1.0, out, wrong)
    for array in (out, *work):
        written = array if isinstance(array, np.ndarray) else array.copy_to_host()
        assert np.all(written == GUARD), "nothing is written before the checks"
    call()


@pytest.mark.parametrize("position", [0, 1, 2])
def test_work_arrays_of_the_wrong_size_are_refused(checked, position):
    """A compiled loop would write beyond them."""
    put = checked.put
    T, Cp, out = (put(np.ones((4, 4))) for _ in range(3))
    names, shapes = ("qx", "qy", "dTdt"), [(4, 3), (3, 4), (4, 4)]
    for wrong, message in (
        (put(np.ones((3, 3))), rf"{names[position]} has shape \(3, 3\), expected"),
        (put(np.ones(shapes[position], "int64")), f"{names[position]} has dtype int64"),
        (checked.put_wrong(np.ones(shapes[position])), rf"{names[position]} lives in (host|GPU) memory"),
    ):
        work = [put(np.ones(s)) for s in shapes]
        work[position] = wrong
        with pytest.raises(CourseError, match=message):
            checked.ops.diffusion_step_2d_four_statements(T, Cp, 1.0, 0.1, 1.0, out, tuple(work))


def test_laplacian_flat_refuses_what_32_bits_cannot_count(monkeypatch):
    class Huge:
        dtype, shape, size = np.dtype("float64"), (2048, 2048, 1024), 2**32

    monkeypatch.setattr(gpu_numba.indexing, "check_laplacian", lambda u, out, device: None)
    with pytest.raises(CourseError, match=r"u has 4294967296 points, .*use laplacian_naive"):
        gpu_numba.laplacian_flat(Huge(), Huge())


@pytest.mark.parametrize("shape", [(9,), (2, 9), (9, 2), (3, 3, 2), (3, 3, 3, 3)], ids=str)
def test_a_problem_needs_two_or_three_sizes_of_at_least_three(shape):
    with pytest.raises(CourseError, match="2 or 3 sizes of at least 3"):
        HeatProblem.random(shape)
