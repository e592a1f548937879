"""Tiles of many sizes: is a well-chosen tile in shared memory faster than none, in a block (3-D) and a plate (2-D)?

Small tiles have relatively large halos, and large tiles leave fewer blocks on a multiprocessor. Each tiled kernel is
compared with the plain kernel with the same blocks.
"""

from collections.abc import Iterator
from functools import partial

from course_pkg.bench import Measurement
from course_pkg.core import Library
from course_pkg.stencil.variants import VARIANTS

CUDA = Library.NUMBA_CUDA
# threads along x, y and z; 256 to 1024 of them
TILES_3D = (
    (32, 4, 2), (32, 2, 4), (32, 4, 4), (32, 8, 2), (32, 8, 4), (32, 4, 8), (16, 8, 8), (16, 16, 4), (64, 4, 2),
    (64, 4, 4), (8, 8, 8),
)  # fmt: skip
TILES_2D = (
    (32, 8), (32, 16), (32, 32), (16, 16), (64, 4), (64, 8), (64, 16), (128, 2), (128, 4), (128, 8), (256, 2), (256, 4),
)  # fmt: skip
BOX = VARIANTS["laplacian_flat"], VARIANTS["laplacian_tiled"]
PLATE = VARIANTS["diffusion_step_2d"], VARIANTS["diffusion_step_2d_tiled"]


def chosen(pair, tiles, measured: set = frozenset()) -> Iterator[tuple]:
    """Yield a variant, the function that launches it and its parameter, for each tile.

    Parameters
    ----------
    pair : tuple of Variant
        The plain variant and the tiled one.
    measured : set of tuple
        Blocks with which the plain variant is measured elsewhere. They are skipped here, so that no measurement is
        recorded twice.
    """
    plain, tiled = pair
    for tile in tiles:
        for variant in (plain, tiled):
            if variant is tiled or tile not in measured:
                launch = partial(variant.function(CUDA), threads_per_block=tile)
                yield variant, launch, {"threads_per_block": list(tile)}


def of(measurements: list[Measurement], pair) -> Iterator[tuple]:
    """Yield block, plain and tiled measurement for each block of threads with which both were measured."""
    found = {
        (m.variant, tuple(m.parameters["threads_per_block"])): m
        for m in measurements
        if m.operation == pair[0].operation and "threads_per_block" in m.parameters and m.library == CUDA
    }
    plain, tiled = pair
    for name, tile in list(found):
        if name == tiled.name and (plain.name, tile) in found:
            yield tile, found[plain.name, tile], found[name, tile]
