"""Rules of counting that were read in the machine code (SASS) of kernels for compute capability 9.0."""

import ast
import math
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt.counting.compiler import unrolled_by
from course_pkg.simt.run.kernel import Kernel

NAMES = {"cuda": cuda, "np": np, "math": math, "numba": numba}
LANES = 32


def profile(body, dtype="float64"):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    source = f"def kernel(x, b, out, s):\n    i = cuda.threadIdx.x\n{lines}"
    rng = np.random.default_rng(3)
    arrays = (rng.uniform(1, 2, (64, 3)).astype(dtype) for _ in range(2))
    return simt.profile(
        Kernel.from_source(source, "kernel", NAMES)[1, LANES],
        *arrays,
        np.zeros((64, 3), dtype),
        np.dtype(dtype).type(0.5),
    )


def flops(body, dtype="float64"):
    counts = profile(body, dtype).flops.by_precision.get(dtype, simt.FlopCounts())
    return counts.add / LANES, counts.mul / LANES, counts.fma / LANES


@pytest.mark.parametrize(
    ("value", "counted"),
    [
        ("2.0 * x[i, 0] + b[i, 0]", (0, 0, 1)),
        ("b[i, 0] + 2 * x[i, 0]", (0, 0, 1)),
        ("2.0 * x[i, 0] - b[i, 0]", (2, 0, 0)),
        ("b[i, 0] - 2.0 * x[i, 0]", (2, 0, 0)),
        ("2.0 * x[i, 0] - 1.0", (0, 0, 1)),
        ("1.0 - 2.0 * x[i, 0]", (2, 0, 0)),
        ("-2.0 * x[i, 0] - b[i, 0]", (0, 0, 1)),
        ("b[i, 0] - (-2.0) * x[i, 0]", (0, 0, 1)),
        ("2.0 * x[i, 0] - 2.0 * b[i, 0]", (3, 0, 0)),
        ("2.0 * x[i, 0] - b[i, 0] * b[i, 1]", (1, 0, 1)),
        ("-2.0 * x[i, 0]", (0, 1, 0)),
        ("2.0 * x[i, 0]", (1, 0, 0)),
    ],
)
def test_a_doubling_is_fused_by_a_sum_and_not_by_a_difference(value, counted):
    assert flops(f"out[i, 0] = {value}") == counted


def test_a_minus_sign_at_the_end_of_a_branch_is_an_addition_of_its_lanes():
    store = "v = x[i, 0]\nif i < 8:\n    v = -v\n    out[i, 1] = s\nout[i, 0] = v"
    assert flops(store) == (8 / 32, 0, 0)
    alone = store.replace("    out[i, 1] = s\n", "")
    assert flops(alone) == (1, 0, 0), "without a store there is no branch: all lanes compute it, and choose"
    assert flops(alone, "float32") == (0, 0, 0), "a choice of single precision takes the sign over"


def test_in_single_precision_the_last_operation_of_a_choice_has_a_predicate():
    body = "g = b[i, 0]\nif i < 8:\n    g = (g + s) * x[i, 0]\nout[i, 0] = g"
    hoisted = "a = x[i, 0]\n" + body.replace("x[i, 0]\nout", "a\nout") + " + a"
    assert flops(hoisted, "float32") == (2, 8 / 32, 0)
    assert flops(hoisted) == (2, 1, 0)
    assert flops(hoisted.replace("if", "h = g\nif") + " + h", "float32") == (3, 1, 0), (
        "the old number is needed, too"
    )


def test_a_product_of_the_last_trip_is_fused_in_the_next_one():
    body = "v = x[i, 0]\nw = b[i, 0]\nfor k in range(x.shape[1]):\n    w -= s * v\n    v += 0.1 * w\n    w -= s * v"
    assert flops(body + "\nout[i, 0] = v\nout[i, 1] = w") == (0, 0, 9)


@pytest.mark.parametrize(
    ("body", "loads"),
    [
        ("a = x[i, 1]\nx[i, 0] = 3.0\nout[i, 0] = a + x[i, 1]", 1),  # another element of the row
        ("a = x[i, 1]\nx[i + 1, 1] = 3.0\nout[i, 0] = a + x[i, 1]", 2),  # the pitch of rows may be 0
        ("a = x[i, 1]\nout[i, 0] = 3.0\nx[i, 2] = 1.0\nout[i, 1] = a + x[i, 1]", 2),  # arrays may overlap
        ("a = x[i, 1]\nif i < 8:\n    x[i, 0] = a\nout[i, 0] = a + x[i, 1]", 1),
        ("x[i, 2] = x[i, 1]\nif i < 8:\n    x[i, 1] = s\nout[i, 0] = x[i, 1]", 1),  # stored on one way only
        ("a = s\nif i < 8:\n    x[i, 1] = a + s\nout[i, 0] = a + x[i, 1]", 1),
        ("if i < 8:\n    x[i, 1] = s\nelse:\n    x[i, 1] = 3.0 * s\nout[i, 0] = x[i, 1]", 0),
    ],
)
def test_an_element_is_kept_where_no_store_can_have_changed_it(body, loads):
    assert profile(body).global_load.requests == loads


