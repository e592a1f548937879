"""What ``course bench scaling`` does on ranks of a CPU as on GPUs: methods, messages, and results as measurements."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from course_pkg.bench import Measurement
from course_pkg.bench.measurement import EXCEEDS, WARM
from course_pkg.core import Implementation
from course_pkg.core.host import available_cores
from course_pkg.distributed.launch import launch
from course_pkg.distributed.phases import NAMES

METHODS = (
    ("pcg", {}),
    ("pfcg", {}),
    ("pcg_sstep_moments", {"s": 1}),
    ("pcg_sstep_moments", {"s": 2}),
    ("pcg_sstep_moments", {"s": 3}),
    ("pcg_sstep", {"s": 4}),
    ("pcg_sstep", {"s": 8}),
)
RTOL = 1e-6
HALO_EXCHANGE = Implementation("halo_exchange", "", "MPI")
ALLREDUCE = Implementation("allreduce", "", "MPI")
FIELDS = 4  # fewest vectors of a solve, to estimate whether a cache may hold them
LIMIT_S = 3600.0


def counts(cores: int | None = None) -> tuple[int, ...]:
    """Return the numbers of ranks: 1, 2, 4, … up to the number of cores, and at least 2."""
    most = max(2, cores or available_cores())
    return tuple(2**k for k in range(most.bit_length()) if 2**k <= most)


def results(program, tasks, ranks: int, threads: int) -> Iterator[tuple[dict, dict, dict]]:
    """Let ranks carry out tasks; yield each task, its parameters, and the result that rank 0 printed."""
    command = (*program, json.dumps([task for task, _ in tasks]))
    printed = launch(command, ranks, timeout_s=LIMIT_S, threads=threads)
    found = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    for (task, parameters), result in zip(tasks, found, strict=True):
        yield task, parameters, result


def measured(what, cost, footprint, device, task, parameters, result, observed) -> Measurement:
    """Return rank 0's output of a task as a measurement; ``footprint`` is a rank's bytes in a solve, or 0."""
    return Measurement(
        what=what,
        samples_s=tuple(result["samples_s"]),
        warmup_s=tuple(result["warmup_s"]),
        calls_per_sample=task.get("calls", 1),
        cache_state=EXCEEDS if footprint > 2 * device.llc_bytes else WARM,
        cost=cost,
        device=device,
        parameters=parameters,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        observed=observed,
    )


def phase_key(phase: str) -> str:
    """Return the name of a phase's time in a record."""
    return f"t_{phase.replace(' ', '_')}_s"


def phases_of(m: Measurement) -> dict[str, float]:
    """Return the seconds of each phase in an iteration of a recorded solve; none if they were not measured."""
    return {name: m.observed[phase_key(name)] for name in NAMES if phase_key(name) in m.observed}
