"""Two threads in time: a lane with the reads and writes of each, and the barriers at which both wait."""

from dataclasses import dataclass

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.picture import Steps, draw
from course_pkg.viz.style import INK, MEMORY, MUTED

LEFT, PITCH, GAP = 150.0, 88.0, 24.0  # points: where time begins; width of an event; gap between two stories
LANE, HEAD, FOOT = 58.0, 40.0, 40.0
BOX = 76.0, 42.0
TEXT, SMALL = 16.0, 14.0
FILLS = {"reads": (MEMORY, "white", MEMORY), "writes": ("#D3E9F7", INK, MEMORY)}


@dataclass(frozen=True)
class Event:
    """What a thread does at a time.

    Attributes
    ----------
    lane : int or None
        0 or 1; a barrier has none, since both threads come to it.
    verb : str
        ``"reads"``, ``"writes"`` or ``"barrier"``.
    element : str
        What it touches, such as ``"tile[32]"``; the name of a barrier.

    Examples
    --------
    >>> Event(0, "writes", "tile[32]").verb
    'writes'
    """

    lane: int | None
    verb: str
    element: str = ""


@dataclass(frozen=True)
class Story:
    """One order of events, and how it ends.

    Examples
    --------
    >>> Story("32 is first", (Event(1, "writes", "a"), Event(0, "reads", "a")), "the new value", good=True).good
    True
    """

    title: str
    events: tuple[Event, ...]
    end: str
    good: bool


def race_picture(hazard, *, wanted="new", barrier="") -> Steps:
    """Draw the two orders in which the threads of a race may run and, with a barrier, the only one that remains.

    Parameters
    ----------
    hazard : object
        A race: it has ``array``, ``index``, two ``threads``, and ``verbs``, which say who reads and who writes. If a
        thread has ``lines``, its name is drawn in these lines.
    wanted : str
        ``"new"`` if the reader should find what is written, ``"old"`` if it should find what was there before.
    barrier : str
        The name of a barrier that would put the two accesses in order, such as ``"syncthreads"``; empty if none would.

    Raises
    ------
    CourseError
        If the hazard is not a race between a reader and a writer.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> race = {"threads": ("thread 31", "thread 32"), "verbs": ("reads", "writes")}
    >>> hazard = SimpleNamespace(array="tile", index=(32,), **race)
    >>> race_picture(hazard).alt
    'one order: thread 32 writes tile[32], thread 31 reads tile[32]: finds the new value, right. another order: ...'
    """
    by_verb = dict(zip(hazard.verbs, map(_lines, hazard.threads), strict=False))
    if by_verb.keys() != {"reads", "writes"}:
        raise CourseError(
            f"Only a race of a reader and a writer has two orders. This one says: {hazard.message}"
        )
    element = f"{hazard.array}[{', '.join(map(str, hazard.index))}]"
    write, read = Event(0, "writes", element), Event(1, "reads", element)
    first, second = (write, read) if wanted == "new" else (read, write)
    end = {True: f"finds the {wanted} value", False: f"finds the {'old' if wanted == 'new' else 'new'} value"}
    stories = [
        Story("one order", (first, second), end[True], good=True),
        Story("another order", (second, first), end[False], good=False),
    ]
    if barrier:
        wait = Event(None, "barrier", barrier)
        stories.append(Story("with a barrier", (first, wait, second), end[True], good=True))
    return lanes_picture((by_verb["writes"], by_verb["reads"]), stories)


