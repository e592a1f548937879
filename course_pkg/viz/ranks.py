"""Ranks in time: a lane shows what each rank computes and waits for, and below it what is being transferred."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_pkg.core import CourseError
from course_pkg.core.units import format_time
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import COMPUTE, GAIN, INK, MEMORY, MEMORY_WRITE, MUTED, PINK, WASTED

WIDTH, LEFT, RIGHT = 824.0, 96.0, 810.0  # points
HEAD, LANE, TALL, WIRE, GAP, FOOT = 28.0, 36.0, 20.0, 8.0, 4.0, 54.0
TEXT, SMALL = 15.5, 14.5
FILLS = (
    MEMORY,
    MEMORY_WRITE,
    PINK,
    WASTED,
    COMPUTE,
)  # of the kinds of spans, in the order in which the caller names them


@dataclass(frozen=True)
class Panel:
    """One way to do the same work.

    Attributes
    ----------
    title : str
    lanes : dict of str to sequence
        For each rank, its spans: objects with ``kind``, and with ``start`` and ``end`` in seconds.

    Examples
    --------
    >>> Panel("with overlap", {"rank 0": ()}).title
    'with overlap'
    """

    title: str
    lanes: Mapping[str, Sequence]

    @property
    def end(self) -> float:
        """When the last of all spans ends, in seconds."""
        return max(span.end for spans in self.lanes.values() for span in spans)


def ranks_picture(
    panels: Sequence[Panel], kinds: Sequence[str], wire: str, *, rows: int = 0, note: str = ""
) -> Picture:
    """Draw panels of ranks in time, all on one scale.

    Parameters
    ----------
    panels : sequence of Panel
    kinds : sequence of str
        What a rank may do, at most five; the colours follow their order.
    wire : str
        The kind of span that is drawn below a lane: a transfer, during which the rank does something else or waits.
    rows : int
        For how many lanes each panel has room at least: pictures of a slider stand still if they have the same.
    note : str
        Where the times come from.

    Raises
    ------
    CourseError
        If there is nothing to draw, or a span is of none of these kinds.

    Examples
    --------
    >>> from types import SimpleNamespace as S
    >>> lanes = {"rank 0": [S(kind="computes", start=0.0, end=2e-6), S(kind="halo", start=0.0, end=1e-6)]}
    >>> ranks_picture([Panel("overlapped", lanes)], ["computes"], "halo").alt
    'overlapped: 2.00 µs. rank 0: computes 2.00 µs; halo on the wire 1.00 µs.'
    """
    panels = list(panels)
    spans = [span for panel in panels for lane in panel.lanes.values() for span in lane]
    if not spans:
        raise CourseError("There is nothing to draw: pass at least one panel with a span.")
    if strange := {span.kind for span in spans} - {*kinds, wire}:
        raise CourseError(f"{min(strange)!r} is none of the kinds {', '.join([*kinds, wire])}.")
    if len(kinds) > len(FILLS):
        raise CourseError(f"There are {len(kinds)} kinds and {len(FILLS)} colours: join some of them.")
    colours = {**dict(zip(kinds, FILLS, strict=False)), wire: GAIN}
    words = strip.NoteLines(note, WIDTH)
    tall = [HEAD + LANE * max(len(panel.lanes), rows) + GAP for panel in panels]
    height = sum(tall) + FOOT + words.height
    longest = max(panel.end for panel in panels)

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        top = height
        for number, (panel, high) in enumerate(zip(panels, tall, strict=True)):
            _panel(ax, panel, top, (RIGHT - LEFT) / longest, colours, wire, number)
            top -= high
        _key(ax, colours, wire, words.height + FOOT - 18)
        words.draw(ax)

    told = " ".join(_told(panel, [*kinds, wire], wire) for panel in panels)
    return draw(plot, f"{told} {note}", size=(WIDTH / 72, height / 72))


def _panel(ax, panel, top, scale, colours, wire, number):
    y = top - HEAD / 2
    ax.text(8, y, panel.title, size=TEXT, weight="bold", va="center_baseline")
    ax.text(RIGHT, y, format_time(panel.end), size=TEXT, ha="right", va="center_baseline")
    for row, (name, spans) in enumerate(panel.lanes.items()):
        y = top - HEAD - row * LANE
        ax.text(LEFT - 12, y - TALL / 2, name, size=SMALL, ha="right", va="center_baseline")
        for i, span in enumerate(spans):
            wide = max((span.end - span.start) * scale, 0.7)
            low, high = (y - TALL - WIRE - 1, WIRE) if span.kind == wire else (y - TALL, TALL)
            strip.bar(ax, LEFT + span.start * scale, low, wide, high, f"span-{number}-{row}-{i}",
                      facecolor=colours[span.kind], edgecolor="white", linewidth=0.6)  # fmt: skip
    x = LEFT + panel.end * scale
    ax.plot([x, x], [y - TALL - WIRE - 1, top - HEAD + 3], color=INK, lw=1.6)


def _key(ax, colours, wire, y):
    x = 8.0
    for kind, colour in colours.items():
        text = f"{kind}, on the wire" if kind == wire else kind
        wide = 22 + strip.breadth(text, SMALL) + 16
        if x + wide > WIDTH:
            x, y = 8.0, y - 24
        strip.bar(ax, x, y - 7, 14, 14, f"key-{kind}", facecolor=colour, edgecolor="none")
        ax.text(x + 20, y, text, size=SMALL, va="center_baseline")
        x += wide
    ax.text(RIGHT, y, "time →", size=SMALL, color=MUTED, ha="right", va="center_baseline")


def _told(panel, kinds, wire) -> str:
    said = []
    for name, spans in panel.lanes.items():
        sums = {kind: sum(s.end - s.start for s in spans if s.kind == kind) for kind in kinds}
        parts = [
            f"{kind}{' on the wire' if kind == wire else ''} {format_time(took)}"
            for kind, took in sums.items()
            if took
        ]
        said.append(f"{name}: {'; '.join(parts)}.")
    return f"{panel.title}: {format_time(panel.end)}. {' '.join(said)}"
