"""The stencils on grids larger than any cache: what moves between the GPU and its memory, and what keeps the GPU busy.

Counters of L1 do not show what the L2 cache saves, so only such launches can confirm the numbers of ``cost.py``. The
results are not used, and the memory is not initialised.
"""

import numpy as np

from course_pkg.device.case import Cases, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.stencil import gpu_numba as stencil
from course_pkg.stencil.cases import LAPLACIANS
from course_pkg.stencil.tuning import planes_for

large = Cases()
EDGE, EDGE_LARGE, EDGE_2D = 512, 1024, 16384
RUNGS = {"laplacian_flat": (stencil.laplacian_flat_kernel, stencil.BLOCK_3D, 0, 1), **LAPLACIANS}
LARGEST = ("laplacian_flat", "laplacian_tiled", "laplacian_marching", "laplacian_vectorised")


def _rung(name, edge):
    """Add a variant on a flat grid, launched as its launcher does it."""
    kernel, block, planes, width = RUNGS[name]
    if kernel is stencil.laplacian_vectorised_kernel:
        planes = planes_for(np.broadcast_to(np.float64(0), (edge,) * 3))
    shape, points, sizes = (edge,) * 3, edge**3, (np.uint32(edge),) * 3
    march = (np.uint32(planes),) if planes else ()
    blocks = blocks_for(shape, block, planes=planes or None, width=width)

    def make():
        return Unwritten(points), *sizes, *march, Unwritten(points)

    large.add_traffic(kernel, blocks, block, make, points, 1, 1, f"{name}_{edge}")


for name in RUNGS:
    _rung(name, EDGE)
for name in LARGEST:
    _rung(name, EDGE_LARGE)


def _box():
    return Unwritten((EDGE,) * 3)


def _plate(less_y=0, less_x=0):
    return Unwritten((EDGE_2D - less_y, EDGE_2D - less_x))


NUMBER = np.float64(0.1)
FIRST, STEP = stencil.laplacian_naive_kernel, stencil.diffusion_step_2d_kernel
# kernels that index their arrays with several indices: block, arguments, fields read and written
ON_ARRAYS = {
    "laplacian_naive": (FIRST, stencil.BLOCK_3D, lambda: (_box(), _box()), 1, 1),
    "diffusion_step_2d": (STEP, stencil.BLOCK_2D, lambda: (_plate(), _plate(), NUMBER, _plate()), 2, 1),
    "flux_x": (stencil.flux_x_kernel, stencil.BLOCK_2D, lambda: (_plate(), NUMBER, _plate(0, 1)), 1, 1),
    "flux_y": (stencil.flux_y_kernel, stencil.BLOCK_2D, lambda: (_plate(), NUMBER, _plate(1, 0)), 1, 1),
    "divergence": (
        stencil.divergence_kernel,
        stencil.BLOCK_2D,
        lambda: (_plate(0, 1), _plate(1, 0), _plate(), NUMBER, _plate()),
        3,
        1,
    ),
    "update": (
        stencil.update_kernel,
        stencil.BLOCK_2D,
        lambda: (_plate(), NUMBER, _plate(), _plate()),
        2,
        1,
    ),
}
for name, (kernel, block, make, reads, writes) in ON_ARRAYS.items():
    shape = (EDGE,) * 3 if len(block) == 3 else (EDGE_2D,) * 2
    points, blocks = int(np.prod(shape)), blocks_for(shape, block)
    large.add_traffic(kernel, blocks, block, make, points, reads, writes, f"{name}_{shape[0]}")
