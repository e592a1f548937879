"""Test launches of every kernel of a pass, at sizes that fill the blocks and at others, for small and for large s."""

import numpy as np

from course_pkg.cg.gpu_numba import Marches
from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.sstep import gpu_numba as sstep
from course_pkg.sstep import scalars
from course_pkg.sstep.tuning import THREADS, THREADS_PASS, TILE

cases = Cases()
SIZES = {"512": 512, "odd": 301}
DTYPES = ("float64", "float32")
BOXES = {"64": (6, 8, 64), "odd": (5, 7, 20)}  # nz, ny and the pitch; an odd row has 19 points
WARP = 32


def _each(name, ss, kernel, grid, block, make, idea, block_for=None):
    """Add launches: the first s with both sizes and precisions, every other s with the odd size in double precision."""
    for s in ss:
        for size, n in SIZES.items() if s == ss[0] else [("odd", SIZES["odd"])]:
            for dtype in DTYPES if s == ss[0] else DTYPES[:1]:
                cases.add(
                    kernel(s),
                    grid(n, s),
                    block or block_for(s),
                    lambda n=n, s=s, dtype=dtype: make(n, s, dtype),
                    f"{idea}; s = {s}, {n} points, {dtype}",
                    name=f"sstep_{name}_{s}_{size}_{dtype}",
                )


def block_of(n, s, dtype, seed=0):
    """Return a block as one vector."""
    return numbers(2 * s * n, dtype, seed)


def update_args(n, s, dtype):
    """Return the arguments of the kernels that update a block."""
    vectors = numbers(n, dtype, 2), numbers(n, dtype, 3)
    blocks = block_of(n, s, dtype, 0), block_of(n, s, dtype, 1)
    return *blocks, numbers((s, s)), numbers(s), *vectors, zeros(2 * s * n, dtype)


def project_args(n, s, dtype):
    """Return the arguments of the kernels that project two blocks."""
    vectors = numbers(n, dtype, 2), numbers(n, dtype, 3)
    blocks = block_of(n, s, dtype, 0), block_of(n, s, dtype, 1)
    return *blocks, numbers((2 * s, s)), numbers(2 * s), *vectors, zeros(2 * s * n, dtype)


def _by_threads(n, s):
    return blocks_for(n, THREADS)


