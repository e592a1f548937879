"""Bytes and sectors: what the costs say, what the interpreter counts, and what each kernel promises."""

import numpy as np
import pytest
import scipy.sparse as sp

from course_pkg import simt
from course_pkg.core import Cost
from course_pkg.core.access import SECTOR_BYTES, WARP
from course_pkg.device.case import zeros
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.problem import problem
from course_pkg.spmv import cost, gpu_numba
from course_pkg.spmv.cases import empty_rows
from course_pkg.spmv.cost import Gather, gather, with_gather
from course_pkg.spmv.formats import Csr, CsrBalanced, Ell, EllR, SellCSigma

THREADS = gpu_numba.THREADS_PER_BLOCK
MATRICES = {
    "poisson": lambda: problem("poisson_2d", 16).matrix,
    "odd": lambda: problem("poisson_2d", 13).matrix,
    "power_law": lambda: problem("power_law", 300, seed=7).matrix,
    "empty_rows": lambda: empty_rows(75, 61),
}


def profile(kernel, blocks, *arguments):
    return simt.profile(kernel[blocks, THREADS], *arguments)


def vectors(A, dtype):
    return np.ones(A.shape[1], dtype), zeros(A.shape[0], dtype)


def scalar(A, dtype="float64"):
    M = Csr.from_scipy(A, dtype)
    blocks = blocks_for(A.shape[0], THREADS)
    return M, {}, profile(gpu_numba.spmv_csr_scalar_kernel, blocks, *_csr(M), *vectors(A, dtype))


def _csr(M):
    return M.indptr, M.indices, M.data


