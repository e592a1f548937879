"""The vectors of a solve as whole arrays, and the operations of an iteration on them, for NumPy and for CuPy.

``solver.py`` decides what is done when, for these and for the kernels of ``gpu_numba``.
"""

from typing import NamedTuple

import numpy as np


class Seen(NamedTuple):
    """Norms and sums at a point x.

    Attributes
    ----------
    kkt : float
        ``‖min(x, ∇F)‖∞``.
    free : float
        ``‖∇F‖∞`` over the unknowns that are not 0.
    free_squared : float
        Sum of the squares of the same entries.
    objective, gap, curvature : float
        F, ``xᵀ∇F`` and ``xᵀQx``.

    Examples
    --------
    >>> Seen(kkt=0.0, free=0.0, free_squared=0.0, objective=-1.0, gap=0.0, curvature=2.0).objective
    -1.0
    """

    kkt: float
    free: float
    free_squared: float
    objective: float
    gap: float
    curvature: float


class Along(NamedTuple):
    """Slope, curvature and longest step along a direction d.

    Attributes
    ----------
    slope, curvature : float
        ``d·∇F`` and ``dᵀQd``.
    scale : float
        ``Σ d_i² Σ_j|Q_ij|``, an upper bound of ``|dᵀQd|``: a curvature that is tiny compared with it is rounding.
    most : float
        The longest step that keeps every x_i ≥ 0; infinite if no d_i is negative.

    Examples
    --------
    >>> Along(slope=-2.0, curvature=4.0, scale=4.0, most=1.0).most
    1.0
    """

    slope: float
    curvature: float
    scale: float
    most: float