def test_what_the_first_test_of_a_while_loads_is_not_loaded_by_the_next_ones():
    body = "k = i\nwhile k < i + 5 and x[k, 0] != b[i, 0]:\n    k += 1\nout[i, 0] = k"
    assert profile(body).global_load.requests == 6


def test_a_branch_uses_what_all_lanes_have_loaded_and_computed_before_it():
    body = "v = x[i, 1] - x[i, 0]\nif b[i, 0] > 1.5:\n    v = x[i, 0] - x[i, 2]\nout[i, 0] = v - x[i, 0]"
    assert profile(body).global_load.requests == 4, "x[i, 0] is loaded once, before the branch"
    body = "v = x[i, 1] * s\nif b[i, 0] > 1.5:\n    out[i, 1] = x[i, 1] * s\nout[i, 0] = v"
    assert flops(body) == (0, 1, 0)


@pytest.mark.parametrize(
    ("test", "loads"),
    [
        ("x[i, 0] < 1 and (i == 5 or b[i, 0] != 1)", 1),
        ("x[i, 0] < 1 and (i == 5 or before != 1)", 1),
        ("x[i, 0] < 1 and before != 1", 2),
        ("(i == 5 or x[i, 0] < 1) and before != 1", 2),
    ],
)
def test_a_condition_in_a_later_part_of_a_condition_has_a_branch_before_it(test, loads):
    found = profile(f"before = b[i, 0]\nif {test}:\n    out[i, 0] = 1.0")
    assert found.global_load.requests == loads


INNER = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
UNROLLED = {  # by how much a loop around an inner one of 2, 3, 4, … trips is unrolled
    "v += x[a, p]": (4, 4, 4, 4, 4, 4, 2, 2, 2, 1),
    "v += x[a, p] * y[a]": (4, 4, 4, 4, 4, 2, 2, 2, 1, 1),
    "v += y[p + a]": (4, 4, 4, 4, 4, 2, 2, 2, 1, 1),
    "v += y[p + a] * y[p - a]": (4, 4, 2, 2, 2, 1, 1, 1, 1, 1),
    "v += x[p, a] * x[p, a] + x[p, a]": (4, 4, 4, 4, 4, 2, 2, 2, 1, 1),
}


@pytest.mark.parametrize("body", UNROLLED)
def test_a_loop_is_unrolled_if_its_inner_loop_was_written_out(body):
    program = SimpleNamespace(names={}, assigned={"p", "a", "v"})

    def factor(trips):
        loop = ast.parse(f"for p in range(t, n, g):\n    for a in range({trips}):\n        {body}").body[0]
        return unrolled_by.__wrapped__(program, loop, frozenset())

    assert tuple(map(factor, INNER)) == UNROLLED[body]


@pytest.mark.parametrize("test", ["t > 3", "y[p] > 3"])
def test_a_loop_is_unrolled_if_its_inner_loop_stands_in_a_branch(test):
    program = SimpleNamespace(names={}, assigned={"p", "a", "v"})
    body = f"if {test}:\n        for a in range(2):\n            v += x[a, p]"
    loop = ast.parse(f"for p in range(t, n, g):\n    {body}").body[0]
    assert unrolled_by.__wrapped__(program, loop, frozenset()) == 4


@pytest.mark.parametrize(
    "inner",
    [
        "for a in range(m):\n        v += y[a]",
        "for a in range(500):\n        v += y[p + a]",
        "for a in range(4):\n        if v > 1:\n            for b in range(m):\n                v -= y[a]",
    ],
)
def test_a_loop_is_not_unrolled_if_an_inner_loop_stays(inner):
    program = SimpleNamespace(names={}, assigned={"p", "a", "v", "m"})
    loop = ast.parse(f"for p in range(t, n, g):\n    {inner}").body[0]
    assert unrolled_by.__wrapped__(program, loop, frozenset()) == 1
