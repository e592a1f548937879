"""Bytes and flops of updates: Q and every vector are read once. Bytes that strided accesses waste are not counted.

``n`` is the number of unknowns, ``active`` the number of those that are not 0, ``dtype`` anything that ``numpy.dtype``
takes. An entry of Q costs four flops: a multiplication and an addition for each of two sums. Choosing the larger of two
numbers does not count as a flop.
"""

from math import ceil, inf

import numpy as np

from course_pkg.core import Cost

DRAM_PIECE_BYTES = 64  # memory of these GPUs answers by two sectors
FLOPS = 14  # flops of a row after its two sums: for the ratio, F_i, and the shift


def update(n: int, dtype="float64") -> Cost:
    """Cost of one update: Q, h, the shift and x are read; the new x and the parts F_i are written.

    Examples
    --------
    >>> update(1000).bytes_read, update(1000).bytes_written
    (8024000, 16000)
    >>> round(update(16384).intensity, 2)  # flops per byte: memory decides
    0.5
    """
    return _updates(n, n, 0, dtype)


def update_active(n: int, active: int | None = None, dtype="float64") -> Cost:
    """Cost of one update that reads only rows and columns of unknowns that are not 0; by default, that is all.

    Examples
    --------
    >>> update_active(1000, active=100).bytes_read
    89600
    """
    return _updates(n, n if active is None else active, 0, dtype)


def update_compacted(n: int, active: int | None = None, dtype="float64") -> Cost:
    """Cost of :func:`update_active` plus reading a list, with x: 4 bytes for each unknown that is not 0.

    Examples
    --------
    >>> update_compacted(1000, active=100).bytes_read - update_active(1000, active=100).bytes_read
    400
    """
    return _updates(n, n if active is None else active, 4, dtype)


def pack(n: int, active: int | None = None, dtype="float64") -> Cost:
    """Cost of a dense copy of the rows and columns of ``active`` unknowns, with h and the shift; a list is read.

    Examples
    --------
    >>> pack(1000, active=100).bytes_read, pack(1000, active=100).bytes_written
    (82000, 81600)
    """
    listed, size = n if active is None else active, np.dtype(dtype).itemsize
    copied = size * (listed * listed + 2 * listed)
    return Cost(copied + 4 * listed, copied)


def update_packed(n: int, active: int | None = None, iterations: int = 1, dtype="float64") -> Cost:
    """Cost of updates on a dense copy that is there; x is gathered before the first, and spread after the last.

    Examples
    --------
    >>> update_packed(1000, active=100).bytes - update(100).bytes
    28000
    >>> often = update_packed(1000, active=100, iterations=10)
    >>> often.bytes - update_packed(1000, active=100).bytes == 9 * update(100).bytes
    True
    """
    listed, size = n if active is None else active, np.dtype(dtype).itemsize
    there_and_back = Cost(size * (n + 3 * listed) + 8 * listed, size * (2 * n + listed))
    return iterations * update(listed, dtype) + there_and_back


