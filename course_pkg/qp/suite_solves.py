"""What ``course bench qp`` needs on a CPU as on a GPU: the tolerance, the numbers of an update, and timed solves."""

from collections.abc import Iterator

import numpy as np

from course_pkg.bench import Measurement, cpu, measure
from course_pkg.bench.measure import Run
from course_pkg.core import Library
from course_pkg.qp.reference import kkt_residual
from course_pkg.qp.variants import VARIANTS

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
UPDATE, BATCH, PQP, APG = (VARIANTS[name] for name in ("update", "update_batch", "pqp", "apg"))
RTOL = 1e-6
MOST_PLAIN = 3000  # most iterations of the plain method, which may never meet the tolerance
FIRST_PLAIN = 10  # its iterations in a first call, which is made only to compile it
LONG_S = 2.0  # after so many seconds, there are no further samples of another library
ON_CPU = (Library.SCIPY, Library.OSQP)  # libraries that use no GPU, and compile nothing
INACTIVE = 0.9
SETTINGS = [(rows, unroll) for rows in (2, 4, 8) for unroll in (1, 2, 4)]  # of update_rows
CONTROL = "model_predictive"  # the name of the batch that is solved to the tolerance


def drawn(n: int, dtype: str = "float64", inactive: float = 0.0) -> tuple[np.ndarray, ...]:
    """Return Q, h, a shift and x for updates that are timed; the share ``inactive`` of x is 0.

    Examples
    --------
    >>> Q, h, shift, x = drawn(8, inactive=0.25)
    >>> np.array_equal(Q, Q.T), sorted(x)[:3].count(0)
    (True, 2)
    """
    rng = np.random.default_rng(0)
    Q = rng.standard_normal((n, n)).astype(dtype)
    for begin in range(0, n, 1024):  # by parts, so that no second matrix is needed
        rows, beyond = slice(begin, begin + 1024), slice(begin + 1024, n)
        Q[rows, rows] = np.triu(Q[rows, rows]) + np.triu(Q[rows, rows], 1).T
        Q[rows, beyond] = Q[beyond, rows].T
    x = rng.uniform(0.5, 1.5, n).astype(dtype)
    x[: int(inactive * n)] = 0
    return Q, rng.standard_normal(n).astype(dtype), np.full(n, np.sqrt(n), dtype), rng.permutation(x)


def one_solve(p, what, function, options, arguments, samples, wait=None) -> Measurement:
    """Time one of our solvers, and observe how it ended."""
    last, plain = [], not options.get("accelerate", True)  # it may take a minute
    first = [{"maxiter": FIRST_PLAIN}] if plain else []

    def call(*arguments):
        last[:] = [function(*arguments, rtol=RTOL, **(options | (first.pop() if first else {})))]

    return measure(
        call,
        *arguments,
        name=what,
        parameters=_described(p, accelerate=options.get("accelerate")),
        samples=1 if plain else samples,
        warmup=0,
        min_sample_s=0,
        wait=wait,
        observe=lambda: {
            "iterations": last[0].iterations,
            "products": last[0].extra["products"],
            "kkt": last[0].extra["kkt"],
            "converged": last[0].converged,
        },
    )


def rival_solve(p, library, samples, beside_gpu: bool = False) -> Iterator[Measurement]:
    """Yield the time of another library, unless it is not installed.

    With ``beside_gpu``, the measurement belongs to a run on a GPU, and says which CPU the library used.
    """
    try:
        rival = PQP.rival(library)(p.Q, p.h)
    except ImportError as error:
        print(f"Not measured: {PQP.by(library)} ({error}): `pip install {library.value.lower()}` brings it.")
        return

    def observed():
        x = rival.result()
        kkt = kkt_residual(x, p.Q @ x + p.h)
        met = kkt <= RTOL * float(np.abs(p.h).max())
        where = {"cpu": cpu().name} if library in ON_CPU and beside_gpu else {}
        return {"kkt": kkt, "converged": bool(met), "version": rival.version, **where}

    run = Run(
        lambda: rival.call(RTOL),
        (),
        name=PQP.by(library),
        parameters=_described(p),
        warmup=0,
        min_sample_s=0,
        wait=rival.wait if beside_gpu else None,
        observe=observed,
    )
    if library in ON_CPU and run.warmup_s[0] > LONG_S:
        run.samples_s, run.warmup_s = run.warmup_s, []
    while len(run.samples_s) < samples and sum(run.samples_s) <= LONG_S:
        run.sample()
    yield run.finish()


def _described(p, accelerate=None) -> dict:
    plain = {} if accelerate is None else {"accelerate": accelerate}
    return {"problem": p.name, "n": p.n, "dtype": "float64", "rtol": RTOL, **plain}
