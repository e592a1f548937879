"""What the records of this topic must show: demands on operations, on numbers of iterations, and on preconditioning."""

from course_pkg.bench import Measurement, matching
from course_pkg.bench.demand import demand
from course_pkg.core import Library
from course_pkg.sstep.problem import PUBLISHED
from course_pkg.sstep.variants import VARIANTS
from course_pkg.vector.bound import bounding_stream

CUDA, CUPY, CPU = Library.NUMBA_CUDA, Library.CUPY, Library.NUMBA_CPU
OPERATIONS = ("moments", "gram", "update_block", "project_block")
FASTER, NEAR_COPY = 2.0, 0.90  # twice as fast as cuBLAS, or 0.9 of a copy's bandwidth: one is enough
WITHIN = 1.05  # the most iterations of the stable method, divided by those of pcg
MOST_AMG, MOST_GROWTH = 45, 1.6  # most iterations on the large cube; most growth from the small cube to it
SMALL, LARGE = 64, min(PUBLISHED)  # edges of the cubes


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return one row for each demand that was measured: what, demand, measured, met."""
    return [
        *_operations(measurements),
        *_published(measurements),
        *_within_a_block(measurements),
        *_stable(measurements),
        *_amg(measurements),
    ]


def _operations(measurements) -> list[dict]:
    """Return a row for each operation and s: its speed relative to cuBLAS, and its share of a copy's bandwidth."""
    copy, rows = bounding_stream(measurements), []
    for name in OPERATIONS:
        for ours in matching(measurements, VARIANTS[name].by(CUDA)):
            size = {"n": ours.parameters["n"], "s": ours.parameters["s"], "dtype": ours.parameters["dtype"]}
            theirs = matching(measurements, VARIANTS[name].by(CUPY), **size)
            if not (copy and theirs) or size["n"] < LARGE**3 or "warps" in ours.parameters:
                continue
            times = theirs[0].median_s / ours.median_s
            share = ours.of_copy(copy)
            what = f"{ours.label}, s = {size['s']}: over cuBLAS, of copy"
            wanted = f"≥ {FASTER:g}× or ≥ {NEAR_COPY:.2f}"
            rows.append(
                demand(what, wanted, f"{times:.2f}×, {share:.2f}", times >= FASTER or share >= NEAR_COPY)
            )
    return rows


def _published(measurements) -> list[dict]:
    rows = []
    for found in _solves(measurements, "pcg", rtol=1e-6):
        edge = found.parameters["shape"][0]
        if edge in PUBLISHED:
            wanted = PUBLISHED[edge]
            rows.append(
                demand(f"{found.label}, {edge}³: iterations", f"= {wanted}", *_of(found, wanted, wanted))
            )
    return rows


def _within_a_block(measurements) -> list[dict]:
    """Return a row for each method whose number of iterations may differ from pcg's by one pass at most."""
    rows = []
    for plain in _solves(measurements, "pcg"):
        wanted = _same(plain)
        others = _solves(measurements, "pfcg", **wanted)
        others += [
            m for m in _solves(measurements, "pcg_sstep_moments", **wanted) if m.parameters["s"] in (1, 2, 3)
        ]
        for m in others:
            s, least = m.parameters.get("s", 1), plain.observed["iterations"]
            rows.append(demand(_what(m), f"≤ {least + s}", *_of(m, least - s, least + s)))
    return rows


def _stable(measurements) -> list[dict]:
    """Return a row for each solve by the stable method: it may take 5 % more iterations than pcg."""
    rows = []
    for plain in _solves(measurements, "pcg"):
        for m in _solves(measurements, "pcg_sstep", **_same(plain)):
            if m.parameters["shape"][0] < SMALL:
                continue  # in a short solve, one pass is more than 5 % of the iterations
            most = WITHIN * plain.observed["iterations"]
            rows.append(demand(_what(m), f"≤ {most:.0f}", *_of(m, 0, most)))
    return rows


def _amg(measurements) -> list[dict]:
    found = {}
    for library in (CPU, CUDA):
        for m in matching(measurements, VARIANTS["pcg"].by(library), M="vcycle"):
            found[_edge(m)] = m
    rows = []
    if LARGE in found:
        rows.append(
            demand(f"{_what(found[LARGE])}, vcycle", f"≤ {MOST_AMG}", *_of(found[LARGE], 0, MOST_AMG))
        )
    if LARGE in found and SMALL in found:
        growth = found[LARGE].observed["iterations"] / found[SMALL].observed["iterations"]
        what = f"vcycle: iterations on {LARGE}³ over {SMALL}³"
        rows.append(demand(what, f"≤ {MOST_GROWTH}", f"{growth:.2f}", growth <= MOST_GROWTH))
    return rows


def _solves(measurements, name, **parameters) -> list[Measurement]:
    found = [
        m
        for library in (CPU, CUDA)
        if library in VARIANTS[name].libraries
        for m in matching(measurements, VARIANTS[name].by(library), M=None, **parameters)
    ]
    return [m for m in found if "shape" in m.parameters]


def _edge(m) -> int:
    """Return the edge of the cube on which the system was solved."""
    return m.parameters["shape"][0] if "shape" in m.parameters else round(m.parameters["n"] ** (1 / 3))


def _same(plain) -> dict:
    return {k: plain.parameters[k] for k in ("shape", "rtol")}


def _what(m) -> str:
    s = f", s = {m.parameters['s']}" if "s" in m.parameters else ""
    return f"{m.label}, {_edge(m)}³, {m.parameters['rtol']:g}{s}: iterations"


def _of(m, least, most):
    found = m.observed["iterations"]
    return f"{found}", least <= found <= most
