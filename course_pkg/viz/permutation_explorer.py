"""The permutation explorer of lecture 6: a matrix in several orders, and what the warps of its product ask for.

This package does not depend on any topic, so the caller passes the data to show. A *view* is one matrix in one order:
any object with ``matrix`` (which has ``shape``, ``indptr`` and ``indices``), ``bandwidth``, ``profile``,
``least_sectors`` and ``loads``. The keys of ``loads`` are numbers of lanes that share a row; its values are objects
with ``matrix_sectors``, and with ``requests`` and ``x_sectors`` of the loads of x.
"""

from course_pkg.core import CourseError
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.spy import draw_spy
from course_pkg.viz.style import BOUND, MEMORY, MEMORY_WRITE, MUTED
from course_pkg.viz.widgets import Controls, explorer

SIZE = (8.6, 4.5)  # inches
ROOM = 1.22  # height of the axes over that of the highest bar: room for the numbers on bars
SMALL = 11.5  # letter size of the numbers on bars


class PermutationExplorer(Controls):
    """A widget that shows, for a matrix in a chosen order, its nonzeros and the sectors that a product asks for.

    Pictures are drawn beforehand, so the widget also works on a slide: see :func:`~course_pkg.viz.widgets.explorer`.
    All orders of a matrix are drawn on the same scale.

    Parameters
    ----------
    views : dict of str to dict of str to view
        Views by the names of matrix and order. All matrices have the same orders.
    start : dict, optional
        The ``matrix`` and the ``order`` that are shown first; the first ones by default.

    Raises
    ------
    CourseError
        If there is no matrix, one has no order, orders differ, or views of one matrix differ in their numbers of lanes.

    Examples
    --------
    >>> from course_pkg.permutation.problem import problem
    >>> from course_pkg.spmv.orders import views
    >>> box = PermutationExplorer({"Poisson, 2D": views(problem("poisson_2d", size=16).matrix)})
    >>> [control.description for control in box.children[0].children]
    ['matrix', 'order']
    """

    def __init__(self, views, *, start=None):
        orders = _checked(views)
        made = explorer(
            lambda matrix, order: view_picture(views[matrix], matrix, order),
            start=start,
            matrix=views,
            order=orders,
        )
        super().__init__(made.children)


def _checked(views) -> list[str]:
    """Return the orders that all matrices have."""
    if not views or not all(views.values()):
        raise CourseError("There is nothing to explore: pass at least one matrix, in at least one order.")
    first, orders = next((name, list(by_order)) for name, by_order in views.items())
    for name, by_order in views.items():
        if list(by_order) != orders:
            raise CourseError(
                f"{name} is there in the orders {', '.join(by_order)}, and {first} in {', '.join(orders)}: give all "
                "matrices the same orders."
            )
        if len({tuple(view.loads) for view in by_order.values()}) > 1:
            raise CourseError(
                f"The orders of {name} differ in their numbers of lanes per row: count the same."
            )
    return orders


def view_picture(by_order, name: str, order: str) -> Picture:
    """Draw one order of a matrix, on the scale of all its orders.

    Parameters
    ----------
    by_order : dict of str to view
        All orders of the matrix.
    name, order : str
        The names of the matrix, and of the order to draw.

    Examples
    --------
    >>> from course_pkg.permutation.problem import problem
    >>> from course_pkg.spmv.orders import views
    >>> view_picture(views(problem("poisson_2d", size=16).matrix), "Poisson, 2D", "RCM").alt
    'Poisson, 2D, order: RCM. 256 rows, 1,216 nonzeros, bandwidth 16, envelope 2,840. ...'
    """
    view = by_order[order]
    headline = f"{name}, order: {order}"

    def plot(figure):
        left, right = figure.subfigures(1, 2, width_ratios=(1, 1.16))
        figure.suptitle(headline, size=15.5, weight="bold", x=0.01, ha="left")
        draw_spy(left.subplots(), view.matrix, f"bandwidth {view.bandwidth:,}, envelope {view.profile:,}")
        above, below = right.subplots(2, 1, sharex=True, height_ratios=(1.5, 1))
        _sectors(above, view, _highest(by_order, _all_sectors) / 1000)
        _requests(below, view, _highest(by_order, lambda load: load.requests))

    return draw(plot, _described(headline, view), size=SIZE)


def _highest(by_order, what) -> int:
    # at least 1: a matrix without nonzeros asks for nothing, but its axes still need a height
    return max(1, *(what(load) for view in by_order.values() for load in view.loads.values()))


def _all_sectors(load) -> int:
    return load.x_sectors + load.matrix_sectors


def _per_request(load) -> float:
    return load.x_sectors / max(1, load.requests)


def _sectors(ax, view, highest):
    """Draw the sectors that all loads of a product ask for; above each bar stand the sectors per request of x."""
    places, loads = range(len(view.loads)), view.loads.values()
    matrix = [load.matrix_sectors / 1000 for load in loads]
    ax.bar(places, matrix, color=MEMORY_WRITE, label="matrix")
    ax.bar(places, [load.x_sectors / 1000 for load in loads], bottom=matrix, color=MEMORY, label="x")
    ax.axhline(view.least_sectors / 1000, color=BOUND, lw=2, ls="--", label="everything once")
    for place, load in zip(places, loads, strict=True):
        height = _all_sectors(load) / 1000
        text = f"{_per_request(load):.1f}"
        ax.text(place, height + 0.02 * highest, text, size=SMALL, weight="bold", ha="center")
    ax.set_ylim(0, ROOM * highest)
    ax.set_ylabel("sectors, 10³")
    ax.grid(axis="x", visible=False)
    ax.legend(
        title="on the bars: sectors of x per request",
        title_fontsize=SMALL,
        fontsize=SMALL,
        ncols=3,
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        borderaxespad=0.1,
        columnspacing=1.1,
        handlelength=1.3,
        alignment="left",
    )


def _requests(ax, view, highest):
    places, loads = range(len(view.loads)), view.loads.values()
    ax.bar(places, [load.requests for load in loads], color=MUTED)
    for place, load in zip(places, loads, strict=True):
        ax.text(place, load.requests + 0.03 * highest, f"{load.requests:,}", size=SMALL, ha="center")
    ax.set_ylim(0, ROOM * highest)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_xticks(places, [str(lanes) for lanes in view.loads])
    ax.set(xlabel="lanes that share a row", ylabel="requests\nof x")
    ax.grid(visible=False)  # numbers stand where its lines would be


def _described(headline, view) -> str:
    A = view.matrix
    sweep = "; ".join(
        f"{lanes}: {load.requests:,} requests of x with {_per_request(load):.1f} sectors each, "
        f"{_all_sectors(load):,} sectors in all"
        for lanes, load in view.loads.items()
    )
    return (
        f"{headline}. {A.shape[0]:,} rows, {len(A.indices):,} nonzeros, bandwidth {view.bandwidth:,}, envelope "
        f"{view.profile:,}. By lanes that share a row: {sweep}. Everything once: {view.least_sectors:,} sectors."
    )
