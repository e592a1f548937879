"""What ``course bench cg`` measures: iterations of conjugate gradient on Poisson's problem, ours and the libraries'.

Each timed call does a fixed number of iterations from x = 0, and all that the solver does before and after them.
"""

from collections.abc import Iterator
from math import prod

import numpy as np

from course_pkg.bench import Measurement, compare, gpu
from course_pkg.cg import reference
from course_pkg.cg.demands import FIELDS, NEVER, bounding_stream, demands
from course_pkg.cg.problem import PUBLISHED, PoissonProblem
from course_pkg.cg.variants import METHODS, MIXED, VARIANTS
from course_pkg.core import CourseError, Library
from course_pkg.vector.variants import VARIANTS as STREAMS

SHAPE, QUICK = (min(PUBLISHED),) * 3, (32, 32, 32)
ITERATIONS = 30  # per call
CPU, SCIPY = Library.NUMBA_CPU, Library.SCIPY

__all__ = ["bounding_stream", "demands", "run"]


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; with ``quick``, on small grids."""
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
    """Yield our methods, SciPy's, and a triad on as many numbers; samples of all of them are taken in turn."""
    problem = PoissonProblem.ones(shape)
    expected = reference.cg(problem.matvec, problem.b, rtol=NEVER, maxiter=ITERATIONS).x
    found = {}  # the last x of each method
    ours = [v for v in (*METHODS, MIXED) if CPU in v.libraries]
    close = {MIXED.by(CPU): 1e-5}  # before the method converges, x is only as accurate as r and p
    theirs = [v for v in VARIANTS if SCIPY in v.rivals]
    triad, fns, costs = STREAMS["triad"].by(CPU), {}, {}
    for v in ours:
        fns[v.by(CPU)] = _ours(v.function(CPU), found, v.by(CPU))
    for v in theirs:
        fns[v.by(SCIPY)] = _theirs(v.rival(SCIPY)(problem.b), found, v.by(SCIPY))
    for v, library in [*((v, CPU) for v in ours), *((v, SCIPY) for v in theirs)]:
        costs[v.by(library)] = ITERATIONS * v.cost_by(library)(shape)
    ones, out = np.ones((2, prod(shape))), np.full(prod(shape), np.nan)
    yield from compare(
        {triad: _triads, **fns},
        problem.b,
        arguments={triad: (*ones, 3.0, out)},
        cost={triad: ITERATIONS * STREAMS["triad"].cost(prod(shape)), **costs},
        check={
            triad: lambda: np.testing.assert_array_equal(out, 4.0),
            **{
                name: lambda name=name: _check(found.pop(name, None), expected, close.get(name, 1e-9))
                for name in fns
            },
        },
        parameters={"shape": list(shape), "dtype": "float64", "iterations": ITERATIONS},
        samples=samples,
        warmup=1,
        footprint=FIELDS * prod(shape) * 8,
    ).measurements


def _triads(*arguments):
    triad = STREAMS["triad"].function(CPU)
    for _ in range(ITERATIONS):
        triad(*arguments)


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


def _check(x, expected, rtol) -> None:
    np.testing.assert_allclose(x, expected, rtol=rtol)
