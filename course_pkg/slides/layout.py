"""Turn a notebook's flat list of cells into slides.

The structure is written as HTML that opens before a cell and closes after it. The template prints both around each
cell, and does not depend on slides, fragments or columns.

========================  ==========================================================================
slide_type                meaning
========================  ==========================================================================
``slide``, ``subslide``   a new slide (both are the same here: slides have no second dimension)
``fragment``              appears at the next key press, together with the cells after it
``notes``                 speaker notes of the slide
``skip``                  in the notebook only
========================  ==========================================================================

========================  ==========================================================================
tag                       meaning
========================  ==========================================================================
``title-slide``           the first slide: course, title, promise
``predict``               a question before a measurement
``statement``             one sentence, large
``two-columns``           the slide's first cell spans both columns; the rest is left and right
``right``                 begins the right column (without it the last cell is on the right)
``hide-input``            without the code
``hide-output``           without the outputs
``remove-cell``           in the notebook only
========================  ==========================================================================
"""

import re
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from course_pkg.slides.errors import SlidesError

if TYPE_CHECKING:
    from nbformat import NotebookNode

LAYOUTS = ("title-slide", "predict", "statement", "two-columns")
_FIGURE_TYPES = {"image/svg+xml", "image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json"}


@dataclass
class Slide:
    """One slide: its visible cells in order, its notes, and the layouts that its cells' tags request."""

    cells: list["NotebookNode"] = field(default_factory=list)
    notes: list["NotebookNode"] = field(default_factory=list)
    layouts: set[str] = field(default_factory=set)


def lay_out(nb: "NotebookNode", eyebrow: str, title_art: str) -> int:
    """Keep the cells that slides show, mark where slides begin and end, and return the number of slides.

    Parameters
    ----------
    nb : "NotebookNode"
        An executed lecture; changed in place.
    eyebrow : str
        Small text above the title on the title slide: course and lecture number.
    title_art : str
        HTML of the drawing below the title.
    """
    slides = [slide for slide in _split(nb) if slide.cells]
    if not slides:
        raise SlidesError('The lecture has no slides: mark cells with slideshow={"slide_type": "slide"}.')
    for slide in slides:
        _mark(slide, eyebrow, title_art)
    nb.cells = [cell for slide in slides for cell in (*slide.cells, *slide.notes)]
    return len(slides)


def _split(nb: "NotebookNode") -> list[Slide]:
    slides = [Slide()]
    for cell in nb.cells:
        kind, tags = _kind(cell), _tags(cell)
        if kind in {"slide", "subslide"}:
            slides.append(Slide())
        if kind == "skip" or "remove-cell" in tags or cell.cell_type == "raw":
            continue
        if kind == "notes":
            slides[-1].notes.append(cell)
        elif _visible(cell, tags):
            slides[-1].cells.append(cell)
            slides[-1].layouts |= tags & set(LAYOUTS)
    return slides


def _visible(cell: "NotebookNode", tags: set[str]) -> bool:
    """Apply the hide tags to a cell; return whether any part of it remains visible."""
    if cell.cell_type != "code":
        return bool(cell.source.strip())
    if "hide-output" in tags:
        cell.outputs = []
    hidden = "hide-input" in tags or not cell.source.strip()
    if hidden:
        cell.metadata["transient"] = {"remove_source": True}
    return bool(cell.outputs) or not hidden


def _mark(slide: Slide, eyebrow: str, title_art: str) -> None:
    """Write into each cell's metadata what opens before it and closes after it."""
    n = len(slide.cells)
    before, after = [""] * n, [""] * n
    column_starts = _columns(slide)
    fragment_open = False
    for i, cell in enumerate(slide.cells):
        if i in column_starts or _kind(cell) == "fragment":
            if fragment_open:
                after[i - 1] += "</div>"
                fragment_open = False
            if i in column_starts:
                after[i - 1] += "</div>" if column_starts.index(i) else ""
                before[i] += '<div class="column">'
            if _kind(cell) == "fragment":
                grows = " grows" if any(map(is_figure, _until_next(slide, i, column_starts))) else ""
                before[i] += f'<div class="fragment{grows}">'
                fragment_open = True
    after[-1] += "</div>" * (fragment_open + bool(column_starts))

    classes = " ".join(sorted(slide.layouts))
    state = ' data-state="predict"' if "predict" in slide.layouts else ""
    opening = f'<section class="{classes}"{state}><div class="frame">'
    if "title-slide" in slide.layouts:
        opening += f'<p class="eyebrow">{escape(eyebrow)}</p>'
        after[-1] += title_art
    elif "predict" in slide.layouts:
        opening += '<h2 class="eyebrow">Predict first</h2>'
    before[0] = opening + before[0]
    after[-1] += "</div>"
    for cell, start, end in zip(slide.cells, before, after, strict=True):
        _annotate(cell, start, end)
    for cell in slide.notes:
        _annotate(cell, '<aside class="notes">', "</aside>")
    last = (*slide.cells, *slide.notes)[-1]
    last.metadata["slide"]["after"] += "</section>"


def _annotate(cell: "NotebookNode", before: str, after: str) -> None:
    grows = "grows" if is_figure(cell) else ""
    tags = " ".join(f"tag-{re.sub(r'[^A-Za-z0-9_-]', '-', tag)}" for tag in sorted(_tags(cell)))
    cell.metadata["slide"] = {"before": before, "after": after, "classes": f"{grows} {tags}".strip()}


def _columns(slide: Slide) -> list[int]:
    """Return the indices of the cells that begin the left and the right column; none without columns."""
    n = len(slide.cells)
    if "two-columns" not in slide.layouts or n < 3:
        return []
    tagged = [i for i in range(2, n) if "right" in _tags(slide.cells[i])]
    return [1, tagged[0] if tagged else n - 1]


def _until_next(slide: Slide, start: int, column_starts: list[int]) -> list["NotebookNode"]:
    cells = [slide.cells[start]]
    for i in range(start + 1, len(slide.cells)):
        if i in column_starts or _kind(slide.cells[i]) == "fragment":
            break
        cells.append(slide.cells[i])
    return cells


def is_figure(cell: "NotebookNode") -> bool:
    """Return whether a cell shows a figure or a widget, which fills the space that the text leaves."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if _FIGURE_TYPES & set(data) or 'class="course-figure' in data.get("text/html", ""):
            return True
    return False


def _kind(cell: "NotebookNode") -> str:
    return cell.metadata.get("slideshow", {}).get("slide_type", "-")


def _tags(cell: "NotebookNode") -> set[str]:
    return set(cell.metadata.get("tags", []))
