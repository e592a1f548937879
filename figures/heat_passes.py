"""The passes of one heat step: four statements against one."""

from course_pkg.viz import Picture, draw
from course_pkg.viz.style import BOUND, GAIN, INK, MEMORY, MEMORY_WRITE, MUTED, RULE, pale

ARRAYS = ("T", "Cp", "qx", "qy", "dTdt", "out")
# statement: (arrays read, arrays written)
FOUR = {
    "qx = flux of T along x": (("T",), ("qx",)),
    "qy = flux of T along y": (("T",), ("qy",)),
    "dTdt = divergence / Cp": (("Cp", "qx", "qy"), ("dTdt",)),
    "out = T + dt · dTdt": (("T", "dTdt"), ("out",)),
}
FUSED = {"all in one loop": (("T", "Cp"), ("out",))}


def count(statements) -> int:
    """Return the passes of some statements: arrays read plus arrays written."""
    return sum(len(reads) + len(writes) for reads, writes in statements.values())


def pictures() -> dict[str, Picture]:
    return {
        "heat_passes": draw(
            _plot,
            f"Reads and writes of one heat step: {count(FOUR)} passes in four statements, {count(FUSED)} when fused.",
            size=(9.6, 4.9),
        )
    }


def _plot(figure):
    ax = figure.subplots()
    rows = [*FOUR.items(), *FUSED.items()]
    heights = [5.0, 4.0, 3.0, 2.0, 0.45]
    for x, name in enumerate(ARRAYS):
        ax.text(x, 5.75, name, ha="center", va="center", family="monospace", weight="bold", fontsize=15)
        ax.plot([x, x], [0.0, 5.4], color=RULE, lw=1.2, zorder=0)
    for y, (statement, (reads, writes)) in zip(heights, rows, strict=True):
        ax.text(-0.75, y, statement, ha="right", va="center", fontsize=14)
        for name in reads:
            _mark(ax, ARRAYS.index(name), y, "read", MEMORY)
        for name in writes:
            _mark(ax, ARRAYS.index(name), y, "write", pale(MEMORY_WRITE), INK, MEMORY_WRITE)
        ax.text(5.8, y, str(len(reads) + len(writes)), ha="center", va="center", fontsize=15, color=INK)
    ax.text(5.8, 5.75, "passes", ha="center", va="center", color=MUTED)
    ax.plot([-4.6, 6.2], [1.35, 1.35], color=BOUND, lw=1.2, ls="--")
    ax.text(6.45, 3.5, f"= {count(FOUR)}", ha="left", va="center", fontsize=24, weight="bold", color=INK)
    ax.text(
        6.45,
        0.45,
        f"= {count(FUSED)}",
        ha="left",
        va="center",
        fontsize=24,
        weight="bold",
        color=GAIN,
    )
    ax.set(xlim=(-4.7, 7.6), ylim=(-0.1, 6.1))
    ax.axis("off")


def _mark(ax, x, y, text, colour, ink="white", edge="none"):
    ax.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=12,
        color=ink,
        weight="bold",
        bbox={"boxstyle": "round,pad=0.38", "facecolor": colour, "edgecolor": edge},
    )
