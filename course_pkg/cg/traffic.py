"""Kernels of conjugate gradient on grids larger than any cache, to compare the bytes that move with the cost.

Counters of L1 do not show what the L2 cache saves, so only counters of memory on large grids can confirm the numbers of
``cost.py``. The results are not used, and the memory is not initialised.
"""

import numpy as np

from course_pkg.cg import cost, fusion, precision
from course_pkg.cg import gpu_numba as cg
from course_pkg.cg.cases import PAUSED, state
from course_pkg.cg.gpu_numba import maps
from course_pkg.cg.gpu_numba.marches import Marches, row_pitch
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.program import CG
from course_pkg.device.case import Cases, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.stencil import gpu_numba as stencil

large = Cases()
EDGE, EDGE_LARGE, EDGE_FLAT = min(PUBLISHED), max(PUBLISHED), 512
ITEMSIZE = 8


def _flat(name, kernel, results):
    """Add a kernel of ``cg/gpu_numba/plain.py``."""
    edge = EDGE_FLAT
    points, sizes = edge**3, (np.uint32(edge),) * 3

    def make():
        return (
            Unwritten(points),
            Unwritten(points),
            np.float64(0.5),
            *sizes,
            *map(Unwritten, [points] * results),
        )

    blocks = blocks_for((edge,) * 3, stencil.BLOCK_3D)
    large.add_traffic(kernel, blocks, stencil.BLOCK_3D, make, points, 2, results, f"cg_{name}_{edge}")


_flat("update_p_flat", cg.update_p_flat_kernel, 1)
_flat("map_stencil_flat", cg.map_stencil_flat_kernel, 2)

SHAPE, POINTS = (EDGE,) * 3, EDGE**3
FIELD = EDGE**2 * row_pitch(EDGE, "float64")


def _passes(plan, container):
    """Return the number of fields that the kernel with this container reads, and that it writes."""
    kernel = next(k for k in plan.kernels if container in [c.name for c in k.containers])
    return len(kernel.reads), len(kernel.writes)


def _marching(name, kernel, before, after, passes, march="stencil", edge=EDGE):
    """Add a marching kernel; ``before`` and ``after`` are the numbers of its fields before and after the sizes."""
    shape, pitch = (edge,) * 3, row_pitch(edge, "float64")
    march = getattr(Marches.on(shape, ITEMSIZE), march)
    blocks, field = march.blocks(shape), edge**2 * pitch
    sizes = tuple(np.uint32(n) for n in (edge, pitch, edge, edge, march.planes, march.shift))
    sums = (Unwritten(int(np.prod(blocks))),) if name not in ("matvec", "map_stencil") else ()

    def make():
        return *map(Unwritten, [field] * before), state(), *sizes, *map(Unwritten, [field] * after), *sums

    large.add_traffic(kernel, blocks, march.block, make, edge**3, *passes, f"cg_{name}_{edge}")


FUSED, TWO = _passes(fusion.MAP_STENCIL_FUSED, "matVec"), _passes(fusion.TWO_KERNEL, "matVec")
_marching("matvec", cg.matvec_kernel, 1, 1, _passes(fusion.BASELINE, "matVec"))
_marching("matvec_dot", cg.matvec_dot_kernel, 1, 1, _passes(fusion.FUSED_DOTS, "matVec"))
_marching("map_stencil", cg.map_stencil_kernel, 2, 2, FUSED, "two_fields")
ADVANCE, UPDATE = cg.advance_kernel(1), _passes(fusion.TWO_KERNEL, "updateXandR")
NO_TERM, TWO_TERMS = (_passes(fusion.DEFERRED_X, container) for container in ("updateR 1", "updateXandR 2"))
for edge in (EDGE, EDGE_LARGE):
    _marching("search", cg.search_kernel, 2, 1, TWO, "search", edge)
    _marching("advance", ADVANCE, 2, 2, UPDATE, "advance", edge)
    _marching("advance_0", cg.advance_kernel(0), 2, 2, NO_TERM, "deferred", edge)
    _marching("advance_2", cg.advance_kernel(2), 2, 2, TWO_TERMS, "deferred", edge)


def _mixed(name, kernel, chosen, k, before, after, edge, march="search", scalars=state):
    """Add kernel ``k`` of a plan in two precisions; ``before`` and ``after`` are the dtypes of its fields."""
    shape, pitch = (edge,) * 3, row_pitch(edge, "float32")
    march = getattr(Marches.on(shape, precision.SINGLE, cg.MIXED_AT_ONCE), march)
    blocks = march.blocks(shape)
    sizes = tuple(np.uint32(n) for n in (edge, pitch, edge, edge, march.planes, march.shift))

    def make():
        fields = [[Unwritten(edge**2 * pitch, dtype) for dtype in part] for part in (before, after)]
        return *fields[0], scalars(), *sizes, *fields[1], Unwritten(int(np.prod(blocks)))

    moved = cost.cost(chosen.alone(k), shape)
    idea = (
        f"{moved.bytes_read / edge**3:.0f} bytes read per point, {moved.bytes_written / edge**3:.0f} written"
    )
    large.add(kernel, blocks, march.block, make, idea, name=f"cg_{name}_{edge}", cost=moved)


F4, F8 = "float32", "float64"
for edge in (EDGE, EDGE_LARGE):
    _mixed("search_mixed", cg.search_mixed_kernel, precision.MIXED, 0, (F4, F4), (F4,), edge)
    _mixed("advance_mixed", cg.advance_mixed_kernel, precision.MIXED, 1, (F4,), (F4, F4), edge, "advance")
_mixed("refresh", cg.refresh_kernel, precision.UPDATE, 1, (F8, F8), (F4,), EDGE, "stencil", PAUSED.copy)


def _over_pairs(name, kernel, make, passes, blocks=None):
    """Add a map or a reduction; ``make`` takes four fields and memory for the blocks' sums."""
    blocks = blocks or blocks_for(FIELD // 2, maps.THREADS_MAP)

    def make_args():
        return make(*map(Unwritten, [FIELD] * 4), Unwritten(int(np.prod(blocks))))

    large.add_traffic(kernel, blocks, maps.THREADS_MAP, make_args, POINTS, *passes, f"cg_{name}_{EDGE}")


BASELINE = {c.name: _passes(fusion.BASELINE, c.name) for c in CG.containers}
_over_pairs("update_p", cg.update_p_kernel, lambda p, r, x, s, sums: (r, state(), p), BASELINE["updateP"])
_over_pairs(
    "update_x_and_r",
    cg.update_x_and_r_kernel,
    lambda p, r, x, s, sums: (p, s, state(), x, r),
    BASELINE["updateXandR"],
)
_over_pairs(
    "update_x_and_r_dot",
    cg.update_x_and_r_dot_kernel,
    lambda p, r, x, s, sums: (p, s, state(), x, r, sums),
    _passes(fusion.FUSED_DOTS, "updateXandR"),
)
_over_pairs(
    "dot_pAp", cg.dot_kernel, lambda p, r, x, s, sums: (p, s, sums), BASELINE["dot pAp"], maps.DOT_BLOCKS
)
_over_pairs(
    "dot_rr", cg.dot_kernel, lambda p, r, x, s, sums: (r, r, sums), BASELINE["dot rr"], maps.DOT_BLOCKS
)
