"""The table of the notes on fusion that lecture 5 checks, redrawn: what they state, before it is argued with."""

from course_pkg.viz import Picture, draw
from course_pkg.viz.style import COMPUTE, INK, MUTED, RULE

HEAD = (
    "method",
    "reads,\nno cache",
    "reads,\nfull cache",
    "writes",
    "flops",
    "halo per\nGPU",
    "intensity,\nfull cache",
)
ROWS = (
    ("baseline", "9m or 10m", "3m or 4m", "2m", "8m", "2b", "map 0.5,\nstencil 7"),
    ("fused", "14m or 16m", "2m or 4m", "2m", "14m", "4b", "5"),
)
AT = (0.35, 1.75, 3.25, 4.55, 5.4, 6.3, 7.55)  # where columns begin
DOUBTED = 6  # the column whose last number does not follow from the others


def pictures() -> dict[str, Picture]:
    return {
        "fusion_notes": draw(
            _plot,
            "The notes' table, redrawn. Baseline: 9m or 10m reads without a cache, 3m or 4m with a full one, 2m "
            "writes, 8m flops, a halo of 2b, intensity 0.5 for the map and 7 for the stencil. Fused: 14m or 16m, "
            "2m or 4m, 2m, 14m, 4b, and an intensity of 5, which is marked: 14m flops over 2m reads are 7.",
            size=(9.6, 2.9),
        )
    }


def _plot(figure):
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 9.6), ylim=(0, 2.9))
    ax.axis("off")
    ax.plot([0.2, 9.4], [2.0, 2.0], color=INK, lw=1.6)
    for x, name in zip(AT, HEAD, strict=True):
        _lines(ax, x, 2.4, name, color=MUTED)
    for i, row in enumerate(ROWS):
        y = 1.6 - 0.72 * i
        ax.plot([0.2, 9.4], [y - 0.36, y - 0.36], color=RULE, lw=1.0)
        for j, (x, text) in enumerate(zip(AT, row, strict=True)):
            _lines(ax, x, y, text, weight="bold" if j == 0 else "normal")
    x, y = AT[DOUBTED] + 0.06, 1.6 - 0.72
    ax.plot([x], [y], "o", ms=26, mfc="none", mec=COMPUTE, mew=2.2)
    ax.text(x + 0.35, y, "14m / 2m = 7", fontsize=13, color=COMPUTE, weight="bold", va="center")
    ax.text(0.35, 0.2, "m = n³ points, b = n² points of a face; only multiplications count as flops", fontsize=13,
            color=MUTED, va="center")  # fmt: skip


def _lines(ax, x, y, text, **style):
    lines = text.split("\n")
    for i, line in enumerate(lines):
        ax.text(x, y + 0.12 * (len(lines) - 1) - 0.24 * i, line, fontsize=13, va="center", **style)
