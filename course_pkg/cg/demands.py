"""What is demanded of the methods beside what ``course bench cg`` measured, all in one run."""

from course_pkg.bench import Measurement
from course_pkg.cg.outcome import SLACK

RTOL = 1e-6
PUBLISHED = {250: 514, 1000: 2101}  # iterations to a relative residual of 1e-6, by the edge of the cube
OVER_BOUND = 1.20  # at most: the time of an iteration over the time that its bytes take a copy
FASTER = 3  # than SciPy, at least
# of a call that is timed
NEVER = 1e-100  # a relative residual that is not met before it ends
FIELDS = 4  # it works on at least: x, r, p and what p is multiplied to
TWO_KERNEL = "cg two-kernel, Numba CUDA"


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return a row for each demand whose measurements are there: what, demand, measured, met."""
    if measurements and measurements[0].device.kind == "gpu":
        at = {(m.name, m.parameters["shape"][0]): m for m in measurements}
        return [row for edge, iterations in PUBLISHED.items() for row in _solver(at, edge, iterations)]
    return _against_scipy({m.name: m for m in measurements if m.parameters["shape"][0] == min(PUBLISHED)})


def _solver(at, edge, iterations) -> list[dict]:
    solve, pair = at.get((f"{TWO_KERNEL}: solve", edge)), at.get((TWO_KERNEL, edge))
    copy = at.get(("copy, CuPy", max(PUBLISHED)))
    if solve is None or pair is None or copy is None:
        return []
    found, true = solve.observed["iterations"], solve.observed["true_residual"]
    over = pair.median_s * copy.throughput_gb_s * 1e9 / pair.cost.bytes
    return [
        _row(f"{TWO_KERNEL}: iterations, {edge}³", f"= {iterations}", f"{found}", found == iterations),
        _row(f"{TWO_KERNEL}: true residual, {edge}³", f"≤ {RTOL:.2g}", f"{true:.3g}", true <= SLACK * RTOL),
        _row(
            f"{TWO_KERNEL}: over its bound, {edge}³", f"≤ {OVER_BOUND:.2f}", f"{over:.3f}", over <= OVER_BOUND
        ),
    ]


def _against_scipy(by_name) -> list[dict]:
    ours = {
        name: m.median_s
        for name, m in by_name.items()
        if name.endswith("Numba CPU") and name.startswith("cg")
    }
    theirs = {name: m.median_s for name, m in by_name.items() if name.endswith("SciPy")}
    if not ours or not theirs:
        return []
    best, rival = min(ours, key=ours.get), min(theirs, key=theirs.get)
    times = theirs[rival] / ours[best]
    return [_row(f"{best}: faster than {rival}", f"≥ {FASTER}×", f"{times:.2f}×", times >= FASTER)]


def _row(what, demand, measured, met) -> dict:
    return {"what": what, "demand": demand, "measured": measured, "met": "yes" if met else "NO"}
