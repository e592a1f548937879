"""Permutations of vectors and of sparse matrices in plain NumPy: the oracle of every other file in this topic.

**Convention.** A permutation is an index vector: ``new[i] = old[perm[i]]``, so ``perm[i]`` is the *old* place of the
element that moves to place i. As a matrix P it has a 1 in row i and column ``perm[i]``, so that ``P x = x[perm]``. Its
inverse says where each element goes: ``new[inverse[j]] = old[j]``. "1 → 2, 2 → 3, 3 → 1" lists where the elements go,
so it is the inverse: counted from 0, ``inverse = [1, 2, 0]`` and ``perm = [2, 0, 1]``.

Shapes and dtypes, for every file of this topic:

perm : array, shape (n,), int32 or int64
    Holds each of 0, 1, …, n - 1 once.
x : array, shape (n,), float64 or float32
    Not changed.
A : matrix in compressed rows (CSR)
    ``indptr`` and ``indices`` are int32, ``data`` float64 or float32. In each row, the columns rise.

In compiled files the result goes to the last argument, ``out``, which shares no memory with the inputs. Here it is
returned. ``measures.py`` computes how good the new order of a matrix is.
"""

import numpy as np
from scipy.sparse import csgraph, csr_array

from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.permutation.checks import MOST_ENTRIES, check_csr, check_permutation


def permute_vector(perm, x):
    """Return ``P x``: ``new[i] = x[perm[i]]``, a gather.

    Examples
    --------
    >>> permute_vector(np.array([2, 0, 1]), np.array([10.0, 20.0, 30.0]))
    array([30., 10., 20.])
    """
    check_permutation(perm, len(x))
    return x[perm]


def unpermute_vector(perm, x):
    """Return ``Pᵀ x``: ``new[perm[i]] = x[i]``, a scatter. It undoes :func:`permute_vector`.

    Examples
    --------
    >>> unpermute_vector(np.array([2, 0, 1]), np.array([30.0, 10.0, 20.0]))
    array([10., 20., 30.])
    """
    check_permutation(perm, len(x))
    old = np.empty_like(x)
    old[perm] = x
    return old


def invert(perm):
    """Return the inverse, with ``inverse[perm[i]] = i``: the new place of each old element.

    Examples
    --------
    >>> invert(np.array([2, 0, 1]))
    array([1, 2, 0])
    """
    check_permutation(perm)
    return unpermute_vector(perm, np.arange(len(perm), dtype=perm.dtype))


def compose(p, q):
    """Return the permutation that applies q first and then p: ``q[p]``, whose matrix is the product ``P Q``.

    Examples
    --------
    >>> p, q, x = np.array([1, 0, 2]), np.array([2, 0, 1]), np.array([10.0, 20.0, 30.0])
    >>> permute_vector(compose(p, q), x), permute_vector(p, permute_vector(q, x))
    (array([10., 30., 20.]), array([10., 30., 20.]))
    """
    check_permutation(p, name="p")
    check_permutation(q, len(p), name="q")
    return q[p]


