"""Jacobi's method on ``A = D + E``: the arrays that a step reads, in three orders of rows and columns.

D is the diagonal of A, and E is the rest. The three forms do the same arithmetic on the same numbers, but their rows
and columns are in different orders. A permutation ``perm`` is an index vector: ``new[i] = old[perm[i]]``.

=============  =====================================  =============================================================
form           what is permuted                       what a step does with the new x
=============  =====================================  =============================================================
plain          nothing                                writes it in the order of the rows
row_permuted   the rows of E, d and b                 puts it back into A's order, in every step
symmetric      rows and columns of E; d, b and x      writes it in the order of the rows; the last x is put back
=============  =====================================  =============================================================
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from course_pkg.core import CourseError
from course_pkg.permutation.checks import check_csr, check_permutation
from course_pkg.permutation.reference import permute_rows, permute_symmetric
from course_pkg.spmv.formats import Csr

FORMS = ("plain", "row_permuted", "symmetric")


@dataclass(frozen=True)
class JacobiSystem:
    """``A x = b`` with ``A = D + E``, in the form that a step of Jacobi's method reads.

    Attributes
    ----------
    E : Csr
        A without its diagonal; n rows, all arrays in one memory space.
    d, b : array, shape (n,)
        The diagonal and the right-hand side, in the order of E's rows.
    rows : array of int, shape (n,), or None
        Row i of E is row ``rows[i]`` of A, while the columns have their old order; None if rows and columns agree.
    order : array of int, shape (n,), or None
        Row and column i of E are row and column ``order[i]`` of A; None if both are in A's order. Host memory.

    Examples
    --------
    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system = plain_system(A, np.array([6.0, 16.0]))
    >>> system.d, system.E.data, system.form
    (array([4., 8.]), array([1., 2.]), 'plain')
    """

    E: Csr
    d: Any
    b: Any
    rows: Any = None
    order: Any = None

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.d.shape[0]

    @property
    def form(self) -> str:
        """The form of the step that this system needs: one of ``FORMS``."""
        return "row_permuted" if self.rows is not None else "symmetric" if self.order is not None else "plain"

    def taken(self, x):
        """Return a vector in host memory, permuted from A's order to the order that a step expects."""
        return x.copy() if self.order is None else x[self.order]

    def given(self, x):
        """Return a vector in host memory, permuted from the order in which a step writes to A's order."""
        if self.order is None:
            return x.copy()
        back = np.empty_like(x)
        back[self.order] = x
        return back

    def residual(self, x, new):
        """Return ``d (new - x)``, the residual of x in the order of E's rows, if ``new`` is the step after x.

        Both vectors are in host memory, as a step reads and writes them.
        """
        change = new - x
        return self.d * (change if self.rows is None else change[self.rows])

    def to_device(self) -> "JacobiSystem":
        """Return this system with E, d, b and ``rows`` in GPU memory."""
        from course_pkg import cuda

        rows = None if self.rows is None else cuda.to_device(self.rows)
        return replace(
            self, E=self.E.to_device(), d=cuda.to_device(self.d), b=cuda.to_device(self.b), rows=rows
        )


