"""Bytes and flops of the product with a matrix in two precisions, and the time to expect.

``nonzeros`` counts all nonzeros, ``low`` those in float32; x and y have ``dtype``. Each kernel reads each of its arrays
once, so two kernels read x twice. A_eff counts the nonzeros in their precisions with their column indices, x, and y.
"""

import numpy as np

from course_pkg.core import Cost
from course_pkg.spmv.cost import INDEX

HIGH, LOW = 8, 4  # bytes of a value
LAUNCHES = {"rows_together": 1, "rows_apart": 2, "entries_together": 1, "entries_apart": 2}


def splitting_rows_together(rows, columns, nonzeros, dtype="float64", low=0) -> Cost:
    """Cost of one kernel for the rows of both precisions: it reads two arrays of row pointers and the rows' numbers.

    Examples
    --------
    >>> all_low, all_high = (splitting_rows_together(1000, 1000, 7000, low=low) for low in (7000, 0))
    >>> all_low.bytes, all_high.bytes
    (80008, 108008)
    """
    return _product(rows, columns, nonzeros, dtype, low, pointers=rows + 2 + rows)


def splitting_rows_apart(rows, columns, nonzeros, dtype="float64", low=0) -> Cost:
    """Cost of two kernels, one for each precision; both read x.

    Examples
    --------
    >>> size = (1000, 1000, 7000)
    >>> splitting_rows_apart(*size, low=6000).bytes - splitting_rows_together(*size, low=6000).bytes
    8000
    """
    return _product(rows, columns, nonzeros, dtype, low, pointers=rows + 2 + rows, x_reads=2)


def splitting_entries_together(rows, columns, nonzeros, dtype="float64", low=0) -> Cost:
    """Cost of one kernel that adds up both parts of a row; each part has its own row pointers.

    Examples
    --------
    >>> splitting_entries_together(1000, 1000, 7000, low=6000).bytes
    84008
    """
    return _product(rows, columns, nonzeros, dtype, low, pointers=2 * (rows + 1))


def splitting_entries_apart(rows, columns, nonzeros, dtype="float64", low=0) -> Cost:
    """Cost of ``y = A_high x``, then ``y = y + A_low x``: the second kernel reads x and y again, and writes y again.

    Examples
    --------
    >>> size = (1000, 1000, 7000)
    >>> splitting_entries_apart(*size, low=6000).bytes - splitting_entries_together(*size, low=6000).bytes
    24000
    """
    y = np.dtype(dtype).itemsize * rows
    once = _product(rows, columns, nonzeros, dtype, low, pointers=2 * (rows + 1), x_reads=2)
    again = Cost(bytes_read=y, bytes_written=y, flops=rows)
    return (once + again).with_fields(unknown_bytes=0, known_bytes=once.known_bytes)


def expected_s(cost: Cost, launches: int, bandwidth_gb_s: float, launch_s: float) -> float:
    """Return the time in seconds that a memory-bound product is expected to take.

    Each launch takes ``launch_s`` before its first byte moves. So for a small matrix, fewer bytes do not pay if they
    need a second launch.

    Parameters
    ----------
    cost : Cost
    launches : int
        Kernels that run one after the other.
    bandwidth_gb_s : float
        Bandwidth of a copy, in GB/s.
    launch_s : float
        Shortest time in seconds from one launch to the next.

    Examples
    --------
    >>> one = splitting_entries_together(1000, 1000, 50_000)
    >>> two = splitting_entries_apart(1000, 1000, 50_000, low=50_000)
    >>> two.bytes < one.bytes, expected_s(two, 2, 4000, 3e-6) > expected_s(one, 1, 4000, 3e-6)
    (True, True)
    """
    return launches * launch_s + cost.bytes / (bandwidth_gb_s * 1e9)


def _product(rows, columns, nonzeros, dtype, low, *, pointers, x_reads=1):
    itemsize = np.dtype(dtype).itemsize
    entries = (HIGH + INDEX) * (nonzeros - low) + (LOW + INDEX) * low
    moved = Cost(
        bytes_read=entries + INDEX * pointers + x_reads * itemsize * columns,
        bytes_written=itemsize * rows,
        flops=2 * nonzeros,
    )
    return moved.with_fields(unknown_bytes=0, known_bytes=entries + itemsize * (rows + columns))
