"""Result objects to figures and widgets. This room knows no topic and no GPU."""

from course_pkg.viz.access import access_strip, access_strips
from course_pkg.viz.explorer import roofline_explorer
from course_pkg.viz.machines import memory_wall, roofline
from course_pkg.viz.measurements import bars, flops_sweep, samples, t_eff_sweep
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.widgets import Prediction, slider

__all__ = [
    "Picture",
    "Prediction",
    "access_strip",
    "access_strips",
    "bars",
    "draw",
    "flops_sweep",
    "memory_wall",
    "roofline",
    "roofline_explorer",
    "samples",
    "slider",
    "t_eff_sweep",
]
