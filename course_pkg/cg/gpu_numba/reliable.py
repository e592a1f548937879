"""Conjugate gradient in two precisions on a GPU: the device itself decides when it computes the true residual.

Every CUDA graph ends with the kernels of an update, which return at once unless the device is paused. After every
second iteration a kernel of one block compares the residual with the tolerance and with the largest residual since the
last update, and may pause: the iterations that remain in the graph then change nothing. So no update waits for the
host, which reads the scalars as rarely as it does for the other methods. ``updates.py`` explains the rules. Steps are
numbered as in ``cg/reference.py``.

Kernels:
    beta_mixed_kernel   delta = r·r from its parts, beta, and whether an update has to follow
    settle_kernel       r·r of the true residual from its parts, beta from it, and whether the method ends here
"""

import numpy as np

from course_pkg import cuda
from course_pkg.cg.checks import check_grids
from course_pkg.cg.gpu_numba.maps import add_kernel
from course_pkg.cg.gpu_numba.methods import ITERATIONS
from course_pkg.cg.gpu_numba.mixed import (
    advance_mixed_kernel,
    gather_kernel,
    refresh_kernel,
    search_mixed_kernel,
)
from course_pkg.cg.gpu_numba.scalars import (
    BETA,
    CONVERGED,
    DELTA,
    ENOUGH,
    IDLE,
    ITERATION,
    LARGEST,
    LEAST,
    LIMIT,
    MAXITER,
    PAUSED,
    RUNNING,
    SCALE,
    STAGNATED,
    STOPPED,
    TARGET,
    THREADS_FINISH,
    UPDATES,
    sum_of,
)
from course_pkg.cg.gpu_numba.solver import Iteration, Solver, solution
from course_pkg.cg.gpu_numba.workspace import Workspace
from course_pkg.cg.outcome import Stop
from course_pkg.cg.updates import DROP, MOST_IDLE, SINGLE, TRUSTED, check_double, scale_of, stagnated
from course_pkg.core import Solution
from course_pkg.device.graphs import SIMT

MIXED_AT_ONCE = 396  # blocks (of 512 threads with 40 registers) that an H200 or H100 runs at once
# pairs of iterations in a graph: several on a GPU, so that fewer update kernels are launched only to return at once
PAIRS = 1 if SIMT else 4


@cuda.jit
def beta_mixed_kernel(partial, blocks, state, odd, history):
    """As ``beta_kernel``, but a small r does not end the method: the device pauses until an update has checked r.

    An update may follow an iteration with ``odd``, because the two fields p are then back in their places. It may also
    follow a residual of zero, because p is then not used again.
    """
    delta = sum_of(partial, blocks)
    if cuda.threadIdx.x == 0 and state[STOPPED] == RUNNING:
        state[BETA] = delta / state[DELTA]
        state[DELTA] = delta
        iteration = int(state[ITERATION]) + 1
        state[ITERATION] = iteration
        history[iteration % history.size] = delta
        state[LARGEST] = max(state[LARGEST], delta)
        enough = max(state[TARGET], state[ENOUGH] * state[LARGEST])
        if delta == 0.0 or (odd and delta <= enough):
            state[STOPPED] = PAUSED
        elif iteration >= state[MAXITER]:
            state[STOPPED] = LIMIT


@cuda.jit
def settle_kernel(partial, blocks, state, history):
    """As beta_mixed, but from the true residual: this is the last kernel of an update, and it ends the pause."""
    true = sum_of(partial, blocks)
    if cuda.threadIdx.x == 0 and state[STOPPED] == PAUSED:
        updated = state[DELTA]
        if updated > 0.0 and true <= TRUSTED * updated:
            state[BETA] = state[BETA] * true / updated
        else:  # start again from p = r
            state[BETA] = 0.0
        state[DELTA] = true
        state[LARGEST] = true
        state[UPDATES] += 1
        history[int(state[ITERATION]) % history.size] = true
        state[IDLE] += 1
        if true < state[LEAST]:
            state[LEAST] = true
            state[IDLE] = 0
        if true <= state[TARGET]:
            state[STOPPED] = CONVERGED
        elif state[IDLE] >= MOST_IDLE:
            state[STOPPED] = STAGNATED
        elif state[ITERATION] >= state[MAXITER]:
            state[STOPPED] = LIMIT
        else:
            state[STOPPED] = RUNNING


def mixed_iteration(w, p1, p2, odd, stream):
    """Queue two kernels; r, p and y are float32, and ``A p2`` is computed in both."""
    march, advance = w.marches.search, w.marches.advance
    w.make_alpha(w.marching(search_mixed_kernel, stream, (w.r, p1, w.state), (p2, w.partial), march), stream)
    blocks = w.marching(advance_mixed_kernel, stream, (p2, w.state), (w.y, w.r, w.partial), advance)
    w.judge(beta_mixed_kernel, blocks, (np.int32(odd),), stream)