def plain_system(A, b) -> JacobiSystem:
    """Split ``A = D + E``; all rows and columns keep their places.

    Parameters
    ----------
    A : scipy.sparse.csr_array or Csr, shape (n, n)
        float64 or float32, indices sorted, no entry twice; host memory.
    b : ndarray, shape (n,)
        Has the precision of A.

    Raises
    ------
    CourseError
        If the diagonal has a zero (the message names the first such row), or if A is not square or b does not fit.

    Examples
    --------
    >>> import scipy.sparse
    >>> plain_system(scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 0.0]])), np.ones(2))
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: Row 1 of A has no diagonal entry, and Jacobi's method divides by it: ...
    """
    check_csr(A)
    n = A.shape[0]
    if A.shape[1] != n or b.shape != (n,) or b.dtype != A.data.dtype:
        raise CourseError(
            f"A is {n} × {A.shape[1]}, {A.data.dtype}, and b has shape {b.shape}, {b.dtype}: A must be square, and b "
            "must have its length and dtype."
        )
    row_of = np.repeat(np.arange(n, dtype=A.indices.dtype), np.diff(A.indptr))
    on_diagonal = A.indices == row_of
    d = np.zeros(n, A.data.dtype)
    d[row_of[on_diagonal]] = A.data[on_diagonal]
    if not d.all():
        row = int(np.flatnonzero(d == 0)[0])
        what = "a 0 on the diagonal" if row in row_of[on_diagonal] else "no diagonal entry"
        raise CourseError(
            f"Row {row} of A has {what}, and Jacobi's method divides by it: permute the rows so that no diagonal entry "
            "is zero, or use another method."
        )
    removed = np.concatenate(([0], np.cumsum(on_diagonal)))
    indptr = (A.indptr - removed[A.indptr]).astype(A.indptr.dtype)
    return JacobiSystem(Csr(indptr, A.indices[~on_diagonal], A.data[~on_diagonal], (n, n)), d, b.copy())


def row_permuted_system(system: JacobiSystem, perm) -> JacobiSystem:
    """Permute the rows of a plain system: E's rows, d and b. The columns, and so x, keep their order.

    Examples
    --------
    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> swapped = row_permuted_system(plain_system(A, np.array([6.0, 16.0])), np.array([1, 0]))
    >>> swapped.d, swapped.E.data, swapped.E.indices
    (array([8., 4.]), array([2., 1.]), array([0, 1], dtype=int32))
    """
    perm = _checked(perm, system)
    return replace(
        system, E=_permuted(permute_rows, perm, system.E), d=system.d[perm], b=system.b[perm], rows=perm
    )


def symmetric_system(system: JacobiSystem, perm) -> JacobiSystem:
    """Permute the rows and columns of a plain system, and d and b; ``taken`` permutes x once, before the first step.

    Examples
    --------
    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> swapped = symmetric_system(plain_system(A, np.array([6.0, 16.0])), np.array([1, 0]))
    >>> swapped.E.data, swapped.E.indices, swapped.taken(np.array([5.0, 7.0]))
    (array([2., 1.]), array([1, 0], dtype=int32), array([7., 5.]))
    """
    perm = _checked(perm, system)
    E = _permuted(permute_symmetric, perm, system.E)
    return replace(system, E=E, d=system.d[perm], b=system.b[perm], order=perm)


def system_of(form: str, A, b, perm=None) -> JacobiSystem:
    """Return the system of one of the three forms; ``perm`` is needed for all but the plain one.

    Examples
    --------
    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system_of("symmetric", A, np.array([6.0, 16.0]), np.array([1, 0])).form
    'symmetric'
    """
    if form not in FORMS:
        raise CourseError(f"form is {form!r}: choose from {', '.join(FORMS)}.")
    if (perm is None) != (form == "plain"):
        raise CourseError(
            "perm is given, but the plain form permutes nothing: leave it out."
            if form == "plain"
            else f"The {form} form needs a permutation: pass perm."
        )
    system = plain_system(A, b)
    permuted = {"row_permuted": row_permuted_system, "symmetric": symmetric_system}
    return system if form == "plain" else permuted[form](system, perm)


def _checked(perm, system):
    if system.form != "plain":
        raise CourseError(f"The system is {system.form} already: permute the plain one.")
    check_permutation(perm, system.n)
    return np.ascontiguousarray(perm, np.int32)  # a reversed view cannot be copied to a GPU


def _permuted(permute, perm, E) -> Csr:
    moved = permute(perm, csr_array((E.data, E.indices, E.indptr), shape=E.shape))
    return Csr(moved.indptr, moved.indices, moved.data, E.shape)
