"""Conjugate gradient as a graph: the containers of the fusion document, and the kernels of the leanest variant."""

from course_pkg.cg.fusion import VARIANTS
from course_pkg.cg.program import CG
from course_pkg.viz import Picture, graph_picture


def pictures() -> dict[str, Picture]:
    lean = VARIANTS["cg_two_kernel"]
    return {
        "cg_graph": graph_picture(CG.containers, CG.edges),
        "cg_two_kernels": graph_picture(
            lean.containers, lean.edges, groups=lean.groups, again=lean.again, badges=lean.badges
        ),
    }
