"""Count many cases with Nsight Compute in parts, and keep the counters of each part as soon as it is done.

A part is one run of the profiler, which takes some seconds to start. If a part fails or the time is up, the counters of
the other parts are kept.
"""

from collections.abc import Callable, Sequence
from itertools import groupby

from course_pkg.core import CourseError
from course_pkg.device.case import Case
from course_pkg.witness.cases import topic_of
from course_pkg.witness.ncu import Collected, collect

MOST = 100  # cases in a part


def parts(cases: Sequence[Case], most: int = MOST) -> list[list[Case]]:
    """Divide cases into runs of the profiler, each with at most ``most`` consecutive cases of one topic.

    Cases of one topic may share a matrix on the host.

    Examples
    --------
    >>> from course_pkg.witness.cases import large_cases
    >>> of_vectors = [case for case in large_cases().values() if topic_of(case) == "vector"]
    >>> [len(part) for part in parts(of_vectors[:5], most=2)]
    [2, 2, 1]
    """
    runs = [list(run) for _, run in groupby(cases, topic_of)]
    return [run[first : first + most] for run in runs for first in range(0, len(run), most)]


def count(
    cases: Sequence[Case],
    metrics: Sequence[str],
    keep: Callable[[Collected], None] = lambda part: None,
    *,
    collector: Callable = collect,
) -> tuple[Collected, list[str]]:
    """Count cases part by part.

    Parameters
    ----------
    keep : callable
        Called with the counters of each part, as soon as they are known.
    collector : callable
        Counts a part; :func:`course_pkg.witness.ncu.collect` by default.

    Returns
    -------
    collected : Collected
        The counters of all parts that could be counted.
    troubles : list of str
        For each part that could not be counted, the reason.

    Raises
    ------
    CourseError
        If no part could be counted, with the first reason.
    """
    counters, absent, troubles, version = {}, {}, [], ""
    for part in parts(cases):
        try:
            found = collector(part, metrics)
        except CourseError as error:
            troubles.append(f"{part[0].name} to {part[-1].name}, {len(part)} cases: {error}")
            continue
        keep(found)
        counters |= found.counters
        absent |= dict.fromkeys(found.absent)
        version = found.version
    if not counters and troubles:
        raise CourseError(troubles[0])
    counted = {metric for values in counters.values() for metric in values}
    return Collected(counters, tuple(metric for metric in absent if metric not in counted), version), troubles
