"""The roofline and balance explorer of lecture 2."""

from course_pkg.core import Machine
from course_pkg.viz.machines import roofline
from course_pkg.viz.picture import Picture
from course_pkg.viz.widgets import slider

# flops for each double moved: from a copy's to a dense product's
FLOPS_A_NUMBER = (0.25, 2, 8, 32, 64, 128, 512)


def roofline_explorer(machine: Machine, *, start=2, flops=FLOPS_A_NUMBER):
    """Return a slider over flops per number: the point climbs the roof and turns from memory-bound to compute-bound.

    Examples
    --------
    >>> from course_pkg.core import machine
    >>> control, pictures = roofline_explorer(machine("h200"), flops=(2, 64)).children
    >>> len(pictures.children)  # the slider chooses from them
    2
    """
    return slider(
        lambda flops: _explore(machine, flops),
        flops,
        label="flops for each double moved",
        start=start,
    )


def _explore(machine: Machine, flops: float) -> Picture:
    intensity = flops / 8
    rate = float(machine.attainable_gflop_s(intensity))
    memory_bound = intensity < machine.ridge()
    share = rate / machine.peak_gflop_s()
    verdict = (
        f"memory-bound, arithmetic idles {1 - share:.0%} of the time"
        if memory_bound
        else "compute-bound, memory waits"
    )
    return roofline(machine, [(f"{rate:,.0f} GFLOP/s", intensity, None)], title=f"{machine.name}: {verdict}")
