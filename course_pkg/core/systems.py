"""Checks that all solvers share: the right-hand side and the first guess, the tolerances, and the norms."""

import numpy as np

from course_pkg.core.checks import FLOATS
from course_pkg.core.errors import CourseError

SMALLEST = float(np.sqrt(np.finfo(np.float64).tiny))  # the smallest norm whose square is a normal number


def check_system(b, x0, rtol, atol, maxiter, inner=None) -> None:
    """Check a right-hand side and a first guess in host memory, and the arguments that say when to stop.

    ``inner`` computes dot products; by default, those of arrays that one process holds whole.

    Raises
    ------
    CourseError
        If an argument is wrong; the message names it, and says how to fix it.

    Examples
    --------
    >>> check_system(np.ones(4), np.zeros(3), rtol=1e-6, atol=0.0, maxiter=None)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: x0 has shape (3,) but b has (4,): they must be equal, or leave x0 out.
    """
    inner = inner or dot
    for name, array in (("b", b), *((("x0", x0),) if x0 is not None else ())):
        if not isinstance(array, np.ndarray):
            raise CourseError(
                f"{name} is a {type(array).__name__}, not an array in host memory: make one with numpy.asarray({name})."
            )
        if np.dtype(array.dtype).name not in FLOATS or not array.dtype.isnative:
            raise CourseError(f"{name} has dtype {array.dtype}: use {name}.astype('float64').")
        _check_values(array, name, inner)
    if x0 is not None and x0.shape != b.shape:
        raise CourseError(
            f"x0 has shape {x0.shape} but b has {b.shape}: they must be equal, or leave x0 out."
        )
    check_not_lost(inner(b, b), b)
    check_stops(rtol, atol, maxiter)


def squared(a) -> float:
    """Return ``<a, a>`` of an array in host memory, summed in float64.

    Examples
    --------
    >>> squared(np.array([3.0, 4.0]))
    25.0
    """
    return dot(a, a)


def dot(a, b) -> float:
    """Return ``<a, b>`` of arrays in host memory, summed in float64.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.vdot(a, b) if a.dtype == np.float64 else np.sum(np.multiply(a, b, dtype=np.float64)))


class Whole:
    """Vectors that one process holds whole.

    A solver takes dot products and sizes from here, unless its operator has other ``vectors``: those that are divided
    among ranks, for example.

    Examples
    --------
    >>> Whole.inner(np.array([1.0, 2.0]), np.array([3.0, 4.0])), Whole.unknowns(np.ones((2, 3)))
    (11.0, 6)
    """

    inner = staticmethod(dot)

    @staticmethod
    def unknowns(b) -> int:
        """Return how many unknowns the system with this right-hand side has."""
        return int(b.size)


def vectors_of(A):
    """Return the object that computes dot products of A's vectors: ``A.vectors`` if A has it, otherwise Whole.

    Examples
    --------
    >>> vectors_of(np.eye(2)).__name__
    'Whole'
    """
    return getattr(A, "vectors", Whole)


def check_not_lost(norm: float, b) -> None:
    """Raise if ‖b‖² underflowed: ``norm`` is zero although b, in host memory, is not.

    Examples
    --------
    >>> b = np.full(3, 1e-200)
    >>> check_not_lost(squared(b), b)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: The squares of b's values underflow to 0: multiply b by a large factor, ...
    """
    if norm == 0 and b.any():
        raise CourseError(
            "The squares of b's values underflow to 0: multiply b by a large factor, and divide x by it."
        )


def check_target(target: float) -> float:
    """Return the target for the residual norm, limited so that its square is finite; raise if its square underflows.

    Examples
    --------
    >>> check_target(1e-6)
    1e-06
    >>> check_target(1e200) ** 2 < np.inf
    True
    """
    if target < SMALLEST:
        raise CourseError(
            f"The square of the demanded residual norm, {target:.1e}, underflows: multiply b by a large factor (and "
            "divide x by it), or pass a larger rtol or atol."
        )
    return min(target, 1 / SMALLEST)


def _check_values(array, name: str, inner) -> None:
    norm = inner(array, array)  # one sweep; finite only if every value is
    wrong = 0 if np.isfinite(norm) else int(np.count_nonzero(~np.isfinite(array)))
    if wrong:
        raise CourseError(
            f"{name} has {wrong} value(s) that are not finite: find them with np.argwhere(~np.isfinite({name})), and "
            "look where they come from."
        )
    check_norm(norm, name)


def check_norm(norm, name: str) -> None:
    """Raise unless a norm, or its square, is finite; ``name`` is the argument from which it was computed.

    Examples
    --------
    >>> check_norm(np.inf, "b")
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: b has values that are not finite, or whose squares overflow: ...
    """
    if not np.isfinite(norm):
        raise CourseError(
            f"{name} has values that are not finite, or whose squares overflow: look where they come from, or scale it."
        )


def check_stops(rtol, atol, maxiter) -> None:
    """Check that the tolerances are at least 0 and not both 0, and that maxiter is None or at least 1.

    Examples
    --------
    >>> check_stops(rtol=0, atol=0, maxiter=None)
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: rtol and atol are both 0, which no residual reaches: pass rtol=1e-6, say.
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not (number and np.isfinite(value) and value >= 0):
            raise CourseError(f"{name} is {value!r}: it must be a finite number of at least 0.")
    if rtol == 0 and atol == 0:
        raise CourseError("rtol and atol are both 0, which no residual reaches: pass rtol=1e-6, say.")
    whole = isinstance(maxiter, (int, np.integer)) and not isinstance(maxiter, bool)
    if maxiter is not None and not (whole and maxiter >= 1):
        raise CourseError(f"maxiter is {maxiter!r}: it must be an integer of at least 1, or None.")
