"""What ``course bench qp`` measures: updates beside a copy, batches, and the time to a solution by many solvers."""

from collections.abc import Iterator

import numpy as np

from course_pkg.bench import Measurement, gpu, matching, measure, progress
from course_pkg.bench.demand import demand
from course_pkg.core import CourseError
from course_pkg.qp import suite_batch
from course_pkg.qp.problem import PROBLEMS, problem
from course_pkg.qp.suite_solves import (
    APG,
    BATCH,
    CONTROL,
    CPU,
    CUDA,
    INACTIVE,
    MOST_PLAIN,
    NUMPY,
    ON_CPU,
    PQP,
    UPDATE,
    drawn,
    one_solve,
    rival_solve,
)
from course_pkg.qp.variants import VARIANTS
from course_pkg.vector.bound import bounding_stream

__all__ = ["PARTS", "bounding_stream", "demands", "run"]

SIZES = {"cpu": 4096, "gpu": 16384}  # unknowns of an update
QUICK_SIZE = 256
BATCHED, QUICK_BATCHED = (4096, 128, 100), (16, 32, 10)  # problems, unknowns of each, iterations
# sizes of the problems that are solved; None is the usual size
SOLVED = dict.fromkeys(PROBLEMS) | {"obstacle_1d": 200, "obstacle_2d": 48, "portfolio": 2000, "dense": 2000}
ZEROS = "zeros"  # updates, and what belongs to them, where most x are 0
PARTS = (*SOLVED, CONTROL, ZEROS)  # each can be measured without the others
QUICK_SOLVED = {"nnls_diabetes": None, "portfolio": 40}
# demands on one run
NEAR_COPY, FASTER_COMPACTED, FASTER_BATCH = 0.90, 5.0, 20.0


def run(device: str, *, quick: bool = False, only: str | None = None) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; with ``quick``, of small problems.

    With ``only``, one of ``PARTS``: the solves of this problem alone, or what is measured where most x are 0.
    """
    solved = QUICK_SOLVED if quick else SOLVED
    if only is not None:
        solved = {name: solved.get(name, n) for name, n in SOLVED.items() if name == only}
    size, batched = (QUICK_SIZE, QUICK_BATCHED) if quick else (SIZES[device], BATCHED)
    if device == "gpu":
        if gpu().kind != "gpu":
            raise CourseError(
                "`course bench qp --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
            )
        from course_pkg.qp import suite_gpu

        if only is None:
            yield from suite_gpu.kernels(size, batched, quick=quick)
        elif only == ZEROS:
            yield from suite_gpu.with_zeros(size, quick=quick)
        if only in (None, CONTROL):
            yield from suite_batch.on_gpu(*batched[:2], samples=1 if quick else 3)
        yield from solves_of(solved, suite_gpu.solves, quick)
    else:
        if only == ZEROS:
            raise CourseError("Updates with zeros are measured on a GPU alone: use --device gpu.")
        if only is None:
            with progress(2) as step:
                step(f"updates of {size} unknowns")
                yield from _updates(size, samples=3 if quick else 20)
                step(f"updates of {batched[0]} problems of {batched[1]} unknowns")
                yield suite_batch.batch_on_cpu(*batched, samples=3 if quick else 10)
        if only in (None, CONTROL):
            yield from suite_batch.on_cpu(*batched[:2], samples=1 if quick else 3)
        yield from solves_of(solved, solves, quick)


def solves_of(solved: dict, solves, quick: bool) -> Iterator[Measurement]:
    """Yield the solves of each problem."""
    with progress(len(solved)) as step:
        for name, n in solved.items():
            step(f"solving {name}")
            yield from solves(problem(name, n), samples=1 if quick else 3)


def _updates(n, samples) -> Iterator[Measurement]:
    Q, h, shift, x = drawn(n)
    out, parts = np.full(n, np.nan), np.full(n, np.nan)
    expected = np.empty(n), np.empty(n)
    UPDATE.function(NUMPY)(Q, h, shift, x, *expected)

    def check():
        np.testing.assert_allclose(out, expected[0], rtol=1e-9)
        np.testing.assert_allclose(parts, expected[1], rtol=1e-9, atol=1e-9 * np.abs(expected[1]).max())
        out.fill(np.nan)

    for library in (CPU, NUMPY):
        yield measure(
            UPDATE.function(library),
            Q,
            h,
            shift,
            x,
            out,
            parts,
            cost=UPDATE.cost_by(library)(n),
            check=check,
            name=UPDATE.by(library),
            parameters={"n": n, "dtype": "float64"},
            samples=samples,
        )


def solves(p, samples: int) -> Iterator[Measurement]:
    """Yield the time to a KKT residual of 1e-6 ‖h‖∞ by our solvers on the CPU, and by SciPy and OSQP."""
    for variant, library, options in (
        (PQP, CPU, {"accelerate": True}),
        (PQP, CPU, {"accelerate": False, "maxiter": MOST_PLAIN}),
        (APG, NUMPY, {"maxiter": MOST_PLAIN}),
    ):
        yield one_solve(p, variant.by(library), variant.function(library), options, (p.Q, p.h), samples)
    for library in ON_CPU:
        yield from rival_solve(p, library, samples)


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return one row for each demand that was measured: what, demand, measured, met."""
    return [
        *_near_copy(measurements),
        *_compaction(measurements),
        *_batches(measurements),
        *_solved_batches(measurements),
        *_never_slower(measurements),
    ]


