"""The exercises as cards: the task of each, its points and time, and the lecture that it follows."""

import html
import re
from pathlib import Path

from course_pkg.core.units import how_many
from course_pkg.site.rooms import words

PART = re.compile(r"^\| *\d+ *\| *(.+?) *\| *(\d+) *\|$", re.MULTILINE)
TAKES = re.compile(r"It takes ([^.]+?) and gives (\d+ points)\.")


def exercises(notebooks: list[Path], lectures: list[Path]) -> str:
    """Return the exercises as HTML, for a page beside the folders of exercises and lectures.

    Parameters
    ----------
    notebooks : list of Path
        The exercises. The table in the first cell of an exercise says what it asks for.
    lectures : list of Path
        The lectures as notebooks; an exercise has the name of its lecture.
    """
    titles = {path.stem: _title(_first(path)) for path in lectures}
    return f'<div class="exercises">\n{"".join(_card(path, titles) for path in notebooks)}</div>\n'


def _card(path: Path, titles: dict[str, str]) -> str:
    text, name = _first(path), path.stem
    takes, number = TAKES.search(text), re.match(r"\d+", name)
    said = [html.escape(part) for part in takes.groups()] if takes else []
    if name in titles:
        lecture = f"lecture {int(number[0])}" if number else html.escape(titles[name])
        said.insert(0, f'after <a href="lectures/{name}.html">{lecture}</a>')
    parts = "".join(
        f"<li><div><span>{words(what)}</span>"
        f'<span class="count">{how_many(int(points), "point")}</span></div></li>\n'
        for what, points in PART.findall(text)
    )
    page = f"exercises/{path.parent.name}/{name}.html"
    return (
        f'<section><h2 id="{name}"><a href="{page}">{html.escape(_title(text))}</a></h2>\n'
        f"<p>{', '.join(said)}</p>\n<ol>\n{parts}</ol></section>\n"
    )


def _first(path: Path) -> str:
    """Return the text of the first cell of Markdown."""
    import nbformat

    cells = nbformat.read(path, as_version=4).cells
    return next((cell.source for cell in cells if cell.cell_type == "markdown"), "")


def _title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1] if found else ""
