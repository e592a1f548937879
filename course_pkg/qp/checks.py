"""Checks of quadratic programs and of the arguments of updates."""

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import (
    FLOATS,
    on_device,
    require_arrays,
    require_count,
    require_distinct,
    require_ndim,
    require_positive,
    require_shape,
)

MOST_BATCH = 128  # largest number of unknowns of a problem that one block solves
MOST = 2**16 - 1  # largest number of unknowns with which a 32-bit offset reaches every entry of Q


def check_update(Q, h, shift, x, out, parts, *, device: bool, batch: bool = False) -> None:
    """Check an update's arguments: Q is square, the vectors fit it, precisions agree, and results share no memory.

    Parameters
    ----------
    batch : bool
        True if all arrays have one more dimension, the first, which counts problems of one size.
    """
    vectors = {"h": h, "shift": shift, "x": x, "out": out, "parts": parts}
    require_arrays(device=device, Q=Q)
    require_arrays(device=device, dtypes=(str(Q.dtype),), **vectors)
    require_ndim(3 if batch else 2, Q=Q)
    require_ndim(2 if batch else 1, **vectors)
    check_square(Q)
    if Q.shape[:-1] != h.shape:
        raise CourseError(f"h has shape {h.shape} but Q has {Q.shape}: pass an h of shape {Q.shape[:-1]}.")
    if device and Q.shape[-1] > MOST:
        raise CourseError(
            f"Q has {Q.shape[-1]} rows, but 32-bit offsets reach {MOST}: divide it between GPUs."
        )
    _check_small(Q, batch and device)
    require_distinct(Q=Q, h=h, shift=shift, x=x, parts=parts, out=out)
    require_distinct(Q=Q, h=h, shift=shift, x=x, out=out, parts=parts)


def check_solved_batch(Q, h, out, norms, taken, rtol, maxiter, *, device: bool) -> None:
    """Check a batch of problems and the memory for its solutions, residuals and numbers of steps."""
    require_arrays(device=device, Q=Q)
    require_arrays(device=device, dtypes=(str(Q.dtype),), h=h, out=out)
    require_arrays(device=device, dtypes=(str(Q.dtype),), norms=norms)
    require_arrays(device=device, dtypes=("uint32",), taken=taken)
    require_ndim(3, Q=Q)
    check_square(Q)
    require_shape(Q.shape[:2], h=h, out=out)
    require_shape(Q.shape[:1], norms=norms, taken=taken)
    _check_small(Q, device)
    require_positive(rtol=rtol)
    require_count(maxiter=maxiter)
    if maxiter < 1:
        raise CourseError("maxiter is 0: allow at least 1 step.")
    require_distinct(Q=Q, h=h, norms=norms, taken=taken, out=out)


def _check_small(Q, device: bool) -> None:
    if device and Q.shape[-1] > MOST_BATCH:
        raise CourseError(
            f"Q has {Q.shape[-1]} rows, but a block keeps at most {MOST_BATCH} in registers: use update_rows for each."
        )


def check_split_product(Q, x, out, *, device: bool) -> None:
    """Check the arguments of Q⁺x and Q⁻x: Q square, x of its size, out with a row for each product, one precision."""
    require_arrays(device=device, Q=Q)
    require_arrays(device=device, dtypes=(str(Q.dtype),), x=x)
    require_arrays(device=device, dtypes=(str(Q.dtype),), out=out)
    require_shape((2, Q.shape[0]), out=out)
    require_ndim(2, Q=Q)
    check_square(Q)
    check_vectors(Q, x, None, "x")
    _check_offsets(Q, device)
    require_distinct(Q=Q, x=x, out=out)


