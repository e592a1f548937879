"""What ``course bench qp`` measures: updates beside a copy, batches, and the time to a solution by many solvers."""

from collections.abc import Iterator

import numpy as np

from course_pkg.bench import Measurement, cpu, gpu, matching, measure, progress
from course_pkg.bench.measure import Run
from course_pkg.core import CourseError, Library
from course_pkg.qp.problem import PROBLEMS, problem
from course_pkg.qp.reference import kkt_residual
from course_pkg.qp.variants import VARIANTS
from course_pkg.vector.variants import VARIANTS as STREAMS

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
COPY = STREAMS["copy"].by(CUPY)
UPDATE, BATCH, PQP, APG = (VARIANTS[name] for name in ("update", "update_batch", "pqp", "apg"))
RTOL = 1e-6
MOST_PLAIN = 3000  # iterations of the plain method, which may never get there
FIRST_PLAIN = 10  # of its first call, which only compiles
LONG_S = 2.0  # after so many seconds, there are no further samples of another library
ON_CPU = (Library.SCIPY, Library.OSQP)  # libraries that use no GPU, and compile nothing
SIZES = {"cpu": 4096, "gpu": 16384}  # unknowns of an update
QUICK_SIZE = 256
BATCHED, QUICK_BATCHED = (4096, 128, 100), (16, 32, 10)  # problems, unknowns of each, iterations
INACTIVE = 0.9
SETTINGS = [(rows, unroll) for rows in (2, 4, 8) for unroll in (1, 2, 4)]  # of update_rows
# sizes of the problems that are solved; None is the usual size
SOLVED = dict.fromkeys(PROBLEMS) | {"obstacle_1d": 200, "obstacle_2d": 48, "portfolio": 2000, "dense": 2000}
CONTROL = "model_predictive"  # the name of the batch that is solved to the tolerance
ZEROS = "zeros"  # updates, and what belongs to them, where most x are 0
PARTS = (*SOLVED, CONTROL, ZEROS)  # each can be measured without the others
QUICK_SOLVED = {"nnls_diabetes": None, "portfolio": 40}
# demands on one run
NEAR_COPY, FASTER_COMPACTED, FASTER_BATCH = 0.90, 5.0, 20.0


def run(device: str, *, quick: bool = False, only: str | None = None) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; with ``quick``, of small problems.

    With ``only``, one of ``PARTS``: the solves of this problem alone, or what is measured where most x are 0.
    """
    from course_pkg.qp import suite_batch

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


def drawn(n: int, dtype: str = "float64", inactive: float = 0.0) -> tuple[np.ndarray, ...]:
    """Return Q, h, a shift and x for updates that are timed; the share ``inactive`` of x is 0."""
    rng = np.random.default_rng(0)
    Q = rng.standard_normal((n, n)).astype(dtype)
    for begin in range(0, n, 1024):  # by parts, so that no second matrix is needed
        rows, beyond = slice(begin, begin + 1024), slice(begin + 1024, n)
        Q[rows, rows] = np.triu(Q[rows, rows]) + np.triu(Q[rows, rows], 1).T
        Q[rows, beyond] = Q[beyond, rows].T
    x = rng.uniform(0.5, 1.5, n).astype(dtype)
    x[: int(inactive * n)] = 0
    return Q, rng.standard_normal(n).astype(dtype), np.full(n, np.sqrt(n), dtype), rng.permutation(x)


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


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return one row for each demand that was measured: what, demand, measured, met."""
    return [
        *_near_copy(measurements),
        *_compaction(measurements),
        *_batches(measurements),
        *_solved_batches(measurements),
        *_never_slower(measurements),
    ]


def bounding_stream(measurements: list[Measurement]) -> Measurement | None:
    """Return the copy that was measured together with the updates; None if there is none."""
    return next(iter(matching(measurements, COPY)), None)


def _near_copy(measurements) -> list[dict]:
    rows, copy = VARIANTS["update_rows"].by(CUDA), bounding_stream(measurements)
    found = matching(measurements, rows, n=SIZES["gpu"], dtype="float64", inactive=None, rows=None)
    if not (found and copy):
        return []
    share = 8 * SIZES["gpu"] ** 2 / found[0].median_s / 1e9 / copy.t_eff_gb_s
    return [_row(f"{rows}: bytes of Q, of copy", f"≥ {NEAR_COPY:.2f}", f"{share:.3f}", share >= NEAR_COPY)]


def _compaction(measurements) -> list[dict]:
    dense, *compacted = (VARIANTS[f"update_{name}"].by(CUDA) for name in ("rows", "compacted", "packed"))
    wanted = {"n": SIZES["gpu"], "dtype": "float64", "inactive": INACTIVE, "iterations": None}
    whole, rows = matching(measurements, dense, **wanted), []
    for short in (m for what in compacted for m in matching(measurements, what, **wanted) if whole):
        times = whole[0].median_s / short.median_s
        what = f"{short.what} over {dense}, {INACTIVE:.0%} inactive"
        rows.append(_row(what, f"≥ {FASTER_COMPACTED:.0f}×", f"{times:.1f}×", times >= FASTER_COMPACTED))
    return rows


def _batches(measurements) -> list[dict]:
    problems, n, iterations = BATCHED
    found = matching(measurements, BATCH.by(CUDA), n=n, problems=problems, iterations=iterations)
    if not found or "cpu_s" not in found[0].observed:
        return []
    times = found[0].observed["cpu_s"] / found[0].median_s
    what = f"{BATCH.by(CUDA)} over {BATCH.by(CPU)}, {problems} × {n}"
    return [_row(what, f"≥ {FASTER_BATCH:.0f}×", f"{times:.1f}×", times >= FASTER_BATCH)]


def _solved_batches(measurements) -> list[dict]:
    problems, n, _ = BATCHED
    found = matching(measurements, VARIANTS["apg_batch"].by(CUDA), n=n, problems=problems)
    return [
        _row(
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
                rows.append(_row(f"{what}, {name}: over plain", "≥ 1×", f"{at_least}{times:.1f}×", met))
    return rows


def _row(what, demand, measured, met) -> dict:
    return {"what": what, "demand": demand, "measured": measured, "met": "yes" if met else "NO"}
