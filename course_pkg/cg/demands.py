"""What one run of ``course bench cg`` must show: each demand on a method, compared with the measured value."""

from course_pkg.bench import Measurement, matching
from course_pkg.bench.demand import demand
from course_pkg.cg.outcome import SLACK
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.variants import METHODS, MIXED, VARIANTS
from course_pkg.core import Library
from course_pkg.vector.bound import COPY
from course_pkg.vector.variants import VARIANTS as STREAMS

RTOL = 1e-6
SMALL, LARGE = PUBLISHED  # edges of the cubes
OVER_BOUND = {SMALL: 1.15, LARGE: 1.10}  # edge: largest time / bound
MIXED_FASTER = {
    SMALL: 1.5
}  # edge: the method in two precisions must be this many times as fast as two kernels
DEFERRED_S = {"NVIDIA H200": 32}  # device: longest time of deferred x's whole solve on the large grid
FASTER = 3  # must be at least this many times as fast as SciPy
# of a call that is timed
NEVER = 1e-100  # a relative residual that is not met before it ends
FIELDS = 4  # every method works on at least x, r, p and A p
TWO_KERNEL, DEFERRED, IN_TWO_PRECISIONS = (
    v.by(Library.NUMBA_CUDA) for v in (VARIANTS["cg_two_kernel"], VARIANTS["cg_deferred_x"], MIXED)
)
TRIAD = STREAMS["triad"].by(Library.NUMBA_CPU)
OURS = [v.by(Library.NUMBA_CPU) for v in METHODS if Library.NUMBA_CPU in v.libraries]
SCIPY = VARIANTS["cg_csr"].by(Library.SCIPY)


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return one row for each demand that was measured: what, demand, measured, met."""
    if measurements and measurements[0].device.kind == "gpu":
        rows = [
            row for edge, iterations in PUBLISHED.items() for row in _solver(measurements, edge, iterations)
        ]
        rows += _deferred(measurements)
        return rows + [row for edge in PUBLISHED for row in _mixed(measurements, edge)]
    return _against_scipy(measurements)


def bounding_stream(measurements: list[Measurement]) -> Measurement | None:
    """Return the stream whose bandwidth gives the bound: on a GPU the copy of the large grid, on a CPU the triad."""
    found = matching(measurements, COPY, shape=[max(PUBLISHED)] * 3) or matching(measurements, TRIAD)
    return found[0] if found else None


def _solver(measurements, edge, iterations) -> list[dict]:
    shape = [edge] * 3
    solves = matching(measurements, TWO_KERNEL, shape=shape, rtol=RTOL)
    pairs = matching(measurements, TWO_KERNEL, shape=shape, iterations=2)
    copy = bounding_stream(measurements)
    if not (solves and pairs and copy):
        return []
    found, true = solves[0].observed["iterations"], solves[0].observed["true_residual"]
    over, name = pairs[0].over_bound(copy), f"{TWO_KERNEL}, {edge}³"
    return [
        demand(f"{name}: iterations", f"= {iterations}", f"{found}", found == iterations),
        demand(f"{name}: true residual", f"≤ {RTOL:.2g}", f"{true:.3g}", true <= SLACK * RTOL),
        demand(f"{name}: time / bound", f"≤ {OVER_BOUND[edge]:.2f}", f"{over:.3f}", over <= OVER_BOUND[edge]),
    ]


def _deferred(measurements) -> list[dict]:
    """Judge the whole solve on the large grid; its time only on a device for which a time is demanded."""
    solves = matching(measurements, DEFERRED, shape=[LARGE] * 3, rtol=RTOL)
    if not solves:
        return []
    solve, name, iterations = solves[0], f"{DEFERRED}, {LARGE}³", PUBLISHED[LARGE]
    found, true = solve.observed["iterations"], solve.observed["true_residual"]
    rows = [
        demand(f"{name}: iterations", f"= {iterations}", f"{found}", found == iterations),
        demand(f"{name}: true residual", f"≤ {RTOL:.2g}", f"{true:.3g}", true <= SLACK * RTOL),
    ]
    if solve.device.name in DEFERRED_S:
        longest = DEFERRED_S[solve.device.name]
        what = f"{name}: time on {solve.device.name}"
        rows.append(demand(what, f"≤ {longest} s", f"{solve.median_s:.1f} s", solve.median_s <= longest))
    return rows


def _mixed(measurements, edge) -> list[dict]:
    """Compare whole solves, to the same true residual."""
    two, mixed = (
        matching(measurements, what, shape=[edge] * 3, rtol=RTOL) for what in (TWO_KERNEL, IN_TWO_PRECISIONS)
    )
    if not (two and mixed):
        return []
    true, name = mixed[0].observed["true_residual"], f"{IN_TWO_PRECISIONS}, {edge}³"
    rows = [demand(f"{name}: true residual", f"≤ {RTOL:.2g}", f"{true:.3g}", true <= SLACK * RTOL)]
    if edge in MIXED_FASTER:
        times, least = two[0].median_s / mixed[0].median_s, MIXED_FASTER[edge]
        what = f"{name}: faster than {TWO_KERNEL.label}"
        rows.append(demand(what, f"≥ {least}×", f"{times:.2f}×", times >= least))
    return rows


def _against_scipy(measurements) -> list[dict]:
    shape = [min(PUBLISHED)] * 3
    ours = [m for what in OURS for m in matching(measurements, what, shape=shape)]
    theirs = matching(measurements, SCIPY, shape=shape)
    if not ours or not theirs:
        return []
    best, rival = min(ours, key=lambda m: m.median_s), theirs[0]
    times = rival.median_s / best.median_s
    what = f"{best.label}: faster than {rival.label}"
    return [demand(what, f"≥ {FASTER}×", f"{times:.2f}×", times >= FASTER)]
