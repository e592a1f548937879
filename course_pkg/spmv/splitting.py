"""A matrix whose values are stored in two precisions, chosen row by row or entry by entry; host code.

An entry a of row i *fits* float32 within a tolerance if ``|a - float32(a)| ≤ tol · max_j |a_ij|``. Every number of a
usual size is rounded by at most 2⁻²⁴ of itself. So with ``tol ≥ 2⁻²⁴`` all entries fit, and with ``tol = 0`` only those
that float32 represents exactly, such as small whole numbers.

- ``RowSplit``: a row is float32 if all its entries fit; the rows of each precision form a matrix
- ``EntrySplit``: A = A_high + A_low, the entries that do not fit, in float64, and those that fit, in float32

Sums and vectors are float64 in both. The error of the product is bounded: if Ã is the matrix that is stored,
``|((A - Ã) x)_i| ≤ row_errors[i] · ‖x‖∞``, where ``row_errors[i] = Σ_j |a_ij - ã_ij|``.

Sources: K. Ahmad, H. Sundar, M. Hall, Data-driven mixed precision sparse matrix vector multiplication for GPUs, ACM
TACO 16 (4), 2019 (by entries: those between -1 and 1 are float32, whose absolute error is then below 2⁻²⁴); E. Tezcan,
T. Torun, F. Koşar, K. Kaya, D. Unat, Mixed and multi-precision SpMV for GPUs with row-wise precision selection,
SBAC-PAD 2022 (by rows, with a permutation). The tolerance relative to the row is ours.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import require_number
from course_pkg.permutation.checks import check_csr
from course_pkg.spmv.formats import Csr


@dataclass(frozen=True, eq=False)
class EntrySplit:
    """``A = A_high + A_low``: two matrices of A's shape, the first in float64 and the second in float32.

    Attributes
    ----------
    high, low : Csr
        Both have all rows; together they have A's nonzeros.
    row_errors : ndarray of float64, shape (rows,)
        ``Σ_j |a_ij - ã_ij|``, in host memory.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> split = split_entries(csr_array(np.array([[4.0, 0.1], [0.0, 0.7]])))
    >>> split.high.data, split.low.data, split.low_share
    (array([0.1, 0.7]), array([4.], dtype=float32), 0.3333333333333333)
    """

    high: Csr
    low: Csr
    row_errors: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of A."""
        return self.low.shape

    @property
    def nonzeros(self) -> int:
        """Number of A's nonzeros."""
        return self.high.nonzeros + self.low.nonzeros

    @property
    def low_share(self) -> float:
        """Share of the nonzeros that are float32."""
        return self.low.nonzeros / max(1, self.nonzeros)

    def error_bound(self, x) -> float:
        """Return a bound of ``‖(A - Ã) x‖∞`` for a vector x in host memory."""
        return float(self.row_errors.max(initial=0.0) * np.abs(x).max(initial=0.0))

    def to_device(self):
        """Return the same split with its matrices in GPU memory."""
        return replace(self, high=self.high.to_device(), low=self.low.to_device())


