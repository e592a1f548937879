"""A sparse matrix in compressed rows as three plain arrays, in host or GPU memory: what compiled code takes."""

from typing import Any, NamedTuple

import numpy as np


class CSR(NamedTuple):
    """The arrays of a matrix in compressed rows (CSR). A ``scipy.sparse.csr_array`` has the same attributes.

    Attributes
    ----------
    indptr : array, shape (rows + 1,), int32
        Row i holds the entries ``indptr[i]`` to ``indptr[i + 1] - 1``.
    indices : array, shape (nnz,), int32
        Columns, which rise in each row.
    data : array, shape (nnz,), float64 or float32
    shape : tuple of int

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A = csr_array(np.array([[0.0, 7.0], [8.0, 9.0]]))
    >>> CSR(A.indptr, A.indices, A.data, A.shape).indices
    array([1, 0, 1], dtype=int32)
    """

    indptr: Any
    indices: Any
    data: Any
    shape: tuple[int, int]


def empty_like(A) -> CSR:
    """Return host memory for a matrix of the same shape, with as many entries of the same dtype, not initialised.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> out = empty_like(csr_array(np.eye(3)))
    >>> out.indptr.shape, out.indices.shape, out.data.dtype
    ((4,), (3,), dtype('float64'))
    """
    return CSR(np.empty_like(A.indptr), np.empty_like(A.indices), np.empty_like(A.data), A.shape)
