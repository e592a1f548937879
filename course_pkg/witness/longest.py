"""The clocks of a timed launch, for a figure or a table; "not counted" if the launch was not counted."""

from collections.abc import Sequence
from functools import lru_cache

from course_pkg.bench import Measurement, Recorded
from course_pkg.core.units import format_time
from course_pkg.witness import record
from course_pkg.witness.clocks import MEMORY, NOT_COUNTED, UNITS, Clocks, clocks, in_turn, is_timed


def longest_clock(found: Recorded, case: str, copy: Measurement) -> str:
    """Return the longest clock of a large case on the device of a record, and the share of the time that it fills.

    Parameters
    ----------
    found : Recorded
        Measurements of the device.
    case : str
        Name of the case, as ``course verify traffic --list`` prints it.
    copy : Measurement
        The copy whose bandwidth is taken as the memory's bandwidth.

    Returns
    -------
    str
        ``"not counted"`` if the device has not counted the case.

    Examples
    --------
    >>> from course_pkg import bench
    >>> stencils = bench.recorded("stencil")
    >>> copy = stencils.one("copy", size=512, dtype="float64")
    >>> longest_clock(stencils, "laplacian_tiled_512", copy)
    'issue 79%'
    >>> longest_clock(stencils, "laplacian_by_hand_512", copy)
    'not counted'
    """
    return longest_in_turn(found, (case,), copy)


def longest_in_turn(found: Recorded, cases: Sequence[str], copy: Measurement) -> str:
    """Return the longest clock of large cases that are launched one after the other, as one step of a program.

    The work of all launches is compared with the sum of their times. So the longest clock of the step may be another
    one than that of each launch.

    Parameters
    ----------
    found, copy
        As for :func:`longest_clock`.
    cases : sequence of str
        Names of the cases; the name of a case that is launched twice occurs twice.

    Returns
    -------
    str
        ``"not counted"`` if the device has not counted one of the cases, or if none is given.

    Examples
    --------
    >>> from course_pkg import bench
    >>> stencils = bench.recorded("stencil")
    >>> copy = stencils.one("copy", size=512, dtype="float64")
    >>> longest_in_turn(stencils, ["flux_x_16384", "flux_y_16384"], copy)
    'memory 84%'
    """
    its = clocks_in_turn(found, cases, copy)
    return NOT_COUNTED if its is None else its.longest


def clocks_in_turn(found: Recorded, cases: Sequence[str], copy: Measurement) -> Clocks | None:
    """Return all clocks of large cases that are launched one after the other; None if one of them was not counted.

    Arguments are those of :func:`longest_in_turn`, which returns the longest of these clocks in words.

    Examples
    --------
    >>> from course_pkg import bench
    >>> stencils = bench.recorded("stencil")
    >>> copy = stencils.one("copy", size=512, dtype="float64")
    >>> clocks_in_turn(stencils, ["flux_x_16384", "flux_y_16384"], copy).longest_unit
    'memory'
    """
    counted = counted_large(found.device.slug)
    launches = [counted.get(case) for case in cases]
    known = bool(launches) and all(map(is_timed, launches))
    return clocks(in_turn(launches), copy.t_eff_gb_s) if known else None


def clock_row(found: Recorded, case: str, copy: Measurement) -> dict[str, str]:
    """Return the cells of a table row: the time, the share of it for each clock, and the clock that binds.

    Arguments are those of :func:`longest_clock`. All cells of a case that the device has not counted say so.

    Examples
    --------
    >>> from course_pkg import bench
    >>> stencils = bench.recorded("stencil")
    >>> copy = stencils.one("copy", size=512, dtype="float64")
    >>> clock_row(stencils, "laplacian_by_hand_512", copy)["memory"]
    'not counted'
    """
    counted = counted_large(found.device.slug).get(case)
    if not is_timed(counted):
        return dict.fromkeys(("time", MEMORY, *UNITS, "binds"), NOT_COUNTED)
    its = clocks(counted, copy.t_eff_gb_s)
    return {"time": format_time(its.time_s), **its.row()}


@lru_cache(maxsize=8)
def counted_large(slug: str) -> dict[str, record.Counters]:
    """Return the counters of a device's large cases; empty if it has no record of them."""
    return (
        record.recorded(record.TRAFFIC, slug).counters
        if record.path_of(slug, record.TRAFFIC).exists()
        else {}
    )
