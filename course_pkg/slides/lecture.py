"""Read a lecture's source: its cells, its title and its promise."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from course_pkg.slides.errors import SlidesError

if TYPE_CHECKING:
    from nbformat import NotebookNode


def read(source: Path) -> "NotebookNode":
    """Return the notebook of a py:percent lecture, with its header in the metadata.

    Cells get ids by position, so that the same source gives the same deck; Jupytext would make random ones.

    Raises
    ------
    SlidesError
        If its YAML header cannot be read.
    """
    import jupytext

    nb = jupytext.read(source, fmt="py:percent")
    _take_header(nb, source)
    for number, cell in enumerate(nb.cells):
        cell["id"] = f"cell-{number:03d}"
    return nb


def _take_header(nb: "NotebookNode", source: Path) -> None:
    """Move entries such as `title:` from a header outside `jupyter:` (a raw cell) into the metadata."""
    if not nb.cells or nb.cells[0].cell_type != "raw" or not nb.cells[0].source.startswith("---"):
        return
    import yaml

    raw = nb.cells.pop(0).source
    try:
        header = yaml.safe_load(raw.strip().strip("-"))
    except yaml.YAMLError as error:
        raise SlidesError(f"{source.name}: the header between the --- lines is not valid YAML.") from error
    for key, value in (header or {}).items():
        nb.metadata.setdefault(key, value)


def title_of(nb: "NotebookNode", default: str) -> str:
    """Return the lecture's title: `title:` in the header, else the first heading."""
    if nb.metadata.get("title"):
        return str(nb.metadata["title"])
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                if line.startswith("#"):
                    return line.lstrip("#").strip()
    return default


def promise_of(nb: "NotebookNode") -> str:
    """Return the lecture's promise: `promise:` in the header, else the title slide's first paragraph."""
    if nb.metadata.get("promise"):
        return str(nb.metadata["promise"])
    for cell in nb.cells:
        if "title-slide" in cell.metadata.get("tags", []):
            paragraphs = [part.strip() for part in cell.source.split("\n\n")]
            # A paragraph all in bold is a subtitle.
            plain = [part for part in paragraphs if part and not part.startswith(("#", "<", "**"))]
            return " ".join(re.sub(r"[*`]", "", plain[0]).split()) if plain else ""
    return ""
