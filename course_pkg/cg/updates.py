"""Reliable updates: when conjugate gradient in two precisions replaces its residual by the true one, and when it stops.

The iterations keep r, p and y in single precision; x, b and all sums are double. y is what x has gained since the last
update. An update adds y to x, computes the true residual b - A x in double precision, and rounds it to r. The search
direction is kept: beta is computed from the norm of the true residual. Starting again from p = r would lose what the
method has learned, and takes nearly twice as many iterations (decision 14).

Source: M. A. Clark, R. Babich, K. Barros, R. C. Brower, C. Rebbi, Solving lattice QCD systems of equations using mixed
precision solvers on GPUs, Comput. Phys. Commun. 181 (2010) 1517.
"""

from math import frexp, ldexp, sqrt

import numpy as np

from course_pkg.cg.outcome import Stop
from course_pkg.core import CourseError, Status

DROP = 0.1  # update when the norm is at most this share of the largest norm since the last update
EVERY = 2  # iterations between two checks of the norm: on a GPU, two fields p are then back in their places
TRUSTED = 1.1  # start again from p = r if the true r·r is more than 1.1 times the updated one
MOST_IDLE = 3  # stop after so many updates in a row without a new least true residual
SINGLE = np.float32


def check_double(b) -> None:
    """Raise unless b is in double precision, in which x and the true residual are kept.

    Examples
    --------
    >>> check_double(np.ones(3, "float32"))
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: b has dtype float32: cg_mixed keeps b and x in float64 and ...
    """
    if np.dtype(b.dtype) != np.float64:
        raise CourseError(
            f"b has dtype {b.dtype}: cg_mixed keeps b and x in float64 and itself chooses what is float32; use "
            "b.astype('float64')."
        )


def scale_of(norm: float, points: int) -> float:
    """Return the power of two next to the root mean square of a residual; r and y are stored divided by it.

    So neither a very small nor a very large b leaves the range of float32. Dividing by a power of two is exact.

    Examples
    --------
    >>> scale_of(8e30, points=64) == 2.0**100
    True
    >>> scale_of(0.0, points=64)
    1.0
    """
    return ldexp(1.0, frexp(norm / sqrt(points))[1]) if norm > 0 else 1.0


def kept(beta: float, true: float, updated: float) -> float:
    """Return beta after an update, from beta before it and two values of r·r.

    ``true`` is r·r of the true residual, and ``updated`` is r·r of the residual that step 6 had updated. If the two
    differ much, the directions are not conjugate either; then beta is 0, and the method starts again from p = r.

    Examples
    --------
    >>> kept(0.5, true=1.02, updated=1.0), kept(0.5, true=5.0, updated=1.0)
    (0.51, 0.0)
    """
    return beta * true / updated if true <= TRUSTED * updated and updated > 0 else 0.0


def stagnated(norm: float, target: float) -> Stop:
    """Return the outcome if true residuals no longer become smaller.

    Examples
    --------
    >>> stagnated(1e-3, 1e-6).status.name
    'STAGNATED'
    """
    return Stop(
        Status.STAGNATED,
        f"the true residual is {norm:.3e} and did not fall in {MOST_IDLE} updates, but the tolerance is {target:.3e}: "
        "double precision reaches no less here; pass a larger rtol or atol.",
    )


class Updates:
    """The largest norm since the last update, and the least true norm, for methods whose loop runs on the host.

    Attributes
    ----------
    done : int
        Number of updates.
    converged : bool
        Whether the last true residual met the tolerance.

    Examples
    --------
    >>> updates = Updates(norm=1.0, target=1e-6)
    >>> updates.due(0.5, iteration=2), updates.due(0.05, iteration=3), updates.due(0.04, iteration=4)
    (False, False, True)
    >>> updates.note(0.04) is None, updates.done, updates.converged
    (True, 1, False)
    """

    def __init__(self, norm: float, target: float):
        self.target, self.largest, self.least = target, norm, norm
        self.done, self.idle, self.converged = 0, 0, norm <= target

    def due(self, norm: float, iteration: int) -> bool:
        """Take the norm of an iteration's updated residual; return whether an update has to follow."""
        self.largest = max(self.largest, norm)
        if norm == 0:  # the next direction would be zero
            return True
        return iteration % EVERY == 0 and norm <= max(self.target, DROP * self.largest)

    def note(self, norm: float) -> Stop | None:
        """Take the norm of an update's true residual; return why the method has to stop, or None if it can go on."""
        self.done, self.largest = self.done + 1, norm
        self.idle = 0 if norm < self.least else self.idle + 1
        self.least, self.converged = min(norm, self.least), norm <= self.target
        if self.idle >= MOST_IDLE and not self.converged:
            return stagnated(norm, self.target)
        return None
