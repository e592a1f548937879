"""What several ranks did: a lane for each rank, with a box for each of its actions, in order."""

from collections.abc import Mapping, Sequence

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import COMPUTE_TEXT, GAIN_TEXT, INK, MEMORY, MUTED, WASTED, pale

LEFT, GAP, LANE, TALL, TEXT = 84.0, 8.0, 44.0, 28.0, 14.0
FILLS = {
    "computes": (MEMORY, "white"),
    "starts": (GAIN_TEXT, "white"),
    "waits": (pale(WASTED), INK),
    "sums": (COMPUTE_TEXT, "white"),
}
MOST = 12  # actions of a rank that are drawn


def deeds_picture(lanes: Mapping[str, Sequence]) -> Picture:
    """Draw what each rank did; actions in the same column need not have happened at the same time.

    Parameters
    ----------
    lanes : dict of str to sequence
        The actions of each rank: objects with ``kind`` (computes, starts, waits or sums) and ``what``, the box's text.

    Raises
    ------
    CourseError
        If no rank did anything, or something is of another kind.

    Examples
    --------
    >>> from types import SimpleNamespace as S
    >>> deeds_picture({"rank 0": [S(kind="sums", what="adds 1 number")], "rank 1": []}).alt
    'rank 0: adds 1 number. rank 1: nothing.'
    """
    every = [deed for deeds in lanes.values() for deed in deeds]
    if not every:
        raise CourseError("There is nothing to draw: no rank did anything.")
    if strange := {deed.kind for deed in every} - set(FILLS):
        raise CourseError(f"{min(strange)!r} is none of {', '.join(FILLS)}.")
    wide = max(strip.breadth(deed.what, TEXT) for deed in every) + 18
    columns = min(MOST, max(map(len, lanes.values())))
    width, height = LEFT + columns * (wide + GAP) + 30, LANE * len(lanes) + 10

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, width), ylim=(0, height))
        for row, (name, deeds) in enumerate(lanes.items()):
            y = height - LANE * (row + 0.5) - 5
            ax.text(8, y, name, size=TEXT, weight="bold", va="center_baseline")
            ax.plot([LEFT - 8, width - 8], [y, y], color=MUTED, lw=1, zorder=0.5)
            for i, deed in enumerate(deeds[:MOST]):
                fill, ink = FILLS[deed.kind]
                x = LEFT + i * (wide + GAP)
                strip.cell(ax, x, y - TALL / 2, wide, TALL, f"deed-{row}-{i}", radius=5, facecolor=fill,
                           edgecolor="none")  # fmt: skip
                ax.text(
                    x + wide / 2,
                    y,
                    deed.what,
                    size=TEXT,
                    color=ink,
                    ha="center",
                    va="center_baseline",
                    zorder=5,
                )
            if len(deeds) > MOST:
                ax.text(width - 22, y, "…", size=TEXT, va="center_baseline")

    told = " ".join(
        f"{name}: {', '.join(deed.what for deed in deeds) or 'nothing'}." for name, deeds in lanes.items()
    )
    return draw(plot, told, size=(width / 72, height / 72))
