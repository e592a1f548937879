"""Bytes and flops of the streaming operations, sums and transpose: each input read once, each output written once.

``n`` is the number of elements, ``shape`` that of an array (ny, nx), ``dtype`` anything that ``numpy.dtype`` takes.
A pass is the traffic of one array, read or written.
"""

from math import prod

import numpy as np

from course_pkg.core import Cost


def copy(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a``."""
    return _stream(n, dtype, reads=1, writes=1, flops=0)


def scale(n: int, dtype="float64") -> Cost:
    """Cost of ``out = s * a``."""
    return _stream(n, dtype, reads=1, writes=1, flops=1)


def add(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a + b``."""
    return _stream(n, dtype, reads=2, writes=1, flops=1)


def triad(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a + s * b``."""
    return _stream(n, dtype, reads=2, writes=1, flops=2)


def triad_two_passes(n: int, dtype="float64") -> Cost:
    """Cost of NumPy's triad: ``out = s * b`` is written, then read again for ``out += a``."""
    two_passes = scale(n, dtype) + add(n, dtype)
    return two_passes.with_fields(unknown_bytes=0, known_bytes=triad(n, dtype).bytes)


def dot(n: int, dtype="float64") -> Cost:
    """Cost of the inner product: both vectors are read, the partial sums of the blocks are not counted."""
    return _stream(n, dtype, reads=2, writes=0, flops=2)


def horner(n: int, degree: int, dtype="float64") -> Cost:
    """Cost of the polynomial: the traffic of a copy, and ``degree`` multiply-adds an element."""
    return _stream(n, dtype, reads=1, writes=1, flops=2 * degree)


def reduce_sum(n: int, dtype="float64") -> Cost:
    """Cost of the sum: one pass, read; the one number that is written is not counted."""
    return _stream(n, dtype, reads=1, writes=0, flops=1)


def reduce_sum_tree(n: int, threads_per_block: int, dtype="float64") -> Cost:
    """Cost of the sum with one element a thread: the blocks' sums are written, and read by the next launch.

    With 256 threads a block this is 1.008 passes in float64 and 1.016 in float32, the sums being float64.
    """
    sums = 8 * sums_kept(n, threads_per_block)
    fewest = reduce_sum(n, dtype)
    whole = fewest + Cost(bytes_read=sums, bytes_written=sums)
    return whole.with_fields(unknown_bytes=0, known_bytes=fewest.bytes)


def sums_kept(n: int, threads_per_block: int) -> int:
    """Return how many sums the blocks of all launches leave in memory, when each launch sums those of the last."""
    kept, blocks = 0, -(-n // threads_per_block)
    while blocks > 1:
        kept, blocks = kept + blocks, -(-blocks // threads_per_block)
    return kept


def cumsum_columns(shape: tuple[int, int], dtype="float64") -> Cost:
    """Cost of the cumulative sum along y: two passes, one read and one written, whatever the order of the elements."""
    return _stream(prod(shape), dtype, reads=1, writes=1, flops=1)


def cumsum_rows(shape: tuple[int, int], dtype="float64") -> Cost:
    """Cost of the cumulative sum along x: two passes, as along y; what a stride wastes beyond them is no cost of it."""
    return cumsum_columns(shape, dtype)


def transpose(shape: tuple[int, int], dtype="float64") -> Cost:
    """Cost of the transpose: two passes, as a copy; what a stride wastes beyond them is no cost of it."""
    return copy(prod(shape), dtype)


def _stream(n, dtype, *, reads, writes, flops):
    size = n * np.dtype(dtype).itemsize
    return Cost(bytes_read=reads * size, bytes_written=writes * size, flops=flops * n)
