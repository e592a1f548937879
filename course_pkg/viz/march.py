"""A march in time: which plane a thread reads at each step, how long a register holds it, and which plane it writes."""

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.picture import Steps, draw
from course_pkg.viz.style import INK, MEMORY, MUTED

LEFT, FOOT, HEAD = 92.0, 42.0, 26.0  # points
WIDE, TALL = 96.0, 36.0  # of a step, and of a plane
BAR = 24.0
TEXT, SMALL = 14.5, 13.0
KEPT = "#CFE3F1"
MOST_STEPS, MOST_PLANES = 8, 10


def march_picture(reads, writes, *, read="read", kept="in a register", reach=1, steps=True) -> Steps:
    """Draw planes as rows and steps of a march as columns; on a slide, each key press shows one more step.

    A plane is held from the step that reads it to the step that writes the plane ``reach`` above it: this step uses
    it for the last time.

    Parameters
    ----------
    reads : sequence of (int, int)
        Step and plane of each load that a thread makes in its own column. Step 0 comes before the first step that
        writes.
    writes : sequence of (int, int)
        Step and plane of each store.
    read, kept : str
        What the two colours mean.
    reach : int
        How many planes below the plane being written are still needed.
    steps : bool
        Whether a slide shows the picture step by step.

    Raises
    ------
    CourseError
        If nothing is read or written, or if there is more than fits.

    Examples
    --------
    >>> march_picture([(0, 0), (0, 1), (1, 2), (2, 3)], [(1, 1), (2, 2)]).alt
    'Before the first step: read planes 0, 1. Step 1: read plane 2, write plane 1. Step 2: ...'
    """
    reads, writes = sorted(set(reads)), sorted(set(writes))
    if not reads or not writes:
        raise CourseError("There is nothing to draw: a march reads planes and writes planes.")
    last, planes = max(step for step, _ in writes), sorted({plane for _, plane in reads + writes})
    if last > MOST_STEPS or len(planes) > MOST_PLANES:
        raise CourseError(
            f"There is room for {MOST_STEPS} steps and {MOST_PLANES} planes, not for {last} and {len(planes)}."
        )
    width, height = LEFT + WIDE * (last + 1) + 12, FOOT + TALL * len(planes) + HEAD
    written = {plane: step for step, plane in writes}

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, width), ylim=(0, height))
        for i, plane in enumerate(planes):
            y = FOOT + TALL * (i + 0.5)
            ax.text(LEFT - 14, y, f"plane {plane}", size=TEXT, ha="right", va="center_baseline")
            ax.plot([LEFT, width - 12], [y, y], color=MUTED, lw=0.6, zorder=0.2)
        for step in range(last + 1):
            x = LEFT + WIDE * (step + 0.5)
            ax.text(x, height - 14, "before" if step == 0 else f"step {step}", size=SMALL, color=MUTED, ha="center",
                    va="center_baseline")  # fmt: skip
        for step, plane in reads:
            y = FOOT + TALL * (planes.index(plane) + 0.5)
            again = [s for s, p in reads if p == plane and s > step]
            until = min([written.get(plane + reach, last), *(s - 1 for s in again)])
            for held in range(step, until + 1):
                _cell(ax, held, y, f"step-{held + 1}-plane-{plane}", loaded=held == step, text=read)
        for step, plane in writes:
            _store(ax, step, FOOT + TALL * (planes.index(plane) + 0.5), f"step-{step + 1}-store-{plane}")
        _legend(ax, read, kept)

    told = []
    for step in range(last + 1):
        taken, given = ([p for s, p in those if s == step] for those in (reads, writes))
        parts = [f"{verb} {_planes(those)}" for verb, those in (("read", taken), ("write", given)) if those]
        told.append(
            f"{f'Step {step}' if step else 'Before the first step'}: {', '.join(parts) or 'nothing'}."
        )
    return draw(plot, " ".join([*told, f"In between: {kept}."]), size=(width / 72, height / 72), steps=steps)


def _cell(ax, step, y, gid, *, loaded, text):
    x = LEFT + WIDE * step
    inset = 4 if loaded else 0  # the parts of a bar join: each begins where the one before ends
    strip.bar(ax, x + inset, y - BAR / 2, WIDE - inset, BAR, gid, facecolor=MEMORY if loaded else KEPT,
              edgecolor=MEMORY, linewidth=1.2, zorder=2 if loaded else 1.5)  # fmt: skip
    if loaded:
        word = ax.text(x + WIDE / 2 + 2, y, text, size=SMALL, color="white", weight="bold", ha="center",
                       va="center_baseline", zorder=3)  # fmt: skip
        word.set_gid(f"{gid}-word")


def _store(ax, step, y, gid):
    x = LEFT + WIDE * (step + 0.5)
    strip.cell(
        ax, x - 33, y - 10, 66, 20, gid, radius=9, facecolor="white", edgecolor=INK, linewidth=2.2, zorder=4
    )
    word = ax.text(x, y, "write", size=SMALL, weight="bold", ha="center", va="center_baseline", zorder=5)
    word.set_gid(f"{gid}-word")


def _legend(ax, read, kept):
    x = LEFT
    for word, style in (
        (f"{read}: from memory", {"facecolor": MEMORY, "edgecolor": MEMORY}),
        (kept, {"facecolor": KEPT, "edgecolor": MEMORY}),
        ("write: the result", {"facecolor": "white", "edgecolor": INK, "linewidth": 2.2}),
    ):
        strip.cell(ax, x, 9, 24, 13, f"legend-{word}", radius=4, **style)
        ax.text(x + 31, 15.5, word, size=SMALL, va="center_baseline")
        x += 31 + strip.breadth(word, SMALL) + 22


def _planes(those):
    return f"plane{'s' if len(those) > 1 else ''} {', '.join(map(str, those))}"
