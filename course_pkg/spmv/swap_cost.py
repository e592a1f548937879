"""Bytes and flops of an iteration in each of the four ways to swap x in two precisions.

``dtype`` is the precision of A's values. All ways have the same A_eff: the nonzeros with their column indices, and x
and y in float64, each moved once. Each kernel reads each of its arrays once.
"""

from dataclasses import replace

from course_pkg.core import Cost
from course_pkg.spmv.cost import csr

DOUBLE, SINGLE = 8, 4  # bytes


def swap_naive(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of ``y64 = A x32``, and a kernel that copies y64 to x32 and to x64.

    Examples
    --------
    >>> swap_naive(1000, 7000).bytes - swap_hybrid(1000, 7000).bytes  # x64 is written
    8000
    """
    copy = Cost(bytes_read=DOUBLE * rows, bytes_written=(DOUBLE + SINGLE) * rows)
    return _step(rows, nonzeros, dtype, x_bytes=SINGLE, more=copy)


def swap_cast(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of ``y64 = A float32(x64)``: there is no x32, so nothing is copied, but each gather reads 8 bytes.

    Examples
    --------
    >>> swap_cast(1000, 7000).bytes == swap_fused(1000, 7000).bytes  # x64 is read; or x32 read and y32 written
    True
    """
    return _step(rows, nonzeros, dtype, x_bytes=DOUBLE, more=Cost())


def swap_fused(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of ``y64 = A x32`` by a kernel that also writes y32.

    Examples
    --------
    >>> swap_fused(1000, 7000).bytes_written
    12000
    """
    return _step(rows, nonzeros, dtype, x_bytes=SINGLE, more=Cost(bytes_written=SINGLE * rows))


def swap_hybrid(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of ``y64 = A x32``, and a kernel that copies y64 to x32; x64 and y64 are swapped by their pointers.

    Examples
    --------
    >>> swap_hybrid(1000, 7000).bytes - swap_fused(1000, 7000).bytes  # y64 is read again
    8000
    """
    copy = Cost(bytes_read=DOUBLE * rows, bytes_written=SINGLE * rows)
    return _step(rows, nonzeros, dtype, x_bytes=SINGLE, more=copy)


def _step(rows, nonzeros, dtype, *, x_bytes, more):
    product = csr(rows, rows, nonzeros, "float64", values=dtype)
    moved = replace(product, bytes_read=product.bytes_read - (DOUBLE - x_bytes) * rows) + more
    return moved.with_fields(unknown_bytes=0, known_bytes=product.a_eff_bytes)
