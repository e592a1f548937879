"""The Laplacian of an irregular mesh of tetrahedra in three orders of its unknowns: where its nonzeros lie."""

from course_pkg.permutation.measures import bandwidth, x_footprint
from course_pkg.permutation.problem import problem
from course_pkg.spmv.suite_orders import ORDERS, ordered
from course_pkg.viz import Picture, draw
from course_pkg.viz.spy import draw_spy

EDGE = 16
TITLES = {"natural": "along the mesh", "rcm": "reverse Cuthill–McKee", "random": "random"}


def pictures() -> dict[str, Picture]:
    A = problem("tetrahedral", size=EDGE).matrix
    matrices = {order: ordered(A, order) for order in ORDERS}
    told = "; ".join(
        f"{TITLES[order]}: bandwidth {bandwidth(B):,}, {x_footprint(B).sectors_per_warp:.0f} sectors of x per warp"
        for order, B in matrices.items()
    )
    alt = (
        f"The {A.nnz:,} nonzeros of one matrix with {A.shape[0]:,} rows, in three orders. {told}. In the first two "
        "they lie along the diagonal, in bands or in one narrow band; in random order they are everywhere."
    )
    return {"orders": draw(lambda figure: _plot(figure, matrices), alt, size=(9.6, 3.7))}


def _plot(figure, matrices):
    for ax, (order, B) in zip(figure.subplots(1, len(matrices)), matrices.items(), strict=True):
        footprint = x_footprint(B).sectors_per_warp
        draw_spy(ax, B, f"bandwidth {bandwidth(B):,}\n{footprint:.0f} sectors of x per warp")
        ax.set(title=TITLES[order], ylabel="")
