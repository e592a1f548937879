"""The interpreter's counts of transposes, compared with counts by hand and by plain Python."""

from math import gcd

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.vector import cost, gpu_numba

SECTOR = 32  # bytes
ROWS, TILE = gpu_numba.BLOCK_TRANSPOSE[1], gpu_numba.TILE
FITTING, ODD = (64, 96), (45, 70)
IDEAS = ("naive", 0, 1)  # a number: the padding of the tile


def profile_of(idea, shape, dtype="float64"):
    ny, nx = shape
    naive = idea == "naive"
    kernel = gpu_numba.transpose_naive_kernel if naive else gpu_numba.transpose_tiled_kernel(idea)
    grid = -(-nx // TILE), -(-ny // (ROWS if naive else TILE))
    out = np.zeros((nx, ny), dtype)
    a = np.random.default_rng(3).random(shape).astype(dtype)
    found = simt.profile(kernel[grid, gpu_numba.BLOCK_TRANSPOSE], a, out)
    np.testing.assert_array_equal(out, a.T)
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(1, 1), ODD, FITTING], ids=str)
@pytest.mark.parametrize("idea", IDEAS)
def test_no_thread_reads_what_another_may_still_write(idea, shape, dtype):
    assert profile_of(idea, shape, dtype).hazards == []


# sectors of a request: 32 neighbours fill 8 (fp64) or 4 (fp32); in a column each lane has a sector of its own
ROW = {"float64": 8, "float32": 4}


@pytest.mark.parametrize("dtype", ROW)
@pytest.mark.parametrize("idea", IDEAS)
def test_a_tile_turns_a_column_of_sectors_into_a_row(idea, dtype):
    ny, nx = FITTING
    found, requests = profile_of(idea, FITTING, dtype), ny * nx // 32
    load, store = found.global_load, found.global_store
    assert (load.requests, store.requests) == (requests, requests)
    assert load.sectors == ROW[dtype] * requests
    assert store.sectors == (32 if idea == "naive" else ROW[dtype]) * requests
    compulsory = cost.transpose(FITTING, dtype)
    assert (load.unique_bytes, store.unique_bytes) == (compulsory.bytes_read, compulsory.bytes_written)
    assert load.sectors == compulsory.bytes_read // SECTOR
    wasted = {"float64": 4, "float32": 8}[dtype] if idea == "naive" else 1
    assert store.sectors == wasted * compulsory.bytes_written // SECTOR
    assert found.barriers == (0 if idea == "naive" else ny * nx // TILE**2)
    assert found.flops.total == 0


def sectors(starts, lengths, itemsize):
    """Sectors of requests that each touch neighbours: element ``start`` and those behind it."""
    return sum(
        (start + n) * itemsize // SECTOR + bool((start + n) * itemsize % SECTOR) - start * itemsize // SECTOR
        for start, n in zip(starts, lengths, strict=True)
    )


@pytest.mark.parametrize(("dtype", "itemsize"), [("float64", 8), ("float32", 4)])
@pytest.mark.parametrize("idea", IDEAS)
def test_counts_where_tiles_and_sectors_do_not_fit(idea, dtype, itemsize):
    """Rows that begin within a sector, and warps with lanes beyond the array's edge."""
    ny, nx = ODD
    found = profile_of(idea, ODD, dtype)

    def rows(height, width):
        """Beginnings and lengths of the pieces of rows that a warp takes."""
        starts = [(y, x) for y in range(height) for x in range(0, width, TILE)]
        return [y * width + x for y, x in starts], [min(TILE, width - x) for _, x in starts]

    assert found.global_load.requests == ny * 3
    assert found.global_load.sectors == sectors(*rows(ny, nx), itemsize)
    if idea == "naive":
        assert found.global_store.requests == ny * 3
        assert found.global_store.sectors == ny * nx  # 45 elements and more apart: no two in one sector
    else:
        assert found.global_store.requests == nx * 2
        assert found.global_store.sectors == sectors(*rows(nx, ny), itemsize)


@pytest.mark.parametrize("padding", [0, 1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_padding_spreads_a_column_over_the_banks(dtype, padding):
    """Rows of a padded tile begin ``padding`` elements further in the banks, which hold 32 floats or 16 doubles.

    So gcd(padding, 32) lanes of a warp meet in a bank, and in float64 gcd(padding, 16) lanes of each half of it.
    """
    found, requests = profile_of(padding, FITTING, dtype), FITTING[0] * FITTING[1] // 32
    halves, banks = {"float64": (2, 16), "float32": (1, 32)}[dtype]
    assert (found.shared_load.requests, found.shared_store.requests) == (requests, requests)
    assert found.shared_load.wavefronts == halves * gcd(padding, banks) * requests
    assert found.shared_store.wavefronts == halves * requests


def test_one_column_of_padding_takes_2_wavefronts_where_none_takes_32():
    bare, padded = (profile_of(padding, FITTING).shared_load for padding in (0, 1))
    assert (bare.wavefronts, padded.wavefronts) == (32 * bare.requests, 2 * padded.requests)
    assert (bare.bank_conflicts, padded.bank_conflicts) == (30 * bare.requests, 0)
