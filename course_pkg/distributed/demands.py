"""What one run of ``course bench scaling`` must show: iterations as on one rank, efficiencies, and forecasts."""

from course_pkg.bench import Measurement
from course_pkg.bench.demand import demand
from course_pkg.bench.lookup import function_name
from course_pkg.cg.problem import PUBLISHED
from course_pkg.distributed import forecast
from course_pkg.distributed.recorded import BY_LINK, alone, iteration_s, speed_up
from course_pkg.distributed.work import ON_GPUS, Work

RANKS = 2  # efficiencies and forecasts are demanded of two GPUs
SMALL, LARGE = PUBLISHED
# edge: (least efficiency of the fastest variant, the time that must reach it, the time that is only reported)
LEAST = {SMALL: (0.85, "an iteration", "a whole solve"), LARGE: (0.95, "a whole solve", "an iteration")}
WITHIN = 0.10  # the largest relative error of a forecast


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return one row for each demand that was measured: what, demand, measured, met."""
    links = dict.fromkeys(m.parameters.get("link") for m in measurements if m.parameters["ranks"] > 1)
    rows = [row for link in links for row in _iterations(measurements, link)]
    rows += [row for edge in PUBLISHED for row in _efficiency(measurements, edge)]
    return rows + [row for link in links for row in _forecasts(measurements, link)]


def _iterations(measurements, link) -> list[dict]:
    """Compare the iterations of solves with those of one rank, and those of ``cg`` with the published ones."""
    rows, groups = [], {}
    for m in measurements:
        p = m.parameters
        if "rtol" not in p or p["scaling"] != "strong" or p.get("link") != link or p["ranks"] == 1:
            continue
        if "M" in p:  # block Jacobi ignores the couplings between ranks
            continue
        edge, found = p["shape"][0], m.observed["iterations"]
        if function_name(m) in ON_GPUS and edge in PUBLISHED:
            wanted = PUBLISHED[edge]
            rows.append(demand(f"{_what(m)}: iterations", f"= {wanted}", f"{found}", found == wanted))
        if one := alone(m, measurements):
            same = found == one.observed["iterations"]
            groups.setdefault((p["ranks"], _by(m)), []).append(same)
    for (ranks, by), same in groups.items():
        what = f"{ranks} ranks{by}: solves with the iterations of one rank"
        rows.append(demand(what, "all", f"{sum(same)} of {len(same)}", all(same)))
    return rows


def _efficiency(measurements, edge) -> list[dict]:
    """Judge the fastest variant of ``cg`` on a cube, and tell the efficiency of an iteration and of a whole solve."""
    found = {}
    for m in measurements:
        p = m.parameters
        if function_name(m) not in ON_GPUS or (p["ranks"], p["shape"]) != (RANKS, [edge] * 3):
            continue
        if (one := alone(m, measurements)) is None:
            continue
        pair = found.setdefault((m.variant, p.get("link")), {})
        if "rtol" in p:
            pair["a whole solve"] = m.median_s, one.median_s / (RANKS * m.median_s), m
        elif p["overlap"]:
            pair["an iteration"] = iteration_s(m), speed_up(one, m) / RANKS, m
    least, judged, beside = LEAST[edge]
    pairs = [pair for pair in found.values() if judged in pair]
    if not pairs:
        return []
    best = min(pairs, key=lambda pair: pair[judged][0])
    _, efficiency, fastest = best[judged]
    measured = f"{efficiency:.3f}" + (f" ({beside}: {best[beside][1]:.3f})" if beside in best else "")
    what = f"{_what(fastest)}, the fastest: efficiency of {judged}"
    return [demand(what, f"≥ {least:.2f}", measured, efficiency >= least)]


def _forecasts(measurements, link) -> list[dict]:
    """Judge how far forecasts for two ranks are from what was measured: by the model, and from a part and two sums."""
    rows = forecast.by_link(measurements, link)
    fit = forecast.fitted(rows)
    wanted = [
        m
        for m in rows
        if function_name(m) in ON_GPUS and m.parameters["ranks"] == RANKS and m.parameters.get("overlap")
    ]
    works = [Work.of(function_name(m), m.parameters["shape"], RANKS) for m in wanted]
    told = {
        "the model": [fit.predict(work)[0] if fit else None for work in works],
        "a rank's part and two sums": [
            forecast.of_parts(rows, m.variant, m.parameters["shape"], RANKS) for m in wanted
        ],
    }
    found = []
    for name, seconds in told.items():
        off = [s / iteration_s(m) - 1 for s, m in zip(seconds, wanted, strict=True) if s is not None]
        if off:
            by = _by(wanted[0])
            what = (
                f"{RANKS} ranks{by}: forecasts of {len(off)} iterations by {name}, from one rank and messages"
            )
            measured = f"{min(off):+.1%} to {max(off):+.1%}".replace("-", "−")
            found.append(demand(what, f"within {WITHIN:.0%}", measured, max(map(abs, off)) <= WITHIN))
    return found


def _by(m) -> str:
    """Return the words that name the link between GPUs; empty for a CPU, where the link is always MPI."""
    return f" by {BY_LINK[m.parameters.get('link')]}" if m.device.kind == "gpu" else ""


def _what(m) -> str:
    return f"{m.label}, {m.parameters['shape'][0]}³, {m.parameters['ranks']} ranks{_by(m)}"