def vector(A, dtype="float64", lanes=8):
    M = Csr.from_scipy(A, dtype)
    blocks = blocks_for(A.shape[0], THREADS // lanes)
    kernel = gpu_numba.spmv_csr_vector_kernel(lanes)
    return M, {"lanes": lanes}, profile(kernel, blocks, *_csr(M), *vectors(A, dtype))


def ell(A, dtype="float64"):
    M = Ell.from_scipy(A, dtype)
    blocks, table = (
        blocks_for(A.shape[0], THREADS),
        (np.uint32(M.width), M.indices, M.data, np.uint32(M.pitch)),
    )
    return M, {}, profile(gpu_numba.spmv_ell_kernel, blocks, *table, *vectors(A, dtype))


def ellr(A, dtype="float64"):
    M = EllR.from_scipy(A, dtype)
    blocks, table = blocks_for(A.shape[0], THREADS), (M.lengths, M.indices, M.data, np.uint32(M.pitch))
    return M, {}, profile(gpu_numba.spmv_ellr_kernel, blocks, *table, *vectors(A, dtype))


def sell(A, dtype="float64", unroll=4, sigma=64):
    M = SellCSigma.from_scipy(A, dtype, sigma=sigma)
    kernel = gpu_numba.spmv_sell_kernel(M.chunk, unroll, sigma > 1)
    arrays = M.offsets, M.perm, M.indices, M.data
    return (
        M,
        {"unroll": unroll},
        profile(kernel, blocks_for(A.shape[0], THREADS), *arrays, *vectors(A, dtype)),
    )


def balanced(A, dtype="float64", items=2):
    M = CsrBalanced.from_scipy(A, dtype, tile=items * THREADS)
    tiles = M.tile_rows.size - 1
    arguments = *_csr(M), M.tile_rows, *vectors(A, dtype), zeros(tiles)
    return M, {}, profile(gpu_numba.spmv_csr_balanced_kernel(items), tiles, *arguments)


WAYS = {
    "csr_scalar": scalar,
    **{f"csr_vector_{n}": lambda A, dtype, n=n: vector(A, dtype, n) for n in gpu_numba.LANES},
    "ell": ell,
    "ellr": ellr,
    **{
        f"sell_{u}_{s}": lambda A, dtype, u=u, s=s: sell(A, dtype, u, s) for u, s in ((1, 1), (3, 64), (4, 1))
    },
    **{f"csr_balanced_{items}": lambda A, dtype, items=items: balanced(A, dtype, items) for items in (1, 4)},
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("way", WAYS)
def test_the_gather_of_x_is_counted_as_the_interpreter_counts_it(way, name, dtype):
    M, options, found = WAYS[way](MATRICES[name](), dtype)
    loads = found.by_array["x"].global_load
    assert gather(M, dtype, **options) == Gather(loads.requests, loads.sectors)


# ---- what the kernels promise


def loaded(found, array):
    return found.by_array[array].global_load


def test_a_thread_per_row_fetches_the_same_sectors_many_times():
    """On Poisson's matrix: lanes read 5 numbers apart, so that a request needs up to 32 sectors."""
    A = MATRICES["poisson"]()
    by_thread, by_lanes = scalar(A)[2], vector(A, lanes=4)[2]
    least = A.nnz * 8 / SECTOR_BYTES
    assert loaded(by_thread, "data").sectors > 3.5 * least
    assert loaded(by_lanes, "data").sectors < 2 * least
    assert loaded(by_thread, "data").sectors_per_request > 3 * 8


def test_a_warp_pays_for_lanes_beyond_the_end_of_a_short_row():
    A = MATRICES["poisson"]()  # rows of at most 5
    lanes_at_work = {n: A.nnz / loaded(vector(A, lanes=n)[2], "data").requests for n in gpu_numba.LANES}
    assert lanes_at_work[32] <= 5 and lanes_at_work[4] > 12


@pytest.mark.parametrize("sigma", [1, 64])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_slices_are_read_by_whole_sectors(dtype, sigma):
    """A full warp reads 32 neighbours, which begin with a sector. With one nonzero at a time, each is read once."""
    A = MATRICES["poisson"]()
    M, _, found = sell(A, dtype, unroll=1, sigma=sigma)
    for array, itemsize in (("data", M.dtype.itemsize), ("indices", 4)):
        counted = loaded(found, array)
        assert counted.sectors == M.stored * itemsize / SECTOR_BYTES
        assert counted.sectors_per_request == WARP * itemsize / SECTOR_BYTES


def test_tables_are_read_by_whole_sectors_though_rows_fill_no_warp():
    A = MATRICES["odd"]()  # 169 rows
    M, _, found = ell(A)
    assert loaded(found, "indices").sectors == M.width * -(-169 * 4 // SECTOR_BYTES)
    padded, _, with_lengths = ellr(A)
    assert loaded(with_lengths, "x").requests <= 2 * loaded(found, "x").requests
    assert padded.stored == M.stored > A.nnz


def test_tiles_read_values_side_by_side_whatever_the_rows_are():
    for name in ("power_law", "empty_rows"):
        A = MATRICES[name]()
        M, _, found = balanced(A, items=1)
        tiles = M.tile_rows.size - 1
        # a tile begins anywhere in a sector, and its warps, too: one sector more for each
        warps = tiles * THREADS // WARP
        assert loaded(found, "data").sectors <= A.nnz * 8 / SECTOR_BYTES + 2 * warps
        assert loaded(scalar(A)[2], "data").sectors > 2 * loaded(found, "data").sectors


# ---- costs


def test_costs_count_what_is_stored():
    A = MATRICES["power_law"]()
    rows, nnz = A.shape[0], A.nnz
    made = {
        Csr.from_scipy(A): (cost.csr, 12 * nnz + 4 * (rows + 1)),
        EllR.from_scipy(A): (cost.ellr, 12 * nnz + 4 * rows),
        (table := Ell.from_scipy(A)): (cost.ell, 12 * table.stored),
        (slices := SellCSigma.from_scipy(A, sigma=1)): (cost.sell, slices.data.nbytes * 1.5 + slices.offsets.nbytes),
        (kept := SellCSigma.from_scipy(A, sigma=64)): (
            cost.sell,
            kept.data.nbytes * 1.5 + kept.offsets.nbytes + kept.perm.nbytes,
        ),
    }  # fmt: skip
    for M, (its_cost, matrix) in made.items():
        found = its_cost(**M.sizes())
        assert found.bytes_read == matrix + 8 * rows and found.bytes_written == 8 * rows
        assert found.flops == 2 * nnz
        assert found.a_eff_bytes == 12 * nnz + 16 * rows, "the same for every format"


def test_the_cost_of_tiles_counts_what_they_carry():
    M = CsrBalanced.from_scipy(MATRICES["power_law"](), tile=256)
    more = cost.csr_balanced(**M.sizes()).bytes - cost.csr(*M.shape, M.nonzeros).bytes
    carried = 2 * 16 * (M.tile_rows.size - 1)
    assert more == 2 * M.tile_rows.nbytes + carried


def test_the_cost_of_mixed_precision_lies_between():
    sizes = {"rows": 100, "columns": 100, "nonzeros": 700}
    double, single = cost.csr(**sizes), cost.csr(**sizes, dtype="float32")
    mixed = cost.csr(**sizes, values="float32")
    assert double.bytes - mixed.bytes == 4 * 700 and mixed.bytes - single.bytes == 4 * 200


def test_with_gather_replaces_the_vector_that_is_read_once():
    once = Cost(bytes_read=1000, bytes_written=10, flops=5)
    found = with_gather(once, 10, "float64", Gather(3, 20))
    assert (found.bytes_read, found.bytes_written, found.flops) == (1000 - 80 + 640, 10, 5)


def test_a_random_order_asks_for_more_sectors_of_x_than_a_band():
    A = problem("poisson_2d", 40).matrix
    shuffled = sp.csr_array(
        A[np.random.default_rng(0).permutation(1600)][:, np.random.default_rng(1).permutation(1600)]
    )
    shuffled.sort_indices()
    assert gather(Csr.from_scipy(shuffled)).sectors > 2 * gather(Csr.from_scipy(A)).sectors
