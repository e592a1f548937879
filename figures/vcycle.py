"""A V-cycle: what is done on each level, and how large the levels are."""

import itertools

from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg
from course_pkg.viz import Picture, draw, strip
from course_pkg.viz.style import COMPUTE, INK, MEMORY, MUTED

WIDTH, HEIGHT = 860.0, 300.0
EDGE = 32
TOP, FLOOR = 262.0, 40.0


def rows() -> list[int]:
    """Return the unknowns of each level of the cycle that is drawn."""
    levels = amg(poisson((EDGE,) * 3)).sizes()["levels"]
    return [level[0] for level in levels] + [levels[-1][2]]


def pictures() -> dict[str, Picture]:
    sizes = rows()
    told = ", ".join(f"{n:,}" for n in sizes)
    return {
        "vcycle": draw(
            lambda figure: _plot(figure, sizes),
            f"A V-cycle for {EDGE} cubed points: levels of {told} unknowns. On the way down each level smooths "
            "and restricts the residual; the "
            "smallest is solved by its inverse; on the way up each level adds the prolonged correction and "
            "smooths again.",
            size=(WIDTH / 72, HEIGHT / 72),
        )
    }


def _plot(figure, sizes):
    ax = strip.sheet(figure)
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    depth = len(sizes) - 1
    pitch = (TOP - FLOOR) / depth
    down = [(230 + 86 * k, TOP - pitch * k) for k in range(depth)]
    bottom = (230 + 86 * depth, FLOOR)
    up = [(2 * bottom[0] - x, y) for x, y in reversed(down)]
    path = [*down, bottom, *up]
    for (x0, y0), (x1, y1) in itertools.pairwise(path):
        ax.annotate(
            "",
            (x1, y1),
            (x0, y0),
            arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 2, "shrinkA": 18, "shrinkB": 18},
        )
    for k, n in enumerate(sizes):
        ax.text(14, TOP - pitch * k, f"{n:,} unknowns", size=14.5, va="center_baseline")
        ax.plot([150, WIDTH - 10], [TOP - pitch * k] * 2, color=MUTED, lw=0.8, zorder=0)
    for i, (x, y) in enumerate(path):
        last = i == depth
        ax.plot([x], [y], "s" if last else "o", ms=24, color=COMPUTE if last else MEMORY, zorder=3)
    (x0, y0), (x1, y1) = path[0], path[1]
    ax.text(
        (x0 + x1) / 2 - 14,
        (y0 + y1) / 2 - 4,
        "restrict",
        size=14,
        ha="right",
        va="center_baseline",
        bbox=_ground(),
    )
    (x0, y0), (x1, y1) = path[-2], path[-1]
    ax.text((x0 + x1) / 2 + 16, (y0 + y1) / 2 - 4, "prolong", size=14, va="center_baseline", bbox=_ground())
    ax.text(path[0][0] - 20, TOP + 22, "smooth", size=14, ha="center", va="center_baseline")
    ax.text(path[-1][0] + 20, TOP + 22, "smooth", size=14, ha="center", va="center_baseline")
    ax.text(bottom[0] + 26, FLOOR - 18, "the inverse, stored", size=14, va="center_baseline", bbox=_ground())


def _ground():
    return {"facecolor": "white", "edgecolor": "none", "pad": 2}
