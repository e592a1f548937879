"""One vector in two precisions: the arrays that each of the four ways to swap needs, and the step in plain NumPy.

An iteration is ``y = A x``, then x := y. A's values, and the x that is multiplied by them, are float32 to move fewer
bytes. Sums and y are float64, and x is also kept in float64, because it is the result. So ``x32``, ``x64`` and ``y64``
exist side by side:

======  =====================================================================  ======================  ==============
way     what happens after, or instead of, ``y64 = A x32``                     arrays besides A        bytes per row
======  =====================================================================  ======================  ==============
naive   a kernel reads y64, and writes x32 and x64                             x32, x64, y64           20
cast    there is no x32: the product reads x64, and casts each number          x64, y64                16
fused   the product writes y32 beside y64; both pairs of pointers are swapped  x32, y32, x64, y64      24
hybrid  a kernel copies y64 to x32; x64 and y64 are swapped by their pointers  x32, x64, y64           20
======  =====================================================================  ======================  ==============

All four give the same bits: a float64 that is cast in a register is the same float32 as one that was cast before it was
stored. "Bytes per row" counts memory in use; ``swap_cost.py`` counts traffic. The fused way cannot write to x32 itself,
because other threads still read it. It moves fewer bytes than the hybrid way. Yet the authors of the hybrid way found
that one faster on a V100. ``course bench spmv`` measures which one wins on other GPUs.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from course_pkg.core import CourseError
from course_pkg.permutation.checks import check_csr
from course_pkg.spmv.formats import Csr

WAYS = {
    "naive": ("x32", "x64", "y64"),
    "cast": ("x64", "y64"),
    "fused": ("x32", "y32", "x64", "y64"),
    "hybrid": ("x32", "x64", "y64"),
}


@dataclass(frozen=True, eq=False)
class Vectors:
    """x and y in the precisions that a way needs, all in one memory space; None for vectors that it does not need.

    Attributes
    ----------
    x64 : array of float64, shape (n,)
        The current x. If there is an x32, it is this x, rounded to float32.
    y64 : array of float64, shape (n,)
        Receives the next x; its old content does not matter.
    x32, y32 : array of float32, shape (n,), or None

    Examples
    --------
    >>> vectors = vectors_for("cast", np.array([1.0, 2.0]))
    >>> vectors.x64, vectors.x32 is None, vectors.nbytes
    (array([1., 2.]), True, 32)
    """

    x64: Any
    y64: Any
    x32: Any = None
    y32: Any = None

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.dtype.itemsize * array.shape[0] for array in self._arrays().values())

    def to_device(self) -> "Vectors":
        """Return the same vectors in GPU memory."""
        from course_pkg import cuda

        return Vectors(**{name: cuda.to_device(array) for name, array in self._arrays().items()})

    def _arrays(self):
        held = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: array for name, array in held.items() if array is not None}


def vectors_for(way: str, x) -> Vectors:
    """Return the arrays that the first step of a way needs, in host memory.

    Parameters
    ----------
    way : str
        ``"naive"``, ``"cast"``, ``"fused"`` or ``"hybrid"``.
    x : ndarray of float64, shape (n,)
        The first x. It is copied.

    Examples
    --------
    >>> vectors_for("hybrid", np.array([1.0, 0.1])).x32
    array([1. , 0.1], dtype=float32)
    """
    if way not in WAYS:
        raise CourseError(f"way is {way!r}: choose from {', '.join(WAYS)}.")
    if np.dtype(x.dtype) != np.float64 or x.ndim != 1:
        raise CourseError(
            f"x has dtype {x.dtype} and shape {x.shape}: pass a vector of float64, the result's precision."
        )
    made = {"x64": x.copy(), "y64": np.full_like(x, np.nan)}
    made |= {"x32": x.astype(np.float32), "y32": np.full(x.shape, np.nan, np.float32)}
    return Vectors(**{name: made[name] for name in WAYS[way]})


def stepping_matrix(A, dtype="float32") -> Csr:
    """Return ``I - A / ‖A‖∞`` as CSR, a matrix that can be applied any number of times.

    For a matrix of diffusion, x := x - A x / ‖A‖∞ is an explicit step in time. If in each row of A the diagonal is
    positive, and at least the sum of the other magnitudes, then no step makes the largest ``|x_i|`` larger.

    Parameters
    ----------
    A : scipy.sparse.csr_array, shape (n, n)
        Indices sorted, no entry twice; host memory.
    dtype : str
        Precision of the result's values.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> stepping_matrix(csr_array(np.array([[2.0, -1.0], [-1.0, 2.0]]))).data
    array([0.33333334, 0.33333334, 0.33333334, 0.33333334], dtype=float32)
    """
    check_csr(A, square=True)
    row_of = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    on_diagonal = A.indices == row_of
    if np.count_nonzero(on_diagonal) < A.shape[0]:
        row = int(np.setdiff1d(row_of, row_of[on_diagonal])[0]) if A.nnz else 0
        raise CourseError(f"Row {row} of A has no diagonal entry, and I - A needs one: store a 0 there.")
    norm = np.bincount(row_of, np.abs(A.data), A.shape[0]).max()
    data = (on_diagonal - A.data / norm).astype(dtype)
    return Csr(A.indptr, A.indices, data, A.shape)


def swap(A, vectors: Vectors) -> Vectors:
    """Compute the next x in plain NumPy, for any way: ``y = A float32(x64)`` in float64, then x := y.

    Parameters
    ----------
    A : Csr
        float32 or float64 values, in host memory.
    vectors : Vectors
        In host memory; they are not changed.

    Returns
    -------
    Vectors
        New arrays: x64 and, if there was one, x32.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> A = Csr.from_scipy(csr_array(np.array([[0.5, 0.5], [0.0, 1.0]])), np.float32)
    >>> after = swap(A, vectors_for("naive", np.array([1.0, 2.0])))
    >>> after.x64, after.x32
    (array([1.5, 2. ]), array([1.5, 2. ], dtype=float32))
    """
    x = vectors.x64.astype(np.float32)
    row_of = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    y = np.bincount(row_of, A.data.astype(np.float64) * x[A.indices], A.shape[0])
    way = next(way for way, names in WAYS.items() if set(names) == set(vectors._arrays()))
    return vectors_for(way, y)
