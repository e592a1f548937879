"""Launches of the stencils on grids larger than any cache, to count the bytes that move to and from GPU memory.

Counters of L1 do not show which reads the L2 cache saves. So only such launches can confirm the numbers of ``cost.py``.
The results are not used, and the memory is not initialised.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.stencil import gpu_numba as stencil
from course_pkg.stencil.cases import LAPLACIANS
from course_pkg.stencil.suite_settings import BLOCKS, BLOCKS_PER_SM, REGISTERS
from course_pkg.stencil.suite_tiles import TILES_2D, TILES_3D
from course_pkg.stencil.tuning import planes_for

large = Cases()
EDGE, EDGE_LARGE, EDGE_2D = 512, 1024, 16384
FLAT, TILED = "laplacian_flat", "laplacian_tiled"
# kernel, block, planes (0: none; None: as many as suit the grid), points per thread along x: as launched by default
RUNGS = {
    FLAT: (stencil.laplacian_flat_kernel, stencil.BLOCK_3D, 0, 1),
    **LAPLACIANS,
    "laplacian_vectorised": (stencil.laplacian_vectorised_kernel, stencil.BLOCK_VECTORISED, None, 2),
}
LARGEST = (FLAT, TILED, "laplacian_marching", "laplacian_vectorised")


def _by(block) -> str:
    """Return a block's threads as they are written in the name of a case."""
    return "x".join(map(str, block))


def _rung(name, edge=EDGE, *, kernel=None, block=None, dtype="float64", also=""):
    """Add a variant on a flat grid, launched as by its launcher, or with another kernel, block or dtype."""
    usual, its_block, planes, width = RUNGS[name]
    kernel, block = kernel or usual, block or its_block
    shape, points, sizes = (edge,) * 3, edge**3, (np.uint32(edge),) * 3
    if planes is None:
        planes = planes_for(np.broadcast_to(np.dtype(dtype).type(0), shape))
    march = (np.uint32(planes),) if planes else ()
    blocks = blocks_for(shape, block, planes=planes or None, width=width)

    def make():
        return Unwritten(points, dtype), *sizes, *march, Unwritten(points, dtype)

    size = np.dtype(dtype).itemsize
    large.add_traffic(kernel, blocks, block, make, points, 1, 1, f"{name}_{edge}{also}", size)


for name in RUNGS:
    _rung(name)
for name in LARGEST:
    _rung(name, EDGE_LARGE)
for block in dict.fromkeys((*BLOCKS, *TILES_3D)):
    if block != stencil.BLOCK_3D:
        _rung(FLAT, block=block, also=f"_{_by(block)}")
for block in TILES_3D:
    if block != stencil.BLOCK_TILED:
        _rung(TILED, kernel=stencil.laplacian_tiled_kernel(block), block=block, also=f"_{_by(block)}")
# compiled for other numbers of registers than by default
for name, usual in (("laplacian_marching", "free"), ("laplacian_vectorised", 32)):
    for most in REGISTERS:
        if most != usual:
            own = cuda.jit(max_registers=None if most == "free" else most)(RUNGS[name][0].py_func)
            _rung(name, kernel=own, also=f"_registers_{most}")
for name in ("laplacian_marching", "laplacian_vectorised"):
    _rung(name, dtype="float32", also="_float32")


def _box():
    return Unwritten((EDGE,) * 3)


def _plate(less_y=0, less_x=0):
    return Unwritten((EDGE_2D - less_y, EDGE_2D - less_x))


NUMBER = np.float64(0.1)
FIRST, STEP = stencil.laplacian_naive_kernel, stencil.diffusion_step_2d_kernel


def _step_2d():
    return _plate(), _plate(), NUMBER, _plate()


