"""What ``course bench cg`` measures: iterations of conjugate gradient on Poisson's problem, ours and the libraries'.

A call does a fixed number of iterations from x = 0, and what comes before and after them, as whoever calls a solver
has to.
"""

from collections.abc import Iterator
from math import prod

import numpy as np

from course_pkg.bench import Measurement, compare, gpu
from course_pkg.cg import cost, cpu_numba, reference
from course_pkg.cg.demands import FIELDS, NEVER, demands
from course_pkg.cg.problem import PoissonProblem
from course_pkg.cg.rivals import CPU_RIVALS
from course_pkg.core import Cost, CourseError
from course_pkg.vector import cost as stream_cost
from course_pkg.vector import cpu_numba as streams

SHAPE, QUICK = (250, 250, 250), (32, 32, 32)
ITERATIONS = 30  # a call
VARIANTS = {
    "cg baseline, Numba CPU": cpu_numba.cg_baseline,
    "cg map-stencil fused, Numba CPU": cpu_numba.cg_map_stencil_fused,
    "cg fused dots, Numba CPU": cpu_numba.cg_fused_dots,
    "cg two-kernel, Numba CPU": cpu_numba.cg_two_kernel,
}

__all__ = ["demands", "run"]


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; ``quick`` takes small grids."""
    if device == "gpu":
        if gpu().kind != "gpu":
            raise CourseError(
                "`course bench cg --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
            )
        from course_pkg.cg import suite_gpu

        yield from suite_gpu.run(quick=quick)
    else:
        yield from _in_turns(QUICK if quick else SHAPE, samples=5)


def _in_turns(shape, samples) -> Iterator[Measurement]:
    """Our methods, SciPy's and as many triads of as many numbers, one sample of each after the other."""
    problem = PoissonProblem.ones(shape)
    expected = reference.cg(problem.matvec, problem.b, rtol=NEVER, maxiter=ITERATIONS).x
    found = {}  # the last x of each
    fns = {name: _ours(solve, found, name) for name, solve in VARIANTS.items()}
    fns |= {name: _theirs(make(problem.b), found, name) for name, make in CPU_RIVALS.items()}
    costs = {name: ITERATIONS * cost.iteration(solve.__name__, shape) for name, solve in VARIANTS.items()}
    costs |= {name: ITERATIONS * matrix_iteration(shape) for name in CPU_RIVALS}
    ones, out = np.ones((2, prod(shape))), np.full(prod(shape), np.nan)
    yield from compare(
        {"triad, Numba CPU": _triads, **fns},
        problem.b,
        arguments={"triad, Numba CPU": (*ones, 3.0, out)},
        cost={"triad, Numba CPU": ITERATIONS * stream_cost.triad(prod(shape)), **costs},
        check={
            "triad, Numba CPU": lambda: np.testing.assert_array_equal(out, 4.0),
            **{name: lambda name=name: _check(found.pop(name, None), expected) for name in fns},
        },
        parameters={"shape": list(shape), "dtype": "float64", "iterations": ITERATIONS},
        samples=samples,
        warmup=1,
        footprint=FIELDS * prod(shape) * 8,
    ).measurements


def matrix_iteration(shape) -> Cost:
    """Return what an iteration with a CSR matrix moves and computes: the baseline's fields, and the matrix once."""
    points = prod(shape)
    entries = 7 * points - 2 * sum(points // n for n in shape)
    matrix = Cost(bytes_read=12 * entries + 4 * points, flops=2 * entries)
    fields = cost.iteration("cg_baseline", shape)
    vectors = Cost(fields.bytes_read, fields.bytes_written, 10 * points)
    return matrix + vectors


def _triads(*arguments):
    for _ in range(ITERATIONS):
        streams.triad(*arguments)


def _ours(solve, found, name):
    def call(b):
        found[name] = solve(b, rtol=NEVER, maxiter=ITERATIONS).x

    return call


def _theirs(rival, found, name):
    def call(b):
        rival.call(ITERATIONS)
        rival.wait()
        found[name] = rival.result()

    return call


def _check(x, expected) -> None:
    np.testing.assert_allclose(x, expected, rtol=1e-9)
