"""What ``course bench cg`` measures on a GPU: solves to a tolerance, single iterations, and other libraries' methods.

The right-hand side is ones and x begins at zero: the s-step paper's problem, whose iterations are published.
"""

from collections.abc import Iterator

import numpy as np

from course_pkg import cuda
from course_pkg.bench import Measurement, gpu, measure, progress
from course_pkg.cg import cost, gpu_cupy, gpu_numba
from course_pkg.cg.demands import FIELDS, NEVER, PUBLISHED, RTOL
from course_pkg.cg.gpu_cupy import cp
from course_pkg.cg.outcome import SLACK
from course_pkg.cg.rivals import GPU_RIVALS
from course_pkg.core import CourseError
from course_pkg.stencil import cost as stencil_cost

QUICK = (32, 64)
VARIANTS = {  # what an iteration launches, and the method that does it to the end
    "cg baseline, Numba CUDA": (gpu_numba.BASELINE, gpu_numba.cg_baseline),
    "cg map-stencil fused, Numba CUDA": (gpu_numba.MAP_STENCIL_FUSED, gpu_numba.cg_map_stencil_fused),
    "cg fused dots, Numba CUDA": (gpu_numba.FUSED_DOTS, gpu_numba.cg_fused_dots),
    "cg two-kernel, Numba CUDA": (gpu_numba.TWO_KERNEL, gpu_numba.cg_two_kernel),
    "cg deferred x, Numba CUDA": (gpu_numba.DEFERRED_X, gpu_numba.cg_deferred_x),
}
SOLVED_LARGE = ("cg two-kernel, Numba CUDA", "cg deferred x, Numba CUDA")  # the others would take minutes
LIBRARY_ITERATIONS = 100  # a call


def run(*, quick: bool) -> Iterator[Measurement]:
    """Yield the measurements; ``quick`` takes small grids."""
    small, large = QUICK if quick else tuple(PUBLISHED)
    _require_memory(large)
    with progress(2 * (1 + len(VARIANTS)) + len(VARIANTS) + len(SOLVED_LARGE) + 1 + len(GPU_RIVALS)) as step:
        for edge in (small, large):
            step(f"copy, {edge}³")
            yield _copy(edge)
            for name in VARIANTS:
                step(f"{name}, {edge}³")
                yield _iterations(name, edge, samples=5 if quick or edge > small else 20)
            for name in VARIANTS if edge == small else SOLVED_LARGE:
                step(f"{name}: solve, {edge}³")
                yield _solve(name, edge, samples=5 if edge == small else 1)
            cp.get_default_memory_pool().free_all_blocks()
        yield from _libraries(small, step, samples=3 if quick else 10)


def _b(edge):
    return cuda.as_cuda_array(cp.ones((edge,) * 3))


def _footprint(edge) -> int:
    return FIELDS * 8 * edge**3


def _parameters(edge, **more):
    return {"shape": [edge] * 3, "dtype": "float64", **more}


def _copy(edge) -> Measurement:
    source, out = cp.ones((edge,) * 3), cp.empty((edge,) * 3)
    return measure(
        lambda a, b: b.data.copy_from_device_async(a.data, a.nbytes),
        source,
        out,
        cost=stencil_cost.copy(source.shape),
        check=lambda: cp.testing.assert_array_equal(out, source),
        name="copy, CuPy",
        parameters=_parameters(edge),
        hold=True,
    )


def _iterations(name, edge, samples) -> Measurement:
    """Two iterations in the midst of a solve, by one graph."""
    variant, method = VARIANTS[name]
    # no residual is small enough: what stopped would take no time
    solver = gpu_numba.Solver(variant, _b(edge), rtol=NEVER)
    two = solver.graph()

    def confirm():
        solver.look()
        true = residual(solver.work.grid(solver.work.x), solver.work.b.reshape(solver.work.shape))
        np.testing.assert_allclose(solver.norms[-1], true, rtol=1e-9)

    def still_running():
        solver.look()
        if solver.stopped:
            raise AssertionError(f"{name} stopped after {solver.done} iterations while it was timed")
        return {"iterations": solver.done}

    return measure(
        lambda x: two(),
        solver.work.x,
        cost=2 * cost.iteration(method.__name__, (edge,) * 3),
        check=confirm,
        name=name,
        parameters=_parameters(edge, iterations=2),
        samples=samples,
        warmup=1,
        hold=True,
        observe=still_running,
        footprint=_footprint(edge),
    )


def _solve(name, edge, samples) -> Measurement:
    """A solve as whoever calls it has it: from b to a confirmed x, host and graphs included."""
    found, b = {}, _b(edge)

    def call(b):
        found["solution"] = VARIANTS[name][1](b, rtol=RTOL)

    def confirm():
        solution = found["solution"]
        if not solution.converged:
            raise AssertionError(f"{name}: {solution}")

    def observe():
        solution = found["solution"]
        b_norm = float(np.sqrt(edge**3))
        return {
            "iterations": solution.iterations,
            "true_residual": residual(solution.x, b) / b_norm,
            "reason": solution.reason,
        }

    return measure(
        call,
        b,
        check=confirm,
        name=f"{name}: solve",
        parameters=_parameters(edge, rtol=RTOL),
        samples=samples,
        warmup=0,
        min_sample_s=0,
        wait=cuda.synchronize,
        observe=observe,
        footprint=_footprint(edge),
    )


def residual(x, b) -> float:
    """Return ``‖b - A x‖`` by CuPy, which shares no kernel with the methods that it judges."""
    x, s = cp.asarray(x), cp.empty(b.shape)
    gpu_cupy.matvec(x, s)
    return float(cp.linalg.norm((cp.asarray(b) - s).reshape(-1)))


def _libraries(edge, step, samples) -> Iterator[Measurement]:
    """CuPy's and JAX's methods, and ours by CuPy: so many iterations from x = 0, as whoever calls them has them."""
    b = cp.ones((edge,) * 3)
    fns = {
        "cg baseline, CuPy": lambda maxiter, rtol: (
            gpu_cupy.cg_baseline(b, rtol=rtol or NEVER, maxiter=maxiter).x
        )
    }
    for name, make in GPU_RIVALS.items():
        try:
            fns[name] = _result_of(make(b))
        except ImportError as error:
            print(f"Not measured: {name} ({error}).")
    for name, fn in fns.items():
        step(f"{name}, {edge}³")
        if not residual(fn(10 * edge, RTOL), b) <= SLACK * RTOL * np.sqrt(edge**3):
            raise AssertionError(f"{name} does not solve the problem")
        yield measure(
            lambda b, fn=fn: fn(LIBRARY_ITERATIONS, 0.0),
            b,
            name=name,
            parameters=_parameters(edge, iterations=LIBRARY_ITERATIONS),
            samples=samples,
            min_sample_s=0,
            wait=cp.cuda.Device().synchronize,
            footprint=_footprint(edge),
        )


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
            f"{edge}³ unknowns need {needed / 1e9:.0f} GB of GPU memory and there are "
            f"{gpu().memory_bytes / 1e9:.0f}: use --quick."
        )
