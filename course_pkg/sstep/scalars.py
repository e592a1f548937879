"""The scalar work of an iteration: functions that run on the host and, compiled, on a GPU.

All numbers of a solve are in one float64 array, ``state``. In host memory, the host calls the functions, and sees the
numbers after each iteration. In GPU memory, kernels of one thread call them (``gpu_numba/scalars.py``): the host queues
iterations without waiting for them, and looks at the numbers from time to time (``ahead.py``).

Once a solve has stopped, its coefficients are zero, and iterations that are queued already leave x as it is. Steps are
numbered as in ``solver.py``. The methods by s steps are here for s = 1, where a pass is an iteration. The coefficients
of longer passes are the work of whole blocks of threads on a GPU (``gpu_numba/passes.py``), and of ``scalar_work.py``
and ``projection.py`` on the host; whether such a pass is the last one is decided here.
"""

from math import sqrt

import numpy as np

from course_pkg.sstep.outcome import GREW
from course_pkg.sstep.projection import SAFE

# places in ``state``
DELTA, ALPHA, MINUS_ALPHA, BETA, P_A_P, TARGET, ITERATION, KNOWN, LIMIT, STOPPED, LEAST = range(11)
SIZE = 11
KEPT = 64  # squares of residual norms that ``history`` keeps: more than iterations between two looks
# values of state[STOPPED]; BROKEN: p·Ap is not positive and finite; INDEFINITE: r·Mr is not positive;
# ASKED: the host has to do this iteration, because a number is not as it must be, or directions are nearly dependent
RUNNING, CONVERGED, LIMITED, BROKEN, INDEFINITE, ASKED = range(6)
INFINITE = np.inf
GREW_SQUARED = GREW**2


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


def moments_scalars(mu, state, history, beta, alpha):
    """Compute both coefficients of a pass of pcg_sstep_moments with s = 1, or stop: ``scalar_work.following``.

    Parameters
    ----------
    mu : float64 array, shape (3,)
        ``r·Mr``, ``r·MAMr`` and r·r.
    state : float64 array, shape (SIZE,)
        ``state[P_A_P]`` is W of the pass before, 0 before the first pass; ``state[LEAST]`` is the smallest r·r so far.
    history, beta, alpha : float64 array
        As for :func:`pfcg_scalars`.

    Examples
    --------
    >>> state, history, beta, alpha = np.zeros(SIZE), np.zeros(KEPT), np.zeros((1, 1)), np.zeros(1)
    >>> state[LIMIT], state[LEAST] = 10, 1.0
    >>> moments_scalars(np.array([1.0, 2.0, 1.0]), state, history, beta, alpha)
    >>> moments_scalars(np.array([0.25, 1.0, 0.25]), state, history, beta, alpha)
    >>> float(beta[0, 0]), float(state[P_A_P])
    (0.25, 0.875)
    """
    alpha[0] = 0.0
    beta[0, 0] = 0.0
    if state[STOPPED] == RUNNING:
        iteration, r_M_r, curvature, squared = int(state[ITERATION]), mu[0], mu[1], mu[2]
        history[iteration % KEPT] = squared
        state[KNOWN] = iteration
        before, coupled, conjugate = state[P_A_P], 0.0, 0.0
        if before != 0.0:
            coupled = r_M_r / state[ALPHA]
            conjugate = coupled / before
        W = curvature - coupled * conjugate
        if squared <= state[TARGET]:
            state[STOPPED] = CONVERGED
        elif not (squared <= GREW_SQUARED * state[LEAST] and r_M_r > 0.0 and 0.0 < W < INFINITE):
            state[STOPPED] = ASKED
        else:
            state[LEAST] = min(state[LEAST], squared)
            state[ALPHA], state[P_A_P] = r_M_r / W, W
            alpha[0] = r_M_r / W
            beta[0, 0] = conjugate
            state[ITERATION] = iteration + 1
            if iteration + 1 >= state[LIMIT]:
                state[STOPPED] = LIMITED


