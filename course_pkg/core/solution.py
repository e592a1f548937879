"""The result that every solver of the course returns."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from course_pkg.core.errors import CourseError
from course_pkg.core.units import how_many

# the true residual may exceed the tolerance by this factor: it is rounded differently from the updated residual
SLACK = 1.01


class Status(Enum):
    """Why a solver stopped.

    Examples
    --------
    >>> Status.MAXITER.value
    'the largest number of iterations was reached'
    """

    CONVERGED = "the true residual meets the tolerance"
    MAXITER = "the largest number of iterations was reached"
    NOT_DEFINITE = "A is not positive definite"
    M_NOT_DEFINITE = "the preconditioner is not positive definite"
    INDEFINITE = "Q is not positive semidefinite"
    UNBOUNDED = "the objective falls without bound"
    OVERFLOW = "a number became infinite or NaN"
    DIVERGED = "the residual grew instead of falling"
    STAGNATED = "the updated residual met the tolerance, but the true residual does not"


@dataclass(frozen=True)
class Solution:
    """The result of a solver, and whether it can be trusted.

    Attributes
    ----------
    x : array
        The solution, in the memory space of the right-hand side.
    status : Status
        Why the solver stopped, for programs to compare.
    reason : str
        Why the solver stopped, for people: one sentence that, after a failure, also says what to try next.
    iterations : int
        Number of iterations.
    residual_norms : tuple of float
        Norm of the residual before the first iteration, and after each iteration.
    extra : dict
        Further results of a solver (restarts, reductions, time), by name.

    Raises
    ------
    CourseError
        If ``status`` is not a :class:`Status`.

    Examples
    --------
    >>> found = Solution(None, Status.MAXITER, "allow more than 3 iterations.", 3)
    >>> found.converged
    False
    >>> print(found)
    NOT converged after 3 iterations: allow more than 3 iterations.
    """

    x: Any
    status: Status
    reason: str
    iterations: int
    residual_norms: tuple[float, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        if not isinstance(self.status, Status):
            raise CourseError(
                f"status is {self.status!r}: pass a member of Status, such as Status.CONVERGED."
            )

    @property
    def converged(self) -> bool:
        """True only if the *true* residual b − A x, computed from the final x, meets the tolerance."""
        return self.status is Status.CONVERGED

    def __str__(self):
        state = "converged" if self.converged else "NOT converged"
        last = f", last residual norm {self.residual_norms[-1]:.3e}" if self.residual_norms else ""
        return f"{state} after {how_many(self.iterations, 'iteration')}{last}: {self.reason}"


def nothing_to_solve(x) -> Solution:
    """Return the result for b = 0.

    Examples
    --------
    >>> print(nothing_to_solve(None))
    converged after 0 iterations, last residual norm 0.000e+00: b is zero, and so is x.
    """
    return Solution(x, Status.CONVERGED, "b is zero, and so is x.", 0, (0.0,))
