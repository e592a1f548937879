"""Figures and widgets, drawn from result objects. This package depends on no topic and no GPU."""

from course_pkg.core.sources import THIS_MACHINE, Note, OfDevice
from course_pkg.viz.access import access_strip, access_strips
from course_pkg.viz.active_set_explorer import ActiveSetExplorer
from course_pkg.viz.against import t_eff_against
from course_pkg.viz.answers import Reach, answers_picture
from course_pkg.viz.areas import areas_picture
from course_pkg.viz.clocks import clock_bars
from course_pkg.viz.curves import curves_picture
from course_pkg.viz.deeds import deeds_picture
from course_pkg.viz.dots import dots_picture
from course_pkg.viz.graph import graph_picture
from course_pkg.viz.images import images_picture
from course_pkg.viz.intuition import Intuition, intuition
from course_pkg.viz.ladder import Rung, ladder_picture
from course_pkg.viz.lanes import Event, Story, lanes_picture, race_picture
from course_pkg.viz.machines import memory_wall, roofline, rooflines
from course_pkg.viz.march import march_picture
from course_pkg.viz.measurements import bars, flops_sweep, samples, t_eff_sweep
from course_pkg.viz.memories import MEMORIES, Level, here_picture, memories_picture
from course_pkg.viz.pairs import on_each, side_by_side
from course_pkg.viz.passes import passes_picture
from course_pkg.viz.permutation_explorer import PermutationExplorer
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.planner import free_planner, plan_picture, planner
from course_pkg.viz.predictions import Estimate, Prediction
from course_pkg.viz.ranks import Panel, ranks_picture
from course_pkg.viz.relative import relative_bars
from course_pkg.viz.roofline_explorer import roofline_explorer
from course_pkg.viz.rules import Rule, rules_picture
from course_pkg.viz.signed import signed_bars
from course_pkg.viz.source import source
from course_pkg.viz.stability_explorer import StabilityExplorer
from course_pkg.viz.tile import tile_picture
from course_pkg.viz.widgets import explorer, slider
from course_pkg.viz.wrong_right import wrong_right

__all__ = [
    "MEMORIES",
    "THIS_MACHINE",
    "ActiveSetExplorer",
    "Estimate",
    "Event",
    "Intuition",
    "Level",
    "Note",
    "OfDevice",
    "Panel",
    "PermutationExplorer",
    "Picture",
    "Prediction",
    "Reach",
    "Rule",
    "Rung",
    "StabilityExplorer",
    "Story",
    "access_strip",
    "access_strips",
    "answers_picture",
    "areas_picture",
    "bars",
    "clock_bars",
    "curves_picture",
    "deeds_picture",
    "dots_picture",
    "draw",
    "explorer",
    "flops_sweep",
    "free_planner",
    "graph_picture",
    "here_picture",
    "images_picture",
    "intuition",
    "ladder_picture",
    "lanes_picture",
    "march_picture",
    "memories_picture",
    "memory_wall",
    "on_each",
    "passes_picture",
    "plan_picture",
    "planner",
    "race_picture",
    "ranks_picture",
    "relative_bars",
    "roofline",
    "roofline_explorer",
    "rooflines",
    "rules_picture",
    "samples",
    "side_by_side",
    "signed_bars",
    "slider",
    "source",
    "t_eff_against",
    "t_eff_sweep",
    "tile_picture",
    "wrong_right",
]
