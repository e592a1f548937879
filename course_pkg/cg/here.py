"""Measure two iterations in the middle of a solve by conjugate gradient; on a GPU, one CUDA graph launches them."""

from collections.abc import Callable

import numpy as np

from course_pkg.bench import Measurement, measure
from course_pkg.cg.demands import FIELDS, NEVER
from course_pkg.cg.problem import PUBLISHED, PoissonProblem
from course_pkg.core import CourseError, Library, Variant
from course_pkg.vector.here import require_free_memory

MOST_FIELDS = 8  # no method needs more fields


def on_this_gpu(*variants: Variant, edge: int = min(PUBLISHED), samples: int = 10) -> list[Measurement]:
    """Measure two iterations of each method with edge³ unknowns on this machine's GPU, in the same way as the records.

    Raises
    ------
    CourseError
        If there is no GPU, or the fields do not fit in its memory.

    Examples
    --------
    >>> from course_pkg.bench import gpu
    >>> from course_pkg.cg.variants import VARIANTS
    >>> found = on_this_gpu(VARIANTS["cg_two_kernel"], edge=32) if gpu().kind == "gpu" else []
    """
    if not variants:
        raise CourseError("Pass at least one method, such as VARIANTS['cg_two_kernel'].")
    require_free_memory(8 * MOST_FIELDS * edge**3, f"{MOST_FIELDS} fields of {edge}³ unknowns")
    from course_pkg import cuda

    problem = PoissonProblem.ones(edge)
    b = cuda.to_device(problem.b)

    def residual(x) -> float:
        return float(np.linalg.norm((problem.b - problem.matvec(x.copy_to_host())).reshape(-1)))

    return [two_iterations(variant, b, lambda x, b: residual(x), samples=samples) for variant in variants]


def two_iterations(variant: Variant, b, residual: Callable[..., float], *, samples: int = 20) -> Measurement:
    """Measure two iterations in the middle of a solve. The parameter ``iterations`` tells it from a whole solve.

    For ``cg_mixed``, measure all iterations of one CUDA graph; its update kernels are launched, and return at once.

    Parameters
    ----------
    b : device array, shape (nz, ny, nx)
    residual : callable
        ``residual(x, b)`` returns ``‖b - A x‖`` of grids in GPU memory; it must not use the kernels that are measured.

    Raises
    ------
    AssertionError
        If the residual that the solver updates does not belong to its x, or if the solver stopped while it was timed.

    Examples
    --------
    >>> from course_pkg.bench import gpu
    >>> from course_pkg.cg.variants import VARIANTS
    >>> b = cuda.to_device(np.ones((4, 4, 4)))
    >>> if gpu().kind == "gpu":
    ...     m = two_iterations(VARIANTS["cg_two_kernel"], b, lambda x, b: 0.0, samples=1)
    """
    from course_pkg.cg import gpu_numba

    # no residual meets this tolerance, so the solver does not stop: iterations of a stopped solver would take no time
    solver = gpu_numba.endless(variant.name, b, rtol=NEVER)
    some, iterations = solver.graph(), solver.QUEUED

    def confirm():
        solver.look()
        true = residual(solver.current(), solver.work.b.reshape(solver.work.shape))
        np.testing.assert_allclose(solver.norms[-1], true, rtol=solver.agreement)

    def still_running():
        solver.look()
        if solver.stopped:
            raise AssertionError(f"{variant.title} stopped after {solver.done} iterations while it was timed")
        return {"iterations": solver.done}

    return measure(
        lambda x: some(),
        solver.work.x,
        cost=iterations * variant.cost(b.shape),
        check=confirm,
        name=variant.by(Library.NUMBA_CUDA),
        parameters={"shape": list(b.shape), "dtype": "float64", "iterations": iterations},
        samples=samples,
        warmup=1,
        hold=True,
        observe=still_running,
        footprint=FIELDS * 8 * b.size,
    )
