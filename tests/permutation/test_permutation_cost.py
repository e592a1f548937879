"""Costs, compared with counts of the loops while they run."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_pkg.core import Cost
from course_pkg.permutation import cost, cpu_numba, reference
from course_pkg.permutation.problem import problem


class Counted:
    """An array that counts bytes: each element that is read or written, once."""

    def __init__(self, array):
        self.array, self.touched = np.asarray(array), {"read": set(), "written": set()}
        self.size = self.array.size

    def __getitem__(self, i):
        assert 0 <= i < self.size
        self.touched["read"].add(int(i))
        return self.array[i]

    def __setitem__(self, i, value):
        assert 0 <= i < self.size
        self.touched["written"].add(int(i))
        self.array[i] = value

    def bytes(self, what):
        return self.array.itemsize * len(self.touched[what])


def total(*arrays):
    return Cost(*(sum(a.bytes(what) for a in arrays) for what in ("read", "written")))


@pytest.mark.parametrize(("dtype", "index"), [("float64", "int32"), ("float32", "int64")])
@pytest.mark.parametrize("operation", ["permute_vector", "unpermute_vector"])
def test_the_cost_of_a_vector_is_what_the_loop_does(operation, dtype, index):
    loop = {"permute_vector": cpu_numba._gather, "unpermute_vector": cpu_numba._scatter}[operation]
    perm = Counted(reference.random_permutation(40, dtype=index))
    x, out = Counted(np.ones(40, dtype)), Counted(np.zeros(40, dtype))
    assert loop.py_func(perm, x, out) == 0
    assert getattr(cost, operation)(40, dtype, index) == total(perm, x, out)


@pytest.mark.parametrize(("dtype", "index"), [("float64", "int32"), ("float32", "int64")])
def test_the_cost_of_rows_is_what_the_loops_do(dtype, index):
    A = problem("bar").matrix
    n = A.shape[0]
    expected = reference.permute_rows(perm := reference.random_permutation(n, dtype=index), A)
    first = [Counted(a) for a in (perm, A.indptr, np.zeros(n, "int32"))]
    cpu_numba._row_lengths.py_func(*first)
    np.testing.assert_array_equal(first[2].array, np.diff(expected.indptr))
    made = np.zeros(A.nnz, "int32"), np.zeros(A.nnz, dtype)
    second = [Counted(a) for a in (perm, A.indptr, A.indices, A.data.astype(dtype), expected.indptr, *made)]
    cpu_numba._permute_rows.py_func(*second)
    np.testing.assert_array_equal(second[-2].array, expected.indices)
    found = total(*first) + total(*second)
    told = cost.permute_rows(n, A.nnz, dtype, index)
    assert found.bytes_written == told.bytes_written
    # the loop over rows reads the old begin of each row, but not the end of the last
    assert 0 <= told.bytes_read - found.bytes_read <= 4


def test_a_symmetric_permutation_adds_the_inverse():
    size = SimpleNamespace(n=1000, nnz=7000)
    rows, both = (getattr(cost, f"permute_{kind}")(size.n, size.nnz) for kind in ("rows", "symmetric"))
    assert both.bytes_read - rows.bytes_read == 8 * size.n  # perm, and later the inverse
    assert both.bytes_written - rows.bytes_written == 4 * size.n
    assert both.redundancy == rows.redundancy == 1 and both.flops == 0
