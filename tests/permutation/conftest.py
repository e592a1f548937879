"""All implementations of the permutations, with a common interface for the tests."""

import secrets

import numpy as np
import pytest
from scipy.sparse import csr_array


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
