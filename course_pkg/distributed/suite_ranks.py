"""What ``course bench scaling`` does on ranks of a CPU as on GPUs: methods, messages, and results as measurements."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from course_pkg.bench import Measurement
from course_pkg.bench.measurement import EXCEEDS, WARM
from course_pkg.core import CourseError
from course_pkg.core.host import available_cores
from course_pkg.distributed.launch import launch

METHODS = (
    ("pcg", {}),
    ("pfcg", {}),
    ("pcg_sstep_moments", {"s": 1}),
    ("pcg_sstep_moments", {"s": 2}),
    ("pcg_sstep_moments", {"s": 3}),
    *(("pcg_sstep", {"s": s}) for s in range(4, 9)),
)
RTOL = 1e-6
FIELDS = 4  # fewest vectors of a solve, to estimate whether a cache may hold them
LIMIT_S = 3600.0


def counts(cores: int | None = None) -> tuple[int, ...]:
    """Return the numbers of ranks: 1, 2, 4, … below the number of cores, and that number, which is at least 2."""
    most = max(2, cores or available_cores())
    return (*(2**k for k in range(most.bit_length()) if 2**k < most), most)


def results(program, tasks, ranks: int, threads: int) -> Iterator[tuple[dict, dict, dict]]:
    """Let ranks carry out tasks; yield each task, its parameters, and the result that rank 0 printed."""
    command = (*program, json.dumps([task for task, _ in tasks]))
    printed = launch(command, ranks, timeout_s=LIMIT_S, threads=threads)
    found = list(objects(printed))
    if len(found) != len(tasks):
        raise CourseError(
            f"{ranks} ranks printed {len(found)} results of {len(tasks)} tasks: {printed[-2000:]!r}"
        )
    for (task, parameters), result in zip(tasks, found, strict=True):
        yield task, parameters, result


def objects(printed: str) -> Iterator[dict]:
    """Yield the JSON objects of an output, in which libraries may have printed as well, even on the same line.

    Examples
    --------
    >>> list(objects('{"a": 1}\\nnotice {1}: {"b": {"c": 2}} end'))
    [{'a': 1}, {'b': {'c': 2}}]
    """
    decoder, at = json.JSONDecoder(), 0
    while (at := printed.find('{"', at)) >= 0:
        try:
            found, at = decoder.raw_decode(printed, at)
            yield found
        except ValueError:
            at += 1


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
