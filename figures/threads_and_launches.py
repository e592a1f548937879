"""Lecture 1's pictures: where a thread stands in its warp, block and grid; what host and GPU do at the same time."""

from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch, Polygon, Rectangle

from course_pkg import bench
from course_pkg.bench.pitfalls import pairs
from course_pkg.core.access import WARP
from course_pkg.viz import Picture, draw
from course_pkg.viz.style import COMPUTE_TEXT, INK, MEMORY, MEMORY_WRITE, MUTED, RULE

BLOCKS, WARPS = 6, 4  # of the grid, and of a block that is drawn
BLOCK, THREAD = 2, 37  # the thread that is followed
THREADS = WARPS * WARP
LAUNCHES = 3
LEFT, RIGHT = 2.45, 9.45
LIGHT = to_rgba(MEMORY, 0.18)


def pictures() -> dict[str, Picture]:
    warp, lane = divmod(THREAD, WARP)
    wait, kernel = launch_times()
    return {
        "thread_warp_block_grid": draw(
            _levels,
            f"A grid of {BLOCKS} blocks. Block {BLOCK} is enlarged: its {THREADS} threads are {WARPS} warps of "
            f"{WARP}. Warp {warp} is enlarged: its threads are lanes 0 to {WARP - 1}. Lane {lane} is thread {THREAD} "
            f"of the block, and thread {BLOCK} times {THREADS} plus {THREAD}, that is {BLOCK * THREADS + THREAD}, of "
            "the grid.",
            size=(9.6, 4.5),
        ),
        "launches_in_time": draw(
            _timeline,
            f"Time of {LAUNCHES} launches of a copy of 2²⁷ doubles on an H200, to scale. The host needs "
            f"{wait * 1e3:.2f} ms for each launch and has made all {LAUNCHES} after {LAUNCHES * wait * 1e3:.1f} ms. "
            f"The GPU needs {kernel * 1e3:.1f} ms for each kernel, one after the other. The host then waits in "
            "copy_to_host until the last kernel has ended.",
            size=(9.6, 3.3),
        ),
    }


def launch_times() -> tuple[float, float]:
    """Return the seconds of the host's call, and of the kernel, as ``course bench honest`` recorded them."""
    pair = next(
        p for p in pairs(bench.recorded("honest", "nvidia-h200").measurements) if p.pitfall.name == "no_wait"
    )
    return pair.wrong.median_s, pair.right.median_s


def _sheet(figure, width, height):
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return ax


def _levels(figure):
    ax = _sheet(figure, 9.6, 4.5)
    ax.set_ylim(0.22, 4.72)
    warp, lane = divmod(THREAD, WARP)
    grid = _row(ax, 4.05, 0.62, BLOCKS, 0.12, BLOCK, [f"block {b}" for b in range(BLOCKS)], 13)
    rows = [_row(ax, 2.98 - 0.2 * w, 0.17, WARP, 0.03, lane if w == warp else None) for w in range(WARPS)]
    # numbers of two digits beside each other would touch; within their lanes, they would touch the frames
    named = [str(n) if n % 4 == 0 or n in (lane, WARP - 1) else "" for n in range(WARP)]
    lanes = _row(ax, 1.32, 0.36, WARP, 0.03, lane, size=13.3)
    for (left, bottom, width, _), name in zip(lanes, named, strict=True):
        ax.text(left + width / 2, bottom - 0.05, name, fontsize=13.3, ha="center", va="top")
    for w, (left, bottom, *_) in enumerate(cells[0] for cells in rows):
        ax.text(left - 0.12, bottom + 0.085, f"warp {w}", fontsize=13.3, color=MUTED, ha="right", va="center")
    left, right, bottom, top = LEFT - 0.09, RIGHT + 0.09, 2.98 - 0.2 * (WARPS - 1), 2.98 + 0.17
    frame = right - left + 0.74, top - bottom + 0.16
    ax.add_patch(Rectangle((left - 0.72, bottom - 0.08), *frame, fill=False, ec=MEMORY, lw=2))
    _zoom(ax, grid[BLOCK], left - 0.72, right + 0.02, top + 0.08)
    x, y, _, _ = rows[warp][0]
    ax.add_patch(Rectangle((x - 0.04, y - 0.025), RIGHT - LEFT + 0.08, 0.22, fill=False, ec=MEMORY, lw=1.6))
    _zoom(ax, (x - 0.04, bottom - 0.08, RIGHT - LEFT + 0.08, 0), LEFT - 0.04, RIGHT + 0.04, 1.72)
    x, y, w, _ = lanes[lane]
    ax.annotate(
        "",
        (x + w / 2, 0.78),
        (x + w / 2, y - 0.26),
        arrowprops={"arrowstyle": "-|>", "color": COMPUTE_TEXT, "lw": 2},
    )
    said = f"i = {BLOCK} · {THREADS} + {THREAD} = {BLOCK * THREADS + THREAD}"
    ax.text(
        x - 0.1, 0.56, said, fontsize=15, family="monospace", color=COMPUTE_TEXT, weight="bold", va="center"
    )
    ax.text(x + 3.1, 0.56, "one run of the kernel's body", fontsize=14, va="center")
    for y, word, what in (
        (4.36, "grid", "all blocks"),
        (2.77, "block", f"{THREADS} threads"),
        (1.5, "warp", f"{WARP} lanes"),
        (0.56, "thread", f"number {THREAD}"),
    ):
        ax.text(0.12, y + 0.13, word, fontsize=17, weight="bold", va="center")
        ax.text(0.12, y - 0.17, what, fontsize=14, color=MUTED, va="center")


