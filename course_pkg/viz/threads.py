"""Threads and the elements that they touch: a picture of cells, in which pointing at one shows its connections.

It is written as SVG by hand, because a picture that reacts to the pointer must be part of the page itself; an image
is not. No script and no kernel is needed, so it works in a notebook, on a slide and in an exported page.
"""

import re
from html import escape
from itertools import count

from course_pkg.core.access import VERBS
from course_pkg.viz.picture import FOLLOWS_THEME, LEGIBLE, Picture
from course_pkg.viz.style import (
    COMPUTE_TEXT,
    GAIN_TEXT,
    INK,
    MEMORY,
    MEMORY_WRITE,
    MUTED,
    PINK,
    SANS,
    SERIES,
    WASTED,
    pale,
)
from course_pkg.viz.threads_layout import TEXT, WIDTH, Placed, arrange
from course_pkg.viz.threads_scene import Link, Scene, what, who, whose

MOST_LINKS = 4000
MOST_ZOOM = (
    1.2  # scale of a picture if there is room; where letters would get smaller than LEGIBLE, it scrolls
)
GAP = 14.0  # between the words of the legend
WORD = 0.54 * TEXT  # width of a letter of a title, about
POINTS = 60  # points of a line that are compared with a title, to see whether it crosses
LINES = {"load": MEMORY, "store": MEMORY_WRITE, "atomic": SERIES[5]}
DASHES = {
    "load": "none",
    "store": "6 3",
    "atomic": "none",
}  # the blues of reads and writes are close to each other
FILLS = {
    "right": (GAIN_TEXT, "white", "right"),
    "wrong": (COMPUTE_TEXT, "white", "wrong"),
    "nobody": ("white", COMPUTE_TEXT, "written by nobody"),
    "two": (pale(PINK), INK, "written by two threads at once"),
    "read": ("#CFE3F1", INK, "read"),
    "idle": ("white", MUTED, "not touched"),
    "thread": ("#EEF0F2", INK, "a thread"),
    "resting": ("white", MUTED, "a thread that touches nothing"),
    "astray": (COMPUTE_TEXT, "white", "a thread that leaves its array"),
}
_SERIAL = count(1)
_SIZE = re.compile(r'font-size="([\d.]+)"')


class LivePicture(Picture):
    """A picture that lies in the page itself, so that pointing at its parts changes it."""

    def _repr_html_(self):
        style = f"background:#fff;max-width:{WIDTH}px;overflow-x:auto"
        return f'<div class="course-threads" style="{style}">{self.svg}</div>{FOLLOWS_THEME}'


def threads_picture(scene: Scene, alt: str) -> LivePicture:
    """Draw threads between the arrays that they read and the arrays that they write.

    Pointing at a thread shows what it touches; pointing at an element shows which threads touch it. The browser's
    tooltip says the same in words.

    Parameters
    ----------
    scene : Scene
    alt : str
        What the picture shows, in a sentence.

    Examples
    --------
    >>> from course_pkg.viz.threads_scene import Cells
    >>> out = Cells("out", (2,), ("1", "?"), ("right", "nobody"), "below")
    >>> scene = Scene((1, 1, 1), (1, 1, 1), (out,), (Link(0, "out", 0, "store"),), frozenset({0}))
    >>> picture = threads_picture(scene, "Thread 0 writes out[0]; nobody writes out[1].")
    >>> "thread 0 of block 0 writes out[0]" in picture.svg
    True
    """
    name = f"threads-{next(_SERIAL)}"
    placed = arrange(scene)
    links = list(dict.fromkeys(scene.links))[:MOST_LINKS]
    by_thread: dict[int, list[Link]] = {}
    by_element: dict[tuple, list[Link]] = {}
    for link in links:
        by_thread.setdefault(link.thread, []).append(link)
        by_element.setdefault((link.array, link.element), []).append(link)
    numbers = {array.name: number for number, array in enumerate(scene.arrays)}
    drawn = [link for link in links if link.array in numbers and link.thread in placed.threads]
    parts = [_blocks(placed), *(_line(placed, k, numbers[k.array], k.thread in scene.shown) for k in drawn)]
    numbers_in_cells = []
    widest = max(len(placed.label(scene, thread)) for thread in placed.threads)
    for thread, box in placed.threads.items():
        kind = "astray" if thread in scene.astray else "thread" if thread in by_thread else "resting"
        said = what(whose(scene.grid, scene.block, thread), by_thread.get(thread, []), scene)
        parts.append(_cell(box, kind, f"t{thread}", said))
        numbers_in_cells.append(_number(box, placed.label(scene, thread), kind, widest))
    for number, array in enumerate(scene.arrays):
        longest = max(map(len, array.texts), default=1)
        for element, box in enumerate(placed.elements[array.name]):
            said = who(array, element, by_element.get((array.name, element), []), scene)
            state = array.states[element]
            parts.append(_cell(box, state, f"a{number}e{element}", said))
            numbers_in_cells.append(_number(box, array.texts[element], state, longest))
    parts += [_ends(placed, k, numbers[k.array], k.thread in scene.shown) for k in drawn]
    legend, end = _legend(scene, placed)
    parts += [*numbers_in_cells, _titles(placed, [k for k in drawn if k.thread in scene.shown]), legend]
    height, width = placed.height + 26, min(WIDTH, max(placed.right, end) + 4)
    least = width * LEGIBLE / min(float(size) for part in parts for size in _SIZE.findall(part))
    svg = (
        f'<svg id="{name}" class="threads" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="100%" '
        f'style="max-width:{MOST_ZOOM * width:.0f}px;min-width:{least:.0f}px" '
        f'font-family="{escape(SANS)}" '
        f'aria-label="{escape(alt, quote=True)}">{_style(name, scene, links, numbers)}{"".join(parts)}</svg>'
    )
    return LivePicture(svg, alt)


