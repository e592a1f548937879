"""The interpreter's counts of the kernels, compared with the footprints that NumPy computes from the index vectors."""

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.permutation import cases, cost, gpu_numba, reference
from course_pkg.permutation.measures import x_footprint

N, THREADS = 4096, gpu_numba.THREADS_PER_BLOCK
SECTOR = 32  # bytes


def profile(kernel, perm, dtype="float64"):
    x, out = np.random.default_rng(1).random(N).astype(dtype), np.zeros(N, dtype)
    return simt.profile(kernel[N // THREADS, THREADS], perm, x, out), x, out


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", cases.ORDERS)
def test_a_gather_asks_for_the_footprint_of_the_permutations_matrix(order, dtype):
    """A gather is a product with P: each warp of 32 rows touches the sectors of x that its columns lie in."""
    perm = cases.ORDERS[order](N)
    found, x, out = profile(gpu_numba.permute_vector_kernel, perm, dtype)
    np.testing.assert_array_equal(out, x[perm])
    footprint = x_footprint(reference.permutation_matrix(perm), dtype)
    perm_sectors = N * 4 // SECTOR
    assert found.global_load.sectors - perm_sectors == footprint.sectors_of_warps
    assert found.global_store.sectors == N * np.dtype(dtype).itemsize // SECTOR
    told = cost.permute_vector(N, dtype)
    assert (found.global_load.unique_bytes, found.global_store.unique_bytes) == (
        told.bytes_read,
        told.bytes_written,
    )


@pytest.mark.parametrize("order", cases.ORDERS)
def test_a_scatter_stores_where_a_gather_by_the_same_order_loads(order):
    perm = cases.ORDERS[order](N)
    gather, scatter = (
        profile(kernel, perm)[0]
        for kernel in (gpu_numba.permute_vector_kernel, gpu_numba.unpermute_vector_kernel)
    )
    perm_sectors = N * 4 // SECTOR
    assert scatter.global_store.sectors == gather.global_load.sectors - perm_sectors
    assert scatter.global_load.sectors == gather.global_store.sectors + perm_sectors


def test_the_sectors_of_a_warp_by_order():
    """32 doubles in a row fill 8 sectors; 32 apart, and at random, each lane has one of its own."""
    sectors = {
        name: x_footprint(reference.permutation_matrix(make(1 << 16))).sectors_per_warp
        for name, make in cases.ORDERS.items()
    }
    assert sectors["identity"] == 8 and sectors["strided"] == 32
    assert 12 < sectors["local"] < 16, "windows of 64 doubles have 16 sectors"
    assert 31.9 < sectors["random"] <= 32


@pytest.mark.parametrize("case", list(cases.cases), ids=lambda case: case.name)
def test_no_thread_reads_or_writes_what_another_may_still_write(case):
    assert simt.profile(case.configured, *case.args()).hazards == []