class Arrays:
    """The state of a solve: x, Q⁺x and Q⁻x, which every step updates, and a direction d, Q⁺d and Q⁻d.

    Parameters
    ----------
    xp : module
        NumPy or CuPy.
    product : callable
        Takes a vector v, returns Q⁺v and Q⁻v. It is the only thing that reads Q.
    Q, h, shift, x : array
        x is changed.

    Examples
    --------
    >>> Q = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> product = lambda v: (np.maximum(Q, 0) @ v, np.maximum(-Q, 0) @ v)
    >>> work = Arrays(np, product, Q, np.array([-1.0, 1.0]), np.zeros(2), np.ones(2))
    >>> work.look()
    Seen(kkt=1.0, free=2.0, free_squared=4.0, objective=1.0, gap=2.0, curvature=2.0)
    """

    def __init__(self, xp, product, Q, h, shift, x):
        self.xp, self.product, self.h, self.x = xp, product, h, x
        self.h_plus, self.h_minus, self.shift = xp.maximum(h, 0), xp.maximum(-h, 0), shift
        self.diagonal, self.rows = xp.diagonal(Q).copy(), xp.abs(Q).sum(axis=1)
        self.least_step = xp.where(self.rows > 0, 1 / xp.where(self.rows > 0, self.rows, 1), 0)
        self.eps, self.products = float(np.finfo(x.dtype).eps), 0
        self.kept = None
        self.renew()

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.x.size

    @property
    def scale(self) -> float:
        """``‖h‖∞``."""
        return float(self.xp.abs(self.h).max())

    def least_diagonal(self) -> float:
        """The least element of the diagonal of Q, which is not negative if Q is positive semidefinite."""
        return float(self.diagonal.min())

    def magnitude(self) -> float:
        """``Σ x_i² Σ_j|Q_ij|``, an upper bound of ``|xᵀQx|``."""
        return float(self.xp.vdot(self.x * self.rows, self.x))

    def renew(self) -> None:
        """Compute Q⁺x and Q⁻x anew from x, because rounding errors add up in the sums that every step updates."""
        self.plus, self.minus = self._times(self.x)

    def settle(self) -> None:
        """Set x to 0, which is the solution if h is 0."""
        self.x = self.xp.zeros_like(self.x)
        self.renew()

    def look(self) -> Seen:
        """Compute the gradient at x, and return norms and sums."""
        xp, x = self.xp, self.x
        Qx = self.plus - self.minus
        self.gradient = Qx + self.h
        free = xp.where(x > 0, self.gradient, 0)
        kkt = xp.abs(xp.minimum(x, self.gradient)).max()
        sums = xp.vdot(free, free), xp.vdot(x, Qx / 2 + self.h), xp.vdot(x, self.gradient), xp.vdot(x, Qx)
        return Seen(float(kkt), float(xp.abs(free).max()), *map(float, sums))

    def multiply(self) -> None:
        """Do a multiplicative update: multiply each x_i by its ratio."""
        above = self.h_minus + self.minus + self.shift * self.x
        self.x *= above / self._below()
        self.renew()

    def readmit(self) -> bool:
        """Make each zero with a negative gradient positive, by a step so small that F falls; return if there is one."""
        lost = (self.x == 0) & (self.gradient < 0)
        if not bool(lost.any()):
            return False
        self.x = self.xp.where(lost, -self.gradient * self.least_step, self.x)
        self.renew()
        return True

    def towards_update(self) -> None:
        """Set d to the step of the update. An x_i too small to grow by a factor moves by a share of its gradient."""
        xp = self.xp
        step = self.x / self._below()
        step = xp.where(self.gradient < 0, xp.maximum(step, self.least_step), step)
        self.d = -self.gradient * step
        self._multiply_d()

    def towards_bound(self) -> bool:
        """Set d to take to 0 each x_i whose best step, along x_i alone, leads below 0; return if there is one."""
        bound = (self.x > 0) & (self.x * self.diagonal < self.gradient)
        if not bool(bound.any()):
            return False
        self.d = self.xp.where(bound, -self.x, 0)
        self._multiply_d()
        return True

    def towards_conjugate(self, beta: float) -> None:
        """Set d to the conjugate gradient direction on the unknowns that are not 0; beta = 0 starts anew."""
        downhill = self.xp.where(self.x > 0, -self.gradient, 0)
        self.d = downhill + beta * self.d if beta else downhill
        self._multiply_d()

    def towards_projected(self, t: float) -> None:
        """Replace d by the direction from x to ``max(x + t d, 0)``; :meth:`go_back` restores the old d."""
        self.kept = self.d, self.d_plus, self.d_minus
        self.d = self.xp.maximum(self.x + t * self.d, 0) - self.x
        self._multiply_d()

    def go_back(self) -> None:
        """Restore the direction that the last :meth:`towards_projected` replaced."""
        self.d, self.d_plus, self.d_minus = self.kept

    def measure(self) -> Along:
        """Return slope, curvature and longest step along d."""
        xp, d = self.xp, self.d
        down = d < 0
        ratios = xp.where(down, self.x / xp.where(down, -d, 1), xp.inf)
        sums = xp.vdot(self.gradient, d), xp.vdot(d, self.d_plus - self.d_minus), xp.vdot(d * self.rows, d)
        return Along(*map(float, sums), float(ratios.min()))

    def advance(self, t: float) -> None:
        """Add t times d, Q⁺d and Q⁻d to x, Q⁺x and Q⁻x. An x_i that reaches 0 up to rounding is set to exactly 0."""
        there = self.x + t * self.d
        reached = (self.d < 0) & (there <= 4 * self.eps * self.x)
        self.x = self.xp.where(reached, 0, there)
        self.plus += t * self.d_plus
        self.minus += t * self.d_minus

    def _below(self):
        below = self.h_plus + self.plus + self.shift * self.x
        return self.xp.where(below > 0, below, 1)  # x is 0 wherever ``below`` is

    def _times(self, v):
        self.products += 1
        with np.errstate(over="ignore", invalid="ignore"):
            return self.product(v)

    def _multiply_d(self):
        self.d_plus, self.d_minus = self._times(self.d)
