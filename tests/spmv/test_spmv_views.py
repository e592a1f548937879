"""Views of a matrix in several orders: what is counted from the columns is what the interpreter counts."""

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.problem import problem
from course_pkg.spmv import gpu_numba
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.orders import CHOICES, WIDTHS, entry_sectors, view, views


def profile_of(A, lanes):
    """Return what the kernel with so many lanes per row counts, by array."""
    x, y = np.ones(A.shape[1]), np.empty(A.shape[0])
    kernel = gpu_numba.spmv_csr_scalar_kernel if lanes == 1 else gpu_numba.spmv_csr_vector_kernel(lanes)
    launch = kernel[blocks_for(A.shape[0], 256 // lanes), 256]
    return simt.profile(launch, A.indptr, A.indices, A.data, x, y).by_array


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("name", ["poisson_2d", "power_law"])
def test_counts_are_the_interpreter_s(name, lanes):
    A = problem(name, size={"poisson_2d": 12, "power_law": 150}[name]).matrix
    seen, counted = view(A).loads[lanes], profile_of(A, lanes)
    assert seen.requests == counted["x"].global_load.requests
    assert seen.x_sectors == counted["x"].global_load.sectors
    found = counted["data"].global_load.sectors + counted["indices"].global_load.sectors
    assert seen.matrix_sectors == found


def test_entries_without_gaps_are_asked_for_once():
    A = Csr.from_scipy(problem("power_law", size=150).matrix)
    assert entry_sectors(A, 1) > entry_sectors(A, 8)
    full = problem("poisson_2d", size=8).matrix
    assert view(full).least_sectors == -(-full.nnz * 8 // 32) - (-full.nnz * 4 // 32) + 16


def test_all_orders_have_the_same_nonzeros_and_random_is_the_widest():
    found = views(problem("poisson_2d", size=16).matrix)
    assert list(found) == list(CHOICES)
    assert len({v.matrix.nnz for v in found.values()}) == 1
    assert max(found, key=lambda name: found[name].profile) == "random"
    assert found["random"].loads[1].x_sectors > 2 * found["natural"].loads[1].x_sectors
    assert all(tuple(v.loads) == (1, 2, 4, 8, 16, 32) for v in found.values())
