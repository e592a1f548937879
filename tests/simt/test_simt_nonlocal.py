"""``nonlocal`` in a function inside a kernel, with the meaning that numba-cuda 0.30.4 gives it in PTX."""

import numpy as np
import pytest

from course_pkg.simt import SimtError, profile
from course_pkg.simt import api as cuda


@cuda.jit
def counts_and_adds(x, out):
    i = cuda.grid(1)
    total = 1.0
    seen = 0

    def add(v):
        nonlocal total, seen
        if v > 3:
            total += v
            seen += 1
        return seen

    for j in range(i):
        add(x[j])
    while add(x[i]) < 2 and seen > 0:
        total += 1000
    out[i] = total + 1e6 * seen


def test_a_function_changes_the_variables_of_its_kernel_in_each_thread():
    x, out, expected = np.arange(8.0), np.zeros(8), []
    found = profile(counts_and_adds[1, 8], x, out)
    for i in range(8):
        above = [v for v in x[: i + 1] if v > 3]
        again = x[i] > 3 and len(above) < 2  # the loop has one trip, after which it adds once more
        expected.append(1 + sum(above) + again * (1000 + x[i]) + 1e6 * (len(above) + again))
    np.testing.assert_array_equal(out, expected)
    assert not found.hazards


def of_host():
    number = 3.0

    def kernel(x):
        nonlocal number
        number = number + 1
        x[0] = number

    return kernel


def of_another_type():
    def kernel(x):
        total = 0

        def add(v):
            nonlocal total
            total += v

        add(x[0])
        x[0] = total

    return kernel


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (
            of_host(),
            "'number' belongs to host code, and Numba ignores what a kernel assigns to it: write to an array",
        ),
        (of_another_type(), "'total' of the function around .* from int64 to float64: begin with float64"),
    ],
)
def test_what_is_refused_names_its_line(kernel, said):
    with pytest.raises(SimtError, match=rf"line [0-9]+: {said}"):
        cuda.jit(kernel)[1, 1](np.ones(1))
