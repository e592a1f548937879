"""Permutations of vectors and of matrices in compressed rows by CuPy, as array statements.

Arguments are those of ``reference.py``, in GPU memory, and the result goes to ``out``; matrices are a ``csr.CSR`` of
CuPy arrays, or a ``cupyx.scipy.sparse.csr_matrix``. Nothing synchronises. Values of index vectors are not checked.
"""

from course_pkg.permutation.checks import check_permute_matrix, check_permute_vector

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error


def permute_vector(perm, x, out):
    """Compute ``out[i] = x[perm[i]]``; one kernel.

    Examples
    --------
    >>> out = cp.empty(3)
    >>> permute_vector(cp.array([2, 0, 1]), cp.array([10.0, 20.0, 30.0]), out); out
    array([30., 10., 20.])
    """
    check_permute_vector(perm, x, out, device=True)
    cp.take(x, perm, out=out)


def unpermute_vector(perm, x, out):
    """Compute ``out[perm[i]] = x[i]``; one kernel.

    Examples
    --------
    >>> out = cp.empty(3)
    >>> unpermute_vector(cp.array([2, 0, 1]), cp.array([30.0, 10.0, 20.0]), out); out
    array([10., 20., 30.])
    """
    check_permute_vector(perm, x, out, device=True)
    out[perm] = x


def permute_rows(perm, A, out):
    """Compute ``out = P A``; an array in GPU memory holds the old position of each entry.

    Examples
    --------
    >>> from course_pkg.permutation.csr import CSR
    >>> parts = [cp.array([0, 2, 3], "int32"), cp.array([0, 1, 0], "int32"), cp.array([11.0, 12.0, 21.0])]
    >>> A, out = (CSR(*(f(part) for part in parts), (2, 2)) for f in (cp.array, cp.empty_like))
    >>> permute_rows(cp.array([1, 0]), A, out); out.data
    array([21., 11., 12.])
    """
    check_permute_matrix(perm, A, out, device=True)
    entries, _ = _rows_in_order(perm, A, out)
    cp.take(A.indices, entries, out=out.indices)
    cp.take(A.data, entries, out=out.data)


def permute_symmetric(perm, A, out):
    """Compute ``out = P A Pᵀ``; row and column are combined into one sort key, by which all entries are sorted.

    Examples
    --------
    >>> from course_pkg.permutation.csr import CSR
    >>> parts = [cp.array([0, 2, 3], "int32"), cp.array([0, 1, 0], "int32"), cp.array([11.0, 12.0, 21.0])]
    >>> A, out = (CSR(*(f(part) for part in parts), (2, 2)) for f in (cp.array, cp.empty_like))
    >>> permute_symmetric(cp.array([1, 0]), A, out); out.data
    array([21., 12., 11.])
    """
    check_permute_matrix(perm, A, out, device=True, square=True)
    entries, row = _rows_in_order(perm, A, out)
    inverse = cp.empty(perm.size, cp.int32)
    inverse[perm] = cp.arange(perm.size, dtype=cp.int32)
    column = inverse[A.indices[entries]]
    order = cp.argsort(row * A.shape[1] + column)
    cp.take(column, order, out=out.indices)
    cp.take(A.data, entries[order], out=out.data)


def _rows_in_order(perm, A, out):
    """Write the row pointers of the result; return, for each of its entries, the place in A and the new row."""
    out.indptr[0] = 0
    out.indptr[1:] = cp.cumsum(cp.diff(A.indptr)[perm])
    entry = cp.arange(A.data.size)
    row = cp.searchsorted(out.indptr[1:], entry, side="right")
    return entry + (A.indptr[perm] - out.indptr[:-1])[row], row