def gram_scalars(G, state, history, C, a):
    """Compute the coefficients of a pass of pcg_sstep with s = 1, or stop: Cholesky's way of ``projection.projected``.

    Parameters
    ----------
    G : float64 array, shape (2, 2) in the first pass, (3, 3) afterwards
        Of the old direction, the fresh vector and r; only its upper triangle is read.
    state, history : float64 array
        As for :func:`moments_scalars`; ``state[P_A_P]`` is not used.
    C, a : float64 array, shape (2, 1) and (2,)
        The results; zero if the solve has stopped.

    Examples
    --------
    >>> state, history, C, a = np.zeros(SIZE), np.zeros(KEPT), np.zeros((2, 1)), np.zeros(2)
    >>> state[LIMIT], state[LEAST] = 10, 9.0
    >>> gram_scalars(np.array([[4.0, 2.0], [0.0, 1.0]]), state, history, C, a)
    >>> C[:, 0].tolist(), a.tolist()
    ([0.0, 0.5], [0.0, 0.5])
    """
    a[0] = a[1] = 0.0
    C[0, 0] = C[1, 0] = 0.0
    if state[STOPPED] == RUNNING:
        last = G.shape[0] - 1
        iteration, squared, r_M_r, curvature = (
            int(state[ITERATION]),
            G[last, last],
            G[last - 1, last],
            G[last - 1, last - 1],
        )
        history[iteration % KEPT] = squared
        state[KNOWN] = iteration
        kept = G[0, 0] if last == 2 else 0.0  # of the old direction
        d, d_old, h = 0.0, 0.0, 0.0
        if curvature > 0.0:
            d = 1.0 / sqrt(curvature)
            if kept > 0.0:  # with unit diagonal, G is [[1, h], [h, 1]]
                d_old = 1.0 / sqrt(kept)
                h = d_old * G[0, 1] * d
        sound = (
            0.0 < curvature < INFINITE and 0.0 <= kept < INFINITE and 1.0 - abs(h) >= SAFE * (1.0 + abs(h))
        )
        if squared <= state[TARGET]:
            state[STOPPED] = CONVERGED
        elif not (sound and squared <= GREW_SQUARED * state[LEAST] and r_M_r > 0.0):
            state[STOPPED] = ASKED
        else:
            state[LEAST] = min(state[LEAST], squared)
            if kept > 0.0:
                q, y_old = sqrt(1.0 - h * h), d_old * G[0, 2]
                y = (d * r_M_r - h * y_old) / q
                C[0, 0], a[0] = -d_old * h / q, d_old * (y_old - h * y / q)
                C[1, 0], a[1] = d / q, d * y / q
            else:
                C[1, 0], a[1] = d, d * (d * r_M_r)
            state[ITERATION] = iteration + 1
            if iteration + 1 >= state[LIMIT]:
                state[STOPPED] = LIMITED


def goes_on(squared, r_M_r, r_M_A_M_r, sound, unsound, s, state, history):
    """Return whether a pass of s iterations is done, by what its sums say; end the solve otherwise.

    Parameters
    ----------
    squared, r_M_r, r_M_A_M_r : float
        r·r, r·Mr and r·MAMr at the beginning of the pass.
    sound : bool
        Whether the coefficients of the pass could be computed.
    unsound : int
        The value of ``state[STOPPED]`` if they could not.
    s : int
    state : float64 array, shape (SIZE,)
        ``state[ITERATION]`` is a multiple of s; ``state[LEAST]`` is the smallest r·r so far.
    history : float64 array, shape (KEPT,)
        r·r of pass k is at ``k % KEPT``, and ``state[KNOWN]`` is k.

    Returns
    -------
    bool

    Examples
    --------
    >>> state, history = np.zeros(SIZE), np.zeros(KEPT)
    >>> state[LIMIT], state[LEAST] = 10, 9.0
    >>> goes_on(9.0, 3.0, 2.0, True, ASKED, 4, state, history), int(state[ITERATION])
    (True, 4)
    >>> goes_on(4.0, 3.0, -2.0, True, ASKED, 4, state, history), int(state[STOPPED]) == ASKED
    (False, True)
    """
    done, number = int(state[ITERATION]), int(state[ITERATION]) // s
    history[number % KEPT] = squared
    state[KNOWN] = number
    if squared <= state[TARGET]:
        state[STOPPED] = CONVERGED
    elif not (squared <= GREW_SQUARED * state[LEAST] and r_M_r > 0.0 and r_M_A_M_r > 0.0):
        state[STOPPED] = ASKED
    elif not sound:
        state[STOPPED] = unsound
    else:
        state[LEAST] = min(state[LEAST], squared)
        state[ITERATION] = done + s
        if done + s >= state[LIMIT]:
            state[STOPPED] = LIMITED
        return True
    return False
