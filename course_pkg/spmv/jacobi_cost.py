"""Bytes and flops of a step of Jacobi's method in its three forms, and of the four ways to swap two precisions.

``n`` is the number of rows and ``nnz`` that of the nonzeros of the matrix that is multiplied: for Jacobi's method of E,
which has no diagonal. Column indices and row pointers have 4 bytes. Each array is read once per kernel: x, too, though
several rows read each of its elements (``x_footprint`` of the topic permutation counts how often sectors of x are
fetched).
"""

import numpy as np

from course_pkg.core import Cost
from course_pkg.core.access import SECTOR_BYTES, WARP

INDEX = 4  # bytes of a column index, a row pointer, or an entry of a permutation
DOUBLE, SINGLE = 8, 4


def jacobi_plain(n: int, nnz: int, dtype="float64") -> Cost:
    """Cost of ``out = (b - E x) / d``: E, d, b and x are read, out is written.

    Examples
    --------
    >>> step = jacobi_plain(n=1000, nnz=6000)
    >>> step.bytes, step.flops, step.redundancy
    (108004, 14000, 1.0)
    """
    itemsize = np.dtype(dtype).itemsize
    matrix = _csr(n, nnz, itemsize)
    return Cost(
        bytes_read=matrix + 3 * itemsize * n,
        bytes_written=itemsize * n,
        flops=2 * nnz + 2 * n,
        unknown_bytes=itemsize * n,
        known_bytes=matrix + 2 * itemsize * n,
    )


def jacobi_symmetric(n: int, nnz: int, dtype="float64") -> Cost:
    """Cost of a step in the symmetric form, which is that of the plain one: x is permuted before the first step.

    Examples
    --------
    >>> jacobi_symmetric(n=1000, nnz=6000) == jacobi_plain(n=1000, nnz=6000)
    True
    """
    return jacobi_plain(n, nnz, dtype)


def jacobi_row_permuted(n: int, nnz: int, dtype="float64") -> Cost:
    """Cost of ``out[rows] = (b - E x) / d``: as the plain form, and the permutation is read.

    The bytes of out are those that are written. If the permutation scatters them, whole sectors move:
    :func:`scattered_sectors` counts these.

    Examples
    --------
    >>> jacobi_row_permuted(n=1000, nnz=6000).bytes - jacobi_plain(n=1000, nnz=6000).bytes
    4000
    """
    plain = jacobi_plain(n, nnz, dtype)
    return Cost(**{**vars(plain), "bytes_read": plain.bytes_read + INDEX * n})


def scattered_sectors(rows, lanes: int, dtype="float64") -> int:
    """Count the sectors of out that the row-permuted step's stores touch, warp by warp.

    A warp computes ``32 / lanes`` rows and writes their results to ``out[rows[i]]``. If ``rows`` is the identity, this
    is the count of the plain form.

    Parameters
    ----------
    rows : ndarray of int, shape (n,)
        The permutation, in host memory.
    lanes : int
        Threads that share a row.

    Examples
    --------
    >>> rows = np.arange(64)
    >>> scattered_sectors(rows, lanes=1), scattered_sectors(rows.reshape(8, 8).T.reshape(-1), lanes=1)
    (16, 32)
    """
    per_warp, per_sector = WARP // lanes, SECTOR_BYTES // np.dtype(dtype).itemsize
    warp = np.arange(rows.size) // per_warp
    sector = np.asarray(rows, np.int64) // per_sector
    return int(np.unique(warp * (rows.size // per_sector + 1) + sector).size)


def swap_naive(n: int, nnz: int, dtype="float32") -> Cost:
    """Cost of ``y64 = A x32``, and a kernel that copies y64 to x32 and to x64; A's values have ``dtype``.

    Examples
    --------
    >>> swap_naive(n=1000, nnz=7000).bytes - swap_fused(n=1000, nnz=7000).bytes  # y64 is read, x64 is written
    16000
    """
    copy = Cost(bytes_read=DOUBLE * n, bytes_written=(DOUBLE + SINGLE) * n)
    return _swapped(n, _product(n, nnz, dtype, SINGLE) + copy)


def swap_cast(n: int, nnz: int, dtype="float32") -> Cost:
    """Cost of ``y64 = A float32(x64)``: there is no x32, so nothing is copied, but each gather reads 8 bytes.

    Examples
    --------
    >>> swap_cast(n=1000, nnz=7000).bytes == swap_fused(n=1000, nnz=7000).bytes  # 8 bytes, and 4 + 4
    True
    """
    return _swapped(n, _product(n, nnz, dtype, DOUBLE))


def swap_fused(n: int, nnz: int, dtype="float32") -> Cost:
    """Cost of ``y64 = A x32``, written to y32 as well by the same kernel.

    Examples
    --------
    >>> swap_fused(n=1000, nnz=7000).bytes_written
    12000
    """
    return _swapped(n, _product(n, nnz, dtype, SINGLE) + Cost(bytes_written=SINGLE * n))


def swap_hybrid(n: int, nnz: int, dtype="float32") -> Cost:
    """Cost of ``y64 = A x32``, and a kernel that copies y64 to x32; x64 and y64 are swapped by their pointers.

    Examples
    --------
    >>> swap_hybrid(n=1000, nnz=7000).bytes - swap_fused(n=1000, nnz=7000).bytes  # y64 is read again
    8000
    """
    copy = Cost(bytes_read=DOUBLE * n, bytes_written=SINGLE * n)
    return _swapped(n, _product(n, nnz, dtype, SINGLE) + copy)


def _csr(n, nnz, itemsize):
    return (itemsize + INDEX) * nnz + INDEX * (n + 1)


def _product(n, nnz, dtype, x_bytes):
    matrix = _csr(n, nnz, np.dtype(dtype).itemsize)
    return Cost(bytes_read=matrix + x_bytes * n, bytes_written=DOUBLE * n, flops=2 * nnz, known_bytes=matrix)


def _swapped(n, cost):
    """Return the cost with one A_eff for all ways: x is held in double precision, and everything else is overhead."""
    return cost.with_fields(unknown_bytes=DOUBLE * n, known_bytes=cost.known_bytes)
