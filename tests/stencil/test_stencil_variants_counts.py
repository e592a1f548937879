"""Counts in which the variants differ, derived by hand; and no variant has a race or reads outside its arrays."""

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.device.launch import blocks_for
from course_pkg.stencil import gpu_numba
from course_pkg.stencil.problem import HeatProblem

TILED = {"centre_tiled", "centre_tiled_halo", "laplacian_tiled", "laplacian_marching_tiled"}
TILED |= {f"diffusion_step_{d}d_{idea}" for d in (2, 3) for idea in ("tiled", "marching_tiled")}
ONE_POINT = (
    *("centre_flat", "centre_pairs", "centre_tiled", "centre_tiled_halo"),
    *("laplacian_flat", "laplacian_tiled", "diffusion_step_2d_tiled", "diffusion_step_3d_tiled"),
)
MARCHING = (
    *("laplacian_marching", "laplacian_marching_tiled", "laplacian_vectorised"),
    *(f"diffusion_step_{d}d_{i}" for d in (2, 3) for i in ("marching", "marching_tiled", "vectorised")),
)
PAIRS = (
    "centre_pairs",
    "laplacian_vectorised",
    "diffusion_step_2d_vectorised",
    "diffusion_step_3d_vectorised",
)


def profile(variant, shape, block, length=None, dtype="float64"):
    """Profile the kernel of a variant on a grid that is seen as a vector, in blocks of ``block`` threads."""
    kernel = getattr(gpu_numba, f"{variant}_kernel")
    kernel = kernel(block) if variant in TILED else kernel
    p = HeatProblem.random(shape, dtype)
    step = (p.Cp.reshape(-1), p.T.dtype.type(p.dt * p.lam / p.h**2)) if "diffusion" in variant else ()
    sizes = [np.uint32(n) for n in reversed(shape)] + ([] if length is None else [np.uint32(length)])
    blocks = blocks_for(shape, block, planes=length, width=2 if variant in PAIRS else 1)
    return simt.profile(
        kernel[blocks, block], p.T.reshape(-1), *step, *sizes, np.full(p.T.size, np.nan, dtype)
    )


