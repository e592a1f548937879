"""Bytes, flops and launches of the product with a matrix in two precisions, and when that pays.

``nnz`` is the number of all nonzeros, ``low`` that of the ones in float32. Column indices, row pointers and row numbers
have 4 bytes; x and y have ``dtype``. As in ``cost.py``, each kernel reads each of its arrays once: two kernels read x
twice.
"""

import numpy as np

from course_pkg.core import Cost

HIGH, LOW, INDEX = 8, 4, 4  # bytes
LAUNCHES = {"rows_together": 1, "rows_apart": 2, "entries_together": 1, "entries_apart": 2}


def splitting_rows_together(n: int, nnz: int, dtype="float64", low: int = 0) -> Cost:
    """Cost of one kernel that takes rows of both precisions: two lists of row pointers, and the rows' numbers.

    Examples
    --------
    >>> splitting_rows_together(n=1000, nnz=7000, low=7000).bytes, splitting_rows_together(n=1000, nnz=7000).bytes
    (80008, 108008)
    """
    return _product(n, nnz, dtype, low, x_reads=1, pointers=n + 2, more=INDEX * n)


def splitting_rows_apart(n: int, nnz: int, dtype="float64", low: int = 0) -> Cost:
    """Cost of a kernel for each precision; both read x.

    Examples
    --------
    >>> splitting_rows_apart(1000, 7000, low=6000).bytes - splitting_rows_together(1000, 7000, low=6000).bytes
    8000
    """
    return _product(n, nnz, dtype, low, x_reads=2, pointers=n + 2, more=INDEX * n)


def splitting_entries_together(n: int, nnz: int, dtype="float64", low: int = 0) -> Cost:
    """Cost of one kernel that adds up both parts of a row: each part has row pointers of its own.

    Examples
    --------
    >>> splitting_entries_together(n=1000, nnz=7000, low=6000).bytes
    84008
    """
    return _product(n, nnz, dtype, low, x_reads=1, pointers=2 * (n + 1))


def splitting_entries_apart(n: int, nnz: int, dtype="float64", low: int = 0) -> Cost:
    """Cost of ``y = A_high x`` and then ``y += A_low x``: the second kernel reads x again, and y, and writes y again.

    Examples
    --------
    >>> splitting_entries_apart(1000, 7000, low=6000).bytes - splitting_entries_together(1000, 7000, low=6000).bytes
    24000
    """
    y = np.dtype(dtype).itemsize * n
    once = _product(n, nnz, dtype, low, x_reads=2, pointers=2 * (n + 1))
    again = Cost(bytes_read=y, bytes_written=y, flops=n)
    return (once + again).with_fields(unknown_bytes=0, known_bytes=once.known_bytes)


def expected_s(cost: Cost, launches: int, bandwidth_gb_s: float, launch_s: float) -> float:
    """Return the time in seconds that a memory-bound product is expected to take.

    Each launch costs ``launch_s`` before its first byte moves, so a small matrix gains nothing from fewer bytes, if it
    takes a second launch to move them.

    Parameters
    ----------
    cost : Cost
    launches : int
        Kernels that run one after the other.
    bandwidth_gb_s : float
        Of a copy, in GB/s.
    launch_s : float
        Shortest time in seconds from one launch to the next.

    Examples
    --------
    >>> one, two = splitting_entries_together(1000, 50_000), splitting_entries_apart(1000, 50_000, low=50_000)
    >>> two.bytes < one.bytes
    True
    >>> expected_s(two, 2, 4000, 3e-6) > expected_s(one, 1, 4000, 3e-6)  # small: the launch decides
    True
    """
    return launches * launch_s + cost.bytes / (bandwidth_gb_s * 1e9)


def _product(n, nnz, dtype, low, *, x_reads, pointers, more=0):
    """Return the cost of a product; its A_eff is that of the matrix in these precisions, x and y, each moved once."""
    vector = np.dtype(dtype).itemsize * n
    matrix = (HIGH + INDEX) * (nnz - low) + (LOW + INDEX) * low + INDEX * pointers + more
    return Cost(
        bytes_read=matrix + x_reads * vector,
        bytes_written=vector,
        flops=2 * nnz,
        known_bytes=matrix + 2 * vector,
    )
