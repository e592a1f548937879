"""Kernels whose device functions were compiled by Numba, as they are on a machine with a GPU."""

import gc
from types import SimpleNamespace

import numpy as np

from course_pkg import cuda, simt


def numbas(function):
    """Return a stand-in for Numba's dispatcher of a device function: the Python function, and that it is one."""
    return SimpleNamespace(py_func=function, targetoptions={"device": True})


def _one_or_half(x):
    return 1 if x > 0 else 0.5


one_or_half = numbas(_one_or_half)


@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    value = one_or_half(a[i])
    for _ in range(2):
        value = value / 2 if a[i] > 1 else value
    out[i] = value


def test_what_a_sketch_found_of_a_device_function_holds_in_later_launches():
    """The function's syntax tree is read once: else its nodes, and what is known of them, are lost or mixed up."""
    a = np.array([2.0, 1.0, -1.0])
    for _ in range(3):
        out = np.zeros(3)
        simt.profile(kernel[1, 3], a, out)
        np.testing.assert_array_equal(out, [0.25, 1.0, 0.5])
        gc.collect()
    trees = {id(_one_or_half._simt_program.tree)}
    simt.profile(kernel[1, 3], a, np.zeros(3))
    assert {id(_one_or_half._simt_program.tree)} == trees