def _by_warps(n, s):
    return -(-n // WARP)


def moments_args(n, s, dtype):
    """Return the arguments of the kernel of the moments."""
    return block_of(n, s, dtype), numbers(n, dtype, 2), zeros((2 * s + 1) * sstep.blocks_of(n))


def gram_args(n, s, dtype, first=False):
    """Return the arguments of the kernel of the Gram matrix."""
    count = s + 1 if first else 2 * s + 1
    fresh = block_of(n, s, dtype, 1)
    old = fresh if first else block_of(n, s, dtype, 0)
    size = sstep.tiles_of(count) * TILE * TILE * gram_blocks(n, count)
    return old, fresh, numbers(n, dtype, 2), zeros(size)


def gram_blocks(n, count):
    """Return the blocks of the kernel of the Gram matrix."""
    return -(-n // sstep.points_of(count))


def gram_warps_blocks(n, s, first):
    """Return the number of blocks: half the number of steps, at most two, so that a block takes several steps."""
    return min(2, -(-n // (2 * sstep.Tiling(s, first).points)))


def gram_warps_args(n, s, dtype, first):
    """Return the arguments of the kernel of the Gram matrix that gives a tile to a warp."""
    plan, fresh = sstep.Tiling(s, first), block_of(n, s, dtype, 1)
    parts = plan.sums * plan.share * gram_warps_blocks(n, s, first)
    return fresh if first else block_of(n, s, dtype, 0), fresh, numbers(n, dtype, 2), zeros(parts)


_each(
    "moments", (4, 24), sstep.moments_kernel, _by_threads, THREADS, moments_args,
    "all sums in registers, then shuffles",
)  # fmt: skip
for first in (True, False):
    _each(
        "gram_first" if first else "gram", (3, 8),
        lambda s, first=first: sstep.gram_kernel(s, first),
        lambda n, s, first=first: gram_blocks(n, s + 1 if first else 2 * s + 1),
        THREADS,
        lambda n, s, dtype, first=first: gram_args(n, s, dtype, first),
        "tiles of sums in registers, points through shared memory",
    )  # fmt: skip
    _each(
        "gram_warps_first" if first else "gram_warps", (3, 8),
        lambda s, first=first: sstep.gram_warps_kernel(s, first),
        lambda n, s, first=first: gram_warps_blocks(n, s, first),
        None,
        lambda n, s, dtype, first=first: gram_warps_args(n, s, dtype, first),
        "a warp for each tile of sums, two steps of loads on their way",
        lambda s, first=first: sstep.Tiling(s, first).threads,
    )  # fmt: skip
_each(
    "update_block", (4,), sstep.update_block_kernel, _by_threads, THREADS, update_args,
    "a thread per row, coefficients in shared memory",
)  # fmt: skip
_each(
    "project_block", (4,), sstep.project_block_kernel, _by_threads, THREADS, project_args,
    "a thread per row of two blocks",
)  # fmt: skip
_each(
    "update_block_warps", (2,), sstep.update_block_warps_kernel, _by_warps, WARP, update_args,
    "a warp for 32 rows, coefficients in registers",
)  # fmt: skip
_each(
    "project_block_warps", (2,), sstep.project_block_warps_kernel, _by_warps, WARP, project_args,
    "a warp for 32 rows of two blocks",
)  # fmt: skip

for blocks in (1, 37, 528):
    cases.add(
        sstep.finish_kernel,
        9,
        THREADS,
        lambda blocks=blocks: (numbers(9 * blocks), np.int32(blocks), zeros(9)),
        f"a block for each of 9 sums of {blocks} parts",
        name=f"sstep_finish_{blocks}",
    )
for count, blocks, edge in ((9, 37, TILE), (5, 528, TILE), (17, 37, 6)):
    size = sum(range(-(-count // edge) + 1)) * edge * edge
    cases.add(
        sstep.finish_gram_kernel(edge),
        size,
        THREADS,
        lambda count=count, blocks=blocks, size=size: (
            numbers(size * blocks),
            np.int32(blocks),
            zeros((count, count)),
        ),
        f"a block for each element of the tiles of {count} × {count} sums, {edge} to an edge, of {blocks} parts",
        name=f"sstep_finish_gram_{count}",
    )

for c, g in ((0.0, 0.0), (0.5, 0.0), (0.5, 0.25)):
    for size, n in SIZES.items():
        for dtype in DTYPES:
            cases.add(
                sstep.recurrence_kernel,
                blocks_for(n, THREADS),
                THREADS,
                lambda n=n, dtype=dtype, c=c, g=g: (
                    *(numbers(n, dtype, k) for k in range(3)),
                    *map(np.dtype(dtype).type, (2.0, c, g)),
                    zeros(n, dtype),
                ),
                f"a map whose terms are left out for all threads at once; c = {c}, g = {g}, {n} points, {dtype}",
                name=f"sstep_recurrence_{1 + (c > 0) + (g > 0)}_{size}_{dtype}",
            )

for terms in (0, 1, 2):
    for box, shape in BOXES.items():
        for dtype in DTYPES:
            march = Marches.on(shape, np.dtype(dtype).itemsize).stencil
            points, nx = int(np.prod(shape)), shape[2] - (box == "odd")
            sizes = tuple(np.uint32(v) for v in (nx, shape[2], *shape[1::-1], march.planes, march.shift))
            cases.add(
                sstep.laplacian_recurrence_kernel(terms),
                march.blocks(shape),
                march.block,
                lambda points=points, sizes=sizes, dtype=dtype: (
                    *(numbers(points, dtype, k) for k in range(2)),
                    *map(np.dtype(dtype).type, (2.0, 0.5, 0.25)),
                    *sizes,
                    *(zeros(points, dtype) for _ in range(2)),
                ),
                f"a march with pairs, {terms} terms of a recurrence; {shape}, {dtype}",
                name=f"sstep_laplacian_recurrence_{terms}_{box}_{dtype}",
            )

for size, n in SIZES.items():
    for dtype in DTYPES:
        for factor in (0.5, 0.0):
            cases.add(
                sstep.follow_kernel,
                blocks_for(n, THREADS),
                THREADS,
                lambda n=n, dtype=dtype, factor=factor: (
                    numbers(n, dtype, 0), np.array([factor]), numbers(n, dtype, 1), zeros(n, dtype)
                ),
                f"a map with a factor from memory, {factor}; {n} points, {dtype}",
                name=f"sstep_follow_{'w' if factor else 'v'}_{size}_{dtype}",
            )  # fmt: skip


def running():
    """Return the numbers of a solve in its second iteration."""
    state = np.zeros(scalars.SIZE)
    state[[scalars.DELTA, scalars.P_A_P, scalars.ITERATION, scalars.LIMIT]] = 2.0, 3.0, 1, 100
    state[[scalars.ALPHA, scalars.LEAST]] = 2.0, 100.0
    return state


ONE_THREAD = "scalar work by one thread"
cases.add(
    sstep.pcg_alpha_kernel, 1, 1, lambda: (numbers(1) + 1, running()), ONE_THREAD, name="sstep_pcg_alpha"
)
cases.add(
    sstep.pcg_beta_kernel,
    1,
    1,
    lambda: (numbers(2) + 1, running(), zeros(scalars.KEPT)),
    ONE_THREAD,
    name="sstep_pcg_beta",
)
for kernel, name, out in (
    (sstep.pfcg_scalars_kernel, "pfcg", ((1, 1), 1)),
    (sstep.gram_scalars_kernel, "gram", ((2, 1), 2)),
):
    for rows in (2, 3):
        cases.add(
            kernel,
            1,
            1,
            lambda rows=rows, out=out: (
                numbers((rows, rows)) + 2 * np.eye(rows) + 1, running(), zeros(scalars.KEPT), *map(zeros, out)
            ),
            f"{ONE_THREAD}, from {rows} × {rows} sums",
            name=f"sstep_{name}_scalars_{rows}",
        )  # fmt: skip
cases.add(
    sstep.moments_scalars_kernel,
    1,
    1,
    lambda: (numbers(3) + np.array([1.0, 9.0, 1.0]), running(), zeros(scalars.KEPT), zeros((1, 1)), zeros(1)),
    f"{ONE_THREAD}, from 2 moments",
    name="sstep_moments_scalars",
)

ONE_BLOCK = "scalar work of a pass by one block"
for s in (2, 8):
    cases.add(
        sstep.gram_pass_kernel(s),
        1,
        THREADS_PASS,
        lambda s=s: (
            numbers((2 * s + 1,) * 2) + 4 * s * np.eye(2 * s + 1) + 1,
            running(),
            zeros(scalars.KEPT),
            zeros((8, 2 * s + 1, 2 * s + 1)),
            zeros((2 * s, s)),
            zeros(2 * s),
        ),
        f"{ONE_BLOCK}, from the Gram matrix of {2 * s} directions",
        name=f"sstep_gram_pass_{s}",
    )
for s in (2, 3):
    cases.add(
        sstep.moments_pass_kernel(s),
        1,
        THREADS_PASS,
        lambda s=s: (
            np.array([*(1 / (k + 1) for k in range(2 * s)), 1.0]),
            running(),
            zeros(scalars.KEPT),
            np.eye(s),
            np.full(s, 8.0),
            zeros((s, s)),
        ),
        f"{ONE_BLOCK}, from {2 * s} moments",
        name=f"sstep_moments_pass_{s}",
    )