def naive(n):
    """Profile the Laplacian as one would write it first, on a cube."""
    u, block = HeatProblem.random((n, n, n)).T, (32, 4, 2)
    return simt.profile(
        gpu_numba.laplacian_naive_kernel[blocks_for(u.shape, block), block], u, np.full(u.shape, np.nan)
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("variant", [*ONE_POINT, *MARCHING])
def test_no_thread_races_or_leaves_its_array(variant, dtype):
    """Grids that no block divides, one of a single block, and the smallest: several chunks, one, and one a plane."""
    flat, width = "_2d" in variant, 2 if variant in PAIRS else 1
    for shape in ((3, 3, 4), (5, 7, 38), (9, 6, 70)) if width == 2 else ((3, 3, 3), (5, 7, 37), (9, 6, 71)):
        shape = (shape[0] * shape[1], shape[2]) if flat else shape
        if variant in ONE_POINT:
            tried = [((32, 8), None), ((5, 3), None)] if flat else [((32, 4, 2), None), ((5, 3, 2), None)]
        else:
            tried = [((32, 1), 4), ((5, 1), 1)] if flat else [((32, 4, 1), 4), ((5, 3, 1), 1)]
        for block, length in tried:
            found = profile(variant, shape, block, length, dtype)
            assert [h.message for h in found.hazards] == []
            assert found.global_store.thread_accesses * width == np.prod(shape), "each point is written once"


# The Laplacian on 64³ points in fp64. A sector holds 4 points, a row 16 sectors; two warps load a row, each 8 sectors.
N, ROWS = 64, 64 * 64
ROW = 2 * ROWS  # requests in which every row is loaded once, one point a thread
SHIFTED = (
    17 * ROWS
)  # sectors of all rows, shifted by one point: one warp begins at the edge, the other touches 9
INNER = 63 * 64 * 2  # requests for a neighbour across rows: one plane of rows, or row of each plane, has none
QUEUE = 64 + 2 * 3  # planes that a queue of chunks of 16 loads: all, and both neighbours at 3 borders

LAPLACIANS = {  # variant: block, planes; load requests, load sectors, shared load requests, shared store requests
    # the point and six neighbours
    "laplacian_flat": ((32, 4, 2), None, ROW + 2 * ROW + 4 * INNER, 8 * ROW + 2 * SHIFTED + 32 * INNER, 0, 0),
    # Along x a warp's halo is a point or none: of two warps one has a western, one an eastern neighbour beyond its
    # block, and every warp asks. Of 64 rows 15 lie at a border between blocks of 4, of 64 planes 31 between those of 2.
    "laplacian_tiled": (
        (32, 4, 2),
        None,
        ROW + 2 * ROWS + 2 * 15 * 64 * 2 + 2 * 31 * 64 * 2,
        8 * ROW + 2 * ROWS + 2 * 15 * 64 * 16 + 2 * 31 * 64 * 16,
        7 * ROW,
        # the point; one thread of each warp at either end; of 4 warps across one at either side, of 2 each
        ROW + 2 * ROW + 2 * ROW // 4 + 2 * ROW // 2,
    ),
    # the queue, and the four neighbours in the plane
    "laplacian_marching": (
        (64, 4, 1),
        16,
        QUEUE * 128 + 2 * ROW + 2 * INNER,
        QUEUE * 1024 + 2 * SHIFTED + 16 * INNER,
        0,
        0,
    ),
    # The queue, and rows between blocks of 4; a block is as wide as the grid, so there is nothing beyond its ends.
    "laplacian_marching_tiled": (
        (64, 4, 1),
        16,
        QUEUE * 128 + 2 * 15 * 64 * 2,
        QUEUE * 1024 + 2 * 15 * 64 * 16,
        4 * ROW,
        ROW + 2 * ROW // 2 + 2 * ROW // 4,
    ),
    # Half the requests of marching: one warp loads a row. A pair's outer neighbours are every second point of a row,
    # and touch all of its 16 sectors.
    "laplacian_vectorised": (
        (32, 8, 1),
        16,
        (QUEUE * 128 + 2 * ROW + 2 * INNER) // 2,
        QUEUE * 1024 + 2 * 16 * ROWS + 16 * INNER,
        0,
        0,
    ),
}


@pytest.mark.parametrize("variant", LAPLACIANS)
def test_the_traffic_of_a_laplacian_is_the_one_worked_out_by_hand(variant):
    block, planes, requests, sectors, shared_loads, shared_stores = LAPLACIANS[variant]
    found = profile(variant, (N, N, N), block, planes)
    assert (found.global_load.requests, found.global_load.sectors) == (requests, sectors)
    assert (found.shared_load.requests, found.shared_store.requests) == (shared_loads, shared_stores)
    assert found.global_load.unique_bytes == found.global_store.unique_bytes == 8 * N**3
    assert found.global_store.requests == (ROW // 2 if variant in PAIRS else ROW)
    assert found.global_store.sectors == 16 * ROWS
    assert found.flops["float64"].total == 7 * N**3 - (0 if planes or "tiled" in variant else 6 * N * N)


def test_each_idea_asks_for_less_than_the_naive_kernel():
    first = naive(N)
    assert first.global_load.requests == LAPLACIANS["laplacian_flat"][2] == 56_832
    assert first.global_load.sectors == LAPLACIANS["laplacian_flat"][3] == 462_848
    assert first.global_load.unique_bytes == 8 * N**3
    for variant in (
        "laplacian_tiled",
        "laplacian_marching",
        "laplacian_marching_tiled",
        "laplacian_vectorised",
    ):
        assert LAPLACIANS[variant][2] < 56_832
        assert LAPLACIANS[variant][3] < 462_848
    assert 2 * LAPLACIANS["laplacian_vectorised"][2] == LAPLACIANS["laplacian_marching"][2]


@pytest.mark.parametrize(
    ("variant", "requests", "shared_loads", "shared_stores"),
    [
        ("centre_flat", ROW, 0, 0),
        ("centre_pairs", ROW // 2, 0, 0),
        ("centre_tiled", ROW, ROW, ROW),
        # the halo is loaded and stored as by laplacian_tiled, and nobody reads it
        ("centre_tiled_halo", *(LAPLACIANS["laplacian_tiled"][2], ROW, LAPLACIANS["laplacian_tiled"][5])),
    ],
)
def test_the_rungs_lack_the_neighbours_alone(variant, requests, shared_loads, shared_stores):
    found = profile(variant, (N, N, N), (32, 4, 2))
    assert found.global_load.requests == requests
    assert (found.shared_load.requests, found.shared_store.requests) == (shared_loads, shared_stores)
    assert found.global_load.unique_bytes == found.global_store.unique_bytes == 8 * N**3
    assert found.flops["float64"].total == N**3


# The step on 64³ points, as above, and on 128² points: a row has 32 sectors and is loaded by 4 warps.
INSIDE = 62 * 62  # rows of 64³ that are not on the boundary; on 128² there are 126
STEPS = {  # variant: shape, block, length; load requests, load sectors, shared load requests; points of Cp
    # T as by laplacian_tiled; Cp everywhere; 7 points of the tile in inner rows
    "diffusion_step_3d_tiled": (
        ((N, N, N), (32, 4, 2), None),
        (
            LAPLACIANS["laplacian_tiled"][2] + ROW,
            LAPLACIANS["laplacian_tiled"][3] + 8 * ROW,
            ROW + 6 * 2 * INSIDE,
        ),
        N**3,
    ),
    # The queue; west, east, north, south and Cp at inner points: shifted rows touch 17 sectors, the others 16.
    "diffusion_step_3d_marching": (
        ((N, N, N), (64, 4, 1), 16),
        (QUEUE * 128 + 5 * 2 * INSIDE, QUEUE * 1024 + (2 * 17 + 3 * 16) * INSIDE, 0),
        62**3,
    ),
    "diffusion_step_3d_marching_tiled": (
        ((N, N, N), (64, 4, 1), 16),
        (
            LAPLACIANS["laplacian_marching_tiled"][2] + ROW,
            LAPLACIANS["laplacian_marching_tiled"][3] + 8 * ROW,
            4 * 2 * INSIDE,
        ),
        N**3,
    ),
    # half the requests of marching, 16 sectors each; pairs of Cp reach the ends of inner rows
    "diffusion_step_3d_vectorised": (
        ((N, N, N), (32, 8, 1), 16),
        (QUEUE * 64 + 5 * INSIDE, 16 * (QUEUE * 64 + 5 * INSIDE), 0),
        64 * INSIDE,
    ),
    # T and Cp; of 4 warps in a row 3 have a point beyond their block on either side, and every warp asks; of 128 rows
    # 15 lie at a border between blocks of 8
    "diffusion_step_2d_tiled": (
        ((128, 128), (32, 8), None),
        (2 * 512 + 2 * 3 * 128 + 2 * 15 * 4, 2 * 4096 + 2 * 3 * 128 + 2 * 15 * 32, 4 * 4 * 126),
        128**2,
    ),
    # 8 chunks of 16 rows: 14 rows twice. West and east touch 35 sectors in a row: 8 in one warp, 9 in three.
    "diffusion_step_2d_marching": (
        ((128, 128), (128, 1), 16),
        (142 * 4 + 3 * 126 * 4, 142 * 32 + (2 * 35 + 32) * 126, 0),
        126**2,
    ),
    # a block is as wide as the grid
    "diffusion_step_2d_marching_tiled": (
        ((128, 128), (128, 1), 16),
        (142 * 4 + 512, 142 * 32 + 4096, 2 * 4 * 126),
        128**2,
    ),
    "diffusion_step_2d_vectorised": (
        ((128, 128), (64, 1), 16),
        (142 * 2 + 3 * 126 * 2, 142 * 32 + (2 * 33 + 32) * 126, 0),
        128 * 126,
    ),
}


@pytest.mark.parametrize("variant", STEPS)
def test_the_traffic_of_a_step_is_the_one_worked_out_by_hand(variant):
    (shape, block, length), counts, capacities = STEPS[variant]
    found = profile(variant, shape, block, length)
    assert (found.global_load.requests, found.global_load.sectors, found.shared_load.requests) == counts
    points, inner = np.prod(shape), np.prod([n - 2 for n in shape])
    assert found.by_array["T"].global_load.unique_bytes == 8 * points
    assert found.by_array["Cp"].global_load.unique_bytes == 8 * capacities
    assert found.global_store.unique_bytes == found.global_store.bytes_requested == 8 * points
    # neighbours and centre, then factor, division, update: as cost.diffusion_step counts an inner point
    assert found.flops["float64"].total == (2 * len(shape) + 4) * inner
    assert found.flops["float64"].div == inner


@pytest.mark.parametrize("d", [2, 3])
def test_a_vectorised_step_makes_half_the_requests_of_a_marching_one(d):
    marching, vectorised = (STEPS[f"diffusion_step_{d}d_{idea}"][1] for idea in ("marching", "vectorised"))
    assert 2 * vectorised[0] == marching[0]


@pytest.mark.parametrize("variant", MARCHING)
def test_shorter_chunks_load_more(variant):
    """Each further border between chunks loads two rows or planes again, and nothing else changes."""
    flat = "_2d" in variant
    shape, block = ((16, 64), (32, 1)) if flat else ((16, 8, 64), (32, 4, 1))
    found = {n: profile(variant, shape, block, n).global_load.requests for n in (16, 8, 4)}
    warps = (1 if variant in PAIRS else 2) * (1 if flat else 8)
    assert (found[8] - found[16], found[4] - found[8]) == (2 * warps, 4 * warps)
