"""All implementations of the streaming operations, with a common interface for the tests."""

import importlib
import secrets

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.vector import cpu_numba, gpu_numba


class Backend:
    """A module of the topic, and how arrays get to it and back."""

    def __init__(self, name):
        self.name = name
        self.ops = importlib.import_module(f"course_pkg.vector.{name}")

    def put(self, array):
        if self.name == "gpu_numba":
            return cuda.to_device(array)
        if self.name == "gpu_cupy":
            return self.ops.cp.asarray(array)
        return array.copy()

    def get(self, array):
        if self.name == "gpu_numba":
            return array.copy_to_host()
        return array.get() if self.name == "gpu_cupy" else array


@pytest.fixture(params=["reference", "cpu_numba", "gpu_numba", "gpu_cupy"])
def backend(request):
    """Each implementation in turn; CuPy's where CuPy and a GPU are."""
    if request.param == "gpu_cupy":
        cupy = pytest.importorskip("cupy", reason="CuPy is not installed", exc_type=ImportError)
        try:
            cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError:
            pytest.skip("CuPy is installed, but there is no GPU")
    return Backend(request.param)


@pytest.fixture(params=["cpu_numba", "gpu_numba"])
def checked(request):
    """The implementations that check their arguments, and how to bring arrays to them."""
    if request.param == "cpu_numba":
        return cpu_numba, lambda array: array, cuda.to_device
    return gpu_numba, cuda.to_device, lambda array: array


@pytest.fixture
def rng():
    """Fresh random numbers; a failing test prints the seed."""
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    return np.random.default_rng(seed)
