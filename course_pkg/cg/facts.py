"""What a plan of conjugate gradient costs, in rows of a table: name and value."""

import numpy as np

from course_pkg.cg import cost
from course_pkg.cg.fusion import Plan
from course_pkg.cg.problem import PUBLISHED
from course_pkg.core import Machine
from course_pkg.core.units import format_time


def facts(
    chosen: Plan, machine: Machine, *, edges=tuple(PUBLISHED), dtype="float64"
) -> list[tuple[str, str]]:
    """Return the costs of an iteration of a plan as rows of a table: name and value.

    Parameters
    ----------
    chosen : Plan
    machine : Machine
        The bound on the time is bytes / T_peak; its T_peak is measured or comes from the datasheet.
    edges : sequence of int
        Grids of edge³ points.

    Examples
    --------
    >>> from course_pkg.cg.fusion import TWO_KERNEL
    >>> from course_pkg.core import machine
    >>> facts(TWO_KERNEL, machine("h200"))[0]
    ('bytes per point', '64 B')
    """
    itemsize = np.dtype(dtype).itemsize
    reads, writes = chosen.passes
    # the cost of a point far from the boundary, which does not depend on the grid
    per_point = cost.count(chosen, (1, 1, 1))
    rows = [
        ("bytes per point", f"{sum(chosen.moved(itemsize))} B"),
        ("fields read, written", f"{reads}, {writes}"),
        ("numbers read, no cache", f"{per_point.reads}"),
        ("flops per point", f"{cost.flops_inside(chosen)}"),
        ("multiplications alone", f"{per_point.multiplications}"),
        ("halo of a GPU, numbers", f"{per_point.halo} n²"),
    ]
    for edge in edges:
        needed = chosen.stored(itemsize) * edge**3
        time_s = cost.cost(chosen, (edge,) * 3, dtype).time_floor_s(machine, dtype)
        fits = needed <= machine.memory_gb * 1e9
        rows.append((f"bound, {edge}³", format_time(time_s) if fits else f"{needed / 1e9:.0f} GB: too large"))
    return rows
