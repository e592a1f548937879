"""The loop of every solver of this topic: the order of the steps. The caller provides vectors and products.

The plain method repeats the update. The accelerated one repeats three phases; each step is an exact line search along
a direction d, which takes one product with Q, because Q⁺x and Q⁻x are updated in every step:

    1. BURST steps of the update: they find out which unknowns tend to 0;
    2. one step that takes those unknowns to 0;
    3. conjugate gradients on the others, until their gradient is small or one of them reaches 0. Then one step is
       projected: all that would become negative are 0. Zeros may grow again in phase 1. If a zero ought to grow,
       phase 3 ends earlier: as soon as the zero's gradient is LEAVE times as large as the gradient of the others.

F decreases in every step. On a string, a zero grows only after its neighbour has grown, so the number of times that
phase 1 comes back grows with n. Without LEAVE, each phase 3 would solve the whole system of the others, and the
products with Q would grow almost like n²: 1472 for n = 200 and 7649 for n = 500. With it they are 544 and 1317.

Sources: J. J. Moré and G. Toraldo, On the solution of large quadratic programming problems with bound constraints, SIAM
J. Optimization 1, 1991 (phases 2 and 3; there, phase 1 is a projected gradient). Z. Dostál, Box constrained quadratic
programming with proportioning and projections, SIAM J. Optimization 7, 1997 (to leave phase 3 for the sake of zeros).
"""

import numpy as np

from course_pkg.core import CourseError, Solution, Status

BURST = 5  # updates before conjugate gradients
FLAT = 64  # times the rounding of a double: a smaller curvature counts as zero
LEAVE = 5  # let a zero grow once its gradient is this many times that of the unknowns that are not 0
READMIT_EVERY = 10  # iterations of the plain method between two looks at the zeros
RENEWALS = 5  # how often sums computed anew may contradict the sums that steps update


