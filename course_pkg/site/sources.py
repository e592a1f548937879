"""Gather what Sphinx reads in one folder, laid out like the course, so that links between pages work."""

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
    "CONTRIBUTING.md", "LICENSE", "LICENSE-TEXT", "lectures/glossary.md",
    "docs/finds.md", "docs/grading.md",
)  # fmt: skip
PICTURES = ("docs/*.png", "docs/pictures/*", "figures/output/*.svg")
MADE, SERVED, API = "made", "served", "api"  # folders: included in pages; served unchanged; written by Sphinx

FOLDED = '<details class="speaker"><summary>For the speaker</summary>\n\n{}\n\n</details>'
SETUP = ("# Setup", "# Where the course is not installed")  # how the cells that prepare a lecture begin


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
        The folder. Files that an earlier call wrote, and this one does not write, are removed.

    Raises
    ------
    CourseError
        If the course has no ``docs/site``.
    """
    root, target = Path(root), Path(target)
    if not (root / PAGES / "conf.py").is_file():
        raise CourseError(f"{root / PAGES} has no conf.py: download the complete course again.")
    exercises = sorted(root.glob("exercises/*/*.ipynb"))
    notebooks = {f"lectures/{path.name}": path for path in executed}
    notebooks |= {path.relative_to(root).as_posix(): path for path in exercises}
    texts = {name: _prepared(path) for name, path in notebooks.items()}
    if (root / "README.md").is_file():
        texts["README.md"] = for_site((root / "README.md").read_text(encoding="utf-8"))
    texts |= {f"{MADE}/{name}": html for name, html in fragments.items()}
    copied = {path.name: path for path in sorted((root / PAGES).glob("*.md"))}
    copied |= {name: root / name for name in WRITTEN if (root / name).is_file()}
    pictures = {
        path.relative_to(root).as_posix(): path for glob in PICTURES for path in sorted(root.glob(glob))
    }
    # pages written in HTML refer to pictures by their place in the site; Sphinx does not copy pictures there
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


def prepare(nb: "NotebookNode", number: str = "") -> "NotebookNode":
    """Lay a notebook out as a page: its title has its number; notes for the speaker and setup cells are folded.

    Setup cells are those that begin with a heading such as ``# Setup``, and code cells before the second section that
    are on no slide and show nothing: helpers, which a reader need not see before the first idea.

    Parameters
    ----------
    nb : NotebookNode
        Changed in place.
    number : str
        The number of a lecture; empty for an exercise, whose title contains it.
    """
    untitled, sections = number, 0
    for cell in nb.cells:
        sections += cell.cell_type == "markdown" and cell.source.startswith("## ")
        if untitled and cell.cell_type == "markdown" and cell.source.startswith("# "):
            cell.source, untitled = f"# {untitled} · {cell.source[2:]}", ""
        if cell.cell_type == "markdown" and cell.metadata.get("slideshow", {}).get("slide_type") == "notes":
            cell.source = FOLDED.format(_notes(cell.source))
        for output in cell.get("outputs", ()):
            _output_for_site(output)
        if cell.cell_type == "code" and (
            cell.metadata.get("jupyter", {}).get("source_hidden")
            or cell.source.startswith(SETUP)
            or (sections < 2 and _helps(cell))
        ):
            cell.metadata["tags"] = [*dict.fromkeys([*cell.metadata.get("tags", []), "hide-input"])]
    nb.metadata.pop("course", None)
    nb.cells = _joined(nb.cells)
    return nb


def _output_for_site(output) -> None:
    """Let links in a Markdown output lead to pages: Sphinx converts only those of Markdown cells."""
    data = output.get("data", {})
    if text := data.get("text/markdown"):
        data["text/markdown"] = re.sub(r"(\]\([^):]+)\.(?:md|ipynb)(#[^)]*)?\)", r"\1.html\2)", text)


def for_site(text: str) -> str:
    """Let links to notebooks that are written in HTML lead to their pages; Sphinx converts only Markdown links.

    Examples
    --------
    >>> for_site('<a href="lectures/02_a.ipynb">2</a> [2](lectures/02_a.ipynb)')
    '<a href="lectures/02_a.html">2</a> [2](lectures/02_a.ipynb)'
    """
    return re.sub(r'(<a href="[^":]+)\.ipynb"', r'\1.html"', text)


def slug(heading: str) -> str:
    """Return the anchor of a heading, as JupyterLab makes it.

    Examples
    --------
    >>> slug("cache line"), slug("SELL-C-σ")
    ('cache-line', 'SELL-C-σ')
    """
    return heading.strip().replace(" ", "-")


def _prepared(path: Path) -> str:
    import nbformat

    number = re.match(r"\d+", path.stem) if path.parent.parent.name != "exercises" else None
    return nbformat.writes(prepare(nbformat.read(path, as_version=4), str(int(number[0])) if number else ""))


def _helps(cell) -> bool:
    """Return whether a code cell is on no slide and has no output."""
    return cell.metadata.get("slideshow", {}).get("slide_type") == "skip" and not cell.outputs


def _joined(cells: list) -> list:
    """Return the cells; neighbouring code cells that are folded and have no output are joined into one."""
    done = []
    for cell in cells:
        quiet = (
            cell.cell_type == "code" and not cell.outputs and "hide-input" in cell.metadata.get("tags", ())
        )
        if quiet and done and done[-1].get("quiet"):
            done[-1]["cell"].source += f"\n\n\n{cell.source}"
        else:
            done.append({"cell": cell, "quiet": quiet})
    return [one["cell"] for one in done]


def _notes(source: str) -> str:
    """Return the text of notes without quote marks (``>``) and without the title, which the fold shows."""
    text = re.sub(r"^> ?", "", source, flags=re.MULTILINE)
    return re.sub(r"^\*\*For the speaker\.\*\*\s*", "", text)
