"""How a conjugate gradient method ended: the true residual is asked, and the reason said in a sentence."""

import numpy as np

from course_pkg.core import Solution

# the true residual may exceed the tolerance by as much: it is rounded in another way than the recursion's
SLACK = 1.01


def finish(x, norms, target: float, true: float, trouble: str = "", extra: dict | None = None) -> Solution:
    """Return the answer of a method, confirmed on the true residual.

    Parameters
    ----------
    x : array
        The solution, wherever it lives.
    norms : sequence of float
        Norm of the residual that the recursion carried: before the first iteration, and after each.
    target : float
        Norm that was asked for.
    true : float
        ``‖b - A x‖``, computed from x.
    trouble : str
        Why the method stopped early, such as :func:`not_definite` says; empty if it did not.
    """
    iterations = len(norms) - 1
    converged = not trouble and norms[-1] <= target and true <= SLACK * target
    reason = trouble or outcome(norms[-1], true, target, iterations)
    return Solution(x, converged, reason, iterations, tuple(norms), extra or {})


def outcome(recursive: float, true: float, target: float, iterations: int) -> str:
    """Say in a sentence how an iteration ended that met no trouble."""
    if not np.isfinite(recursive) or not np.isfinite(true):
        return (
            f"a residual is no number any more (the recursion's {recursive}, the true one {true}): look for values "
            "that are not finite in A, or scale b and x0 down."
        )
    if recursive > target:
        return (
            f"maxiter was reached with a residual of {recursive:.3e}, where {target:.3e} is asked for: allow more than "
            f"{iterations} iterations, or use a preconditioner."
        )
    if true > SLACK * target:
        return (
            f"the recursion's residual met the tolerance and the true one is {true:.3e}, above {target:.3e}: rounding "
            "has parted them; start again from this x, or use double precision."
        )
    return f"the true residual, {true:.3e}, meets the tolerance, {target:.3e}."


def not_definite(p_A_p: float, iteration: int) -> str:
    """Say that A is not positive definite, as ``p·Ap`` of an iteration shows."""
    return (
        f"A is not positive definite: in iteration {iteration} p·Ap = {p_A_p:.3e}, and it must be positive; look "
        "at the sign of A, or use MINRES or GMRES."
    )


def nothing_to_solve(x) -> Solution:
    """Return the answer for b = 0."""
    return Solution(x, True, "b is zero, and so is x.", 0, (0.0,))
