"""Bytes and flops of a step of Jacobi's method in its three forms.

``rows`` is the number of unknowns, and ``nonzeros`` is that of E, which has no diagonal. As in ``cost.py``, the costs
count every array once, x included; ``cost.gather`` counts how often parts of x are really fetched.
"""

from dataclasses import replace

import numpy as np

from course_pkg.core import Cost
from course_pkg.core.access import SECTOR_BYTES, WARP
from course_pkg.permutation.measures import distinct
from course_pkg.spmv.cost import INDEX, csr


def jacobi_plain(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of ``out = (b - E x) / d``: that of the product, plus the reads of d and b.

    Examples
    --------
    >>> step = jacobi_plain(rows=1000, nonzeros=6000)
    >>> step.bytes, step.flops, round(step.redundancy, 3)
    (108004, 14000, 1.038)
    """
    field = np.dtype(dtype).itemsize * rows
    product = csr(rows, rows, nonzeros, dtype)
    step = product + Cost(bytes_read=2 * field, flops=2 * rows)
    return step.with_fields(unknown_bytes=field, known_bytes=product.a_eff_bytes)


def jacobi_symmetric(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of a step in the symmetric form: the same as in the plain form, because x is permuted before the first step.

    Examples
    --------
    >>> jacobi_symmetric(rows=1000, nonzeros=6000) == jacobi_plain(rows=1000, nonzeros=6000)
    True
    """
    return jacobi_plain(rows, nonzeros, dtype)


def jacobi_row_permuted(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of ``out[rows] = (b - E x) / d``: that of the plain form, plus the reads of the permutation.

    For out, the cost counts the bytes that are written. If the permutation scatters them, more bytes move, because
    memory moves whole sectors; :func:`scattered_sectors` counts these.

    Examples
    --------
    >>> jacobi_row_permuted(rows=1000, nonzeros=6000).bytes - jacobi_plain(rows=1000, nonzeros=6000).bytes
    4000
    """
    plain = jacobi_plain(rows, nonzeros, dtype)
    return replace(plain, bytes_read=plain.bytes_read + INDEX * rows)


def jacobi_two_kernels(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of a step in two kernels: a library's product writes ``E x``, and a second kernel reads it again.

    Examples
    --------
    >>> jacobi_two_kernels(rows=1000, nonzeros=6000).bytes - jacobi_plain(rows=1000, nonzeros=6000).bytes
    16000
    """
    field, plain = np.dtype(dtype).itemsize * rows, jacobi_plain(rows, nonzeros, dtype)
    return replace(plain, bytes_read=plain.bytes_read + field, bytes_written=plain.bytes_written + field)


def jacobi_row_permuted_two_kernels(rows, nonzeros, dtype="float64") -> Cost:
    """Cost of the row-permuted step in two kernels: the second one also reads the permutation.

    Examples
    --------
    >>> jacobi_row_permuted_two_kernels(1000, 6000).bytes - jacobi_row_permuted(1000, 6000).bytes
    16000
    """
    two = jacobi_two_kernels(rows, nonzeros, dtype)
    return replace(two, bytes_read=two.bytes_read + INDEX * rows)


def with_scatter(cost: Cost, perm, lanes: int, dtype="float64") -> Cost:
    """Return the cost of a row-permuted step whose writes are whole sectors, as :func:`scattered_sectors` counts them.

    ``cost.with_gather`` does the same for the reads of x.

    Examples
    --------
    >>> once, perm = jacobi_row_permuted(64, 128), np.arange(64).reshape(16, 4).T.reshape(-1)
    >>> once.bytes_written, with_scatter(once, perm, lanes=1).bytes_written
    (512, 1024)
    """
    return replace(cost, bytes_written=SECTOR_BYTES * scattered_sectors(perm, lanes, dtype))


def scattered_sectors(perm, lanes: int, dtype="float64") -> int:
    """Count the sectors of out that the row-permuted step's stores touch, warp by warp.

    A warp computes ``32 / lanes`` rows and writes their results to ``out[perm[i]]``. If ``perm`` is the identity, this
    is the count of the plain form.

    Parameters
    ----------
    perm : ndarray of int, shape (rows,)
        The permutation, in host memory.
    lanes : int
        Threads that share a row.

    Examples
    --------
    >>> perm = np.arange(64)
    >>> scattered_sectors(perm, lanes=1), scattered_sectors(perm.reshape(16, 4).T.reshape(-1), lanes=1)
    (16, 32)
    """
    per_warp, per_sector = WARP // lanes, SECTOR_BYTES // np.dtype(dtype).itemsize
    warp = np.arange(perm.size) // per_warp
    sector = np.asarray(perm, np.int64) // per_sector
    return distinct(warp * (perm.size // per_sector + 1) + sector)
