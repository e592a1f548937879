"""The moments of a residual and the Gram matrix that they fill: one moment for each rising diagonal."""

from matplotlib import colormaps

from course_pkg.viz import Picture, draw, strip
from course_pkg.viz.style import INK

WIDTH, HEIGHT = 706.0, 196.0
S = 4
CELL = 44.0


def pictures() -> dict[str, Picture]:
    return {
        "hankel": draw(
            _plot,
            f"Left: the {2 * S} moments mu 0 to mu {2 * S - 1}, in a row. Right: the {S} by {S} Gram matrix; the "
            "entry in row i and column j is "
            "moment i + j + 1, so each rising diagonal holds one number.",
            size=(WIDTH / 72, HEIGHT / 72),
        )
    }


def _plot(figure):
    ax = strip.sheet(figure)
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    for k in range(2 * S):
        _cell(ax, 10 + CELL * k, 76, k)
    ax.text(
        10 + CELL * S, 146, f"2 s moments, s = {S}", size=20, weight="bold", ha="center", va="center_baseline"
    )
    ax.annotate("", (440, 98), (384, 98), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 2.2})
    for i in range(S):
        for j in range(S):
            _cell(ax, 470 + CELL * j, HEIGHT - 10 - CELL * (i + 1), i + j + 1)
    ax.text(470 + CELL * S + 18, HEIGHT / 2, "H", size=22, style="italic", va="center_baseline")


def _cell(ax, x, y, k):
    # none from the middle of the map: there no word is legible in both themes
    ground = colormaps["cividis"](0.08 + 0.8 * k / (2 * S - 1) + (0.1 if k >= S else 0))
    strip.bar(
        ax,
        x + 1.5,
        y + 1.5,
        CELL - 3,
        CELL - 3,
        f"moment-{x:.0f}-{y:.0f}",
        facecolor=ground,
        edgecolor="none",
    )
    ax.text(
        x + CELL / 2,
        y + CELL / 2,
        f"$\\mu_{k}$",
        size=21,
        color="black" if k >= S else "white",
        ha="center",
        va="center",
    )
