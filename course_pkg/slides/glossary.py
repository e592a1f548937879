"""The glossary as a page beside the decks, to which their links lead."""

import re
from pathlib import Path

from markupsafe import Markup

from course_pkg.slides.pages import write_page

NAME = "glossary"


def write_glossary(lecture_dir: Path, out_dir: Path) -> Path | None:
    """Write ``glossary.html`` from the ``glossary.md`` of the lectures and return its path; None without a glossary."""
    source = Path(lecture_dir) / f"{NAME}.md"
    if not source.is_file():
        return None
    from nbconvert.filters import markdown2html

    body = markdown2html(source.read_text(encoding="utf-8"))
    body = re.sub(r'<a class="anchor-link".*?</a>', "", body)
    # such files are not among the decks
    body = re.sub(r'<a href="(?![a-z]+:|#)[^"]*">(.*?)</a>', r"\1", body)
    return write_page(Path(out_dir) / f"{NAME}.html", "glossary.html.j2", body=Markup(body))


def link_to_page(html: str) -> str:
    """Let a deck's links to ``glossary.md`` and to lectures open tabs of their own, so that a talk keeps its place.

    Examples
    --------
    >>> link_to_page('<a href="glossary.md#L1">L1</a> <a href="06_permutations.ipynb">6</a>')
    '<a href="glossary.html#L1" target="glossary">L1</a> <a href="06_permutations.html" target="06_permutations">6</a>'
    """
    html = re.sub(rf'href="{NAME}\.md(#[^"]*)?"', rf'href="{NAME}.html\1" target="{NAME}"', html)
    return re.sub(r'href="(\d\d_\w+)\.ipynb"', r'href="\1.html" target="\1"', html)
