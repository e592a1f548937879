"""The scalars of an iteration, which stay in GPU memory, so that no iteration waits for the host.

Kernels that sweep over the fields write one sum per block to ``partial``. A kernel of one block adds these up and
computes the next scalar. Nothing depends on which block comes first, so the last digit is the same in every run. Steps
are numbered as in ``cg/reference.py``.

Kernels:
    alpha_kernel   p·Ap from its parts, and alpha = delta / p·Ap
    beta_kernel    delta = r·r from its parts, beta = delta / delta_old, and whether the iteration ends here
    total_kernel   the sum of the parts only
"""

import numpy as np

from course_pkg import cuda
from course_pkg.cg.checks import why_stopped
from course_pkg.core import Status
from course_pkg.device.sums import block_total

THREADS_FINISH = 1024

# places in ``state``, float64
DELTA, ALPHA, ALPHA_OLD, BETA, P_A_P, TARGET, ITERATION, MAXITER, STOPPED, TOTAL = range(10)
# further places, for the method in two precisions (``reliable.py``)
LARGEST, LEAST, IDLE, UPDATES, SCALE, ENOUGH = range(10, 16)
STATE_SIZE = 16
KEPT = 64  # number of residuals that the device keeps until the host reads them
# values of state[STOPPED]; BROKEN: p·Ap is not positive and finite; PAUSED: waits for an update (``reliable.py``)
RUNNING, CONVERGED, LIMIT, BROKEN, PAUSED, STAGNATED = range(6)


def status_of(stopped: int, p_A_p: float) -> Status | None:
    """Return why the device stopped, from ``state[STOPPED]`` and ``state[P_A_P]``; None while it still iterates.

    The status rests on the updated residual: the true one is checked later.

    Examples
    --------
    >>> status_of(LIMIT, 1.0)
    <Status.MAXITER: 'the largest number of iterations was reached'>
    >>> status_of(BROKEN, -1.0).name, status_of(BROKEN, np.inf).name
    ('NOT_DEFINITE', 'OVERFLOW')
    """
    if stopped == BROKEN:
        return why_stopped(p_A_p, 0).status
    return {
        RUNNING: None,
        PAUSED: None,
        CONVERGED: Status.CONVERGED,
        LIMIT: Status.MAXITER,
        STAGNATED: Status.STAGNATED,
    }[stopped]


@cuda.jit(device=True)
def sum_of(partial, blocks):
    """Return, in thread 0 of a single block, the sum of the first ``blocks`` parts."""
    total = 0.0
    for i in range(cuda.threadIdx.x, blocks, THREADS_FINISH):
        total += partial[i]
    return block_total(total)


@cuda.jit(device=True)
def set_alpha(p_A_p, state):
    """Steps 3 and 4, by one thread: ``alpha = delta / pAp``; stop if pAp is not a positive finite number."""
    if state[STOPPED] == RUNNING:
        state[P_A_P] = p_A_p
        state[ALPHA_OLD] = state[ALPHA]
        if 0.0 < p_A_p < np.inf:
            state[ALPHA] = state[DELTA] / p_A_p
        else:  # also where it is NaN
            state[STOPPED] = BROKEN


@cuda.jit(device=True)
def set_beta(delta, state, history):
    """Step 8 and beta of step 9, by one thread. It also ends the iteration, and decides whether to stop.

    ``history`` keeps delta of the latest iterations; delta of iteration k is at ``k % history.size``.
    """
    if state[STOPPED] == RUNNING:
        state[BETA] = delta / state[DELTA]
        state[DELTA] = delta
        iteration = int(state[ITERATION]) + 1
        state[ITERATION] = iteration
        history[iteration % history.size] = delta
        if delta <= state[TARGET]:
            state[STOPPED] = CONVERGED
        elif iteration >= state[MAXITER]:
            state[STOPPED] = LIMIT


@cuda.jit
def alpha_kernel(partial, blocks, state):
    """Add up the parts of ``pAp = <p, s>``, and compute alpha."""
    p_A_p = sum_of(partial, blocks)
    if cuda.threadIdx.x == 0:
        set_alpha(p_A_p, state)


@cuda.jit
def beta_kernel(partial, blocks, state, history):
    """Add up the parts of ``delta = <r, r>``, compute beta, and end the iteration."""
    delta = sum_of(partial, blocks)
    if cuda.threadIdx.x == 0:
        set_beta(delta, state, history)


@cuda.jit
def total_kernel(partial, blocks, state):
    """As alpha_kernel, but it only puts the sum into ``state[TOTAL]``: for residuals before or after the iterations."""
    total = sum_of(partial, blocks)
    if cuda.threadIdx.x == 0:
        state[TOTAL] = total
