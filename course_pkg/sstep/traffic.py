"""The kernels of a pass on vectors larger than any cache, to compare the bytes that move with the cost.

The results are not used, so most memory is not initialised; only the coefficients are, so that all numbers are finite.
"""

import numpy as np

from course_pkg.cg.gpu_numba import Marches, row_pitch
from course_pkg.device.case import Cases, Sliced, Unwritten
from course_pkg.sstep import cost
from course_pkg.sstep import gpu_numba as sstep
from course_pkg.sstep.problem import PUBLISHED
from course_pkg.sstep.tuning import BLOCKS, BLOCKS_WARPS, THREADS, TILE

large = Cases()
EDGE, STEPS = min(PUBLISHED), (4, 8)
SHAPE, PITCH = (EDGE,) * 3, row_pitch(EDGE, "float64")
N = EDGE**2 * PITCH
WARP = 32


def _add(name, kernel, blocks, threads, make, its_cost):
    idea = f"{its_cost.bytes_read / N:.0f} bytes read per point, {its_cost.bytes_written / N:.0f} written"
    large.add(kernel, blocks, threads, make, idea, name=f"sstep_{name}_{EDGE}", cost=its_cost)


def _blocks(s):
    return Unwritten(2 * s * N), Unwritten(2 * s * N)


def _update(s, first, second):
    """Return the arguments of an update whose coefficients have these shapes."""
    small = (Sliced(np.zeros(shape), 0) for shape in (first, second))
    old, fresh = _blocks(s)
    return old, fresh, *small, Unwritten(N), Unwritten(N), fresh


def _sums(count):
    return Unwritten(sstep.tiles_of(count) * TILE * TILE * BLOCKS)


def _gram(s):
    """Return the arguments of the kernel of the Gram matrix."""
    plan = sstep.Tiling(s, False)
    return *_blocks(s), Unwritten(N), Unwritten(plan.sums * plan.share * BLOCKS)


for s in STEPS:
    _add(
        f"moments_{s}", sstep.moments_kernel(s), BLOCKS, THREADS,
        lambda s=s: (Unwritten(2 * s * N), Unwritten(N), _sums(2 * s + 1)), cost.moments(N, s),
    )  # fmt: skip
    _add(
        f"gram_{s}", sstep.gram_warps_kernel(s, False), BLOCKS, sstep.Tiling(s, False).threads,
        lambda s=s: _gram(s), cost.gram(N, s),
    )  # fmt: skip
    _add(
        f"update_block_{s}", sstep.update_block_kernel(s), -(-N // THREADS), THREADS,
        lambda s=s: _update(s, (s, s), s), cost.update_block(N, s),
    )  # fmt: skip
    _add(
        f"project_block_{s}", sstep.project_block_kernel(s), -(-N // THREADS), THREADS,
        lambda s=s: _update(s, (2 * s, s), 2 * s), cost.project_block(N, s),
    )  # fmt: skip
_add(
    "project_block_warps_20", sstep.project_block_warps_kernel(20), BLOCKS_WARPS, WARP,
    lambda: _update(20, (40, 20), 40), cost.project_block(N, 20),
)  # fmt: skip

MARCH = Marches.on(SHAPE, 8).stencil
SIZES = tuple(np.uint32(v) for v in (EDGE, PITCH, EDGE, EDGE, MARCH.planes, MARCH.shift))
for terms in (1, 2):
    _add(
        f"laplacian_recurrence_{terms}", sstep.laplacian_recurrence_kernel(terms), MARCH.blocks(SHAPE), MARCH.block,
        lambda: (
            Unwritten(N), Unwritten(N), *map(np.float64, (1.0, 0.5, 0.25)), *SIZES, Unwritten(N), Unwritten(N),
        ),
        cost.laplacian_recurrence(SHAPE, terms),
    )  # fmt: skip
