"""Checks of permutations and of sparse matrices in compressed rows (CSR).

Each raises a :class:`CourseError` that names the first wrong entry and says how to correct it. Positions count from 0.
"""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS, require_arrays, require_distinct, require_ndim, require_shape

PARTS = ("indptr", "indices", "data", "shape")
INTEGERS = ("int32", "int64")
MOST_ENTRIES = 2**31 - 1  # the largest int32, and so the largest possible row pointer


def check_permutation(perm, n: int | None = None, name: str = "perm") -> None:
    """Check that an index vector in host memory holds each of 0, 1, …, n - 1 exactly once.

    Parameters
    ----------
    perm : ndarray, shape (n,), int32 or int64
    n : int, optional
        Length of the vector that is permuted; by default, the length of ``perm``.
    name : str
        Name of the vector in the message.

    Raises
    ------
    CourseError
        If it is not a permutation; the message names the first entry that is out of range or repeated.

    Examples
    --------
    >>> check_permutation(np.array([2, 0, 1]))
    >>> check_permutation(np.array([2, 0, 2]))
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: perm[2] is 2, as perm[0] is, and 1 is missing: ...
    """
    check_index_vector(perm, n, name)
    if not isinstance(perm, np.ndarray):
        raise CourseError(f"{name} lives in GPU memory: check a copy of it, {name}.copy_to_host().")
    outside = (perm < 0) | (perm >= perm.size)
    if outside.any():
        i = int(np.argmax(outside))
        raise CourseError(
            f"{name}[{i}] is {perm[i]}, but the places of {perm.size} elements are 0 to {perm.size - 1}: if yours "
            "count from 1, subtract 1."
        )
    counts = np.bincount(perm, minlength=perm.size)
    if counts.size and counts.max() > 1:
        shared = np.flatnonzero(counts[perm] > 1)
        first = shared[np.unique(perm[shared], return_index=True)[1]]
        second = int(np.setdiff1d(shared, first)[0])
        earlier = int(np.argmax(perm == perm[second]))
        raise CourseError(
            f"{name}[{second}] is {perm[second]}, as {name}[{earlier}] is, and {int(np.argmin(counts))} is missing: a "
            f"permutation holds each of 0 to {perm.size - 1} once."
        )


def check_index_vector(perm, n: int | None = None, name: str = "perm") -> None:
    """Check dtype and length of an index vector in host or GPU memory, but not its values.

    Raises
    ------
    CourseError
        If it is not a vector of int32 or int64 numbers, or has another length than ``n``.
    """
    if not hasattr(perm, "dtype") or not hasattr(perm, "shape"):
        raise CourseError(f"{name} is a {type(perm).__name__}, not an array: use numpy.asarray({name}).")
    if np.dtype(perm.dtype).name not in INTEGERS:
        raise CourseError(
            f"{name} has dtype {perm.dtype}, expected {' or '.join(INTEGERS)}: use {name}.astype('int32')."
        )
    if len(perm.shape) != 1:
        raise CourseError(f"{name} has {len(perm.shape)} dimension(s), expected 1: use {name}.ravel().")
    if n is not None and perm.shape[0] != n:
        raise CourseError(
            f"{name} has {perm.shape[0]} entries, but what it permutes has {n}: make one of the same length."
        )


def check_entries(nnz: int, what: str = "A", fix: str = "use fewer rows") -> None:
    """Check that 32-bit indices can address this number of entries.

    Raises
    ------
    CourseError
        If there are too many.
    """
    if nnz > MOST_ENTRIES:
        raise CourseError(
            f"{what} has {nnz:,} entries, more than the {MOST_ENTRIES:,} that row pointers of int32 can count: {fix}."
        )


def check_csr(A, *, square: bool = False, name: str = "A") -> None:
    """Check a matrix in compressed rows, in host memory: int32 indices, sorted in each row, without duplicates.

    Parameters
    ----------
    A : scipy.sparse.csr_array, or any object with ``indptr``, ``indices``, ``data`` and ``shape``
        The data are float64 or float32. Rows may be empty.
    square : bool
        True if it must have as many rows as columns.

    Raises
    ------
    CourseError
        If anything is wrong; the message names the first such row, entry or number.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> check_csr(csr_array(np.eye(3)))
    >>> check_csr(csr_array(np.ones((2, 3))), square=True)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: A has 2 rows and 3 columns, but must be square: ...
    """
    if getattr(A, "format", "csr") != "csr" or not all(hasattr(A, part) for part in PARTS):
        raise CourseError(
            f"{name} is a {type(A).__name__}, not a matrix in compressed rows: use scipy.sparse.csr_array({name})."
        )
    rows, columns = A.shape
    if square:
        check_square(A, name)
    if np.dtype(A.data.dtype).name not in FLOATS:
        raise CourseError(f"{name}.data has dtype {A.data.dtype}: use {name}.astype('float64').")
    check_entries(A.data.size, name, "split it by rows")
    for part in ("indptr", "indices"):
        if getattr(A, part).dtype != np.int32:
            raise CourseError(
                f"{name}.{part} has dtype {getattr(A, part).dtype}, expected int32: use "
                f"{name}.{part}.astype('int32')."
            )
    _check_rows(A.indptr, rows, min(A.indices.size, A.data.size), name)
    if A.indices.size != A.data.size:
        raise CourseError(
            f"{name}.indices has {A.indices.size} entries but {name}.data has {A.data.size}: each number needs one "
            "column."
        )
    _check_columns(A.indptr, A.indices, columns, name)


