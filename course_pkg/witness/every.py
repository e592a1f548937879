"""A table of the three clocks of every counted launch of a topic, with all devices side by side."""

from course_pkg import bench
from course_pkg.core import CourseError, short_name
from course_pkg.core.units import format_time
from course_pkg.witness import limits
from course_pkg.witness.cases import large_cases, topic_of
from course_pkg.witness.clocks import MEMORY, NOT_COUNTED, UNITS, clocks, is_timed
from course_pkg.witness.longest import counted_large

CLOCKS = (MEMORY, *UNITS)


def every_clock(*topics: str) -> bench.Table:
    """Return a table of all large cases of topics: the time, the share of it for each clock, and which one binds.

    A cell is a tuple with one entry for each device that has a record of the topic, in the order given in the header of
    the column of times. What a device has not counted is "not counted"; a cell that none has counted is that alone.

    Raises
    ------
    CourseError
        If a topic has no large case.

    Examples
    --------
    >>> table = every_clock("qp")
    >>> list(table.rows[0])
    ['case', 'time: H100, H200', 'memory', 'L2', 'L1', 'issue', 'binds']
    """
    of_topic = {topic: [c.name for c in large_cases().values() if topic_of(c) == topic] for topic in topics}
    if empty := [topic for topic, names in of_topic.items() if not names]:
        raise CourseError(
            f"No large case is of {', '.join(empty)}: `course verify traffic --list` names all."
        )
    rows, origins = [], {}
    for topic, names in of_topic.items():
        records = bench.records(topic)
        origins |= {found.device.name: None for found in records}
        devices = {
            short_name(one.device.name): (
                counted_large(one.device.slug),
                limits.recorded(topic, one.device.slug),
            )
            for one in records
        }
        rows += [_row(name, devices) for name in names]
    note = (
        f"Shares of the time, on {' and on '.join(origins)}; memory: the bytes at the speed of the topic's copy. "
        "Counted by Nsight Compute; `course verify traffic` also shows the bytes."
    )
    return bench.Table(rows, note)


def _row(case, devices):
    """Return the row of a case; ``devices`` holds what each has counted, and its limits, by the device's name."""
    found = [_cells(counted.get(case), its) for counted, its in devices.values()]
    cells = {f"time: {', '.join(devices)}": [one["time"] for one in found]}
    cells |= {name: [one[name] for one in found] for name in (*CLOCKS, "binds")}
    return {"case": case} | {
        name: NOT_COUNTED if set(of_each) == {NOT_COUNTED} else tuple(of_each)
        for name, of_each in cells.items()
    }


def _cells(counted, its):
    if its is None or not is_timed(counted):
        return dict.fromkeys(("time", *CLOCKS, "binds"), NOT_COUNTED)
    found = clocks(counted, its.stream.throughput_gb_s)
    return {"time": format_time(found.time_s), **found.row()}