# kernels that index their arrays with several indices: block, arguments, fields read and written
ON_ARRAYS = {
    "laplacian_naive": (FIRST, stencil.BLOCK_3D, lambda: (_box(), _box()), 1, 1),
    "diffusion_step_2d": (STEP, stencil.BLOCK_2D, _step_2d, 2, 1),
    "diffusion_step_3d": (
        stencil.diffusion_step_3d_kernel,
        stencil.BLOCK_3D,
        lambda: (_box(), _box(), NUMBER, _box()),
        2,
        1,
    ),
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
DIFFUSION = ("diffusion_step_2d", "diffusion_step_3d")


def _boundary_lines(shape):
    """Return how many points of Cp lie in boundary lines along x. They are not read: only inner points need Cp."""
    return int(np.prod(shape)) - shape[-1] * int(np.prod([n - 2 for n in shape[:-1]]))


for name, (kernel, block, make, reads, writes) in ON_ARRAYS.items():
    shape = (EDGE,) * 3 if len(block) == 3 else (EDGE_2D,) * 2
    points, blocks = int(np.prod(shape)), blocks_for(shape, block)
    unread = _boundary_lines(shape) if name in DIFFUSION else 0
    large.add_traffic(kernel, blocks, block, make, points, reads, writes, f"{name}_{shape[0]}", unread=unread)
for block in TILES_2D:
    if block != stencil.BLOCK_2D:
        blocks, name = blocks_for((EDGE_2D,) * 2, block), f"diffusion_step_2d_{EDGE_2D}_{_by(block)}"
        large.add_traffic(
            STEP, blocks, block, _step_2d, EDGE_2D**2, 2, 1, name, unread=_boundary_lines((EDGE_2D,) * 2)
        )


def _step(name, shape, kernel, block, length=0, width=1, also=""):
    """Add a diffusion step on flat arrays; ``length`` is that of a march, 0 for none."""
    points, sizes = int(np.prod(shape)), [np.uint32(n) for n in reversed(shape)]
    march = [np.uint32(length)] if length else []
    blocks = blocks_for(shape, block, planes=length or None, width=width)

    def make():
        return Unwritten(points), Unwritten(points), NUMBER, *sizes, *march, Unwritten(points)

    large.add_traffic(
        kernel, blocks, block, make, points, 2, 1, f"{name}_{shape[0]}{also}", unread=_boundary_lines(shape)
    )


PLATE, BOX = (EDGE_2D,) * 2, (EDGE,) * 3
for block in TILES_2D:
    kernel = stencil.diffusion_step_2d_tiled_kernel(block)
    _step(
        "diffusion_step_2d_tiled",
        PLATE,
        kernel,
        block,
        also="" if block == stencil.BLOCK_2D else f"_{_by(block)}",
    )
MARCH_2D, MARCH_3D = stencil.BLOCK_MARCHING_2D, stencil.BLOCK_MARCHING
PAIRS_2D, PAIRS_3D = stencil.BLOCK_VECTORISED_2D, stencil.BLOCK_VECTORISED_3D
for name, shape, kernel, block, *march in (
    ("2d_marching", PLATE, stencil.diffusion_step_2d_marching_kernel, MARCH_2D, 16),
    ("2d_marching_tiled", PLATE, stencil.diffusion_step_2d_marching_tiled_kernel(MARCH_2D), MARCH_2D, 16),
    ("2d_vectorised", PLATE, stencil.diffusion_step_2d_vectorised_kernel, PAIRS_2D, 4, 2),
    ("3d_tiled", BOX, stencil.diffusion_step_3d_tiled_kernel(stencil.BLOCK_3D), stencil.BLOCK_3D),
    ("3d_marching", BOX, stencil.diffusion_step_3d_marching_kernel, MARCH_3D, 16),
    ("3d_marching_tiled", BOX, stencil.diffusion_step_3d_marching_tiled_kernel(MARCH_3D), MARCH_3D, 16),
    ("3d_vectorised", BOX, stencil.diffusion_step_3d_vectorised_kernel, PAIRS_3D, 16, 2),
):
    _step(f"diffusion_step_{name}", shape, kernel, block, *march)

UNITS = 132  # multiprocessors of an H100 and of an H200
for name, kernel in (
    ("centre_strided", stencil.centre_strided_kernel),
    ("centre_strided_pairs", stencil.centre_strided_pairs_kernel),
):
    for on_each in (BLOCKS_PER_SM[0], 8, BLOCKS_PER_SM[-1]):
        large.add_traffic(
            kernel,
            on_each * UNITS,
            stencil.THREADS_STRIDED,
            lambda: (Unwritten(EDGE**3), Unwritten(EDGE**3)),
            EDGE**3,
            1,
            1,
            f"{name}_{EDGE}_{on_each}",
        )