def permutation_matrix(perm):
    """Return P with a 1 in row i and column ``perm[i]``; its transpose is its inverse.

    Examples
    --------
    >>> permutation_matrix(np.array([2, 0, 1])).toarray()
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    check_permutation(perm)
    n = len(perm)
    return csr_array((np.ones(n), perm.astype(np.int32), np.arange(n + 1, dtype=np.int32)), shape=(n, n))


def permute_rows(perm, A):
    """Return ``P A``: row i of the result is row ``perm[i]`` of A. Then ``(P A) x = P (A x)``.

    Examples
    --------
    >>> A = csr_array(np.array([[11.0, 12.0], [21.0, 0.0]]))
    >>> permute_rows(np.array([1, 0]), A).toarray()
    array([[21.,  0.],
           [11., 12.]])
    """
    check_csr(A)
    check_permutation(perm, A.shape[0])
    indptr, entries = _rows_in_order(perm, A)
    return csr_array((A.data[entries], A.indices[entries], indptr), shape=A.shape)


def permute_symmetric(perm, A):
    """Return ``P A Pᵀ``, with sorted columns: entry (i, j) is entry ``(perm[i], perm[j])`` of A.

    Then ``(P A Pᵀ)(P x) = P (A x)``: if matrix and vectors are in the new order, a solver can stay in this order.

    Examples
    --------
    >>> A = csr_array(np.array([[11.0, 12.0], [21.0, 0.0]]))
    >>> permute_symmetric(np.array([1, 0]), A).toarray()
    array([[ 0., 21.],
           [12., 11.]])
    """
    check_csr(A, square=True)
    check_permutation(perm, A.shape[0])
    indptr, entries = _rows_in_order(perm, A)
    row = np.repeat(np.arange(A.shape[0]), np.diff(indptr))
    column = invert(perm)[A.indices[entries]].astype(np.int32)
    order = np.argsort(row * A.shape[1] + column)
    return csr_array((A.data[entries[order]], column[order], indptr), shape=A.shape)


def _rows_in_order(perm, A):
    """Return the row pointers of the permuted matrix, and for each of its entries the place in A."""
    lengths = np.diff(A.indptr)[perm]
    indptr = np.zeros(len(perm) + 1, np.int32)
    np.cumsum(lengths, out=indptr[1:])
    # the distance of an entry from the beginning of its row does not change
    return indptr, np.repeat(A.indptr[perm] - indptr[:-1], lengths) + np.arange(A.nnz)


def random_permutation(n: int, seed: int = 0, dtype="int32"):
    """Draw one of the n! permutations, each equally likely.

    Examples
    --------
    >>> sorted(random_permutation(5, seed=1).tolist())
    [0, 1, 2, 3, 4]
    """
    require_count(n=n)
    if n > MOST_ENTRIES and np.dtype(dtype) == np.int32:
        raise CourseError(f"n is {n}: int32 cannot number so many elements; pass dtype='int64'.")
    return np.random.default_rng(seed).permutation(np.arange(n, dtype=dtype))


def local_permutation(n: int, window: int, seed: int = 0, dtype="int32"):
    """Draw a permutation in which elements move only within windows of ``window`` consecutive places.

    It resembles an order such as that of Cuthill and McKee, in which neighbours are near each other but not adjacent.

    Examples
    --------
    >>> local_permutation(6, window=2, seed=3) // 2
    array([0, 0, 1, 1, 2, 2], dtype=int32)
    """
    require_count(n=n, window=window)
    if window < 1:
        raise CourseError("window is 0: elements move within windows of at least 1 place.")
    rng = np.random.default_rng(seed)
    order, whole = np.arange(n, dtype=dtype), n - n % window
    rng.permuted(order[:whole].reshape(-1, window), axis=1, out=order[:whole].reshape(-1, window))
    rng.shuffle(order[whole:])
    return order


def strided_permutation(n: int, stride: int, dtype="int32"):
    """Return the order in which every stride-th element comes first: 0, s, 2s, …, then 1, 1 + s, and so on.

    Adjacent elements of the result come from places that are ``stride`` apart.

    Examples
    --------
    >>> strided_permutation(7, 3)
    array([0, 3, 6, 1, 4, 2, 5], dtype=int32)
    """
    require_count(n=n, stride=stride)
    if stride < 1:
        raise CourseError("stride is 0: elements lie at least 1 apart.")
    rows = -(-n // stride)
    order = np.arange(rows * stride, dtype=dtype).reshape(rows, stride).T.reshape(-1)
    return order[order < n]


def reverse_cuthill_mckee(A):
    """Return the order of Cuthill and McKee, reversed: neighbours in the graph of A get numbers close together.

    For a matrix whose pattern is not symmetric, the graph of ``A + Aᵀ`` is used.

    Source: E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, Proc. 24th ACM National
    Conference, 1969; reversed by A. George, Computer Implementation of the Finite Element Method, 1971. SciPy's code.

    Examples
    --------
    >>> from course_pkg.permutation.measures import bandwidth
    >>> A = csr_array(np.array([[2.0, 0, 1], [0, 2, 0], [1, 0, 2]]))
    >>> bandwidth(A), bandwidth(permute_symmetric(reverse_cuthill_mckee(A), A))
    (2, 1)
    """
    check_csr(A, square=True)
    return csgraph.reverse_cuthill_mckee(A, symmetric_mode=False)


def by_row_length(A, window: int | None = None):
    """Return the order in which longer rows come first; rows of equal length keep their order.

    Parameters
    ----------
    window : int, optional
        Sort only within each ``window`` consecutive rows: the σ of SELL-C-σ (M. Kreutzer et al., SIAM Journal on
        Scientific Computing 36, 2014). By default, sort all rows.

    Examples
    --------
    >>> A = csr_array(np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]]))
    >>> by_row_length(A), by_row_length(A, window=2)
    (array([3, 1, 0, 2], dtype=int32), array([1, 0, 3, 2], dtype=int32))
    """
    check_csr(A)
    rows = A.shape[0]
    require_count(**({} if window is None else {"window": window}))
    if window == 0:
        raise CourseError("window is 0: sort within at least 1 row, or leave it out to sort all rows.")
    lengths = np.diff(A.indptr)
    return np.lexsort((-lengths, np.arange(rows) // (window or max(rows, 1)))).astype(np.int32)