def check_square(A, name: str = "A") -> None:
    """Check that a matrix has as many rows as columns, so that one permutation can reorder both.

    Raises
    ------
    CourseError
        If it is not square.
    """
    rows, columns = A.shape
    if rows != columns:
        raise CourseError(
            f"{name} has {rows} rows and {columns} columns, but must be square: a symmetric permutation reorders rows "
            "and columns alike; permute_rows() reorders rows alone."
        )


def _check_rows(indptr, rows, entries, name):
    """Check that row pointers begin at 0, never decrease, and end at the number of entries."""
    if indptr.size != rows + 1:
        raise CourseError(
            f"{name}.indptr has {indptr.size} entries; a matrix of {rows} rows needs {rows + 1}, the last of them the "
            "end of the last row."
        )
    if indptr[0] != 0:
        raise CourseError(f"{name}.indptr[0] is {indptr[0]}: the first row begins at entry 0.")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        row = int(np.argmax(falls))
        raise CourseError(
            f"{name}.indptr falls from {indptr[row]} to {indptr[row + 1]} in row {row}: add up the lengths of rows in "
            "int64, and see whether int32 can hold their sum."
        )
    if indptr[-1] != entries:
        raise CourseError(
            f"{name}.indptr ends at {indptr[-1]}, but there are {entries} entries: its last number is their number."
        )


def _check_columns(indptr, indices, columns, name):
    """Check that column indices are in range, and that they increase within each row."""
    outside = (indices < 0) | (indices >= columns)
    if outside.any():
        k = int(np.argmax(outside))
        raise CourseError(
            f"{name}.indices[{k}], in row {_row_of(indptr, k)}, is {indices[k]}, but the columns of {name} are 0 to "
            f"{columns - 1}: if yours count from 1, subtract 1."
        )
    rises = indices[1:] > indices[:-1]
    begins = indptr[1:-1]
    rises[begins[(begins > 0) & (begins < indices.size)] - 1] = (
        True  # the first column of a row may be lower than the last one of the row before
    )
    if not rises.all():
        k = int(np.argmin(rises)) + 1
        twice = indices[k] == indices[k - 1]
        wrong = f"column {indices[k]} twice" if twice else f"column {indices[k]} behind {indices[k - 1]}"
        fix = f"{name}.sum_duplicates() adds them up" if twice else f"call {name}.sort_indices()"
        raise CourseError(f"Row {_row_of(indptr, k)} of {name} has {wrong}, at indices[{k}]: {fix}.")


def _row_of(indptr, k) -> int:
    """Return the row that holds entry ``k``."""
    return int(np.searchsorted(indptr, k, side="right")) - 1


def check_permute_vector(perm, x, out, *, device: bool) -> None:
    """Check the arguments of a permutation of a vector, but not the values of ``perm``."""
    require_arrays(device=device, x=x, out=out)
    require_ndim(1, x=x)
    check_index_vector(perm, x.shape[0])
    require_arrays(device=device, dtypes=INTEGERS, perm=perm)
    require_distinct(perm=perm, x=x, out=out)


def check_permute_matrix(perm, A, out, *, device: bool, square: bool = False) -> None:
    """Check the arrays of a permutation of a matrix in compressed rows, but not the values of the index vectors."""
    for name, matrix in (("A", A), ("out", out)):
        if not all(hasattr(matrix, part) for part in PARTS):
            raise CourseError(
                f"{name} is a {type(matrix).__name__}, not a matrix in compressed rows: pass a CSR of arrays."
            )
    check_index_vector(perm, A.shape[0])
    if square:
        check_square(A)
    require_arrays(device=device, dtypes=INTEGERS, perm=perm)
    require_arrays(device=device, **{"A.data": A.data})
    dtypes = {"indptr": ("int32",), "indices": ("int32",), "data": (str(A.data.dtype),)}
    for part, allowed in dtypes.items():
        given, made = getattr(A, part), getattr(out, part)
        require_arrays(device=device, dtypes=allowed, **{f"A.{part}": given, f"out.{part}": made})
        require_ndim(1, least=0, **{f"A.{part}": given})
        require_distinct(perm=perm, **{f"A.{part}": given, f"out.{part}": made})
    require_shape((A.shape[0] + 1,), **{"A.indptr": A.indptr})
    require_shape(A.data.shape, **{"A.indices": A.indices})