def check_pack(Q, h, shift, packed) -> None:
    """Check that a smaller problem belongs to unknowns of this number and precision; all in GPU memory."""
    require_arrays(device=True, Q=Q)
    require_arrays(device=True, dtypes=(str(Q.dtype),), h=h, shift=shift)
    require_ndim(2, Q=Q)
    check_square(Q)
    require_shape((Q.shape[0],), h=h)
    _check_offsets(Q, device=True)
    if packed.active.shape != h.shape or np.dtype(packed.Q.dtype) != np.dtype(Q.dtype):
        raise CourseError(
            f"packed was made for {packed.active.size} unknowns in {packed.Q.dtype}, but Q has {Q.shape[0]} in "
            f"{Q.dtype}: make it with room_for(x)."
        )


def _check_offsets(Q, device: bool) -> None:
    if device and Q.shape[-1] > MOST:
        raise CourseError(
            f"Q has {Q.shape[-1]} rows, but 32-bit offsets reach {MOST}: divide it between GPUs."
        )


def check_square(Q) -> None:
    """Raise unless the last two dimensions of Q have the same size."""
    if Q.shape[-1] != Q.shape[-2]:
        raise CourseError(
            f"Q has shape {Q.shape}: it must be square, with a row and a column for each unknown."
        )


def check_problem(Q, h, x0, xp=np, *, positive: bool = True) -> None:
    """Check a quadratic program; its arrays are those of ``xp``: of NumPy in host memory, or of CuPy in GPU memory.

    That Q is semidefinite is not proved: only its entries are looked at, by themselves and in pairs. Products with Q
    must show the rest, if they do.

    Parameters
    ----------
    positive : bool
        False if x0 may hold zeros.

    Raises
    ------
    CourseError
        If Q is not square, not symmetric or not finite, if its diagonal or two of its rows and columns show that it is
        not positive semidefinite, if h or x0 do not fit, if x0 is not positive everywhere, or if the update would
        divide by zero. The message names the first wrong entry.

    Examples
    --------
    >>> check_problem(np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones(2), None)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: Q is not symmetric: Q[0, 1] = 2.0 but Q[1, 0] = 0.0; use (Q + Q.T) / 2.
    """
    arrays = {"Q": Q, "h": h} | ({} if x0 is None else {"x0": x0})
    for name, a in arrays.items():
        if not hasattr(a, "dtype") or not hasattr(a, "shape"):
            raise CourseError(f"{name} is a {type(a).__name__}: make an array with numpy.asarray({name}).")
        if on_device(a) != (xp is not np):
            here, there = ("CPU", "GPU memory") if xp is np else ("GPU", "host memory")
            raise CourseError(f"{name} lives in {there} but this function runs on the {here}: copy it first.")
    require_ndim(2, Q=Q)
    check_square(Q)
    check_vectors(Q, h, x0)
    for name, a in arrays.items():
        _check_finite(a, name, xp)
    _check_symmetric(Q, xp)
    _check_pairs(Q, xp)
    if positive and x0 is not None:
        check_start(float(x0.min()), int(x0.argmin()))
    check_denominators(*(_on_host(a) for a in (xp.maximum(Q, 0).sum(axis=1), h)))


def check_vectors(Q, h, x0, name_of_h: str = "h") -> None:
    """Check that h and x0 are vectors of Q's size and precision; Q, h and x0 may be in any memory."""
    for name, a in {name_of_h: h, "x0": x0}.items():
        if a is None:
            continue
        require_ndim(1, **{name: a})
        if a.size != Q.shape[0]:
            raise CourseError(
                f"{name} has {a.size} elements, but Q has {Q.shape[0]} rows: they must be equal."
            )
        if np.dtype(a.dtype) != np.dtype(Q.dtype):
            raise CourseError(f"{name} has dtype {a.dtype} but Q has {Q.dtype}: use one precision.")
    if np.dtype(Q.dtype).name not in FLOATS:
        raise CourseError(f"Q has dtype {Q.dtype}, expected {' or '.join(FLOATS)}: use Q.astype('float64').")


def check_start(least: float, place: int) -> None:
    """Raise unless the least element of x0, ``x0[place]``, is positive: a multiplicative update keeps a zero."""
    if not least > 0:
        raise CourseError(
            f"x0[{place}] is {least}: every element must be positive, because multiplying never moves a zero."
        )


