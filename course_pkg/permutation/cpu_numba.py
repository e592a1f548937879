"""Permutations of vectors and of sparse matrices, compiled by Numba, on all cores: a fair competitor of the GPU.

Arguments and equations are those of ``reference.py``; the result goes to ``out``, in host memory. If an argument does
not fit, a function raises ``CourseError`` before anything is written. Of vectors this does not hold for what ``perm``
contains, because checking it first would take longer than permuting: an entry out of range is found only during the
permutation, and a repeated entry is not found at all. Of matrices, both are found before anything is written.
"""

import numpy as np
from numba import njit, prange

from course_pkg.core.parallel import parallel
from course_pkg.permutation.checks import (
    check_csr,
    check_permutation,
    check_permute_matrix,
    check_permute_vector,
)

INSERTED = 32  # entries: insertion sort is faster for rows up to this length


@parallel()
def _gather(perm, x, out):
    outside = 0
    for i in prange(x.size):
        j = perm[i]
        if 0 <= j < x.size:
            out[i] = x[j]
        else:
            outside += 1
    return outside


def permute_vector(perm, x, out):
    """Compute ``out[i] = x[perm[i]]``; writes in order, reads wherever ``perm`` leads.

    A repeated entry of ``perm`` is not found: its element of x is then written twice, and another is missing.

    Examples
    --------
    >>> out = np.empty(3)
    >>> permute_vector(np.array([2, 0, 1]), np.array([10.0, 20.0, 30.0]), out); out
    array([30., 10., 20.])
    """
    _run(_gather, perm, x, out)


@parallel()
def _scatter(perm, x, out):
    outside = 0
    for i in prange(x.size):
        j = perm[i]
        if 0 <= j < x.size:
            out[j] = x[i]
        else:
            outside += 1
    return outside


def unpermute_vector(perm, x, out):
    """Compute ``out[perm[i]] = x[i]``; reads in order, writes wherever ``perm`` leads.

    A repeated entry of ``perm`` is not found: one of its elements of x is then lost, any of them, and the place in
    ``out`` that no entry names is not written.

    Examples
    --------
    >>> out = np.empty(3)
    >>> unpermute_vector(np.array([2, 0, 1]), np.array([30.0, 10.0, 20.0]), out); out
    array([10., 20., 30.])
    """
    _run(_scatter, perm, x, out)


def _run(loop, perm, x, out):
    check_permute_vector(perm, x, out, device=False)
    if loop(perm, x, out):  # an entry is out of range: find it for the message
        check_permutation(perm)


@parallel()
def _row_lengths(perm, indptr, lengths):
    for i in prange(perm.size):
        lengths[i] = indptr[perm[i] + 1] - indptr[perm[i]]


@parallel()
def _permute_rows(perm, indptr, indices, data, new_indptr, new_indices, new_data):
    for i in prange(perm.size):
        old, new = indptr[perm[i]], new_indptr[i]
        for k in range(new_indptr[i + 1] - new):
            new_indices[new + k] = indices[old + k]
            new_data[new + k] = data[old + k]


def permute_rows(perm, A, out):
    """Compute ``out = P A``: first the row pointers, from the lengths of the rows in their new order; then each row.

    Parameters
    ----------
    A : CSR or scipy.sparse.csr_array
    out : CSR
        ``csr.empty_like(A)`` makes it.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from course_pkg.permutation.csr import empty_like
    >>> A = csr_array(np.array([[11.0, 12.0], [21.0, 0.0]])); out = empty_like(A)
    >>> permute_rows(np.array([1, 0]), A, out); out.indptr, out.indices, out.data
    (array([0, 1, 3], dtype=int32), array([0, 0, 1], dtype=int32), array([21., 11., 12.]))
    """
    _check(perm, A, out)
    _permute_rows(*_prepared(perm, A, out))


@njit
def _sort_row(indices, data):
    """Sort the entries of a row by their columns."""
    if indices.size > INSERTED:
        order = np.argsort(indices)
        indices[:], data[:] = indices[order], data[order]
        return
    for k in range(1, indices.size):
        column, value, place = indices[k], data[k], k
        while place > 0 and indices[place - 1] > column:
            indices[place], data[place] = indices[place - 1], data[place - 1]
            place -= 1
        indices[place], data[place] = column, value


@parallel()
def _permute_symmetric(perm, indptr, indices, data, new_indptr, new_indices, new_data, inverse):
    for i in prange(perm.size):
        inverse[perm[i]] = i
    for i in prange(perm.size):
        old, new, end = indptr[perm[i]], new_indptr[i], new_indptr[i + 1]
        for k in range(end - new):
            new_indices[new + k] = inverse[indices[old + k]]
            new_data[new + k] = data[old + k]
        _sort_row(new_indices[new:end], new_data[new:end])


def permute_symmetric(perm, A, out):
    """Compute ``out = P A Pᵀ``: as :func:`permute_rows`, but with new columns, which are then sorted in each row.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from course_pkg.permutation.csr import empty_like
    >>> A = csr_array(np.array([[11.0, 12.0], [21.0, 0.0]])); out = empty_like(A)
    >>> permute_symmetric(np.array([1, 0]), A, out); out.indptr, out.indices, out.data
    (array([0, 1, 3], dtype=int32), array([1, 0, 1], dtype=int32), array([21., 12., 11.]))
    """
    _check(perm, A, out, square=True)
    _permute_symmetric(*_prepared(perm, A, out), np.empty(perm.size, np.int32))


def _check(perm, A, out, square=False):
    check_permute_matrix(perm, A, out, device=False, square=square)
    check_csr(A)
    check_permutation(perm)


def _prepared(perm, A, out):
    """Write the row pointers of ``out``, and return the arguments of a loop over rows."""
    out.indptr[0] = 0
    _row_lengths(perm, A.indptr, out.indptr[1:])
    np.cumsum(out.indptr, out=out.indptr)
    return perm, A.indptr, A.indices, A.data, out.indptr, out.indices, out.data
