"""Gather what Sphinx reads in one folder that is laid out as the course is, so that links between pages hold."""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from course_pkg.core.errors import CourseError
from course_pkg.core.files import write

if TYPE_CHECKING:
    from nbformat import NotebookNode

PAGES = Path("docs") / "site"
WRITTEN = (
    "README.md", "CONTRIBUTING.md", "LICENSE", "LICENSE-TEXT", "lectures/glossary.md", "docs/finds.md", "docs/grading.md",
)  # fmt: skip
PICTURES = ("docs/*.png", "docs/pictures/*", "figures/output/*.svg")
MADE, SERVED, API = "made", "served", "api"  # what is included; what is served as it is; what Sphinx itself makes


def gather(root: Path, executed: list[Path], fragments: dict[str, str], target: Path) -> Path:
    """Write the folder that Sphinx reads, and return it. A file that has not changed keeps its date.

    Parameters
    ----------
    root : Path
        The course.
    executed : list of Path
        The executed lectures.
    fragments : dict of str to str
        HTML that pages include, by file name.
    target : Path
        The folder. What an earlier call wrote and this one does not is removed.

    Raises
    ------
    CourseError
        If the course has no ``docs/site``.
    """
    root, target = Path(root), Path(target)
    if not (root / PAGES / "conf.py").is_file():
        raise CourseError(f"{root / PAGES} has no conf.py: download the complete course again.")
    texts = {f"lectures/{path.name}": _prepared(path) for path in executed}
    texts |= {
        path.relative_to(root).as_posix(): _prepared(path) for path in sorted(root.glob("exercises/*/*.ipynb"))
    }
    texts |= {f"{MADE}/{name}": html for name, html in fragments.items()}
    copied = {path.name: path for path in sorted((root / PAGES).glob("*.md"))}
    copied |= {name: root / name for name in WRITTEN if (root / name).is_file()}
    pictures = {path.relative_to(root).as_posix(): path for glob in PICTURES for path in sorted(root.glob(glob))}
    # a page written in HTML names its pictures by their place in the site, where Sphinx itself puts none
    copied |= pictures | {f"{SERVED}/{name}": path for name, path in pictures.items()}
    for name in texts | copied:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write(target / name, text)
    for name, path in copied.items():
        shutil.copy2(path, target / name)
    for path in [path for path in target.rglob("*") if path.is_file()]:
        name = path.relative_to(target)
        if name.as_posix() not in texts | copied and name.parts[0] != API:
            path.unlink()
    return target


def prepare(nb: "NotebookNode") -> "NotebookNode":
    """Lay a notebook out as a page: notes for speakers and what JupyterLab hides are folded.

    Parameters
    ----------
    nb : NotebookNode
        Changed in place.
    """
    for cell in nb.cells:
        if cell.cell_type == "markdown" and cell.metadata.get("slideshow", {}).get("slide_type") == "notes":
            cell.source = f'<details class="speaker"><summary>For the speaker</summary>\n\n{_notes(cell.source)}\n\n</details>'
        if cell.cell_type == "code" and cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["tags"] = [*dict.fromkeys([*cell.metadata.get("tags", []), "hide-input"])]
    nb.metadata.pop("course", None)
    return nb


def slug(heading: str) -> str:
    """Return the address of a heading, as JupyterLab makes it.

    Examples
    --------
    >>> slug("cache line"), slug("SELL-C-σ")
    ('cache-line', 'SELL-C-σ')
    """
    return heading.strip().replace(" ", "-")


def _prepared(path: Path) -> str:
    import nbformat

    return nbformat.writes(prepare(nbformat.read(path, as_version=4)))


def _notes(source: str) -> str:
    """Return the text of notes: without the quotation marks, and without their title, which the fold has."""
    text = re.sub(r"^> ?", "", source, flags=re.MULTILINE)
    return re.sub(r"^\*\*For the speaker\.\*\*\s*", "", text)