def _style(name, scene, links, numbers):
    """Return CSS rules that show the links of the cell under the pointer, and hide those shown before."""
    touched = dict.fromkeys(
        (f"t{link.thread}", f"a{numbers.get(link.array)}e{link.element}") for link in links
    )
    keys = dict.fromkeys(key for pair in touched for key in pair)
    rules = [
        f"#{name} .l{{opacity:0;pointer-events:none}}#{name} .d{{opacity:1}}",
        f"#{name}:has(.c:hover) .d{{opacity:0}}#{name} .c:hover rect{{stroke:{INK};stroke-width:2.5}}",
    ]
    shown = ",".join(f"#{name}:has(.{key}:hover) .l.{key}" for key in keys)
    if shown:
        rules.append(f"{shown}{{opacity:1}}")
    return f"<style>{''.join(rules)}</style>"


def _cell(box, state, key, said):
    fill, _, _ = FILLS[state]
    x, y, width, height = box
    stroke = (
        COMPUTE_TEXT
        if state == "nobody"
        else MUTED
        if state in ("idle", "thread", "resting", "read", "two")
        else fill
    )
    return (
        f'<g class="c {key}"><title>{escape(said)}</title>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2.5" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="{1.8 if state == "nobody" else 0.8}"/></g>'
    )


def _number(box, text, state, longest):
    fill, ink, _ = FILLS[state]
    x, y, width, height = box
    size = min(TEXT, 1.62 * (width - 3) / max(1, longest))
    return (
        f'<text x="{x + width / 2:.1f}" y="{y + height / 2 + size * 0.36:.1f}" font-size="{size:.1f}" fill="{ink}" '
        f'stroke="{fill}" stroke-width="3" paint-order="stroke" text-anchor="middle" pointer-events="none">'
        f"{escape(text)}</text>"
    )


def _line(placed: Placed, link: Link, number: int, shown: bool):
    """Draw what connects a thread and an element: below the cells, so that it crosses out no number."""
    ((x0, y0), (x1, y1)), bend, _ = _course(placed, link)
    bends = " ".join(f"{x:.1f} {y:.1f}" for x, y in bend)
    return _of_link(
        link, number, shown, f'<path d="M{x0:.1f} {y0:.1f}C{bends} {x1:.1f} {y1:.1f}" fill="none" '
        f'stroke="{LINES[link.kind]}" stroke-opacity=".75" stroke-width="2" stroke-dasharray="{DASHES[link.kind]}"/>'
    )  # fmt: skip


def _ends(placed: Placed, link: Link, number: int, shown: bool):
    """Draw the tip of a line's arrow, and a frame around the element: over the cells."""
    tip, colour = _course(placed, link)[2], LINES[link.kind]
    x, y, width, height = placed.elements[link.array][link.element]
    return _of_link(
        link, number, shown, f'<path d="{tip}" fill="{colour}"/><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="2.5" fill="none" stroke="{colour}" stroke-width="2.5"/>'
    )  # fmt: skip


