"""What measurements of ``course bench scaling`` say: the time of an iteration and of its phases, and the speed-up."""

from math import prod

from course_pkg.bench import Measurement
from course_pkg.core import Implementation
from course_pkg.distributed.phases import NAMES

HALO_EXCHANGE = Implementation("halo_exchange", "", "MPI")
ALLREDUCE = Implementation("allreduce", "", "MPI")
BY_LINK = {None: "NCCL", "direct": "peer memory"}  # how GPUs are connected, by the parameter ``link``


def phase_key(phase: str) -> str:
    """Return the name of a phase's time in a record.

    Examples
    --------
    >>> phase_key("vector updates")
    't_vector_updates_s'
    """
    return f"t_{phase.replace(' ', '_')}_s"


def phases_of(m: Measurement) -> dict[str, float]:
    """Return the seconds of each phase in an iteration of a recorded solve; none if they were not measured.

    Examples
    --------
    >>> from types import SimpleNamespace as Recorded
    >>> phases_of(Recorded(observed={"iterations": 514, "t_product_s": 5e-5}))
    {'product': 5e-05}
    """
    return {name: m.observed[phase_key(name)] for name in NAMES if phase_key(name) in m.observed}


def alone(m: Measurement, measurements) -> Measurement | None:
    """Return the same solve on one rank: of the whole grid for strong scaling, of one rank's part for weak scaling.

    Examples
    --------
    >>> from types import SimpleNamespace as Recorded
    >>> one = Recorded(what="pcg", parameters={"shape": [8, 8, 8], "ranks": 1, "scaling": "strong"})
    >>> two = Recorded(what="pcg", parameters={"shape": [16, 8, 8], "ranks": 2, "scaling": "weak"})
    >>> alone(two, [one, two]) is one
    True
    """
    sought = {**m.parameters, "ranks": 1, "scaling": "strong"}
    sought.pop("link", None)  # a single rank has none
    if m.parameters["scaling"] == "weak":
        sought["shape"] = [m.parameters["shape"][0] // m.parameters["ranks"], *m.parameters["shape"][1:]]
    if "overlap" in sought:
        sought["overlap"] = True  # one rank has nothing to wait for
    found = [o for o in measurements if o.what == m.what and o.parameters == sought]
    return found[0] if found else None


def iteration_s(m: Measurement) -> float:
    """Return the seconds per iteration of a measured solve, or of a measured graph of several iterations.

    Examples
    --------
    >>> from types import SimpleNamespace as Recorded
    >>> iteration_s(Recorded(median_s=0.5, parameters={"rtol": 1e-6}, observed={"iterations": 50}))
    0.01
    """
    return m.median_s / (m.parameters.get("iterations") or m.observed["iterations"])


def speed_up(one: Measurement, m: Measurement) -> float:
    """Return the scaled speed-up of an iteration: points times iterations per second, over those of one rank.

    Examples
    --------
    >>> from types import SimpleNamespace as Recorded
    >>> one = Recorded(median_s=1.0, parameters={"shape": [8, 8, 8], "iterations": 2})
    >>> two = Recorded(median_s=1.25, parameters={"shape": [16, 8, 8], "iterations": 2})
    >>> speed_up(one, two)
    1.6
    """
    points = prod(m.parameters["shape"]) / prod(one.parameters["shape"])
    return points * iteration_s(one) / iteration_s(m)
