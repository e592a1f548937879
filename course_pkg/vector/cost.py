"""Bytes and flops of the streaming operations, sums and transpose. Each input is read once, each output written once.

``n`` is the number of elements, ``shape`` the shape (ny, nx) of an array, ``dtype`` anything that ``numpy.dtype``
takes. A pass is the traffic of one array, read or written.
"""

from math import prod

import numpy as np

from course_pkg.core import Cost


def copy(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a``.

    Examples
    --------
    >>> copy(1000).bytes
    16000
    """
    return _stream(n, dtype, reads=1, writes=1, flops=0)


def copy_strided(n: int, stride: int, dtype="float64") -> Cost:
    """Cost of ``out[i] = a[stride * i]``. Only used bytes count, so the cost does not depend on the stride.

    Memory also moves unused bytes that lie between the used ones. They do not count here.

    Examples
    --------
    >>> copy_strided(1000, stride=4) == copy(1000)
    True
    """
    return copy(n, dtype)


def scale(n: int, dtype="float64") -> Cost:
    """Cost of ``out = s * a``.

    Examples
    --------
    >>> scale(1000, "float32").bytes, scale(1000).flops
    (8000, 1000)
    """
    return _stream(n, dtype, reads=1, writes=1, flops=1)


def add(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a + b``.

    Examples
    --------
    >>> add(1000).bytes_read, add(1000).bytes_written
    (16000, 8000)
    """
    return _stream(n, dtype, reads=2, writes=1, flops=1)


def triad(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a + s * b``.

    Examples
    --------
    >>> triad(1000).bytes, triad(1000).flops
    (24000, 2000)
    """
    return _stream(n, dtype, reads=2, writes=1, flops=2)


def triad_two_passes(n: int, dtype="float64") -> Cost:
    """Cost of NumPy's triad: ``out = s * b`` is written, then read again for ``out += a``.

    Examples
    --------
    >>> triad_two_passes(1000).bytes / triad(1000).bytes
    1.6666666666666667
    """
    two_passes = scale(n, dtype) + add(n, dtype)
    return two_passes.with_fields(unknown_bytes=0, known_bytes=triad(n, dtype).bytes)


def dot(n: int, dtype="float64") -> Cost:
    """Cost of the inner product: both vectors are read once. The partial sums of the blocks are not counted.

    Examples
    --------
    >>> dot(1000).bytes_read, dot(1000).bytes_written
    (16000, 0)
    """
    return _stream(n, dtype, reads=2, writes=0, flops=2)


def horner(n: int, degree: int, dtype="float64") -> Cost:
    """Cost of the polynomial: the traffic of a copy, and ``degree`` multiply-adds per element.

    Examples
    --------
    >>> horner(1000, degree=8).bytes == copy(1000).bytes, horner(1000, degree=8).flops
    (True, 16000)
    """
    return _stream(n, dtype, reads=1, writes=1, flops=2 * degree)


def reduce_sum(n: int, dtype="float64") -> Cost:
    """Cost of the sum: the vector is read once. The one number that is written is not counted.

    Examples
    --------
    >>> reduce_sum(1000).bytes
    8000
    """
    return _stream(n, dtype, reads=1, writes=0, flops=1)


def reduce_sum_tree(n: int, threads_per_block: int, dtype="float64") -> Cost:
    """Cost of the sum with one element per thread: each block writes its sum, and the next launch reads it.

    With 256 threads per block this is 1.008 passes in float64, and 1.016 in float32, because the sums are float64.

    Examples
    --------
    >>> reduce_sum_tree(2**20, 256).redundancy  # passes over the vector
    1.0078...
    """
    sums = 8 * sums_kept(n, threads_per_block)
    fewest = reduce_sum(n, dtype)
    whole = fewest + Cost(bytes_read=sums, bytes_written=sums)
    return whole.with_fields(unknown_bytes=0, known_bytes=fewest.bytes)


def sums_kept(n: int, threads_per_block: int) -> int:
    """Return how many partial sums all launches together write; each launch adds up those of the launch before.

    Examples
    --------
    >>> sums_kept(2**20, 256)  # 4096 sums, then 16; the third launch writes the result
    4112
    """
    kept, blocks = 0, -(-n // threads_per_block)
    while blocks > 1:
        kept, blocks = kept + blocks, -(-blocks // threads_per_block)
    return kept


def cumsum_columns(shape: tuple[int, int], dtype="float64") -> Cost:
    """Cost of the cumulative sum along y: one pass for reading and one for writing, in any order of accesses.

    Examples
    --------
    >>> cumsum_columns((1000, 500)).bytes
    8000000
    """
    return _stream(prod(shape), dtype, reads=1, writes=1, flops=1)


def cumsum_rows(shape: tuple[int, int], dtype="float64") -> Cost:
    """Cost of the cumulative sum along x: two passes, as along y. What strided accesses waste is not counted.

    Examples
    --------
    >>> cumsum_rows((1000, 500)) == cumsum_columns((1000, 500))
    True
    """
    return cumsum_columns(shape, dtype)


def transpose(shape: tuple[int, int], dtype="float64") -> Cost:
    """Cost of the transpose: two passes, as for a copy. What strided accesses waste is not counted.

    Examples
    --------
    >>> transpose((1000, 500)) == copy(500_000)
    True
    """
    return copy(prod(shape), dtype)


def chase(steps: int) -> Cost:
    """Cost of a chain of loads: four useful bytes per step. It is bound by latency, and far from any bandwidth.

    Examples
    --------
    >>> chase(1000).bytes
    4000
    """
    return Cost(bytes_read=4 * steps)


def _stream(n, dtype, *, reads, writes, flops):
    size = n * np.dtype(dtype).itemsize
    return Cost(bytes_read=reads * size, bytes_written=writes * size, flops=flops * n)
