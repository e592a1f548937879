"""The scalar work of an iteration of pcg and pfcg: functions that run on the host and, compiled, on a GPU.

All numbers of a solve are in one float64 array, ``state``. In host memory, the host calls the functions, and sees the
numbers after each iteration. In GPU memory, kernels of one thread call them (``gpu_numba/scalars.py``): the host queues
iterations without waiting for them, and looks at the numbers from time to time.

Once a solve has stopped, its coefficients are zero, and iterations that are queued already leave x as it is. Steps are
numbered as in ``solver.py``.
"""

import numpy as np

from course_pkg.cg.checks import why_stopped
from course_pkg.cg.outcome import Stop, preconditioner_not_definite

# places in ``state``
DELTA, ALPHA, MINUS_ALPHA, BETA, P_A_P, TARGET, ITERATION, KNOWN, LIMIT, STOPPED = range(10)
SIZE = 10
KEPT = 64  # squares of residual norms that ``history`` keeps: more than iterations between two looks
# values of state[STOPPED]; BROKEN: p·Ap is not positive and finite; INDEFINITE: r·Mr is not positive
RUNNING, CONVERGED, LIMITED, BROKEN, INDEFINITE = range(5)
INFINITE = np.inf


def pcg_alpha(totals, state):
    """Compute alpha from p·Ap (step 6), or stop if p·Ap or delta is not as it must be.

    Parameters
    ----------
    totals : float64 array, shape (1,)
    state : float64 array, shape (SIZE,)

    Examples
    --------
    >>> state = np.zeros(SIZE)
    >>> state[DELTA] = 6.0
    >>> pcg_alpha(np.array([3.0]), state)
    >>> float(state[ALPHA]), float(state[MINUS_ALPHA])
    (2.0, -2.0)
    """
    if state[STOPPED] == RUNNING:
        p_A_p = totals[0]
        state[P_A_P] = p_A_p
        if not state[DELTA] > 0.0:
            state[STOPPED] = INDEFINITE
        elif not 0.0 < p_A_p < INFINITE:  # also where it is NaN
            state[STOPPED] = BROKEN
        alpha = state[DELTA] / p_A_p if state[STOPPED] == RUNNING else 0.0
        state[ALPHA], state[MINUS_ALPHA] = alpha, -alpha


def pcg_beta(totals, state, history):
    """Compute beta from u·r and r·r (step 10), and end the iteration.

    Parameters
    ----------
    totals : float64 array, shape (2,)
    state : float64 array, shape (SIZE,)
    history : float64 array, shape (KEPT,)
        r·r of iteration k is at ``k % KEPT``.

    Examples
    --------
    >>> state, history = np.zeros(SIZE), np.zeros(KEPT)
    >>> state[DELTA], state[LIMIT] = 6.0, 10
    >>> pcg_beta(np.array([3.0, 4.0]), state, history)
    >>> float(state[BETA]), int(state[ITERATION]), float(history[1])
    (0.5, 1, 4.0)
    """
    if state[STOPPED] == RUNNING:
        delta, squared = totals[0], totals[1]
        state[BETA] = delta / state[DELTA]
        state[DELTA] = delta
        iteration = int(state[ITERATION]) + 1
        state[ITERATION] = iteration
        state[KNOWN] = iteration
        history[iteration % KEPT] = squared
        if squared <= state[TARGET]:
            state[STOPPED] = CONVERGED
        elif iteration >= state[LIMIT]:
            state[STOPPED] = LIMITED
        if state[STOPPED] != RUNNING:
            state[ALPHA], state[MINUS_ALPHA] = 0.0, 0.0


