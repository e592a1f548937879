"""The suite of ``course bench simt``: time and memory of the interpreter, with limits.

The 7-point Laplacian is measured on several grids; the kernels of :mod:`.workloads` are those that learners bring.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from course_pkg.bench import Measurement, cpu, measure, progress
from course_pkg.bench.demand import demand
from course_pkg.core import CourseError, Implementation
from course_pkg.stencil import cost, reference
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.variants import VARIANTS
from course_pkg.witness import alone
from course_pkg.witness.workloads import WORKLOADS

SUITE = ("simt", "the interpreter")
DEVICE = "cpu"  # the interpreter runs on the host
PLAIN, COUNTED, SIMULATOR = "interpreter", "interpreter, counting", "Numba's simulator"
RATES = False  # limits are on time and memory; the interpreter's bytes per second are meaningless
NAMES = {"plain": PLAIN, "counted": COUNTED, "simulator": SIMULATOR}
KERNEL = VARIANTS["laplacian_naive"]  # what the interpreter and Numba's simulator run
SMALL, MIDDLE, LARGE, LARGEST = 32, 64, 128, 256
GROWTH = (LARGEST // SMALL) ** 3
PIECE = "piece of work"
QUICK = 16  # size of a piece of work for a short trial


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements; ``quick`` measures grids of 8³ and 12³ points and small pieces of work only.

    Raises
    ------
    CourseError
        If the device is a GPU: the interpreter runs on the host.
    """
    if device != DEVICE:
        raise CourseError("The interpreter runs on the host: use `course bench simt --device cpu`.")
    edges, largest, small = ((8,), 12, 8) if quick else ((SMALL, MIDDLE, LARGE), LARGEST, SMALL)
    with progress(2 * len(edges) + 3 + len(WORKLOADS)) as step:
        for edge in edges:
            for who in ("plain", "counted"):
                step(f"{NAMES[who]}, {edge}³")
                yield _here(who, edge, samples=3 if quick else 11 if edge < LARGE else 3)
        step(f"{SIMULATOR}, {small}³")
        yield _in_a_process("simulator", small, 1)
        for who in ("plain", "counted"):
            step(f"{NAMES[who]}, {largest}³")
            yield _in_a_process(who, largest, 1 if quick else 2)
        for name, work in WORKLOADS.items():
            step(work.what)
            yield _workload(name, min(QUICK, work.size) if quick else work.size)


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return one row for each limit on the interpreter's time or memory: the limit, the measured value, met or not.

    Limits on grids that were not measured are left out.
    """
    found = {
        (m.library, m.parameters["shape"][0]): m for m in measurements if m.operation == KERNEL.operation
    }
    pieces = {(m.variant, m.parameters["n"]): m for m in measurements if m.operation == PIECE}
    rows = []

    def add(what, keys, measured, limit, form, at_least=False):
        if all(key in found for key in keys):
            value = measured(*(found[key] for key in keys))
            met = value >= limit if at_least else value <= limit
            bound = f"{'≥' if at_least else '≤'} {form.format(limit)}"
            rows.append(demand(what, bound, form.format(value), met))

    seconds = "{:.3g} s"
    add(f"{PLAIN}, time at {MIDDLE}³", [(PLAIN, MIDDLE)], lambda m: m.median_s, 0.06, seconds)
    add(f"{COUNTED}, time at {MIDDLE}³", [(COUNTED, MIDDLE)], lambda m: m.median_s, 0.15, seconds)
    pair = [(SIMULATOR, SMALL), (PLAIN, SMALL)]
    add(f"{SIMULATOR} / {PLAIN}, time at {SMALL}³", pair, _ratio, 500, "{:.0f}×", at_least=True)
    for name in (PLAIN, COUNTED):
        add(f"{name}, memory at {LARGEST}³", [(name, LARGEST)], _peak_gb, 2.0, "{:.2f} GB")
        ends = [(name, LARGEST), (name, SMALL)]
        add(f"{name}, time at {LARGEST}³ / time at {SMALL}³", ends, _ratio, GROWTH, "{:.0f}×")
    found = pieces
    for name, work in WORKLOADS.items():
        add(work.what, [(name, work.size)], lambda m: m.median_s, work.limit_s, seconds)
    return rows


def _ratio(one, other) -> float:
    return one.median_s / other.median_s


def _peak_gb(m) -> float:
    return m.observed["peak_bytes"] / 1e9


def what(who: str) -> Implementation:
    """Return what is measured: the naive Laplacian, run by one of ``NAMES``."""
    return Implementation(KERNEL.operation, KERNEL.name, who)


def _here(who, edge, samples) -> Measurement:
    u = HeatProblem.random((edge,) * 3).T
    out, expected = np.full_like(u, np.nan), np.empty_like(u)
    reference.laplacian(u, expected)
    return measure(
        alone.launcher(who, edge),
        u,
        out,
        cost=cost.laplacian(u.shape),
        check=lambda: np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11),
        name=what(NAMES[who]),
        parameters=_parameters(edge),
        samples=samples,
    )


def _in_a_process(who, edge, samples) -> Measurement:
    found = alone.ask(who, edge, samples)
    shape = (edge,) * 3
    return Measurement(
        what=what(NAMES[who]),
        samples_s=tuple(found["samples_s"]),
        warmup_s=(),
        calls_per_sample=1,
        cache_state="exceeds" if 16 * edge**3 > 2 * cpu().llc_bytes else "warm",
        cost=cost.laplacian(shape),
        device=cpu(),
        parameters=_parameters(edge),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        observed={"peak_bytes": found["peak_bytes"]},
    )


def _workload(name: str, size: int) -> Measurement:
    """Measure the processor time of a piece of work; its cost is not known."""
    taken = alone.answer(("course_pkg.witness.workloads", name, str(size)))
    return Measurement(
        what=Implementation(PIECE, name, COUNTED),
        samples_s=tuple(taken["samples_s"]),
        warmup_s=(),
        calls_per_sample=1,
        cache_state="warm",
        cost=None,
        device=cpu(),
        parameters={"n": size, "clock": "processor time"},
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _parameters(edge) -> dict:
    return {"shape": [edge] * 3, "dtype": "float64"}
