"""How threads march through a grid: the threads of a block, the planes of a thread, and the order of the blocks.

Each thread computes a chunk of planes. Where two chunks meet, planes are read twice. Blocks start in the order of their
numbers: first along x, then along y within a *strip* of the grid, then the next chunk of the same strip, then the next
strip. In a narrow strip, a chunk starts soon after the chunk below it has ended, so the planes where they meet are
still in the L2 cache. The rows where two strips meet are also read twice, but they are few.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.limits import MOST_BLOCKS_ALONG

LINE_BYTES = 128  # of a cache line
THREADS_MARCHING, NARROWEST, WIDEST = 512, 32, 128  # threads of a block; least and most of them along x
WHOLE = 2**16  # blocks along y of a strip that is as wide as any grid
AT_ONCE = 264  # blocks (of 512 threads with 56 registers) that an H200 or H100 runs at once
SMALL_PLANE = 2**20  # bytes: up to this size, a plane stays in the L2 cache


def row_pitch(nx: int, dtype) -> int:
    """Return the pitch of rows of nx elements: each row begins at the start of a cache line.

    Otherwise, two warps would share cache lines, which slows down kernels that update fields in place.

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
        Number of planes that a thread computes.
    strip : int
        Number of blocks along y in a strip, a power of two.

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
        """Return this march limited to a grid (nz, ny, nx): its planes and strip are not larger than the grid.

        Raises
        ------
        CourseError
            If CUDA cannot launch so many blocks.
        """
        nz, ny, _ = shape
        planes, rows = min(self.planes, nz), -(-ny // self.block[1])
        strip = min(self.strip, 1 << (rows - 1).bit_length())
        chunks, most = -(-nz // planes), MOST_BLOCKS_ALONG[1]
        while strip > 1 and chunks * strip > most:
            strip //= 2
        if chunks * strip > most or -(-rows // strip) > most:
            raise CourseError(
                f"A grid of {nz} planes of {ny} rows needs more blocks than CUDA allows ({most} along y and "
                "z): let x be the longest direction, or divide the grid between several GPUs."
            )
        return March(self.block, planes, strip)

    @property
    def shift(self) -> int:
        """Logarithm of ``strip`` to base 2: kernels shift by it, because a division needs more registers."""
        return self.strip.bit_length() - 1

    def blocks(self, shape) -> tuple[int, int, int]:
        """Return the grid of blocks (x, y, z): blocks along x, chunks times the blocks of a strip, number of strips."""
        nz, ny, nx = shape
        pairs, rows = -(-nx // 2), -(-ny // self.block[1])
        return -(-pairs // self.block[0]), -(-nz // self.planes) * self.strip, -(-rows // self.strip)


def march_for(shape, *, threads=THREADS_MARCHING, widest=WIDEST, planes=8, strip=WHOLE) -> March:
    """Return a march whose blocks have a width along x that suits the rows of a grid (nz, ny, nx).

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
    """The marches of the kernels of a solve. Each was chosen by measurements on an H200.

    Attributes
    ----------
    stencil : March
        For kernels that read one field at neighbouring points and update none.
    two_fields : March
        For the kernel of map and stencil.
    search, advance, deferred : March
        For the two kernels of the two-kernel method; ``deferred`` is for the second one if x is deferred.

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
    def on(cls, shape, itemsize: int, at_once: int = AT_ONCE) -> "Marches":
        """Choose the marches by the size of a plane.

        A small plane stays in the L2 cache until the next chunk reads it, so chunks can be short, which keeps the GPU
        full. The search kernel is an exception: its threads have many bytes in flight, so it is faster with few long
        chunks that all run at the same time, in ``at_once`` blocks. If planes are large, narrow strips do the same.
        """
        nz, ny, nx = shape
        if ny * nx * itemsize <= SMALL_PLANE:
            short = march_for(shape, widest=WIDEST // 2, planes=4)
            wide = march_for(shape, planes=3)
            columns = prod(wide.blocks((1, ny, nx)))
            search = march_for(shape, planes=-(-nz // max(1, at_once // columns)))
            return cls(short, wide, search, wide, wide)

        def narrow(planes, strip):
            return march_for(shape, widest=WIDEST // 2, planes=planes, strip=strip)

        return cls(narrow(8, 32), narrow(6, 32), narrow(16, 32), narrow(3, 64), narrow(6, 32))
