"""The Laplacian on grids that are larger than any cache, to compare the bytes that move with those that must move.

Counters of L1 do not show what the L2 cache saves, so only such launches can confirm the numbers of ``cost.py``. The
results are not used, and the memory is not initialised.
"""

import numpy as np

from course_pkg.device.case import Cases, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.stencil import gpu_numba as stencil
from course_pkg.stencil.tuning import planes_for

large = Cases()
EDGES = 512, 1024


def _laplacian(name, kernel, edge, block, planes=None, width=1):
    shape, points, sizes = (edge,) * 3, edge**3, (np.uint32(edge),) * 3
    march = () if planes is None else (np.uint32(planes),)
    blocks = blocks_for(shape, block, planes=planes, width=width)

    def make():
        return Unwritten(points), *sizes, *march, Unwritten(points)

    large.add_traffic(kernel, blocks, block, make, points, 1, 1, f"laplacian_{name}_{edge}")


for edge in EDGES:
    like = np.broadcast_to(np.float64(0), (edge,) * 3)
    _laplacian("flat", stencil.laplacian_flat_kernel, edge, stencil.BLOCK_3D)
    tiled = stencil.laplacian_tiled_kernel(stencil.BLOCK_TILED)
    _laplacian("tiled", tiled, edge, stencil.BLOCK_TILED)
    marching = stencil.laplacian_marching_kernel
    _laplacian("marching", marching, edge, stencil.BLOCK_MARCHING, stencil.PLANES_MARCHING)
    pairs = stencil.laplacian_vectorised_kernel
    _laplacian("vectorised", pairs, edge, stencil.BLOCK_VECTORISED, planes_for(like), width=2)
