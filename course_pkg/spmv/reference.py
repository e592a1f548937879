"""The product of a sparse matrix and a vector in plain NumPy: the oracle of every other file in this topic.

Shapes and dtypes, for every file of this topic:

A : a format of ``formats.py``, with int32 indices and float64 or float32 values
    Here, any matrix in CSR form: a :class:`~course_pkg.spmv.formats.Csr` or a ``scipy.sparse.csr_array``.
x : array, shape (columns,), float64 or float32
    Has the precision of the values; or x is float64 and the values are float32 ("mixed"). x is not changed.
y : array, shape (rows,), dtype of x
    Overwritten; shares no memory with the inputs. It is 0 in rows without nonzeros.
"""

import numpy as np

from course_pkg.spmv.jacobi_reference import jacobi_plain, jacobi_row_permuted, jacobi_symmetric
from course_pkg.spmv.swap import swap

__all__ = ["jacobi_plain", "jacobi_row_permuted", "jacobi_symmetric", "spmv", "swap"]


def spmv(A, x, y):
    """Compute ``y = A x``: ``y[i]`` is the sum of ``data[k] * x[indices[k]]`` over the nonzeros k of row i.

    The sums are float64, and are rounded once to the precision of ``y``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A, y = sp.csr_array(np.array([[4.0, 1.0], [0.0, 0.0]])), np.empty(2)
    >>> spmv(A, np.array([10.0, 1.0]), y); y
    array([41.,  0.])
    """
    rows = A.shape[0]
    row_of_nonzero = np.repeat(np.arange(rows), np.diff(A.indptr))
    products = A.data * x[A.indices]
    y[:] = np.bincount(row_of_nonzero, weights=products, minlength=rows)
