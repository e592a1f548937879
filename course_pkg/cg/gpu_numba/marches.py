"""How threads march through a grid: the threads of a block, the planes of a thread, and the order of the blocks.

The planes where two chunks of planes meet are read twice. Blocks start in the order of their numbers: along x, then
along y as far as a *strip* reaches, then the next chunk of the same strip, then the next strip. In a narrow strip a
chunk begins soon after the one below it has ended, and finds the planes where they meet in the L2 cache. Two strips
share the rows where they meet, which are few.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.limits import MOST_BLOCKS_ALONG

LINE_BYTES = 128  # of a cache line
THREADS_MARCHING, NARROWEST, WIDEST = 512, 32, 128  # of a block: in all, and along x
WHOLE = 2**16  # a strip as wide as any grid: chunk after chunk of the whole grid
AT_ONCE = 264  # blocks of 512 threads with 56 registers that an H200 or H100 runs at the same time
SMALL_PLANE = 2**20  # bytes


def row_pitch(nx: int, dtype) -> int:
    """Return how many elements a row takes so that each begins with a cache line.

    Where rows begin anywhere, two warps share a line, and kernels that update fields in place suffer from it.

    Examples
    --------
    >>> row_pitch(250, "float64")
    256
    """
    line = LINE_BYTES // np.dtype(dtype).itemsize
    return -(-nx // line) * line


@dataclass(frozen=True)
class March:
    """How the threads of a launch, two points each, march along z.

    Attributes
    ----------
    block : (x, y, 1)
        Threads of a block.
    planes : int
        Planes that a thread takes.
    strip : int
        Blocks along y of a strip, a power of two.

    Examples
    --------
    >>> march = March((32, 16, 1), planes=8).on((5, 64, 64))
    >>> march.planes, march.strip  # no more planes, and no wider strip, than the grid has
    (5, 4)
    """

    block: tuple[int, int, int]
    planes: int
    strip: int = WHOLE

    def on(self, shape) -> "March":
        """Return this march cut to a grid (nz, ny, nx): no more planes, and no wider strip, than the grid has.

        Raises
        ------
        CourseError
            If CUDA cannot launch as many blocks.
        """
        nz, ny, _ = shape
        planes, rows = min(self.planes, nz), -(-ny // self.block[1])
        strip = min(self.strip, 1 << (rows - 1).bit_length())
        chunks, most = -(-nz // planes), MOST_BLOCKS_ALONG[1]
        while strip > 1 and chunks * strip > most:
            strip //= 2
        if chunks * strip > most or -(-rows // strip) > most:
            raise CourseError(
                f"A grid of {nz} x {ny} planes and rows takes more blocks than CUDA allows ({most} along y and z): lay "
                "the longest direction along x, or divide the grid between several GPUs."
            )
        return March(self.block, planes, strip)

    @property
    def shift(self) -> int:
        """Logarithm of the strip to base 2: kernels shift by it instead of dividing."""
        return self.strip.bit_length() - 1

    def blocks(self, shape) -> tuple[int, int, int]:
        """Return the blocks that cover a grid: along x, chunks times the blocks of a strip, strips."""
        nz, ny, nx = shape
        pairs, rows = -(-nx // 2), -(-ny // self.block[1])
        return -(-pairs // self.block[0]), -(-nz // self.planes) * self.strip, -(-rows // self.strip)


def march_for(shape, *, threads=THREADS_MARCHING, widest=WIDEST, planes=8, strip=WHOLE) -> March:
    """Return a march whose blocks fit the rows of a grid (nz, ny, nx).

    Examples
    --------
    >>> march_for((250, 250, 250)).block
    (128, 4, 1)
    """
    pairs, width = -(-shape[-1] // 2), NARROWEST
    while width < min(pairs, widest):
        width *= 2
    return March((width, threads // width, 1), planes, strip).on(shape)


@dataclass(frozen=True)
class Marches:
    """The marches of the kernels of a solve, each tried on an H200.

    Attributes
    ----------
    stencil : March
        Of kernels with one field around a point, and no field updated beside it.
    two_fields : March
        Of the map and stencil in one kernel.
    search, advance, deferred : March
        Of the two kernels of the two-kernel method; ``deferred`` is that of the second where x waits.

    Examples
    --------
    >>> march = Marches.on((64, 64, 64), itemsize=8).search
    >>> march.block, march.blocks((64, 64, 64))
    ((32, 16, 1), (1, 256, 1))
    """

    stencil: March
    two_fields: March
    search: March
    advance: March
    deferred: March

    @classmethod
    def on(cls, shape, itemsize: int) -> "Marches":
        """Choose by the size of a plane.

        A small plane stays in the L2 cache until the next chunk reads it: short chunks keep the GPU full. The search,
        whose threads have many bytes on their way, does better by few long chunks that all run at once. Where planes
        are large, narrow strips do what small planes do by themselves.
        """
        nz, ny, nx = shape
        if ny * nx * itemsize <= SMALL_PLANE:
            short = march_for(shape, widest=WIDEST // 2, planes=4)
            wide = march_for(shape, planes=3)
            columns = prod(wide.blocks((1, ny, nx)))
            search = march_for(shape, planes=-(-nz // max(1, AT_ONCE // columns)))
            return cls(short, wide, search, wide, wide)

        def narrow(planes, strip):
            return march_for(shape, widest=WIDEST // 2, planes=planes, strip=strip)

        return cls(narrow(8, 32), narrow(6, 32), narrow(16, 32), narrow(3, 64), narrow(6, 32))