def _row(ax, y, height, n, gap, chosen, texts=(), size=0):
    """Draw n cells side by side and return their boxes; the chosen one is filled."""
    pitch = (RIGHT - LEFT + gap) / n
    boxes = []
    for k in range(n):
        box = (LEFT + k * pitch, y, pitch - gap, height)
        fill = (COMPUTE_TEXT if n == WARP else MEMORY) if k == chosen else LIGHT
        rounding = f"round,pad=0,rounding_size={0.04 if size else 0.015}"
        ax.add_artist(
            FancyBboxPatch(box[:2], *box[2:], boxstyle=rounding, facecolor=fill, edgecolor=MEMORY, lw=0.7)
        )
        if texts:
            ink = "white" if k == chosen else INK
            middle = (box[0] + box[2] / 2, y + height / 2)
            ax.text(*middle, texts[k], fontsize=size, color=ink, ha="center", va="center_baseline")
        boxes.append(box)
    return boxes


def _zoom(ax, box, left, right, top):
    """Shade what lies between a cell and its enlargement."""
    x, y, width, _ = box
    ax.add_patch(
        Polygon([(x, y), (x + width, y), (right, top), (left, top)], fc=RULE, alpha=0.45, lw=0, zorder=0)
    )


def _timeline(figure):
    ax = _sheet(figure, 9.6, 3.3)
    call, kernel = launch_times()
    end = call + LAUNCHES * kernel
    left, unit = 1.1, 8.2 / end
    for y, who in ((2.25, "host"), (1.2, "GPU")):
        ax.text(0.12, y + 0.27, who, fontsize=16, weight="bold", va="center")
        ax.plot([left, left + 8.3], [y - 0.04] * 2, color=RULE, lw=1.2)
    for n in range(LAUNCHES):
        _span(ax, left + n * call * unit, 2.25, call * unit, MEMORY_WRITE, "")
        _span(ax, left + (call + n * kernel) * unit, 1.2, kernel * unit, MEMORY, f"kernel {n + 1}")
    back = left + LAUNCHES * call * unit
    ax.text(left, 3.02, f"{LAUNCHES} launches", fontsize=14, va="center")
    waits = {"facecolor": "none", "edgecolor": MUTED, "hatch": "///", "linewidth": 1}
    ax.add_patch(Rectangle((back, 2.25), left + end * unit - back, 0.54, **waits))
    ground = {"boxstyle": "square,pad=0.2", "facecolor": "white", "edgecolor": "none"}
    ax.text(back + 2.9, 2.52, "copy_to_host() waits", fontsize=14, ha="center", va="center", bbox=ground)
    for t in range(0, 1 + int(end * 1e3 / 0.25)):
        x = left + t * 0.25e-3 * unit
        ax.plot([x, x], [0.86, 0.93], color=MUTED, lw=1)
        if t % 2 == 0:
            ax.text(x, 0.68, f"{t * 0.25:g}", fontsize=14, color=MUTED, ha="center", va="center")
    ax.text(left + 8.2, 0.34, "time, ms", fontsize=14, color=MUTED, ha="right", va="center")
    ax.text(left, 0.34, "lengths as recorded on an H200", fontsize=14, color=MUTED, va="center")


def _span(ax, x, y, width, colour, text):
    ax.add_patch(Rectangle((x, y), width, 0.54, facecolor=colour, edgecolor="white", linewidth=1.5))
    ax.text(x + width / 2, y + 0.27, text, fontsize=14, color="white", ha="center", va="center")
