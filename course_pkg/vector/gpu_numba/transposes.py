"""The transpose as CUDA kernels: a thread that reads along a row must write along a column.

No element is used twice, so shared memory does not save reads here. It changes the order of the elements, so that whole
sectors are written. A warp reads a column of the tile. If the rows of the tile are 32 elements apart, all elements of a
column lie in one bank (for doubles: one pair of banks for each half of a warp). ``padding`` adds unused columns to the
tile, so that each row begins in another bank than the row before (G. Ruetsch, P. Micikevicius, Optimizing Matrix
Transpose in CUDA, NVIDIA, 2009).
"""

from functools import cache

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.core.limits import MOST_BLOCKS_ALONG
from course_pkg.device.launch import blocks_for
from course_pkg.vector.checks import check_transpose

TILE = 32  # rows and columns of a tile: a warp takes one of its rows
ROWS = 8  # rows of threads; each takes every eighth row of a tile
BLOCK_TRANSPOSE = (TILE, ROWS)


@cuda.jit
def transpose_naive_kernel(a, out):
    """One element per thread: a warp reads 32 neighbours of a row, and writes 32 elements that lie a row apart."""
    x, y = cuda.grid(2)
    ny, nx = a.shape
    if x < nx and y < ny:
        out[x, y] = a[y, x]


def transpose_naive(a, out):
    """Compute ``out[x, y] = a[y, x]`` on the GPU, one element per thread; no synchronisation.

    With a perfect cache this is one read and one write per element. But a warp writes to 32 rows of ``out`` at a time,
    that is to 32 sectors, and fills one element of each.

    Examples
    --------
    >>> a, out = cuda.to_device(np.array([[1.0, 2.0, 3.0]])), cuda.device_array((3, 1))
    >>> transpose_naive(a, out); out.copy_to_host().T
    array([[1., 2., 3.]])
    """
    check_transpose(a, out, device=True)
    transpose_naive_kernel[_blocks(a.shape, ROWS), BLOCK_TRANSPOSE](a, out)


@cache
def transpose_tiled_kernel(padding):
    """Return the kernel whose tile has ``padding`` unused columns."""
    shape = TILE, TILE + padding

    @cuda.jit
    def transpose_tiled(a, out):
        """As the naive transpose, but through a tile in shared memory, so that warps read and write whole rows."""
        tile = cuda.shared.array(shape, a.dtype)
        ny, nx = a.shape
        left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        for first in range(0, TILE, ROWS):
            row = first + ty
            if left + tx < nx and top + row < ny:
                tile[row, tx] = a[top + row, left + tx]
        cuda.syncthreads()
        for first in range(0, TILE, ROWS):
            column = first + ty
            if left + column < nx and top + tx < ny:
                out[left + column, top + tx] = tile[tx, column]

    return transpose_tiled


def transpose_tiled(a, out, padding=1):
    """Compute ``out[x, y] = a[y, x]`` on the GPU by way of shared memory; one read and one write per element.

    Parameters
    ----------
    padding : int, 0 to 31
        Unused columns that are added to the tile. Without padding, all lanes of a warp (in float64, of half a warp)
        read a column from one bank; with a padding of 1, they read it from different banks.

    Examples
    --------
    >>> a, out = cuda.to_device(np.array([[1.0, 2.0, 3.0]])), cuda.device_array((3, 1))
    >>> transpose_tiled(a, out, padding=1); out.copy_to_host().T
    array([[1., 2., 3.]])
    """
    check_transpose(a, out, device=True)
    require_count(padding=padding)
    if padding >= TILE:
        raise CourseError(
            f"padding is {padding}: choose 0 to {TILE - 1}; {TILE} columns lead back to the same bank."
        )
    transpose_tiled_kernel(int(padding))[_blocks(a.shape, TILE), BLOCK_TRANSPOSE](a, out)


def _blocks(shape, rows):
    """Return the blocks along x and y that cover an array (ny, nx); a block covers 32 columns and ``rows`` rows."""
    most = MOST_BLOCKS_ALONG[1] * rows
    if shape[0] > most:
        raise CourseError(
            f"a has {shape[0]} rows, more than the blocks along y can cover: transpose at most {most} rows at a time."
        )
    return blocks_for(shape, (TILE, rows))