def pfcg_scalars(G, state, history, beta, alpha):
    """Compute both coefficients of an iteration of pfcg from its Gram matrix (steps 11 to 14), or stop.

    Parameters
    ----------
    G : float64 array, shape (2, 2) in the first iteration, (3, 3) afterwards
        Only its upper triangle is read.
    state : float64 array, shape (SIZE,)
        ``state[P_A_P]`` is rho, which is p·Ap by a recurrence; it is 0 before the first iteration.
    history : float64 array, shape (KEPT,)
        As for :func:`pcg_beta`.
    beta, alpha : float64 array, shape (1, 1) and (1,)
        The results; zero if the solve has stopped.

    Examples
    --------
    >>> state, history, beta, alpha = np.zeros(SIZE), np.zeros(KEPT), np.zeros((1, 1)), np.zeros(1)
    >>> state[LIMIT] = 10
    >>> pfcg_scalars(np.array([[2.0, 6.0], [0.0, 9.0]]), state, history, beta, alpha)
    >>> float(alpha[0]), float(beta[0, 0]), float(history[0])
    (3.0, 0.0, 9.0)
    """
    alpha[0] = 0.0
    beta[0, 0] = 0.0
    if state[STOPPED] == RUNNING:
        last = G.shape[0] - 1
        iteration, squared, delta = int(state[ITERATION]), G[last, last], G[last - 1, last]
        history[iteration % KEPT] = squared
        state[KNOWN] = iteration
        if squared <= state[TARGET]:
            state[STOPPED] = CONVERGED
        else:
            before, gamma = state[P_A_P], 0.0
            rho, conjugate = G[last - 1, last - 1], 0.0
            if before != 0.0:
                gamma = G[0, 1]  # 13
                rho -= gamma * gamma / before  # 14
                conjugate = -gamma / before
            state[DELTA], state[P_A_P] = delta, rho
            if not delta > 0.0:
                state[STOPPED] = INDEFINITE
            elif not 0.0 < rho < INFINITE:
                state[STOPPED] = BROKEN
            else:
                alpha[0] = delta / rho
                beta[0, 0] = conjugate
                state[ITERATION] = iteration + 1
                if iteration + 1 >= state[LIMIT]:
                    state[STOPPED] = LIMITED


class Numbers:
    """The numbers of a solve: where the scalar work is done, and what the host has seen of them.

    Parameters
    ----------
    room : Room
    start : Start
    delta : float
        u·r before the first iteration, for pcg.

    Attributes
    ----------
    state, history : array
        Where the room does its scalar work.
    alpha, minus_alpha, beta : array, shape (1,)
        Parts of ``state``.
    norms : list of float
        Norms of the residual as far as the host knows them, from that before the first iteration on.
    iterations, stopped : int
        As of the last look.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.problem import Laplacian
    >>> from course_pkg.sstep.room import Room
    >>> from course_pkg.sstep.solver import Start
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> numbers = Numbers(room, Start(room, 1e-6, 0.0, None))
    >>> numbers.norms, numbers.stopped == RUNNING, numbers.over
    ([8.0], True, False)
    """

    def __init__(self, room, start, delta=0.0):
        state = np.zeros(SIZE)
        state[DELTA], state[TARGET], state[LIMIT] = delta, start.target**2, start.limit
        state[STOPPED] = CONVERGED if start.norm <= start.target else RUNNING if start.limit > 0 else LIMITED
        self.room, self.norms, self.iterations, self.stopped = room, [start.norm], 0, int(state[STOPPED])
        self.target, self.seen, self.queued = start.target, state, 0
        self.state, self.history = room.numbers(state), room.numbers(np.zeros(KEPT))
        self.on_host = isinstance(self.state, np.ndarray)
        self.alpha, self.minus_alpha, self.beta = (
            self.state[at : at + 1] for at in (ALPHA, MINUS_ALPHA, BETA)
        )

    @property
    def over(self) -> bool:
        """Whether the solve has stopped, as far as the host knows without waiting for a GPU."""
        state = self.state if self.on_host else self.seen
        return bool(state[STOPPED] != RUNNING)

    def look(self, always: bool = False) -> None:
        """Count an iteration as queued; if the room says that it is time to, read the numbers."""
        self.queued += 1
        if not always and not self.room.looks(self.queued):
            return
        read = np.array if self.on_host else self.room.to_host
        self.seen, history = read(self.state), read(self.history)
        known, self.iterations = int(self.seen[KNOWN]), int(self.seen[ITERATION])
        self.stopped = int(self.seen[STOPPED])
        self.norms += [float(np.sqrt(history[k % KEPT])) for k in range(len(self.norms), known + 1)]

    @property
    def complete(self) -> list[float]:
        """Norms with one for each iteration: that after the last may be unknown, so the one before it stands for it."""
        return self.norms + self.norms[-1:] * (self.iterations + 1 - len(self.norms))

    def trouble(self) -> Stop | None:
        """Return why the method had to stop, if it had to."""
        if self.stopped == INDEFINITE:
            return preconditioner_not_definite(float(self.seen[DELTA]))
        if self.stopped == BROKEN:
            return why_stopped(float(self.seen[P_A_P]), self.iterations + 1)
        return None