def lanes_picture(lanes, stories) -> Steps:
    """Draw stories of two threads side by side.

    On a slide, each key press shows one more event; a story with a barrier appears as a whole.

    Parameters
    ----------
    lanes : (str, str), or (sequence of str, sequence of str)
        The names of the threads, each as a whole or in lines.
    stories : sequence of Story

    Raises
    ------
    CourseError
        If there is no story, or an event lies in no lane.

    Examples
    --------
    >>> told = Story("in order", (Event(0, "writes", "a"), Event(1, "reads", "a")), "finds it", good=True)
    >>> lanes_picture(("thread 0", "thread 1"), [told]).alt
    'in order: thread 0 writes a, thread 1 reads a: finds it, right.'
    """
    stories, lanes = list(stories), [[name] if isinstance(name, str) else list(name) for name in lanes]
    if not stories or not all(story.events for story in stories):
        raise CourseError("There is nothing to draw: pass at least one story with an event.")
    if any(event.lane not in (0, 1, None) for story in stories for event in story.events):
        raise CourseError("There are two lanes, 0 and 1; an event without a lane is a barrier.")
    many = sum(len(story.events) for story in stories)
    width = LEFT + PITCH * many + GAP * len(stories)
    height = HEAD + 2 * LANE + FOOT

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, width), ylim=(0, height))
        for lane, lines in enumerate(lanes):
            y = _middle(lane)
            for i, line in enumerate(lines):
                size, weight = (SMALL, "normal") if i else (TEXT, "bold")
                at = y + 9 * (len(lines) - 1) - 18 * i
                ax.text(8, at, line, size=size, weight=weight, va="center_baseline")
            ax.plot([LEFT - 18, width - 10], [y, y], color=MUTED, lw=1.2, zorder=0.5)
        x, step = LEFT, 0
        for story in stories:
            step = _tell(ax, story, x, step)
            x += PITCH * len(story.events) + GAP

    names = [" ".join(lines) for lines in lanes]
    said = [
        f"{s.title}: {', '.join(_said(e, names) for e in s.events)}: {s.end}, {'right' if s.good else 'wrong'}."
        for s in stories
    ]
    return draw(plot, " ".join(said), size=(width / 72, height / 72), steps=True)


def _lines(thread) -> tuple[str, ...]:
    return getattr(thread, "lines", (str(thread),))


def _middle(lane):
    return FOOT + LANE * (1.5 - lane)


def _said(event, names):
    return f"{event.element}" if event.lane is None else f"{names[event.lane]} {event.verb} {event.element}"


def _tell(ax, story, left, step):
    """Draw a story from x = left on; return the number of the last step at which something appeared."""
    at_once = any(event.lane is None for event in story.events)
    right = left + PITCH * len(story.events)
    first = step + 1
    title = ax.text((left + right) / 2, FOOT + 2 * LANE + 16, story.title, size=TEXT, weight="bold", ha="center",
                    va="center_baseline")  # fmt: skip
    title.set_gid(f"step-{first}-title")
    ground = strip.cell(ax, left - 4, FOOT - 2, right - left + 4, 2 * LANE + 4, f"step-{first}-ground", radius=8,
                        facecolor="#EEF0F2", edgecolor="none")  # fmt: skip
    ground.set_zorder(0.1)
    for i, event in enumerate(story.events):
        step = first if at_once else first + i
        _event(ax, event, left + PITCH * (i + 0.5) - 2, step)
    strip.verdict(ax, left + 14, FOOT - 20, story.good, f"step-{step}-verdict")
    end = ax.text(left + 32, FOOT - 20, story.end, size=SMALL, va="center_baseline")
    end.set_gid(f"step-{step}-end")
    return step


def _event(ax, event, x, step):
    if event.lane is None:
        line = ax.plot([x, x], [FOOT + 6, FOOT + 2 * LANE - 6], color=INK, lw=5, solid_capstyle="round")[0]
        line.set_gid(f"step-{step}-barrier")
        word = ax.text(x, FOOT + LANE, event.element, size=SMALL, weight="bold", ha="center", va="center",
                       bbox={"facecolor": "#EEF0F2", "edgecolor": "none", "boxstyle": "square,pad=0.1"})  # fmt: skip
        word.set_gid(f"step-{step}-barrier-name")
        return
    fill, ink, edge = FILLS[event.verb]
    (wide, tall), y = BOX, _middle(event.lane)
    strip.cell(ax, x - wide / 2, y - tall / 2, wide, tall, f"step-{step}-event", radius=6, facecolor=fill,
               edgecolor=edge, linewidth=2)  # fmt: skip
    for i, line in enumerate((event.verb, event.element)):
        word = ax.text(x, y + 9 - 18 * i, line, size=SMALL, color=ink, ha="center", va="center_baseline",
                       weight="bold" if i == 0 else "normal", zorder=5)  # fmt: skip
        word.set_gid(f"step-{step}-words-{i}")
