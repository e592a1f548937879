"""The positions of a matrix's nonzeros in formats with padding; host code, for ``formats.py``."""

import numpy as np

from course_pkg.core.access import WARP
from course_pkg.spmv.checks import check_matrix, check_stored

PADDING = -1  # the column index at places without a nonzero


def table(A, dtype=None):
    """Return the arrays and sizes of a table that is as wide as the longest row, and the lengths of all rows.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> found, lengths = table(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]])))
    >>> found["pitch"], found["data"].size, lengths
    (32, 64, array([2, 1], dtype=int32))
    """
    check_matrix(A)
    rows, lengths = A.shape[0], np.diff(A.indptr)
    pitch, width = WARP * -(-rows // WARP), int(lengths.max())
    check_stored(width * pitch, f"values in a table of rows of {width}")
    indices, data = scattered(A, dtype, places(A, np.arange(rows), pitch), width * pitch)
    shape = tuple(map(int, A.shape))
    return {"indices": indices, "data": data, "shape": shape, "nonzeros": int(A.nnz), "pitch": pitch}, lengths


def places(A, first, stride: int):
    """Return the position of each nonzero: nonzero j of row i goes to ``first[i] + j * stride``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> places(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]])), np.array([0, 1]), stride=10)
    array([ 0, 10,  1])
    """
    begins = first - stride * A.indptr[:-1].astype(np.int64)
    return np.repeat(begins, np.diff(A.indptr)) + stride * np.arange(A.nnz)


def scattered(A, dtype, where, size: int):
    """Return column indices and values with the nonzeros at the positions ``where``, and padding elsewhere.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> scattered(sp.csr_array(np.array([[4.0, 1.0]])), "float32", np.array([0, 2]), 3)
    (array([ 0, -1,  1], dtype=int32), array([4., 0., 1.], dtype=float32))
    """
    indices, data = np.full(size, PADDING, np.int32), np.zeros(size, dtype or A.data.dtype)
    indices[where], data[where] = A.indices, A.data
    return indices, data
