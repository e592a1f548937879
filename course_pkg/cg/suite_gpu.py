"""What ``course bench cg`` measures on a GPU: solves to a tolerance, single iterations, and other libraries' methods.

The right-hand side is 1 everywhere and x starts from zero, as in the s-step paper. The paper publishes the number
of iterations.
"""

from collections.abc import Iterator

import numpy as np

from course_pkg import cuda
from course_pkg.bench import Measurement, gpu, measure, progress
from course_pkg.cg import gpu_cupy
from course_pkg.cg.demands import FIELDS, NEVER, RTOL
from course_pkg.cg.gpu_cupy import cp
from course_pkg.cg.here import two_iterations
from course_pkg.cg.outcome import SLACK
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.variants import METHODS, MIXED, VARIANTS
from course_pkg.core import CourseError, Library
from course_pkg.vector.suite_gpu import measured_copy

QUICK = (32, 64)
CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
OURS = [v for v in (*METHODS, MIXED) if CUDA in v.libraries]
SOLVED_LARGE = [VARIANTS["cg_two_kernel"], VARIANTS["cg_deferred_x"], MIXED]  # the others would take minutes
BY_LIBRARIES = [
    *((v, CUPY) for v in METHODS if CUPY in v.libraries),
    *((v, library) for v in VARIANTS for library in v.rivals if library != Library.SCIPY),
]
LIBRARY_ITERATIONS = 100  # per call


def run(*, quick: bool) -> Iterator[Measurement]:
    """Yield the measurements; with ``quick``, on small grids."""
    small, large = QUICK if quick else tuple(PUBLISHED)
    _require_memory(large)
    with progress(2 * (1 + len(OURS)) + len(OURS) + len(SOLVED_LARGE) + len(BY_LIBRARIES)) as step:
        for edge in (small, large):
            step(f"copy, {edge}³")
            yield measured_copy((edge,) * 3, {"shape": [edge] * 3}, hold=True)
            for v in OURS:
                step(f"{v.title}, {edge}³")
                yield two_iterations(v, _b(edge), residual, samples=5 if quick or edge > small else 20)
            for v in OURS if edge == small else SOLVED_LARGE:
                step(f"{v.title}: solve, {edge}³")
                yield _solve(v, edge, samples=5 if edge == small else 1)
            cp.get_default_memory_pool().free_all_blocks()
        yield from _libraries(small, step, samples=3 if quick else 10)


def _b(edge):
    return cuda.as_cuda_array(cp.ones((edge,) * 3))


def _footprint(edge) -> int:
    return FIELDS * 8 * edge**3


def _parameters(edge, **more):
    return {"shape": [edge] * 3, "dtype": "float64", **more}


def _solve(variant, edge, samples) -> Measurement:
    """Measure a whole solve, from b to a confirmed x, with the host's work and graphs; it has a parameter ``rtol``."""
    found, b, method = {}, _b(edge), variant.function(CUDA)

    def call(b):
        found["solution"] = method(b, rtol=RTOL)

    def confirm():
        solution = found["solution"]
        if not solution.converged:
            raise AssertionError(f"{variant.title}: {solution}")

    def observe():
        solution = found["solution"]
        b_norm = float(np.sqrt(edge**3))
        return {
            "iterations": solution.iterations,
            "true_residual": residual(solution.x, b) / b_norm,
            "reason": solution.reason,
            **solution.extra,
        }

    return measure(
        call,
        b,
        check=confirm,
        name=variant.by(CUDA),
        parameters=_parameters(edge, rtol=RTOL),
        samples=samples,
        warmup=0,
        min_sample_s=0,
        wait=cuda.synchronize,
        observe=observe,
        footprint=_footprint(edge),
    )


def residual(x, b) -> float:
    """Return ``‖b - A x‖``, computed by CuPy, which uses none of the kernels that are measured."""
    x, s = cp.asarray(x), cp.empty(b.shape)
    gpu_cupy.matvec(x, s)
    return float(cp.linalg.norm((cp.asarray(b) - s).reshape(-1)))


def _libraries(edge, step, samples) -> Iterator[Measurement]:
    """Yield CuPy's and JAX's methods, and ours in CuPy: whole calls with a fixed number of iterations from x = 0."""
    b = cp.ones((edge,) * 3)
    for variant, library in BY_LIBRARIES:
        what = variant.by(library)
        step(f"{what}, {edge}³")
        try:
            fn = (
                _result_of(variant.rival(library)(b))
                if library in variant.rivals
                else _ours(variant, library, b)
            )
        except ImportError as error:
            print(f"Not measured: {what} ({error}).")
            continue
        if not residual(fn(10 * edge, RTOL), b) <= SLACK * RTOL * np.sqrt(edge**3):
            raise AssertionError(f"{what} does not solve the problem")
        yield measure(
            lambda b, fn=fn: fn(LIBRARY_ITERATIONS, 0.0),
            b,
            cost=_times(LIBRARY_ITERATIONS, variant.cost_by(library)((edge,) * 3)),
            name=what,
            parameters=_parameters(edge, iterations=LIBRARY_ITERATIONS),
            samples=samples,
            min_sample_s=0,
            wait=cp.cuda.Device().synchronize,
            footprint=_footprint(edge),
        )


def _times(n, cost):
    return None if cost is None else n * cost


def _ours(variant, library, b):
    method = variant.function(library)
    return lambda maxiter, rtol: method(b, rtol=rtol or NEVER, maxiter=maxiter).x


def _result_of(rival):
    def fn(maxiter, rtol):
        rival.call(maxiter, rtol)
        rival.wait()
        return rival.result()

    return fn


def _require_memory(edge) -> None:
    """Check that the largest problem fits: eight fields of doubles."""
    needed = 8 * 8 * edge**3
    if needed > gpu().memory_bytes:
        raise CourseError(
            f"{edge}³ unknowns need {needed / 1e9:.0f} GB of GPU memory, but this GPU has "
            f"{gpu().memory_bytes / 1e9:.0f} GB: use --quick."
        )