def check_denominators(positive, h) -> None:
    """Raise if h⁺ + Q⁺x is 0 for every x: row i of Q has no positive entry, and h[i] is not positive.

    Parameters
    ----------
    positive : ndarray, shape (n,)
        Sums of the positive entries of Q's rows; host memory.
    """
    wrong = np.flatnonzero((positive <= 0) & (np.asarray(h) <= 0))
    if wrong.size:
        i = int(wrong[0])
        raise CourseError(
            f"Row {i} of Q has no positive entry and h[{i}] = {float(h[i])} is not positive, so that h⁺ + Q⁺x is 0 and "
            "the update divides by 0: if the row is 0, x does not depend on this unknown, or F falls without bound; "
            "leave it out."
        )


def check_options(maxiter, **flags) -> None:
    """Check the largest number of iterations, and options that are True or False."""
    if maxiter is not None:
        require_count(maxiter=maxiter)
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise CourseError(f"{name} is {value!r}: pass True or False.")


def _on_host(a):
    return a.get() if hasattr(a, "get") else a


def _check_finite(a, name: str, xp) -> None:
    if np.isfinite(float(a.sum())):  # one sweep; a sum may overflow, so look closely if it is not finite
        return
    wrong = _on_host(xp.argwhere(~xp.isfinite(a)))
    if wrong.size:
        place = tuple(int(k) for k in wrong[0])
        where = ", ".join(map(str, place))
        raise CourseError(f"{name}[{where}] is {float(a[place])}: every entry must be a finite number.")


def _check_symmetric(Q, xp) -> None:
    """Raise unless Q equals its transpose, up to the rounding of a product such as AᵀA."""
    n, most = Q.shape[0], 64 * np.finfo(Q.dtype).eps * float(xp.abs(Q).max())
    for begin in range(0, n, 256):  # by parts, so that no second matrix is needed
        rows = slice(begin, begin + 256)
        apart = xp.abs(Q[rows] - Q[:, rows].T)
        if float(apart.max()) > most:
            i, j = (int(k) for k in np.unravel_index(int(apart.argmax()), apart.shape))
            i, j = min(i + begin, j), max(i + begin, j)
            raise CourseError(
                f"Q is not symmetric: Q[{i}, {j}] = {float(Q[i, j])} but Q[{j}, {i}] = {float(Q[j, i])}; "
                "use (Q + Q.T) / 2."
            )


def _check_pairs(Q, xp) -> None:
    """Raise if a negative entry of the diagonal, or ``Q_ij² > Q_ii Q_jj``, shows that Q is not positive semidefinite.

    The diagonal is first raised by the rounding of a product such as AᵀA. There are n² comparisons, in one sweep.
    """
    n, rounding = Q.shape[0], 64 * np.finfo(Q.dtype).eps * float(xp.abs(Q).max())
    raised = xp.diagonal(Q) + Q.dtype.type(rounding)
    if float(raised.min()) < 0:
        i = int((raised < 0).argmax())
        raise CourseError(
            f"Q is not positive semidefinite: Q[{i}, {i}] = {float(Q[i, i])} is negative; "
            "check the sign of Q, or add to its diagonal."
        )
    most = xp.sqrt(raised)  # roots, because a product may overflow
    for begin in range(0, n, 256):  # by parts, so that no second matrix is needed
        rows = slice(begin, begin + 256)
        wrong = xp.abs(Q[rows]) > most[rows, None] * most
        if bool(wrong.any()):
            i, j = (int(k) for k in np.unravel_index(int(wrong.argmax()), wrong.shape))
            i, j = min(i + begin, j), max(i + begin, j)
            raise CourseError(
                f"Q is not positive semidefinite: Q[{i}, {j}] = {float(Q[i, j])}, and its square is larger than "
                f"Q[{i}, {i}] · Q[{j}, {j}] = {float(Q[i, i])} · {float(Q[j, j])}; check the sign of Q, or add to its "
                "diagonal."
            )
