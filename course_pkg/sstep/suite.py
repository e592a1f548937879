"""What ``course bench sstep`` measures: the operations of a pass for each s, and solves by every method.

Operations are compared with the same work by a library: NumPy on a CPU, calls of cuBLAS through CuPy on a GPU. A solve
records its iterations, reductions and products; lecture 7's notebook shows the time of an iteration beside its bytes.
"""

from collections.abc import Iterator

import numpy as np

from course_pkg.bench import Measurement, gpu, measure, progress
from course_pkg.core import CourseError, Library
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg
from course_pkg.sstep.demands import OPERATIONS, demands
from course_pkg.sstep.problem import BlockProblem, Laplacian
from course_pkg.sstep.suite_solves import METHODS, RTOLS, one_solve
from course_pkg.sstep.variants import VARIANTS
from course_pkg.vector.bound import bounding_stream

NUMPY, CPU = Library.NUMPY, Library.NUMBA_CPU
POINTS, QUICK_POINTS = 10**6, 4000
STEPS, QUICK_STEPS = (1, 4, 8), (2,)  # s of the operations
EDGES, QUICK_EDGES = (32, 64), (10,)  # of the solves

__all__ = ["bounding_stream", "demands", "run"]


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; with ``quick``, of small problems."""
    if device == "gpu":
        if gpu().kind != "gpu":
            raise CourseError(
                "`course bench sstep --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
            )
        from course_pkg.sstep import suite_gpu

        yield from suite_gpu.run(quick=quick)
        return
    steps, edges = (QUICK_STEPS, QUICK_EDGES) if quick else (STEPS, EDGES)
    with progress(len(steps) + len(edges)) as step:
        for s in steps:
            step(f"operations, s = {s}")
            yield from _operations(QUICK_POINTS if quick else POINTS, s, samples=2 if quick else 10)
        for edge in edges:
            step(f"solves, {edge}³")
            yield from _solves(edge)


def coefficients(p: BlockProblem, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients of an update that are so small that repeated updates do not make a block grow.

    Examples
    --------
    >>> C, a = coefficients(BlockProblem.drawn(10, s=2), "project_block")
    >>> bool(np.abs(C).sum(axis=0).max() <= 0.5)
    True
    """
    return tuple(getattr(p, c) / (8 * p.s) for c in VARIANTS[name].coefficients)


def _operations(n, s, samples) -> Iterator[Measurement]:
    p = BlockProblem.drawn(n, s)
    for name in OPERATIONS:
        expected = called(VARIANTS[name].function(NUMPY), name, p)
        for library in (CPU, NUMPY):
            variant = VARIANTS[name]
            arguments = arguments_of(name, p)

            def check(arguments=arguments, expected=expected, name=name):
                for found, right in zip(VARIANTS[name].results(arguments), expected, strict=True):
                    np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9 * np.abs(right).max())

            yield measure(
                variant.function(library),
                *arguments,
                cost=variant.cost_by(library)(n, s),
                check=check,
                name=variant.by(library),
                parameters={"n": n, "s": s, "dtype": "float64"},
                samples=samples,
            )


def arguments_of(name: str, p: BlockProblem) -> tuple:
    """Return new arguments of an operation, in host memory.

    Examples
    --------
    >>> len(arguments_of("moments", BlockProblem.drawn(10, s=2)))
    3
    """
    if name == "moments":
        return p.fresh.copy(), p.r.copy(), np.zeros(2 * p.s + 1)
    if name == "gram":
        return p.old.copy(), p.fresh.copy(), p.r.copy(), np.zeros((2 * p.s + 1, 2 * p.s + 1))
    fresh = p.fresh.copy()
    return p.old.copy(), fresh, *coefficients(p, name), p.x.copy(), p.r.copy(), fresh


def called(function, name: str, p: BlockProblem) -> tuple:
    """Call an operation once, and return its results."""
    arguments = arguments_of(name, p)
    function(*arguments)
    return VARIANTS[name].results(arguments)


def _solves(edge) -> Iterator[Measurement]:
    A, b = Laplacian((edge,) * 3), np.ones((edge,) * 3)
    for rtol in RTOLS:
        for name, options in METHODS:
            yield one_solve(VARIANTS[name], CPU, (A, b), options, rtol)
    M = amg(poisson((edge,) * 3))
    for name, options in (("pcg", {}), ("pcg_sstep", {"s": 4})):
        yield one_solve(VARIANTS[name], CPU, (A, b), {**options, "M": M}, RTOLS[0])
