"""The loop around the kernels: how it starts, when the host reads the scalars, and how it ends.

The host queues iterations as CUDA graphs, and reads the scalars only from time to time. The device stops by itself:
when the residual is small enough, it sets a flag, and from then on the kernels change nothing. So x belongs to the
iteration in which the residual became small, even if the host has queued more. Steps are numbered as in
``cg/reference.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_pkg.cg.checks import (
    check_grids,
    check_norm,
    check_not_lost,
    check_stops,
    check_target,
    why_stopped,
)
from course_pkg.cg.gpu_numba import scalars as at
from course_pkg.cg.gpu_numba.maps import add_kernel
from course_pkg.cg.gpu_numba.workspace import Workspace
from course_pkg.cg.outcome import Stop, finish, nothing_to_solve
from course_pkg.core import Solution, Status
from course_pkg.device.graphs import SIMT, captured

PAIRS_UNSEEN = 1 if SIMT else at.KEPT // 2  # the host reads the scalars after this many pairs of iterations


@dataclass(frozen=True)
class Iteration:
    """How a method does one iteration.

    Attributes
    ----------
    queue : callable
        ``queue(workspace, p1, p2, odd, stream)`` launches the kernels of an iteration. They leave the search
        direction in p2; p1 holds the direction before it. ``odd`` is true in every second iteration.
    swaps_p : bool
        Whether p1 and p2 are two fields that are swapped. Otherwise they are one field, which is updated in place.
    stores_s : bool
        Whether ``s = A p`` is a field.
    defers_x : bool
        Whether x is updated only in every second iteration (``odd``).

    Examples
    --------
    >>> from course_pkg.cg.gpu_numba import ITERATIONS
    >>> ITERATIONS["baseline"].stores_s, ITERATIONS["two_kernel"].stores_s
    (True, False)
    """

    queue: Callable
    swaps_p: bool = False
    stores_s: bool = True
    defers_x: bool = False


class Solver:
    """Conjugate gradient on a grid in GPU memory, two iterations at a time.

    Parameters
    ----------
    iteration : Iteration
    b, x0 : device array, shape (nz, ny, nx)
        x0 may be None. Neither is changed.
    rtol, atol, maxiter
        As in ``cg/reference.py``.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.cg.gpu_numba import ITERATIONS
    >>> solver = Solver(ITERATIONS["two_kernel"], cuda.to_device(np.ones((4, 4, 4))))
    >>> solver.two()
    >>> solver.look()
    >>> solver.done, solver.status, len(solver.norms)
    (2, None, 3)
    """

    QUEUED = 2  # iterations of a graph
    scale = 1.0  # norms that the device keeps are divided by it
    agreement = 1e-9  # largest relative difference of the updated residual from the true one

    def __init__(self, iteration, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None):
        check_grids(b, x0, device=True)
        check_stops(rtol, atol, maxiter)
        self.iteration = iteration
        self.work = w = self._workspace(b)
        self.norm_b = norm = w.residual(w.r)  # of b - A 0
        check_norm(norm, "b")
        if norm == 0:
            check_not_lost(norm, w.b.copy_to_host())
        if x0 is not None:
            w.take(x0, w.x)
            norm = w.residual(w.r)  # 1
            check_norm(norm, "x0")
        self.target = check_target(max(rtol * self.norm_b, atol)) if self.norm_b else 0.0
        self.norms, self.done, self.p_A_p, self.alpha = [norm], 0, 0.0, 0.0
        self.stopped = at.CONVERGED if norm <= self.target else at.RUNNING
        state = np.zeros(at.STATE_SIZE)  # beta is zero in the first iteration
        state[at.DELTA], state[at.TARGET], state[at.STOPPED] = norm**2, self.target**2, self.stopped
        state[at.MAXITER] = 10 * b.size if maxiter is None else maxiter
        w.state.copy_to_device(state)

    def _workspace(self, b) -> Workspace:
        return Workspace(b, swaps_p=self.iteration.swaps_p, stores_s=self.iteration.stores_s)

    def one(self, odd: bool, stream=0) -> None:
        """Queue an iteration."""
        p1, p2 = reversed(self.work.p) if odd else self.work.p
        self.iteration.queue(self.work, p1, p2, odd, stream)

    def two(self, stream=0) -> None:
        """Queue two iterations; after two, p1 and p2 are back in their places."""
        self.one(False, stream)
        self.one(True, stream)

    def some(self, stream=0) -> None:
        """Queue ``QUEUED`` iterations; one graph holds them."""
        self.two(stream)

    def graph(self) -> Callable[[], None]:
        """Return a function that queues ``QUEUED`` iterations by one call."""
        if SIMT:
            return self.some
        state = self.work.state.copy_to_host()
        # this launch only compiles the kernels: they change nothing while the state says that the solver has stopped
        self.work.state.copy_to_device(np.full_like(state, at.LIMIT))
        self.some()
        self.work.state.copy_to_device(state)
        return captured(self.some)

    def look(self) -> None:
        """Wait for the device, and record its iterations since the last look; norms it has overwritten become NaN."""
        state, history = self.work.state.copy_to_host(), self.work.history.copy_to_host()
        done, self.stopped = int(state[at.ITERATION]), int(state[at.STOPPED])
        lost = max(0, done - self.done - at.KEPT)  # iterations whose residuals the device has overwritten
        kept = [
            self.scale * float(np.sqrt(history[k % at.KEPT])) for k in range(self.done + lost + 1, done + 1)
        ]
        self.norms += [np.nan] * lost + kept
        self.done, self.p_A_p, self.alpha = done, float(state[at.P_A_P]), float(state[at.ALPHA])

    @property
    def status(self) -> Status | None:
        """Why the device stopped, as of the last look; None while it iterates."""
        return at.status_of(self.stopped, self.p_A_p)

    def run(self) -> None:
        """Iterate until the device stops."""
        if self.done % 2:  # p1 and p2 are swapped
            self.one(odd=True)
            self.look()
        some = self.graph()
        while not self.stopped:
            for _ in range(max(1, 2 * PAIRS_UNSEEN // self.QUEUED)):
                some()
            self.look()

    def run_watched(self, callback) -> None:
        """Iterate until the device stops; call ``callback(x)`` after each iteration that brings x up to date."""
        while not self.stopped:
            self.alone(odd=self.done % 2 == 1)
            self.look()
            if self.stopped != at.BROKEN and not (self.iteration.defers_x and self.done % 2):
                callback(self.current())

    def alone(self, odd: bool) -> None:
        """Queue one iteration, after which the host waits."""
        self.one(odd)

    def current(self):
        """Return x of the last iteration as a new grid."""
        return self.work.grid(self.work.x)

    def complete(self) -> None:
        """Bring x up to date after the last iteration."""
        if self.iteration.defers_x and self.done % 2:
            w = self.work
            w.over_pairs(add_kernel, 0, w.p[1], w.dtype.type(self.alpha), w.x)

    def trouble(self) -> Stop | None:
        """Return why the method had to stop, if it had to."""
        return why_stopped(self.p_A_p, self.done + 1) if self.stopped == at.BROKEN else None

    @property
    def extra(self) -> dict:
        """Further results of the method, for ``Solution.extra``."""
        return {}


def solve(iteration, b, x0, rtol, atol, maxiter, callback) -> Solution:
    """Solve, and check the true residual; arguments as in :class:`Solver`."""
    return solution(Solver(iteration, b, x0, rtol=rtol, atol=atol, maxiter=maxiter), callback)


def solution(solver: Solver, callback=None) -> Solution:
    """Let a solver iterate until it stops, and check the true residual."""
    w = solver.work
    if solver.norm_b == 0:
        w.fill(w.x)
        return nothing_to_solve(w.grid(w.x))
    if callback is None:
        solver.run()
    else:
        solver.run_watched(callback)
    solver.complete()
    x = w.grid(w.x)
    true = w.residual(w.s)  # waits for the device: x may be read on any stream
    return finish(x, solver.norms, solver.target, true, solver.trouble(), solver.extra)
