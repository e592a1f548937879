"""Sizes of launches: the blocks that cover an array, and the limits of CUDA; host code only."""

from math import prod

from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.core.limits import MOST_BLOCKS_ALONG, MOST_THREADS, MOST_THREADS_ALONG, SHARED_BYTES

BLOCK_EXAMPLES = {2: "two numbers, such as (32, 8)", 3: "three numbers, such as (32, 4, 2)"}


def blocks_for(shape, threads_per_block, *, planes=None, width=1):
    """Return the blocks along x, y and z that cover an array, with one thread per element.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array in NumPy's order: x comes last.
    threads_per_block : int or tuple of int
        Threads along x, y and z, in CUDA's order; as many numbers as ``shape`` has.
    planes : int, optional
        Number of planes (in two dimensions, rows) through which a thread marches.
    width : int
        Number of elements along x that a thread computes.

    Returns
    -------
    int or tuple of int
        One number if ``shape`` is one number.

    Raises
    ------
    CourseError
        If CUDA cannot launch so many blocks.

    Examples
    --------
    >>> blocks_for(1000, 256)
    4
    >>> blocks_for((64, 64, 60), (32, 4, 2))
    (2, 16, 32)
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    block = (threads_per_block,) if isinstance(threads_per_block, int) else tuple(threads_per_block)
    steps = [block[0] * width, *block[1:]]
    steps[-1] = int(planes or steps[-1])
    blocks = tuple(-(-n // step) for n, step in zip(reversed(sizes), steps, strict=True))
    for direction, count, most in zip("xyz", blocks, MOST_BLOCKS_ALONG, strict=False):
        if count > most:
            raise CourseError(
                f"{shape} points need {count} blocks along {direction}, but CUDA allows {most}: choose larger blocks "
                "or longer marches, or let x be the longest direction."
            )
    return blocks[0] if isinstance(shape, int) else blocks


def check_block(threads_per_block, ndim: int = 3) -> tuple[int, ...]:
    """Check and return the threads of a block along x, y (and z).

    Raises
    ------
    CourseError
        If they are not ``ndim`` numbers, or CUDA does not allow such a block.

    Examples
    --------
    >>> check_block([32, 8], ndim=2)
    (32, 8)
    """
    if not isinstance(threads_per_block, (tuple, list)) or len(threads_per_block) != ndim:
        raise CourseError(f"threads_per_block is {threads_per_block!r}: pass {BLOCK_EXAMPLES[ndim]}.")
    require_count(**{f"threads_per_block[{d}]": n for d, n in enumerate(threads_per_block)})
    block = tuple(int(n) for n in threads_per_block)
    if min(block) < 1 or prod(block) > MOST_THREADS or (ndim == 3 and block[2] > MOST_THREADS_ALONG[2]):
        along_z = f", at most {MOST_THREADS_ALONG[2]} of them along z" if ndim == 3 else ""
        raise CourseError(f"threads_per_block is {block}: a block has 1 to {MOST_THREADS} threads{along_z}.")
    return block


def check_tile(block, halo, dtype, *, padding=0) -> None:
    """Check that a block's tile fits in static shared memory.

    Parameters
    ----------
    block : tuple of int
        Threads along x, y and z; the tile has one element per thread, and the halo around them.
    halo : int
        Elements added on each side.
    dtype : numpy.dtype
    padding : int
        Elements added to each row.

    Raises
    ------
    CourseError
        If it does not fit; the message says how many bytes it needs, and how many a block may have.

    Examples
    --------
    >>> import numpy as np
    >>> check_tile((32, 8), halo=1, dtype=np.dtype("float64"))
    >>> check_tile((32, 32, 1), halo=2, dtype=np.dtype("float64"))
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: The tile of a block of 32 × 32 × 1 threads needs 51840 bytes ...
    """
    sides = [n + 2 * halo for n in block]
    sides[0] += padding
    needed = prod(sides) * dtype.itemsize
    if needed > SHARED_BYTES:
        raise CourseError(
            f"The tile of a block of {' × '.join(map(str, block))} threads needs {needed} bytes of shared "
            f"memory, but a block has {SHARED_BYTES}: choose a smaller "
            f"block{', halo or padding' if halo > 1 or padding else ''}."
        )