@dataclass(frozen=True, eq=False)
class RowSplit(EntrySplit):
    """Two matrices: one with the rows in float64, one with the rows in float32, each in A's order.

    Attributes
    ----------
    high, low : Csr
        Row i of ``high`` is row ``high_rows[i]`` of A, and row i of ``low`` is row ``low_rows[i]``.
    row_errors : ndarray of float64, shape (rows,)
        As in :class:`EntrySplit`, in the order of A's rows; 0 for rows in float64.
    high_rows, low_rows : array of int32
        Joined, they are a permutation of A's rows.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> split = split_rows(csr_array(np.array([[4.0, 0.1], [0.0, 0.5]])))
    >>> split.high_rows, split.low_rows, split.low.data
    (array([0], dtype=int32), array([1], dtype=int32), array([0.5], dtype=float32))
    """

    high_rows: Any
    low_rows: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of A."""
        return self.row_errors.size, self.low.shape[1]

    def to_device(self):
        """Return the same split with its matrices and index vectors in GPU memory."""
        from course_pkg import cuda

        rows = {name: cuda.to_device(getattr(self, name)) for name in ("high_rows", "low_rows")}
        return replace(super().to_device(), **rows)


def split_entries(A, tol: float = 0.0) -> EntrySplit:
    """Store the entries that fit float32 within a tolerance in float32, and the others in float64.

    Parameters
    ----------
    A : scipy.sparse.csr_array
        float64, indices sorted, no entry twice; host memory.
    tol : float
        Tolerance, relative to the largest magnitude in the row; 0 loses nothing.

    Raises
    ------
    CourseError
        If A is not float64, or tol is negative.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A = csr_array(np.array([[1.0, 1e-9 / 3], [0.0, 0.7]]))
    >>> split_entries(A).low.data.tolist(), split_entries(A, 1e-12).low.nonzeros, split_entries(A, 1e-7).low.nonzeros
    ([1.0], 2, 3)
    """
    errors, fits, row_of = _fitting(A, tol)
    parts = []
    for chosen, dtype in ((~fits, np.float64), (fits, np.float32)):
        before = np.concatenate(([0], np.cumsum(chosen)))
        indptr = before[A.indptr].astype(np.int32)
        parts.append(Csr(indptr, A.indices[chosen], A.data[chosen].astype(dtype), A.shape))
    row_errors = np.bincount(row_of, np.where(fits, errors, 0.0), A.shape[0])
    return EntrySplit(*parts, row_errors)


def split_rows(A, tol: float = 0.0) -> RowSplit:
    """Store a row in float32 if all its entries fit float32 within a tolerance, and in float64 otherwise.

    Parameters and errors are those of :func:`split_entries`. An empty row is stored in float32.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A = csr_array(np.array([[4.0, 0.1], [0.0, 0.5]]))
    >>> split_rows(A).low_share, split_rows(A, 1e-7).low_share
    (0.3333333333333333, 1.0)
    """
    errors, fits, row_of = _fitting(A, tol)
    misfits = np.bincount(row_of, ~fits, A.shape[0]).astype(np.int64)
    is_low = misfits == 0
    parts = []
    for chosen, dtype in ((~is_low, np.float64), (is_low, np.float32)):
        rows, entries = np.flatnonzero(chosen).astype(np.int32), chosen[row_of]
        indptr = np.concatenate(([0], np.cumsum(np.diff(A.indptr)[rows]))).astype(np.int32)
        matrix = Csr(indptr, A.indices[entries], A.data[entries].astype(dtype), (rows.size, A.shape[1]))
        parts.append((matrix, rows))
    (high, high_rows), (low, low_rows) = parts
    row_errors = np.bincount(row_of, np.where(is_low[row_of], errors, 0.0), A.shape[0])
    return RowSplit(high, low, row_errors, high_rows, low_rows)


SPLITS = {  # how the matrix is split, by variant of the operation "splitting"
    "rows_together": split_rows,
    "rows_apart": split_rows,
    "entries_together": split_entries,
    "entries_apart": split_entries,
}


def _fitting(A, tol):
    """Return ``|a - float32(a)|`` of each entry, whether it fits, and its row."""
    check_csr(A)
    require_number(tol=tol)
    if A.data.dtype != np.float64:
        raise CourseError(f"A has dtype {A.data.dtype}: only float64 can be split, all of this fits float32.")
    if not tol >= 0:
        raise CourseError(f"tol is {tol!r}: it must be at least 0; 0 loses nothing.")
    row_of = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    largest = np.zeros(A.shape[0])
    np.maximum.at(largest, row_of, np.abs(A.data))
    # too large for float32: the error is infinite, so the entry stays float64
    with np.errstate(over="ignore", under="ignore"):
        errors = np.abs(A.data - A.data.astype(np.float32))
    return errors, errors <= tol * largest[row_of], row_of