def _near_copy(measurements) -> list[dict]:
    rows, copy = VARIANTS["update_rows"].by(CUDA), bounding_stream(measurements)
    found = matching(measurements, rows, n=SIZES["gpu"], dtype="float64", inactive=None, rows=None)
    if not (found and copy):
        return []
    share = found[0].of_copy(copy, 8 * SIZES["gpu"] ** 2)
    return [demand(f"{rows}: bytes of Q, of copy", f"≥ {NEAR_COPY:.2f}", f"{share:.3f}", share >= NEAR_COPY)]


def _compaction(measurements) -> list[dict]:
    dense, *compacted = (VARIANTS[f"update_{name}"].by(CUDA) for name in ("rows", "compacted", "packed"))
    wanted = {"n": SIZES["gpu"], "dtype": "float64", "inactive": INACTIVE, "iterations": None}
    whole, rows = matching(measurements, dense, **wanted), []
    for short in (m for what in compacted for m in matching(measurements, what, **wanted) if whole):
        times = whole[0].median_s / short.median_s
        what = f"{short.what} over {dense}, {INACTIVE:.0%} inactive"
        rows.append(demand(what, f"≥ {FASTER_COMPACTED:.0f}×", f"{times:.1f}×", times >= FASTER_COMPACTED))
    return rows


def _batches(measurements) -> list[dict]:
    problems, n, iterations = BATCHED
    found = matching(measurements, BATCH.by(CUDA), n=n, problems=problems, iterations=iterations)
    if not found or "cpu_s" not in found[0].observed:
        return []
    times = found[0].observed["cpu_s"] / found[0].median_s
    what = f"{BATCH.by(CUDA)} over {BATCH.by(CPU)}, {problems} × {n}"
    return [demand(what, f"≥ {FASTER_BATCH:.0f}×", f"{times:.1f}×", times >= FASTER_BATCH)]


def _solved_batches(measurements) -> list[dict]:
    problems, n, _ = BATCHED
    found = matching(measurements, VARIANTS["apg_batch"].by(CUDA), n=n, problems=problems)
    return [
        demand(
            f"{m.what}, {problems} × {n}: solved",
            "all",
            f"{m.observed['solved']:.2%}",
            m.observed["converged"],
        )
        for m in found
    ]


def _never_slower(measurements) -> list[dict]:
    """Return one row for each problem: the accelerated method against the plain one."""
    rows = []
    for library in (CPU, CUDA):
        what = PQP.by(library)
        for quick in matching(measurements, what, accelerate=True):
            name, n = quick.parameters["problem"], quick.parameters["n"]
            plain = matching(measurements, what, accelerate=False, problem=name, n=n)
            if plain:
                times = plain[0].median_s / quick.median_s
                met = quick.observed["converged"] and times >= 1
                # a plain method that gave up would have taken longer still
                at_least = "" if plain[0].observed["converged"] else "more than "
                rows.append(demand(f"{what}, {name}: over plain", "≥ 1×", f"{at_least}{times:.1f}×", met))
    return rows