def check_stops(rtol, atol) -> None:
    """Check that the tolerances are numbers of at least 0, and not both 0.

    Examples
    --------
    >>> check_stops(1e-6, 0.0)
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not (number and np.isfinite(value) and value >= 0):
            raise CourseError(f"{name} is {value!r}: it must be a finite number of at least 0.")
    if rtol == 0 and atol == 0:
        raise CourseError("rtol and atol are both 0, which no residual reaches: pass rtol=1e-6, say.")


def minimise(work, rtol, atol, maxiter, callback, accelerate: bool, readmit: bool) -> Solution:
    """Run the plain or the accelerated method on ``work``, an object like :class:`~course_pkg.qp.arrays.Arrays`.

    Examples
    --------
    >>> from course_pkg.qp.arrays import Arrays
    >>> work = Arrays(np, lambda v: (v, 0 * v), np.eye(2), np.array([-1.0, 1.0]), np.zeros(2), np.ones(2))
    >>> minimise(work, 1e-6, 0.0, None, None, True, True).x
    array([1., 0.])
    """
    target = max(rtol * work.scale, atol)
    limit = max(1000, 10 * work.size) if maxiter is None else maxiter
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is a result, not a warning
        if work.scale == 0:
            work.settle()
        progress = Progress(work, target, callback)
        if work.least_diagonal() < 0:
            return progress.finish(Status.INDEFINITE, "an entry of Q's diagonal is negative")
        method = _accelerated if accelerate else _plain
        return progress.finish(*method(work, progress, limit, readmit))


class Progress:
    """The residuals and objectives so far, and the certificate at the end.

    Examples
    --------
    >>> from course_pkg.qp.arrays import Arrays
    >>> work = Arrays(np, lambda v: (v, 0 * v), np.eye(1), np.array([-1.0]), np.zeros(1), np.ones(1))
    >>> Progress(work, 1e-6, None).met()
    True
    """

    def __init__(self, work, target: float, callback):
        self.work, self.target, self.callback = work, target, callback
        self.renewals = 0
        self.seen = work.look()
        self.residuals, self.objectives = [self.seen.kkt], [self.seen.objective]

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.residuals) - 1

    def step(self) -> None:
        """Record the residual and the objective at x after an iteration."""
        self.seen = self.work.look()
        self.residuals.append(self.seen.kkt)
        self.objectives.append(self.seen.objective)
        if self.callback is not None:
            self.callback(self.work.x)

    def met(self) -> bool:
        """Return whether the residual meets the tolerance, confirmed by products that are computed anew."""
        if not (self.seen.kkt <= self.target and all(map(np.isfinite, self.seen))):
            return False  # min(x, ∞) would look like a small residual
        self.work.renew()
        self.seen = self.work.look()
        self.renewals += 1
        return self.seen.kkt <= self.target

    def stuck(self) -> tuple[Status, str] | None:
        """Return why the method cannot go on; None if it can."""
        if not all(map(np.isfinite, self.seen)):
            return Status.OVERFLOW, "a number became infinite or NaN"
        return (Status.STAGNATED, "") if self.renewals > RENEWALS else None

    def finish(self, status: Status, reason: str = "") -> Solution:
        """Return the result with its certificates."""
        work, kkt = self.work, self.seen.kkt
        gradient = work.gradient
        extra = {
            "objective": self.seen.objective,
            "objectives": tuple(self.objectives),
            "kkt": kkt,
            "multipliers": gradient,
            "least_multiplier": float(gradient.min()),
            "gap": self.seen.gap,
            "products": work.products,
        }
        sentence = _sentence(status, reason, kkt, self.target, self.iterations)
        return Solution(work.x, status, sentence, self.iterations, tuple(self.residuals), extra)


def _plain(work, progress: Progress, limit: int, readmit: bool) -> tuple[Status, str]:
    """Repeat the update; from time to time, look whether zeros ought to grow."""
    while not progress.met():
        trouble = progress.stuck() or _not_convex(work, progress.seen)
        if trouble:
            return trouble
        if progress.iterations >= limit:
            return (
                Status.MAXITER,
                "let accelerate and readmit be True" if not readmit else "let accelerate be True",
            )
        if not (readmit and progress.iterations % READMIT_EVERY == 0 and work.readmit()):
            work.multiply()
        progress.step()
    return Status.CONVERGED, ""


def _not_convex(work, seen) -> tuple[Status, str] | None:
    if seen.curvature < -FLAT * work.size * work.eps * work.magnitude():
        return Status.INDEFINITE, f"at the last x, xᵀQx = {seen.curvature:.3e}"
    return None


def _accelerated(work, progress: Progress, limit: int, readmit: bool) -> tuple[Status, str]:
    """Repeat the three phases until the residual meets the tolerance."""
    trouble = None
    while not progress.met():
        for _ in range(BURST):
            work.towards_update()
            trouble = _step(work, progress, limit)
            if trouble or progress.seen.kkt <= progress.target:
                break
        if not trouble and progress.seen.kkt > progress.target and work.towards_bound():
            trouble = _step(work, progress, limit, most=1.0)
        if not trouble and progress.seen.kkt > progress.target:
            trouble = _conjugate(work, progress, limit)
        if trouble:
            return trouble
    return Status.CONVERGED, ""


def _conjugate(work, progress: Progress, limit: int) -> tuple[Status, str] | None:
    """Take conjugate steps until one is cut short, or the gradient of the free unknowns is small.

    The residual exceeds the gradient of the free unknowns only where a zero ought to grow.
    """
    beta = 0.0
    while progress.seen.free > progress.target / 2:
        before = progress.seen.free_squared
        work.towards_conjugate(beta)
        along = work.measure()
        wanted = -along.slope / along.curvature if along.curvature > 0 else np.inf
        cut_short = along.most < wanted < np.inf
        if cut_short:
            work.towards_projected(wanted)
            projected = work.measure()
            if not _gain(projected, 1.0) < _gain(along, along.most):
                work.go_back()
        trouble = _step(work, progress, limit)
        if trouble or cut_short or progress.seen.kkt > LEAVE * progress.seen.free:
            return trouble
        beta = progress.seen.free_squared / before
    return None


def _gain(along, most: float) -> float:
    """Return the change of F by the best step along d that is not longer than ``most``; negative is better."""
    if not along.slope < 0:
        return np.inf
    t = min(most, -along.slope / along.curvature) if along.curvature > 0 else most
    return t * along.slope + t * t * along.curvature / 2


def _step(work, progress: Progress, limit: int, most: float = np.inf) -> tuple[Status, str] | None:
    """Go to the least F along d, but only as far as x ≥ 0; return why the method has to stop, or None."""
    if progress.iterations >= limit:
        return Status.MAXITER, "try apg"
    along = work.measure()
    flat = FLAT * work.size * work.eps * along.scale
    if along.curvature < -flat:
        return Status.INDEFINITE, f"along a direction d, dᵀQd = {along.curvature:.3e}"
    longest = min(most, along.most)
    wanted = -along.slope / along.curvature if along.curvature > flat else np.inf
    t = min(wanted, longest)
    if not along.slope < 0:
        t = 0.0
    if t == np.inf:
        return Status.UNBOUNDED, f"along a direction d ≥ 0, Qd = 0 and F falls at the rate {-along.slope:.3e}"
    work.advance(t)
    progress.step()
    return progress.stuck()


def _sentence(status: Status, reason: str, kkt: float, target: float, iterations: int) -> str:
    if status is Status.CONVERGED:
        return f"the KKT residual, {kkt:.3e}, meets the tolerance, {target:.3e}."
    return {
        Status.MAXITER: f"after {iterations} iterations the KKT residual is {kkt:.3e}, but the tolerance is "
        f"{target:.3e}: allow more iterations with maxiter, {reason}, or scale the unknowns.",
        Status.INDEFINITE: f"Q is not positive semidefinite: {reason}; check its sign, or add to its diagonal.",
        Status.UNBOUNDED: f"F falls without bound: {reason}; check the sign of h, or add to the diagonal of Q.",
        Status.OVERFLOW: f"{reason}: scale Q, h or x0 down, or check that F is bounded below.",
        Status.STAGNATED: f"the carried sums meet the tolerance, {target:.3e}, but because of rounding errors the KKT "
        f"residual is {kkt:.3e}: use double precision, or a larger rtol.",
    }[status]


def accelerated_gradient(xp, product, h, x, rtol, atol, maxiter, callback) -> Solution:
    """Run accelerated projected gradients with restarts; one product with Q for an iteration.

    The step is 1/L. L begins as the curvature along the gradient, and grows whenever a step shows that it is too small.

    Examples
    --------
    >>> found = accelerated_gradient(np, lambda v: v, np.array([-1.0, 1.0]), np.ones(2), 1e-6, 0.0, None, None)
    >>> found.x
    array([1., 0.])
    """
    target = max(rtol * float(xp.abs(h).max()), atol)
    limit = max(1000, 10 * x.size) if maxiter is None else maxiter
    x = xp.maximum(x, 0)
    Qx = product(x)
    y, Qy, theta = x, Qx, 1.0
    gradient = Qx + h
    norms = [_kkt(xp, x, gradient)]
    Qg = product(gradient)
    products, squared = 2, float(xp.vdot(gradient, gradient))
    L = float(xp.vdot(gradient, Qg)) / squared if squared > 0 else 1.0
    L = L if L > 0 else 1.0
    while norms[-1] > target and len(norms) <= limit and np.isfinite(norms[-1]):
        new = xp.maximum(y - (Qy + h) / L, 0)
        Q_new = product(new)
        products += 1
        step = new - y
        length, bent = float(xp.vdot(step, step)), float(xp.vdot(step, Q_new - Qy))
        if bent > 1.0001 * L * length:  # L was too small: repeat the step with a larger L
            L = 1.5 * bent / length
            continue
        if float(xp.vdot(y - new, new - x)) > 0 and theta > 1:  # the momentum leads uphill
            y, Qy, theta = x, Qx, 1.0
            continue
        following = (1 + np.sqrt(1 + 4 * theta * theta)) / 2
        momentum = (theta - 1) / following
        y, Qy, theta = new + momentum * (new - x), Q_new + momentum * (Q_new - Qx), following
        x, Qx = new, Q_new
        gradient = Qx + h
        norms.append(_kkt(xp, x, gradient))
        if callback is not None:
            callback(x)
    status = Status.CONVERGED if norms[-1] <= target else Status.MAXITER
    if not np.isfinite(norms[-1]):
        status = Status.OVERFLOW
    extra = {
        "objective": float(xp.vdot(x, Qx / 2 + h)),
        "kkt": norms[-1],
        "multipliers": gradient,
        "least_multiplier": float(gradient.min()),
        "gap": float(xp.vdot(x, gradient)),
        "products": products,
    }
    reason = "try pqp" if status is Status.MAXITER else "a number became infinite or NaN"
    sentence = _sentence(status, reason, norms[-1], target, len(norms) - 1)
    return Solution(x, status, sentence, len(norms) - 1, tuple(norms), extra)


def _kkt(xp, x, gradient) -> float:
    return float(xp.abs(xp.minimum(x, gradient)).max())
