"""The update of a round: by calls of cuBLAS the new block passes through memory twice, in one kernel once."""

from course_pkg.sstep import cost
from course_pkg.viz import Picture, draw, strip
from course_pkg.viz.style import GAIN, INK, MEMORY, MEMORY_WRITE, MUTED, RULE

WIDTH, HEIGHT = 860.0, 330.0
S = 3
# what is read and written, in vectors; Q and P stand for both halves of their blocks
CALLS = (
    ("Q + P β", 4 * S, 2 * S),
    ("x + P α, r − AP α", 2 * S + 2, 2),
)
FUSED = (("all in one sweep", 4 * S + 2, 2 * S + 2),)


def moved(kernels) -> int:
    """Return the vectors that some kernels read and write."""
    return sum(reads + writes for _, reads, writes in kernels)


def pictures() -> dict[str, Picture]:
    return {
        "block_update": draw(
            _plot,
            f"The update of a round for s = {S}, as vectors through memory. By calls of cuBLAS: the new block is "
            "made of both blocks and "
            f"written, then read again for x and r: {moved(CALLS)} vectors. In one kernel: both blocks are read "
            "once, a thread keeps its "
            f"row of the new block in registers, beta lies in shared memory: {moved(FUSED)} vectors.",
            size=(WIDTH / 72, HEIGHT / 72),
        )
    }


def _plot(figure):
    for kernels, of in ((CALLS, cost.update_block_by_library), (FUSED, cost.update_block)):
        assert 8 * moved(kernels) == of(1, S).bytes
    ax = strip.sheet(figure)
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    _panel(ax, 10, 500, "calls of cuBLAS", CALLS)
    _panel(ax, 540, 310, "one kernel", FUSED)
    middle = 695
    strip.cell(
        ax, middle - 132, 92, 264, 70, "registers", radius=8, facecolor="#E3F3EC", edgecolor=GAIN, linewidth=2
    )
    for i in range(2 * S):
        strip.bar(ax, middle - 120 + 22 * i, 128, 18, 18, f"row-{i}", facecolor=GAIN, edgecolor="none")
    ax.text(middle + 20, 137, "its new row", size=14, va="center_baseline")
    ax.text(middle, 106, "in registers: times β, then times α", size=14, ha="center", va="center_baseline")


def _panel(ax, left, width, title, kernels):
    ax.text(left + width / 2, HEIGHT - 20, title, size=18, weight="bold", ha="center", va="center_baseline")
    strip.bar(ax, left, 220, width, 58, f"memory-{title}", facecolor="#EEF0F2", edgecolor=RULE, linewidth=1.4)
    ax.text(left + width / 2, 249, "memory", size=15, color=INK, ha="center", va="center_baseline")
    room = width / len(kernels)
    for i, (name, reads, writes) in enumerate(kernels):
        x = left + (i + 0.5) * room
        top = 166 if len(kernels) == 1 else 150
        _flow(ax, x - 48, 216, top, reads, "read", MEMORY, down=True)
        _flow(ax, x + 48, 216, top, writes, "written", MEMORY_WRITE, down=False)
        if len(kernels) > 1:
            strip.cell(
                ax,
                x - 108,
                100,
                216,
                44,
                f"call-{name}",
                radius=8,
                facecolor="none",
                edgecolor=INK,
                linewidth=1.8,
            )
            ax.text(x, 122, name, size=16, ha="center", va="center_baseline")
    ax.text(
        left + width / 2,
        66,
        f"{moved(kernels)} vectors",
        size=20,
        weight="bold",
        ha="center",
        va="center_baseline",
    )
    said = "the new block is written, and read again" if len(kernels) > 1 else "β and α: in shared memory"
    ax.text(left + width / 2, 34, said, size=14.5, color=MUTED, ha="center", va="center_baseline")


def _flow(ax, x, high, low, count, verb, colour, *, down):
    start, end = (high, low) if down else (low, high)
    ax.annotate(
        "",
        (x, end),
        (x, start),
        arrowprops={
            "arrowstyle": "-|>,head_width=0.5,head_length=0.6",
            "color": colour,
            "lw": 2 + 0.45 * count,
        },
    )
    side = -1 if down else 1
    ax.text(
        x + side * 16,
        (high + low) / 2,
        f"{count} {verb}",
        size=14,
        ha="right" if down else "left",
        va="center_baseline",
    )