class MixedWorkspace(Workspace):
    """As :class:`Workspace`, with r and p in float32, and a field ``y``: what x has gained since the last update.

    Examples
    --------
    >>> w = MixedWorkspace(cuda.to_device(np.ones((3, 4, 5))))
    >>> w.r.dtype == w.y.dtype == np.float32, w.x.dtype == np.float64, w.pitch
    (True, True, 32)
    """

    def __init__(self, b):
        super().__init__(b, swaps_p=True, stores_s=False, stored=SINGLE, at_once=MIXED_AT_ONCE)
        self.y = self._field(SINGLE)

    def judge(self, kernel, blocks: int, more, stream) -> None:
        """Launch a kernel of one block that adds up the parts of ``blocks`` blocks and decides how to go on."""
        kernel[1, THREADS_FINISH, stream](self.partial, np.int32(blocks), self.state, *more, self.history)

    def update(self, stream=0) -> None:
        """Queue an update, which changes nothing unless the device is paused."""
        self.over_pairs(gather_kernel, stream, self.state, self.x, self.y)
        blocks = self.marching(refresh_kernel, stream, (self.b, self.x, self.state), (self.r, self.partial))
        self.judge(settle_kernel, blocks, (), stream)


class MixedSolver(Solver):
    """Conjugate gradient in two precisions on a grid in GPU memory; arguments as in :class:`Solver`.

    With ``endless``, it never pauses for an update, so that measurements can time its iterations.

    Examples
    --------
    >>> solver = MixedSolver(cuda.to_device(np.ones((4, 4, 4))))
    >>> solver.run()
    >>> solver.done, solver.status.name, solver.extra
    (4, 'CONVERGED', {'reliable_updates': 1})
    """

    QUEUED = 2 * PAIRS
    agreement = 1e-3

    def __init__(self, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, endless=False):
        check_grids(b, x0, device=True)
        check_double(b)
        iteration = Iteration(mixed_iteration, swaps_p=True, stores_s=False)
        super().__init__(iteration, b, x0, rtol=rtol, atol=atol, maxiter=maxiter)
        self.scale, self.updates = scale_of(self.norms[0], b.size), 0
        state = self.work.state.copy_to_host()
        state[SCALE], state[TARGET] = self.scale, (self.target / self.scale) ** 2
        state[DELTA], state[LEAST], state[UPDATES] = 0.0, np.inf, -1
        state[ENOUGH] = 0.0 if endless else DROP**2
        if endless:  # never stop for lack of progress, either
            state[LEAST] = state[IDLE] = -np.inf
        if self.stopped == RUNNING:
            state[STOPPED] = PAUSED  # so that the first update makes r of step 1
        self.work.state.copy_to_device(state)
        self.work.update()

    def _workspace(self, b) -> MixedWorkspace:
        return MixedWorkspace(b)

    def some(self, stream=0) -> None:
        """Queue ``QUEUED`` iterations, and the update after them; one graph holds them."""
        for _ in range(PAIRS):
            self.two(stream)
        self.work.update(stream)

    def alone(self, odd: bool) -> None:
        """Queue one iteration and an update, after which the host waits."""
        self.one(odd)
        self.work.update()

    def look(self) -> None:
        """Do what :meth:`Solver.look` does, and read the number of updates."""
        super().look()
        self.updates = max(0, int(self.work.state.copy_to_host()[UPDATES]))

    def current(self):
        """Return x of the last iteration as a new grid, without making an update."""
        w = self.work
        x = cuda.device_array(w.size, w.dtype)
        x.copy_to_device(w.x)
        w.over_pairs(add_kernel, 0, w.y, self.scale, x)
        return w.grid(x)

    def complete(self) -> None:
        """Add y to x."""
        w = self.work
        w.over_pairs(add_kernel, 0, w.y, self.scale, w.x)
        w.fill(w.y)

    def trouble(self) -> Stop | None:
        """Return why the method had to stop, if it had to."""
        if self.stopped == STAGNATED:
            return stagnated(self.norms[-1], self.target)
        return super().trouble()

    @property
    def extra(self) -> dict:
        """How often the true residual replaced r."""
        return {"reliable_updates": self.updates}


def cg_mixed(b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Solve ``A x = b`` with r and p in float32, sums, x and the true residual in float64.

    Arguments are those of the other methods (``methods.py``), but b and x0 must be float64. The method reaches every
    rtol that double precision can reach. ``extra["reliable_updates"]`` says how often the true residual replaced r.
    Each iteration reads 20 bytes and writes 12 per point; each update reads 28 and writes 16 (``cg/precision.py``).

    Source: M. A. Clark et al., Comput. Phys. Commun. 181 (2010) 1517, section 5.

    Examples
    --------
    >>> found = cg_mixed(cuda.to_device(np.ones((4, 4, 4))))
    >>> found.status.name, found.iterations, found.x.dtype
    ('CONVERGED', 4, dtype('float64'))
    """
    return solution(MixedSolver(b, x0, rtol=rtol, atol=atol, maxiter=maxiter), callback)


def endless(name: str, b, rtol: float) -> Solver:
    """Return a solver of a method that iterates without updates until measurements end; ``rtol`` must be out of reach.

    Examples
    --------
    >>> solver = endless("mixed", cuda.to_device(np.ones((6, 7, 8))), rtol=1e-100)
    >>> for _ in range(3):
    ...     solver.some()
    >>> solver.look()
    >>> solver.done == 3 * solver.QUEUED, solver.status
    (True, None)
    """
    return (
        MixedSolver(b, rtol=rtol, endless=True) if name == "mixed" else Solver(ITERATIONS[name], b, rtol=rtol)
    )
