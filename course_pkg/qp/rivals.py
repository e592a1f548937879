"""Quadratic programs by other libraries: SciPy's NNLS and OSQP on a CPU, MPAX on a GPU. OSQP and MPAX are optional.

Each function makes a Rival whose ``call(rtol)`` solves the problem to a KKT residual of about ``rtol ‖h‖∞``, or gives
up: OSQP after ``LIMIT_S`` seconds, the others after a number of iterations, because they have no time limit.
"""

import os
from multiprocessing import get_context

import numpy as np

from course_pkg.bench.rival import Rival
from course_pkg.core.host import available_cores
from course_pkg.qp.reference import kkt_residual

LIMIT_S = 20.0  # time limit of a solve by OSQP, which reads the clock between its iterations
MOST_ITERATIONS = 100_000  # the most iterations of a first-order method
TIGHTER = (
    1,
    1e-1,
    1e-2,
    1e-3,
)  # MPAX's tolerance as a multiple of ours, tried in turn: MPAX measures other residuals than we do


def scipy_nnls(Q, h) -> Rival:
    """Return ``scipy.optimize.nnls`` of ``‖Rx - b‖²``, with RᵀR = Q by eigenvalues; Q and h in host memory.

    An active-set method, exact up to rounding. The factors are made before ``call``. If it gives up, x is 0.
    """
    import scipy
    from scipy.optimize import nnls

    values, vectors = np.linalg.eigh(Q)
    kept = values > values[-1] * Q.shape[0] * np.finfo(float).eps
    R = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    b = -(vectors[:, kept].T @ h) / np.sqrt(values[kept])
    last = []

    def call(rtol=None):
        try:
            last[:] = [nnls(R, b, maxiter=30 * h.size)[0]]
        except RuntimeError:  # SciPy raises it after too many iterations
            last[:] = [np.zeros(h.size)]

    return Rival(call, lambda: None, lambda: last[0], scipy.__version__)


def osqp_solve(Q, h) -> Rival:
    """Return OSQP with x ≥ 0 as its constraints; the set-up, which factorises, belongs to ``call``."""
    from importlib.metadata import version

    import osqp
    from scipy import sparse

    upper = sparse.triu(sparse.csc_matrix(Q), format="csc")
    identity, last = sparse.eye(h.size, format="csc"), []

    def call(rtol=1e-6):
        solver = osqp.OSQP()
        limits = np.zeros(h.size), np.full(h.size, np.inf)
        exact = rtol * float(np.abs(h).max())
        solver.setup(
            upper,
            h,
            identity,
            *limits,
            eps_abs=exact,
            eps_rel=0,
            max_iter=MOST_ITERATIONS,
            time_limit=LIMIT_S,
            polishing=True,
            verbose=False,
        )
        last[:] = [solver.solve(raise_error=False).x]

    return Rival(call, lambda: None, lambda: np.maximum(last[0], 0), version("osqp"))


def osqp_batch(Q, h, processes: int | None = None) -> Rival:
    """Return OSQP for many problems of one size, divided among as many processes as there are cores.

    Each process keeps its part of the problems. They end when the Rival is forgotten.

    Parameters
    ----------
    Q : ndarray, shape (problems, n, n)
    h : ndarray, shape (problems, n)
    """
    from importlib.metadata import version

    told, processes = version("osqp"), min(processes or available_cores(), len(h))
    context, pipes, last = get_context("spawn"), [], []
    for some in np.array_split(np.arange(len(h)), processes):
        ours, theirs = context.Pipe()
        context.Process(target=_serve, args=(theirs, Q[some], h[some]), daemon=True).start()
        theirs.close()  # so that the process sees the end of the pipe
        pipes.append(ours)

    def call(rtol=1e-6):
        for pipe in pipes:
            pipe.send(rtol)
        last[:] = [np.concatenate([pipe.recv() for pipe in pipes])]

    return Rival(call, lambda: None, lambda: last[0], told)


def _serve(pipe, Q, h) -> None:
    """Solve these problems whenever a tolerance arrives, until the pipe is closed."""
    with open(os.devnull, "w") as nowhere:  # OSQP prints a line for each problem that needs no polishing
        os.dup2(nowhere.fileno(), 1)
    rivals = [osqp_solve(*both) for both in zip(Q, h, strict=True)]
    while True:
        try:
            rtol = pipe.recv()
        except EOFError:
            return
        for rival in rivals:
            rival.call(rtol)
        pipe.send(np.stack([rival.result() for rival in rivals]))


def mpax_solve(Q, h) -> Rival:
    """Return MPAX's first-order method for quadratic programs (raPDHG), on the device that JAX finds.

    The first call tries the tolerances of ``TIGHTER``, from the loosest, until the KKT residual is at most
    ``rtol ‖h‖∞``; later calls repeat the one that was enough, or the tightest if none was.
    """
    from importlib.metadata import version

    import jax
    import jax.numpy as jnp
    import mpax

    n, last = h.size, []
    jax.config.update("jax_enable_x64", True)
    none, least = jnp.zeros((0, n)), jnp.zeros(n)
    bounds = jnp.eye(n), least  # as constraints, too: without any, MPAX scales by 0
    program = mpax.create_qp(
        jnp.asarray(Q), jnp.asarray(h), none, jnp.zeros(0), *bounds, least, jnp.full(n, jnp.inf)
    )

    solvers = {}

    def call(rtol=1e-6):
        if rtol in solvers:
            last[:] = [solvers[rtol](program).primal_solution]
            return
        target = rtol * float(np.abs(h).max())
        for share in TIGHTER:  # each is compiled once; MPAX divides by eps_rel, which cannot be 0
            solver = mpax.raPDHG(eps_abs=share * target, eps_rel=1e-12, iteration_limit=MOST_ITERATIONS)
            solvers[rtol] = jax.jit(solver.optimize)
            last[:] = [solvers[rtol](program).primal_solution]
            if kkt_residual(np.asarray(last[0]), Q @ np.asarray(last[0]) + h) <= target:
                break

    return Rival(call, lambda: jax.block_until_ready(last), lambda: np.asarray(last[0]), version("mpax"))
