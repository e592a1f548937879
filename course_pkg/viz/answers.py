"""Plot the time of a load against the size of the array: it is flat while one memory holds the array, then it rises."""

from collections.abc import Sequence
from dataclasses import dataclass

from course_pkg.core.units import format_bytes
from course_pkg.viz.axes import NOTE, is_panel, note_below, plain_log
from course_pkg.viz.memories import HERE
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import COMPUTE, INK, MEMORY, MUTED

TEXT = 15.5
TICKS = tuple(2**e for e in range(13, 31, 5))  # 8 KiB to 256 MiB
NOTHING = "not recorded yet"


@dataclass(frozen=True)
class Reach:
    """A memory: its name, its size and its latency.

    Attributes
    ----------
    name : str
    bytes : float
        Its size; infinite for the largest.
    latency, cycles : str
        Its latency, in words: as a time and in cycles. Each is empty if it is not known.

    Examples
    --------
    >>> Reach("L2", 60 * 2**20, "150 ns").name
    'L2'
    """

    name: str
    bytes: float
    latency: str = ""
    cycles: str = ""


def answers_picture(
    answers: Sequence[tuple[float, float]],
    memories: Sequence[Reach],
    *,
    beside: dict[str, tuple[float, float]] | None = None,
    note: str = "",
) -> Picture:
    """Plot the time of a load against the bytes of its ring, over bands that show which memory holds such a ring.

    Parameters
    ----------
    answers : sequence of (float, float)
        Bytes and ns per load, the fewest bytes first. Without any, the picture says that nothing was recorded.
    memories : sequence of Reach
        The smallest first.
    beside : dict of str to (float, float)
        Single points (bytes, ns per load) of other memories, by name.
    note : str
        Where the numbers come from.

    Examples
    --------
    >>> there = [Reach("L1", 2**18, "17 ns"), Reach("L2", 2**25, "150 ns"), Reach("memory", float("inf"), "600 ns")]
    >>> answers_picture([(2**15, 17.0), (2**22, 150.0), (2**30, 600.0)], there).alt
    'ns per load against bytes of the ring, from 17 ns with 32 KiB to 600 ns with 1 GiB. L1: 17 ns; L2: 150 ns; ...'
    """
    beside, answers = beside or {}, list(answers)
    ends = [answers[0][0], answers[-1][0]] if answers else [TICKS[0], 4 * TICKS[-1]]
    low, high = ends[0] / 1.5, ends[1] * 1.5

    def plot(figure):
        ax = figure.subplots()
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set(xlabel="bytes of the ring", ylabel="ns per load", xlim=(low, high))
        ticks = [t for t in TICKS if low < t < high]
        ax.set_xticks(ticks, [format_bytes(t) for t in ticks])
        plain_log(ax.yaxis)
        ax.grid(visible=False)  # names stand where its lines would be
        ax.tick_params(labelsize=TEXT)
        ax.xaxis.label.set_size(TEXT)
        ax.yaxis.label.set_size(TEXT)
        _grounds(ax, memories, low, high)
        if answers:
            ax.plot(*zip(*answers, strict=True), "o-", color=MEMORY)
            most = max(ns for _, ns in [*answers, *beside.values()])
            least = min(ns for _, ns in [*answers, *beside.values()])
            ax.set_ylim(least / 6, most * 12)  # room for names above the line, and below it
        else:
            ax.set_ylim(1, 1000)
            ax.text(0.5, 0.4, NOTHING, transform=ax.transAxes, ha="center", size=20, color=MUTED)
        for name, (size, ns) in beside.items():
            ax.plot([size], [ns], "D", color=COMPUTE, markersize=9)
            ax.annotate(
                f"{name}:\n{ns:.0f} ns",
                (low, ns),  # the text begins at the axis, and ends before the next band
                xytext=(4, -9),
                textcoords="offset points",
                va="top",
                size=NOTE if is_panel(figure) else TEXT,
                color=INK,
            )
        note_below(figure, note)

    return draw(plot, f"{_told(answers)} {_named(memories, beside)} {note}", size=(9.6, 3.9))


def _grounds(ax, memories, low, high):
    """Draw a band for each memory, every second one filled, with its name and its latency at the top."""
    left = low
    for i, memory in enumerate(memories):
        right = min(memory.bytes, high)
        if i % 2:
            ax.axvspan(left, right, color=HERE, lw=0, zorder=0)
        lines = (
            (0.94, memory.name, "bold"),
            (0.86, memory.latency, "normal"),
            (0.78, memory.cycles, "normal"),
        )
        for height, words, weight in lines:
            ax.text(
                (left * right) ** 0.5, height, words, transform=ax.get_xaxis_transform(), ha="center", va="center",
                size=TEXT, weight=weight,
            )  # fmt: skip
        left = right


def _told(answers) -> str:
    if not answers:
        return f"ns per load against bytes of the ring: {NOTHING}."
    (few, first), (many, last) = answers[0], answers[-1]
    return (
        f"ns per load against bytes of the ring, from {first:.0f} ns with {format_bytes(few)} to {last:.0f} ns with "
        f"{format_bytes(many)}."
    )


def _named(memories, beside) -> str:
    said = [
        f"{memory.name}: {memory.latency}" + f" ({memory.cycles})" * bool(memory.cycles)
        for memory in memories
        if memory.latency
    ]
    said += [f"{name}: {ns:.0f} ns" for name, (_, ns) in beside.items()]
    return f"{'; '.join(said)}." if said else ""
