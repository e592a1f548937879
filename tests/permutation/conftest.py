"""All implementations of the permutations, with a common interface for the tests; and matrices to permute."""

import pytest
from scipy.sparse import csr_array


@pytest.fixture(params=["cpu_numba", "gpu_numba", "gpu_cupy"])
def backend(request, backend_of):
    """Each compiled implementation in turn; CuPy's where CuPy and a GPU are."""
    return backend_of("permutation", request.param)


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
