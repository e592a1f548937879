"""Where a quadratic program lies on a GPU, and how often each of its parts moves in an iteration."""

from course_pkg.qp.suite import SIZES
from course_pkg.viz import Picture, draw, strip
from course_pkg.viz.style import GAIN, INK, MEMORY, MEMORY_WRITE, MUTED

N = SIZES["gpu"]
WIDTH, HEIGHT = 760.0, 312.0  # points
ROW = 0.42  # the height of the row that is multiplied, as a share of Q


def matrix_bytes():
    """Return the bytes of Q in double precision."""
    return 8 * N * N


def vector_bytes():
    """Return the bytes of one vector in double precision."""
    return 8 * N


def pictures() -> dict[str, Picture]:
    return {
        "qp_memories": draw(
            _plot,
            f"Where things lie. Memory holds Q, {matrix_bytes() / 1e9:.1f} GB; each entry passes through a register "
            f"once. x, {vector_bytes() / 1e3:.0f} kB, is read by all rows, from caches or from tiles in shared "
            "memory. A row yields two sums from the same entries, of Q⁺x and Q⁻x; they give the new x_i and F_i.",
            size=(WIDTH / 72, HEIGHT / 72),
        )
    }


def _plot(figure):
    ax = strip.sheet(figure)
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    side, left, bottom = 222.0, 12.0, 38.0
    strip.cell(ax, left, bottom, side, side, "matrix", facecolor="#D3E9F7", edgecolor=MEMORY, linewidth=1.8)
    y = bottom + ROW * side
    strip.bar(ax, left, y, side, 18, "row", facecolor=MEMORY, edgecolor="none")
    ax.text(left + side / 2, bottom + side + 26, "Q, in memory", size=16, weight="bold", ha="center")
    ax.text(
        left + side / 2,
        bottom + side + 9,
        f"{matrix_bytes() / 1e9:.1f} GB, read once",
        size=15,
        color=MUTED,
        ha="center",
    )
    ax.text(
        left + side / 2,
        y + 9,
        "row i",
        size=15,
        color="white",
        weight="bold",
        ha="center",
        va="center_baseline",
    )
    ax.text(left + side / 2, bottom - 24, f"{N:,} rows", size=15, color=MUTED, ha="center")

    _column(ax, 256, bottom, side)
    _arrow(ax, 300, y + 9, 352, y + 9)
    ax.text(326, y + 18, "×", size=20, weight="bold", ha="center")

    box = {"facecolor": "white", "edgecolor": MEMORY, "linewidth": 1.8}
    strip.cell(ax, 356, y - 34, 150, 86, "registers", **box)
    ax.text(431, y + 58, "registers", size=15, color=MUTED, ha="center")
    ax.text(431, y + 30, "plus += q⁺ xⱼ", size=15, ha="center", va="center")
    ax.text(431, y - 4, "minus += q⁻ xⱼ", size=15, ha="center", va="center")

    for place, name, what, colour in (
        (y + 62, "new xᵢ", "by plus, minus, hᵢ, rᵢ", GAIN),
        (y - 76, "Fᵢ", "plus − minus, hᵢ", MEMORY_WRITE),
    ):
        _arrow(ax, 510, y + 9, 566, place + 26)
        strip.cell(ax, 570, place, 178, 52, name, facecolor="white", edgecolor=colour, linewidth=2.4)
        ax.text(659, place + 35, name, size=16, weight="bold", ha="center", va="center")
        ax.text(659, place + 14, what, size=14.5, color=MUTED, ha="center", va="center")
    _arrow(ax, 659, y - 78, 659, y - 100)
    ax.text(659, y - 116, "one sum over all i: F", size=15, weight="bold", ha="center", va="center")


def _column(ax, x, bottom, side):
    strip.bar(ax, x, bottom, 18, side, "vector", facecolor="#DFF2EA", edgecolor=GAIN, linewidth=1.8)
    ax.text(x + 9, bottom + side + 26, "x", size=16, weight="bold", ha="center", color=INK)
    ax.text(
        x + 52,
        bottom + side + 9,
        f"{vector_bytes() / 1e3:.0f} kB, read by every row",
        size=15,
        color=MUTED,
        ha="center",
    )
    ax.text(x + 40, bottom - 24, "caches or shared memory", size=15, color=MUTED, ha="center")


def _arrow(ax, x, y, to_x, to_y):
    ax.annotate("", (to_x, to_y), (x, y), arrowprops={"arrowstyle": "-|>", "color": MUTED, "lw": 2})