def moved_by_a_list(n: int, active: int, dtype="float64", piece_bytes: int = DRAM_PIECE_BYTES) -> float:
    """Return the bytes of Q that memory transfers for listed rows and columns at random places.

    Memory answers by whole pieces of ``piece_bytes``: a piece moves if one of its columns is listed.

    Examples
    --------
    >>> round(moved_by_a_list(1000, 100) / update(1000).bytes, 3)  # one entry in a hundred is used
    0.057
    """
    size = np.dtype(dtype).itemsize
    return size * n * active * (1 - (1 - active / n) ** (piece_bytes // size))


def updates_that_pay(n: int, active: int, dtype="float64") -> float:
    """Return how many updates a dense copy must serve, so that it moves no more bytes of Q than a list does.

    With L, the bytes that a list moves, and P, those of the copy: the copy costs L + P, and each update P instead of L.
    So k updates pay if ``L + P + k P ≤ k L``. It is infinite if the copy is no smaller than what a list moves.

    Examples
    --------
    >>> updates_that_pay(16384, 1638), updates_that_pay(16384, 8192), updates_that_pay(16384, 16384)
    (2, 4, inf)
    """
    by_list, copied = moved_by_a_list(n, active, dtype), active * active * np.dtype(dtype).itemsize
    return ceil((by_list + copied) / (by_list - copied)) if by_list > copied else inf


def update_batch(n: int, problems: int = 1, iterations: int = 1, dtype="float64") -> Cost:
    """Cost of updates of many problems, each with a Q that is read once for all iterations.

    Examples
    --------
    >>> once, often = update_batch(128, 4096), update_batch(128, 4096, iterations=100)
    >>> once.bytes == often.bytes, often.flops // once.flops
    (True, 100)
    """
    one = update(n, dtype)
    return Cost(
        problems * one.bytes_read,
        problems * one.bytes_written,
        problems * iterations * one.flops,
        problems * one.unknown_bytes,
        problems * one.known_bytes,
    )


def update_arrays(n: int, dtype="float64") -> Cost:
    """Cost of one update by whole arrays, which hold Q⁺ and Q⁻ as two matrices: twice the bytes.

    Examples
    --------
    >>> round(update_arrays(10_000).bytes / update(10_000).bytes, 2)
    2.0
    """
    return update(n, dtype) + Cost(bytes_read=n * n * np.dtype(dtype).itemsize)


def update_batch_arrays(n: int, problems: int = 1, iterations: int = 1, dtype="float64") -> Cost:
    """Cost of :func:`update_batch` by whole arrays: each iteration reads Q⁺ and Q⁻ of all problems again.

    Examples
    --------
    >>> update_batch_arrays(128, 4096, iterations=100) == 100 * 4096 * update_arrays(128)
    True
    """
    return problems * iterations * update_arrays(n, dtype)


def split_product(n: int, dtype="float64") -> Cost:
    """Cost of Q⁺x and Q⁻x together: Q and x are read, two vectors are written.

    Examples
    --------
    >>> split_product(1000).bytes
    8024000
    """
    size = np.dtype(dtype).itemsize
    return Cost(size * (n * n + n), 2 * size * n, 4 * n * n, size * n, size * n * n)


def split_product_listed(n: int, active: int | None = None, dtype="float64") -> Cost:
    """Cost of :func:`split_product` that reads only rows whose x_j is not 0, by a list with 4 bytes for each.

    Examples
    --------
    >>> split_product_listed(1000, active=100).bytes_read
    801200
    """
    listed, size = n if active is None else active, np.dtype(dtype).itemsize
    entries = listed * n
    read = size * (entries + listed) + 4 * listed
    return Cost(read, 2 * size * n, 4 * entries, size * listed, size * entries)


def split_product_arrays(n: int, dtype="float64") -> Cost:
    """Cost of :func:`split_product` by whole arrays, which hold Q⁺ and Q⁻ as two matrices.

    Examples
    --------
    >>> split_product_arrays(1000).bytes - split_product(1000).bytes
    8008000
    """
    return split_product(n, dtype) + Cost(bytes_read=np.dtype(dtype).itemsize * (n * n + n))


def apg(n: int, dtype="float64") -> Cost:
    """Cost of one iteration of accelerated projected gradients: one product Q x. Vectors are counted once each.

    Examples
    --------
    >>> apg(1000).bytes, apg(1000).flops
    (8032000, 2000000)
    """
    size = np.dtype(dtype).itemsize
    return Cost(size * (n * n + 3 * n), size * n, 2 * n * n, size * n, size * (n * n + n))


def apg_batch(n: int, problems: int = 1, iterations: int = 1, dtype="float64") -> Cost:
    """Cost of steps of many problems, each with a Q that is read once; ``iterations`` is the mean over the problems.

    Examples
    --------
    >>> once, often = apg_batch(128, 4096), apg_batch(128, 4096, iterations=250)
    >>> once.bytes == often.bytes, often.flops // once.flops
    (True, 250)
    """
    size = np.dtype(dtype).itemsize
    read, written = size * (n * n + n), size * (n + 1) + 4
    return Cost(problems * read, problems * written, round(problems * iterations * 2 * n * n))


def apg_batch_arrays(n: int, problems: int = 1, iterations: int = 1, dtype="float64") -> Cost:
    """Cost of :func:`apg_batch` by whole arrays: each step reads all Q again; ``iterations`` is the largest number.

    Examples
    --------
    >>> apg_batch_arrays(128, 4096, iterations=250) == 250 * 4096 * apg(128)
    True
    """
    return problems * iterations * apg(n, dtype)


def _updates(n, active, listed_bytes, dtype):
    size = np.dtype(dtype).itemsize
    entries, vectors = active * active, 2 * active + n  # of h, the shift, and x
    return Cost(
        bytes_read=size * (entries + vectors) + listed_bytes * active,
        bytes_written=2 * size * n,
        flops=4 * entries + FLOPS * active,
        unknown_bytes=size * n,
        known_bytes=size * (entries + 2 * active),
    )
