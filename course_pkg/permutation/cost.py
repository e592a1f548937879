"""Bytes of permutations. They compute nothing: there are no flops.

``n`` is the number of elements or rows, ``nnz`` the number of entries of a matrix, ``dtype`` that of the numbers, and
``index`` that of ``perm``; row pointers and columns are int32. Each byte that is used counts once. The order of the
accesses does not change this number, but it does change the number of sectors that move.
"""

import numpy as np

from course_pkg.core import Cost


def permute_vector(n: int, dtype="float64", index="int32") -> Cost:
    """Cost of ``out[i] = x[perm[i]]``: ``perm`` and x are read, out is written.

    Examples
    --------
    >>> permute_vector(1000).bytes_read, permute_vector(1000).bytes_written
    (12000, 8000)
    """
    size = n * np.dtype(dtype).itemsize
    return Cost(bytes_read=size + n * np.dtype(index).itemsize, bytes_written=size)


def unpermute_vector(n: int, dtype="float64", index="int32") -> Cost:
    """Cost of ``out[perm[i]] = x[i]``: the same bytes as a gather.

    If a kernel writes only a part of a sector, the GPU may have to fetch the sector first. This is not counted here.

    Examples
    --------
    >>> unpermute_vector(1000) == permute_vector(1000)
    True
    """
    return permute_vector(n, dtype, index)


def permute_rows(n: int, nnz: int, dtype="float64", index="int32") -> Cost:
    """Cost of ``P A``: one sweep over the row pointers for the lengths of rows, and one over the matrix.

    The first sweep reads ``perm`` and the row pointers, and writes the lengths. The second sweep reads ``perm``, the
    matrix and the new row pointers, and writes columns and numbers. The sums of the lengths, which are computed on the
    host, are not counted.

    Examples
    --------
    >>> permute_rows(1000, 7000).bytes / (12 * 7000)  # 2 times the entries, and the row pointers
    2.28...
    """
    perm, pointers, entries = n * np.dtype(index).itemsize, 4 * (n + 1), nnz * (4 + np.dtype(dtype).itemsize)
    lengths = Cost(bytes_read=perm + pointers, bytes_written=4 * n)
    return lengths + Cost(bytes_read=perm + 2 * pointers + entries, bytes_written=entries)


def permute_symmetric(n: int, nnz: int, dtype="float64", index="int32") -> Cost:
    """Cost of ``P A Pᵀ``: that of ``P A``, plus computing the inverse of ``perm`` and reading it for the columns.

    Examples
    --------
    >>> permute_symmetric(1000, 7000).bytes - permute_rows(1000, 7000).bytes
    12000
    """
    inverse = Cost(bytes_read=n * np.dtype(index).itemsize, bytes_written=4 * n)
    return inverse + permute_rows(n, nnz, dtype, index) + Cost(bytes_read=4 * n)
