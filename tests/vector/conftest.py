"""All implementations of the streaming operations, with a common interface for the tests."""

import pytest

from course_pkg import cuda
from course_pkg.vector import cpu_numba, gpu_numba


@pytest.fixture(params=["reference", "cpu_numba", "gpu_numba", "gpu_cupy"])
def backend(request, backend_of):
    """Each implementation in turn; CuPy's where CuPy and a GPU are."""
    return backend_of("vector", request.param)


@pytest.fixture(params=["cpu_numba", "gpu_numba"])
def checked(request):
    """The implementations that check their arguments, and how to bring arrays to them."""
    if request.param == "cpu_numba":
        return cpu_numba, lambda array: array, cuda.to_device
    return gpu_numba, cuda.to_device, lambda array: array
