"""All implementations of the permutations, with a common interface for the tests."""

import importlib
import secrets

import numpy as np
import pytest
from scipy.sparse import csr_array

from course_pkg import cuda
from course_pkg.permutation.csr import CSR


class Backend:
    """A compiled module of the topic, and how vectors and matrices get to it and back."""

    def __init__(self, name):
        self.name = name
        self.ops = importlib.import_module(f"course_pkg.permutation.{name}")

    def put(self, given):
        """Copy an array, or a matrix."""
        if not isinstance(given, np.ndarray):
            return CSR(*(self.put(part) for part in (given.indptr, given.indices, given.data)), given.shape)
        if self.name == "gpu_numba":
            return cuda.to_device(given)
        return self.ops.cp.asarray(given) if self.name == "gpu_cupy" else given.copy()

    def get(self, made):
        """Copy an array, or a matrix, back."""
        if isinstance(made, CSR):
            return CSR(*(self.get(part) for part in made[:3]), made.shape)
        if self.name == "gpu_numba":
            return made.copy_to_host()
        return made.get() if self.name == "gpu_cupy" else made


@pytest.fixture(params=["cpu_numba", "gpu_numba", "gpu_cupy"])
def backend(request):
    """Each compiled implementation in turn; CuPy's where CuPy and a GPU are."""
    if request.param == "gpu_cupy":
        cupy = pytest.importorskip("cupy", reason="CuPy is not installed", exc_type=ImportError)
        try:
            cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError:
            pytest.skip("CuPy is installed, but there is no GPU")
    return Backend(request.param)


@pytest.fixture
def rng():
    """Fresh random numbers; a failing test prints the seed."""
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    return np.random.default_rng(seed)


@pytest.fixture
def draw(rng):
    """A function that draws a matrix with empty and full rows."""

    def make(rows, columns, density=0.3, dtype="float64"):
        dense = rng.uniform(1, 2, (rows, columns)) * (rng.random((rows, columns)) < density)
        dense[rng.integers(rows)] = 0
        dense[rng.integers(rows)] = 3
        A = csr_array(dense.astype(dtype))
        return csr_array((A.data, A.indices.astype("int32"), A.indptr.astype("int32")), shape=A.shape)

    return make
