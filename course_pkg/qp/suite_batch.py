"""Batches of model-predictive control: updates, and the time until every problem meets the tolerance.

The plain update has a row as well, though it does not get there: what share of the problems it solves is observed.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from course_pkg.bench import Measurement, cpu, measure
from course_pkg.bench.measure import Run
from course_pkg.core import Library
from course_pkg.qp.problem import model_predictive
from course_pkg.qp.reference import diagonal_shift, starting_guess
from course_pkg.qp.suite_solves import BATCH, CONTROL, CPU, CUDA, CUPY, LONG_S, NUMPY, RTOL
from course_pkg.qp.variants import VARIANTS

SOLVE = VARIANTS["apg_batch"]
MOST_UPDATES = 10_000  # limit for the plain method; it is slow, and solves only a part of the problems


def batch(problems: int, n: int) -> tuple[np.ndarray, ...]:
    """Return Q, h, shifts and starts of a batch of model-predictive control problems."""
    Q, h = model_predictive(problems, n)
    shift = np.stack([diagonal_shift(one) for one in Q])
    return Q, h, shift, np.stack([starting_guess(*both) for both in zip(Q, h, strict=True)])


def batch_on_cpu(problems: int, n: int, iterations: int, samples: int) -> Measurement:
    """Measure a batch on all cores."""
    Q, h, shift, x = batch(problems, n)
    out, parts = np.full_like(h, np.nan), np.full_like(h, np.nan)

    def check():
        some = slice(0, 4)
        expected, _ = np.empty_like(h[some]), np.empty_like(h[some])
        BATCH.function(NUMPY)(Q[some], h[some], shift[some], x[some], expected, _, iterations)
        np.testing.assert_allclose(out[some], expected, rtol=1e-6)
        assert np.all(np.isfinite(out))

    return measure(
        BATCH.function(CPU),
        Q,
        h,
        shift,
        x,
        out,
        parts,
        iterations,
        cost=BATCH.cost(n, problems, iterations),
        check=check,
        name=BATCH.by(CPU),
        parameters={"n": n, "problems": problems, "iterations": iterations, "dtype": "float64"},
        samples=samples,
    )


def observed(Q, h, x: Callable, taken: Callable | None = None) -> dict:
    """Return how a batch has ended; all arrays are in host memory.

    Parameters
    ----------
    x, taken : callable
        Return the solutions, and the steps of each problem, when the samples are taken.

    Examples
    --------
    >>> Q, h = np.ones((2, 1, 1)), np.full((2, 1), -2.0)
    >>> observed(Q, h, lambda: np.array([[2.0], [1.0]]))
    {'solved': 0.5, 'worst': 0.5, 'converged': False}
    """
    found = x()
    kkt = np.abs(np.minimum(found, np.matmul(Q, found[..., None])[..., 0] + h)).max(axis=1)
    over = kkt / np.abs(h).max(axis=1)
    steps = (
        {} if taken is None else {"iterations": int(taken().max()), "mean_iterations": float(taken().mean())}
    )
    met = over <= RTOL
    return {"solved": float(met.mean()), "worst": float(over.max()), "converged": bool(met.all()), **steps}


def on_cpu(problems: int, n: int, samples: int, beside_gpu: bool = False) -> Iterator[Measurement]:
    """Yield the time of OSQP on all cores, unless it is not installed."""
    Q, h = model_predictive(problems, n)
    try:
        rival = SOLVE.rival(Library.OSQP)(Q, h)
    except ImportError as error:
        print(f"Not measured: {SOLVE.by(Library.OSQP)} ({error}): `pip install osqp` brings it.")
        return
    where = {"version": rival.version, "cores": cpu().units} | ({"cpu": cpu().name} if beside_gpu else {})
    run = Run(
        lambda: rival.call(RTOL),
        (),
        name=SOLVE.by(Library.OSQP),
        parameters=_described(problems, n),
        warmup=1,
        min_sample_s=0,
        wait=rival.wait if beside_gpu else None,
        observe=lambda: observed(Q, h, rival.result) | where,
    )
    while len(run.samples_s) < samples and sum(run.samples_s) <= LONG_S:
        run.sample()
    yield run.finish()


def on_gpu(problems: int, n: int, samples: int) -> Iterator[Measurement]:
    """Yield the times of our kernels and of CuPy's arrays, and of OSQP on the CPU beside them."""
    from course_pkg import cuda
    from course_pkg.qp.gpu_cupy import cp

    host = batch(problems, n)
    Q, h, shift, x = (cp.asarray(a) for a in host)
    out, parts, norms = cp.empty_like(h), cp.empty_like(h), cp.empty(problems)
    taken = cp.zeros(problems, "uint32")
    solve, plain = (Q, h, out, norms, taken), (Q, h, shift, x, out, parts)
    steps = {"taken": lambda: cp.asnumpy(taken)}
    for what, function, arrays, more, counted in (
        (SOLVE.by(CUDA), partial(SOLVE.function(CUDA), rtol=RTOL), solve, {}, steps),
        (SOLVE.by(CUPY), partial(SOLVE.function(CUPY), rtol=RTOL), solve, {}, steps),
        (
            BATCH.by(CUDA),
            partial(BATCH.function(CUDA), iterations=MOST_UPDATES),
            plain,
            {"iterations": MOST_UPDATES},
            {},
        ),
    ):
        given = [cuda.as_cuda_array(a) for a in arrays] if what.library == CUDA else arrays
        out.fill(cp.nan)
        yield measure(
            function,
            *given,
            name=what,
            parameters=_described(problems, n) | more,
            samples=samples,
            warmup=1,
            min_sample_s=0,
            wait=cp.cuda.Device().synchronize,
            observe=partial(observed, *host[:2], lambda: cp.asnumpy(out), **counted),
        )
    yield from on_cpu(problems, n, samples, beside_gpu=True)


def _described(problems: int, n: int) -> dict:
    return {"problem": CONTROL, "n": n, "problems": problems, "dtype": "float64", "rtol": RTOL}
