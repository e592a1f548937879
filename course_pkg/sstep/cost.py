"""Bytes and flops of the operations of a pass, and of an iteration of each method.

Every vector of a block is read once and written once. ``n`` is the number of elements of a vector. The coefficients, at
most 65 × 65 numbers, and the blocks' parts of the sums are not counted: they stay in caches.

The cost of a method is the cost of one iteration of conjugate gradient: that of a pass divided by s. It assumes the
matrix-free Laplacian without a preconditioner, and that neighbours come from a cache.
"""

from math import prod

import numpy as np

from course_pkg.core import Cost
from course_pkg.spmv.cost import csr


def _sweep(n, reads, writes, flops, dtype) -> Cost:
    field = np.dtype(dtype).itemsize * n
    return Cost(int(reads * field), int(writes * field), int(flops * n))


def recurrence(n, terms=3, dtype="float64") -> Cost:
    """Cost of ``out = a (product - c current) - g previous``; ``terms`` is the number of vectors not multiplied by 0.

    Examples
    --------
    >>> recurrence(1000).bytes, recurrence(1000, terms=2).bytes
    (32000, 24000)
    """
    return _sweep(n, terms, 1, 2 * terms - 1, dtype)


def laplacian_recurrence(shape, terms=2, dtype="float64") -> Cost:
    """Cost of one sweep that computes the product with the Laplacian and the next vector.

    Parameters
    ----------
    shape : (nz, ny, nx)
    terms : int
        0 for the product alone, 1 without ``previous``, 2 with it.

    Examples
    --------
    >>> laplacian_recurrence((10, 10, 10)).bytes / 1000, laplacian_recurrence((10, 10, 10), terms=0).bytes / 1000
    (32.0, 16.0)
    """
    n = prod(shape)
    reads, writes, flops = ((1, 1, 0), (1, 2, 3), (2, 2, 5))[terms]
    inside = 7 * n - 2 * sum(n // side for side in shape)
    return _sweep(n, reads, writes, flops, dtype) + Cost(flops=inside)


def moments(n, s=4, dtype="float64") -> Cost:
    """Cost of 2 s + 1 sums of s + 2 vectors.

    Examples
    --------
    >>> moments(1000, s=4).bytes
    48000
    """
    return _sweep(n, s + 2, 0, 4 * s + 2, dtype)


def gram(n, s=4, first=False, dtype="float64") -> Cost:
    """Cost of the upper triangle of a Gram matrix: 4 s + 1 vectors, or 2 s + 1 in the ``first`` pass.

    Examples
    --------
    >>> gram(1000, s=4).bytes, gram(1000, s=4, first=True).bytes
    (136000, 72000)
    """
    m = s if first else 2 * s
    return _sweep(n, 2 * m + 1, 0, (m + 1) * (m + 2), dtype)


def update_block(n, s=4, dtype="float64") -> Cost:
    """Cost of a new block, and of x and r: 4 s + 2 vectors are read, and 2 s + 2 written.

    Examples
    --------
    >>> update_block(1000, s=4).bytes
    224000
    """
    return _sweep(n, 4 * s + 2, 2 * s + 2, 4 * s * s + 4 * s, dtype)


def project_block(n, s=4, dtype="float64") -> Cost:
    """Cost of a new block from all vectors of two blocks, and of x and r.

    It moves as many bytes as :func:`update_block`, but takes more than twice the flops.

    Examples
    --------
    >>> project_block(1000, s=4).bytes == update_block(1000, s=4).bytes
    True
    """
    return _sweep(n, 4 * s + 2, 2 * s + 2, 8 * s * s + 8 * s, dtype)


def moments_by_library(n, s=4, dtype="float64") -> Cost:
    """Cost of the sums by three calls of cuBLAS: two products of a matrix and a vector, and a dot product.

    Examples
    --------
    >>> moments_by_library(1000, s=4).bytes
    88000
    """
    return _sweep(n, 2 * (s + 1) + 1, 0, 4 * s + 2, dtype)


def gram_by_library(n, s=4, first=False, dtype="float64") -> Cost:
    """Cost of the Gram matrix by calls of cuBLAS: for each pair of halves a product, and products with r.

    Examples
    --------
    >>> gram_by_library(1000, s=4).bytes, gram_by_library(1000, s=4, first=True).bytes
    (280000, 112000)
    """
    products, vectors = (1, 1) if first else (3, 2)
    m = s if first else 2 * s
    return _sweep(n, 2 * s * products + (s + 1) * vectors + 1, 0, (m + 1) * (m + 2), dtype)


def update_block_by_library(n, s=4, dtype="float64") -> Cost:
    """Cost of the update by four calls of cuBLAS: the new block is read again for x and r.

    Examples
    --------
    >>> update_block_by_library(1000, s=4).bytes - update_block(1000, s=4).bytes  # 2 s vectors
    64000
    """
    return _sweep(n, 6 * s + 2, 2 * s + 2, 4 * s * s + 4 * s, dtype)


def project_block_by_library(n, s=4, dtype="float64") -> Cost:
    """Cost of the projection by eight calls of cuBLAS into a third block: both blocks are read again for x and r.

    Examples
    --------
    >>> project_block_by_library(1000, s=4).bytes / project_block(1000, s=4).bytes
    2.28...
    """
    return _sweep(n, 10 * s + 4, 4 * s + 4, 8 * s * s + 8 * s, dtype)


def pcg(n, dtype="float64") -> Cost:
    """Cost of an iteration of ``pcg``, one sweep per operation: a product, two dot products, three updates, a copy.

    Examples
    --------
    >>> pcg(1000).bytes / 1000
    144.0
    """
    return _sweep(n, 13, 5, 7 + 13, dtype)


def pfcg(n, dtype="float64") -> Cost:
    """Cost of an iteration of ``pfcg``: a copy, a product, the sums of five vectors, and one sweep of updates.

    Examples
    --------
    >>> pfcg(1000).bytes / 1000
    152.0
    """
    return _sweep(n, 2, 2, 7, dtype) + gram(n, 1, dtype=dtype) + update_block(n, 1, dtype)


def pcg_sstep_moments(n, s=4, dtype="float64") -> Cost:
    """Cost of an iteration of the method by moments: that of a pass divided by s.

    Examples
    --------
    >>> [round(pcg_sstep_moments(1000, s).bytes / 1000) for s in (1, 2, 4, 8)]
    [136, 108, 94, 87]
    """
    basis = _sweep(n, 1, 1, 0, dtype) + (s - 1) * _sweep(n, 1, 2, 10, dtype) + _sweep(n, 1, 1, 7, dtype)
    return _each(basis + moments(n, s, dtype) + update_block(n, s, dtype), s)


def pcg_sstep(n, s=8, dtype="float64") -> Cost:
    """Cost of an iteration of the stable method: that of a pass with a Chebyshev basis divided by s.

    Examples
    --------
    >>> [round(pcg_sstep(1000, s).bytes / 1000) for s in (1, 2, 4, 8)]
    [152, 128, 120, 116]
    """
    return _each(pcg_sstep_pass(n, s, dtype=dtype), s)


def pcg_sstep_pass(n, s=8, length=None, dtype="float64") -> Cost:
    """Cost of one pass of the stable method. A pass of fewer than s iterations has blocks as large as a whole pass.

    Examples
    --------
    >>> [round(pcg_sstep_pass(1000, 8, length).bytes / 1000) for length in (None, 4, 1)]
    [928, 800, 712]
    """
    length = length or s
    basis = _sweep(n, 1, 1, 0, dtype) + _sweep(n, 1, 1, 7, dtype)
    if length > 1:
        basis += _sweep(n, 1, 2, 10, dtype) + (length - 2) * _sweep(n, 2, 2, 12, dtype)
    return basis + gram(n, s, dtype=dtype) + project_block(n, s, dtype)


def with_matrix(its_cost: Cost, nnz: int, n: int, dtype="float64") -> Cost:
    """Return ``its_cost`` plus the cost of reading a CSR matrix of n rows and ``nnz`` nonzeros for the product with A.

    Examples
    --------
    >>> with_matrix(Cost(), nnz=7000, n=1000).bytes
    88004
    """
    product = csr(n, n, nnz, dtype)
    field = np.dtype(dtype).itemsize * n
    return its_cost + Cost(bytes_read=product.bytes_read - field)


def _each(whole: Cost, s: int) -> Cost:
    return Cost(whole.bytes_read / s, whole.bytes_written / s, whole.flops / s)