def _of_link(link, number, shown, inside):
    return f'<g class="l {"d " if shown else ""}t{link.thread} a{number}e{link.element}">{inside}</g>'


def _course(placed: Placed, link: Link):
    """Return the ends of a line, its control points, and the tip of its arrow, which is where the data arrive."""
    tx, ty, tw, th = placed.threads[link.thread]
    ex, ey, ew, eh = placed.elements[link.array][link.element]
    if placed.across:
        before = ex < tx
        start = (tx if before else tx + tw, ty + th / 2)
        end = (ex + ew if before else ex, ey + eh / 2)
        middle = (start[0] + end[0]) / 2
        bend = ((middle, start[1]), (middle, end[1]))
    else:
        before = ey < ty
        start = (tx + tw / 2, ty if before else ty + th)
        end = (ex + ew / 2, ey + eh if before else ey)
        middle = (start[1] + end[1]) / 2
        bend = ((start[0], middle), (end[0], middle))
    x, y = start if link.kind == "load" else end
    back = 6.0 if (link.kind == "load") != before else -6.0  # points back to where the line comes from
    sides = f"{back} -3.6v7.2z" if placed.across else f"-3.6 {back}h7.2z"
    return (start, end), bend, f"M{x:.1f} {y:.1f}l{sides}"


def _titles(placed: Placed, shown):
    """Write titles beside the lines that are shown; other lines may pass behind a title, so it has a white edge."""
    parts, courses = [], [_points(placed, link) for link in shown]
    for x, y, text, bold in placed.titles:
        weight = ' font-weight="600"' if bold else ""
        parts.append(
            f'<text x="{_beside(placed, courses, x, y, text):.1f}" y="{y:.1f}" font-size="{TEXT}" fill="{INK}"{weight} '
            f'stroke="white" stroke-width="4" paint-order="stroke" pointer-events="none">{escape(text)}</text>'
        )
    return "".join(parts)


def _beside(placed: Placed, courses, x, y, text):
    """Return where a title begins: right of the lines that would cross it, if there is room."""
    wide = WORD * len(text)
    crossings = sorted(cx for course in courses for cx, cy in course if y - TEXT <= cy <= y + 4)
    others = [left for left, height, said, _ in placed.titles if height == y and left > x]
    end = min([placed.right, *(left - GAP for left in others)])
    found = x
    for crossing in crossings:
        if found - 4 < crossing < found + wide + 4:
            found = crossing + 8
    return found if found + wide <= end else x


def _points(placed: Placed, link: Link):
    """Return points along a line, closer to each other than the letters of a title are high."""
    (start, end), (one, two), _ = _course(placed, link)
    ts = [i / POINTS for i in range(POINTS + 1)]
    weights = [((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3) for t in ts]
    return [
        tuple(sum(w * p[axis] for w, p in zip(four, (start, one, two, end), strict=True)) for axis in (0, 1))
        for four in weights
    ]


def _blocks(placed: Placed):
    parts = []
    for x, y, width, height in placed.blocks:
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5" fill="none" '
            f'stroke="{WASTED}" stroke-width="1.5"/>'
        )
    return "".join(parts)


def _legend(scene: Scene, placed: Placed):
    """Return a legend of the colours of cells and lines that occur, and the x at which it ends."""
    states = dict.fromkeys(state for array in scene.arrays for state in array.states)
    if scene.astray:
        states["astray"] = None
    entries = [FILLS[s] for s in FILLS if s in states and s not in ("idle", "thread", "resting", "read")]
    kinds = {link.kind for link in scene.links}
    x, y, parts = 8.0, placed.height + 8, []
    for fill, ink, word in entries:
        edge = ink if fill == "white" else fill
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="12" height="12" rx="2" fill="{fill}" stroke="{edge}"/>'
        )
        x = _word(parts, x + 17, y, word)
    for kind, colour in LINES.items():
        if kind in kinds:
            parts.append(
                f'<path d="M{x:.1f} {y + 6:.1f}h18" stroke="{colour}" stroke-width="2.5" '
                f'stroke-dasharray="{DASHES[kind]}"/>'
            )
            x = _word(parts, x + 23, y, VERBS[kind])
    x = _word(parts, x, y, "point at a cell", MUTED)
    return "".join(parts), x - GAP


def _word(parts, x, y, word, ink=INK):
    parts.append(f'<text x="{x:.1f}" y="{y + 11:.1f}" font-size="{TEXT}" fill="{ink}">{escape(word)}</text>')
    return x + 0.575 * TEXT * len(word) + GAP
