"""The answer of every solver in the course."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Solution:
    """What a solver found, and whether to believe it.

    Attributes
    ----------
    x : array
        The solution, in the memory space of the right-hand side.
    converged : bool
        True only when the *true* residual, recomputed at the end, meets the tolerance.
    reason : str
        One sentence: why the solver stopped and, when it failed, what to try next.
    iterations : int
        Iterations done.
    residual_norms : tuple of float
        Norm of the residual after each iteration, the first before any.
    extra : dict
        What a solver wants to add (restarts, reductions, time), by name.
    """

    x: Any
    converged: bool
    reason: str
    iterations: int
    residual_norms: tuple[float, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def __str__(self):
        state = "converged" if self.converged else "NOT converged"
        last = f", last residual norm {self.residual_norms[-1]:.3e}" if self.residual_norms else ""
        return f"{state} after {self.iterations} iterations{last}: {self.reason}"
