"""What measurements of ``course bench scaling`` say: the time of an iteration and of its phases, and the speed-up."""

from math import prod

from course_pkg.bench import Measurement
from course_pkg.core import Implementation
from course_pkg.distributed.phases import NAMES

HALO_EXCHANGE = Implementation("halo_exchange", "", "MPI")
ALLREDUCE = Implementation("allreduce", "", "MPI")
BY_LINK = {None: "NCCL", "direct": "peer memory"}  # how GPUs are connected, by the parameter ``link``


def phase_key(phase: str) -> str:
    """Return the name of a phase's time in a record."""
    return f"t_{phase.replace(' ', '_')}_s"


def phases_of(m: Measurement) -> dict[str, float]:
    """Return the seconds of each phase in an iteration of a recorded solve; none if they were not measured."""
    return {name: m.observed[phase_key(name)] for name in NAMES if phase_key(name) in m.observed}


def alone(m: Measurement, measurements) -> Measurement | None:
    """Return the same solve on one rank: of the whole grid for strong scaling, of one rank's part for weak scaling."""
    sought = {**m.parameters, "ranks": 1, "scaling": "strong"}
    sought.pop("link", None)  # a single rank has none
    if m.parameters["scaling"] == "weak":
        sought["shape"] = [m.parameters["shape"][0] // m.parameters["ranks"], *m.parameters["shape"][1:]]
    if "overlap" in sought:
        sought["overlap"] = True  # one rank has nothing to wait for
    found = [o for o in measurements if o.what == m.what and o.parameters == sought]
    return found[0] if found else None


def iteration_s(m: Measurement) -> float:
    """Return the seconds per iteration of a measured solve, or of a measured graph of several iterations."""
    return m.median_s / (m.parameters.get("iterations") or m.observed["iterations"])


def speed_up(one: Measurement, m: Measurement) -> float:
    """Return the scaled speed-up of an iteration: points times iterations per second, over those of one rank."""
    points = prod(m.parameters["shape"]) / prod(one.parameters["shape"])
    return points * iteration_s(one) / iteration_s(m)
