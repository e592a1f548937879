"""Profiles of kernels on GPU arrays: the arrays are copied to the host with the same layout, and copied back."""

import subprocess
import sys

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.simt.report.profiling import on_host


class OnGpu:
    """Stands for an array of a GPU: memory with an address, reached by copies alone."""

    def __init__(self, memory, address, dtype, shape, offset=0):
        self._view = np.ndarray(shape, dtype, memory, offset)
        self.dtype, self.shape = np.dtype(dtype), shape
        self.__cuda_array_interface__ = {
            "data": (address + offset, False),
            "typestr": self.dtype.str,
            "shape": shape,
            "strides": None,
            "version": 3,
        }

    def copy_to_host(self):
        """Return a copy."""
        return self._view.copy()

    def copy_to_device(self, host):
        """Overwrite the memory."""
        self._view[...] = host


def doubled(a, out):
    i = cuda.grid(1)  # noqa: F821  (the name is given to from_source)
    if i < out.size:
        out[i] = a[i]


@pytest.fixture
def kernel():
    import inspect

    from course_pkg.simt import api

    return simt.Kernel.from_source(inspect.getsource(doubled), "doubled", {"cuda": api})


def test_a_view_that_starts_within_a_sector_touches_one_sector_more(kernel):
    memory = np.arange(64.0).view(np.uint8)
    out = OnGpu(np.zeros(256, np.uint8), 1 << 20, "f8", (32,))
    for offset, sectors in ((0, 8), (8, 9), (32, 8)):
        a = OnGpu(memory, 1 << 16, "f8", (32,), offset)
        profile = simt.profile(kernel[1, 32], a, out)
        assert profile.global_load.sectors == sectors
        np.testing.assert_array_equal(out.copy_to_host(), np.arange(32.0) + offset // 8)


def test_arrays_that_overlap_on_the_gpu_overlap_here(kernel):
    memory = np.arange(64.0).view(np.uint8)
    a, out = (OnGpu(memory, 1 << 16, "f8", (33,), offset) for offset in (0, 8))
    mirrors = on_host((a, out, 3))
    assert mirrors[2] == 3
    assert np.shares_memory(mirrors[0].host, mirrors[1].host)
    profile = simt.profile(kernel[2, 32], a, out)
    assert {h.kind for h in profile.hazards} == {"race"}


def test_arrays_apart_stay_apart(kernel):
    a = OnGpu(np.arange(32.0).view(np.uint8), 4096, "f8", (32,))
    out = OnGpu(np.zeros(256, np.uint8), 4096 + 256, "f8", (32,))
    profile = simt.profile(kernel[1, 32], a, out)
    assert profile.hazards == []
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(32.0))


def first_of_two(pair, n):
    i = cuda.grid(1)  # noqa: F821  (the name is given to from_source)
    if i < n:
        pair[1][i] = pair[0][i]


def test_arrays_in_tuples_are_copied_to_the_host_and_back():
    import inspect

    from course_pkg.simt import api

    kernel = simt.Kernel.from_source(inspect.getsource(first_of_two), "first_of_two", {"cuda": api})
    a = OnGpu(np.arange(32.0).view(np.uint8), 4096, "f8", (32,))
    out = OnGpu(np.zeros(256, np.uint8), 8192, "f8", (32,))
    profile = simt.profile(kernel[1, 32], (a, out), 32)
    assert profile.hazards == [] and profile.global_load.requests == 1
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(32.0))


def test_what_is_no_launch_is_told_how_to_write_one(kernel):
    with pytest.raises(simt.SimtError, match=r"doubled\[blocks, threads\]"):
        simt.profile(kernel, np.zeros(3))


def test_to_import_the_interpreter_does_not_import_numba():
    command = "import sys, course_pkg.simt; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
