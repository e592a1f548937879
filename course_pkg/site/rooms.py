"""The rooms of the package (its folders), in groups: the purpose of each, and a sentence about each module."""

import ast
import html
import re
from pathlib import Path

import course_pkg
from course_pkg.core.errors import CourseError
from course_pkg.core.units import how_many
from course_pkg.topics import topics

PACKAGE = Path(course_pkg.__file__).parent
API = "api"  # the folder of Sphinx's pages
TOPICS = "Topics"
# group: its sentence and its rooms; the rooms of the group of topics are found
GROUPS = {
    "Without a GPU": ("Kernels run on any machine, and are counted.", ("cuda", "simt", "core")),
    "Measure and draw": ("Times beside costs, records, figures and widgets.", ("bench", "viz")),
    TOPICS: ("What is solved: problem, reference, kernels and costs, in files of the same names.", ()),
    "Shared by topics": ("Parts of kernels, and the same solvers on many GPUs.", ("device", "distributed")),
    "In notebooks": ("What cells of lectures and exercises call.", ("practice", "topics")),
}  # fmt: skip
SAYS_WHAT_FOR = ("reference.py", "problem.py")  # a topic's first one of these says what it is for


def overview(pages: Path) -> str:
    """Return the rooms as HTML, each linked to its page.

    Parameters
    ----------
    pages : Path
        The folder of the sources of Sphinx's pages about the package.

    Raises
    ------
    CourseError
        If a room that has a page is in no group: readers would not find it.
    """
    there = documented(pages)
    named = [name for _, names in _groups().values() for name in names]
    if strangers := sorted({_room(module) for module in there} - {"", *named}):
        raise CourseError(
            f"{', '.join(strangers)}: put these rooms of the package into GROUPS in site/rooms.py."
        )
    return "\n".join(
        f'<h2 id="{re.sub("[^a-z]+", "-", title.lower())}">{title}</h2>\n<p>{sentence}</p>\n<dl class="rooms">\n'
        + "\n".join(_entry(name, there) for name in names if any(_room(module) == name for module in there))
        + "\n</dl>"
        for title, (sentence, names) in _groups().items()
    )


def documented(pages: Path) -> dict[str, str]:
    """Return the modules that Sphinx's sources document, each with the name of its page."""
    found = {}
    for path in sorted(Path(pages).glob("course_pkg*.rst")):
        for module in re.findall(r"^\.\. automodule:: (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found[module] = path.stem
    return found


def sentence_of(path: Path) -> str:
    """Return the first sentence of a module's docstring, or nothing."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(said.split("\n\n")[0].split())


def _groups() -> dict:
    return GROUPS | {TOPICS: (GROUPS[TOPICS][0], topics())}


def _room(module: str) -> str:
    """Return the room of a module: the word after the package's name."""
    return module.split(".")[1] if "." in module else ""


def _entry(room: str, there: dict[str, str]) -> str:
    modules = [module for module in there if _room(module) == room and module.count(".") > 1]
    inner = "".join(
        f"<li>{_link(m, there[m], m.removeprefix(f'course_pkg.{room}.'))}: {words(_said(m))}</li>"
        for m in modules
    )
    name = f"course_pkg.{room}"
    folded = (
        f"<details><summary>{how_many(len(modules), 'module')}</summary><ul>{inner}</ul></details>"
        if modules
        else ""
    )
    return f"<dt>{_link(name, there[name], room)}</dt><dd>{words(_said(name))}{folded}</dd>"


def file_of(module: str) -> Path:
    """Return the file of a module; of a package, its ``__init__.py``."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _said(module: str) -> str:
    """Return the sentence about a module; for a topic, whose package has none, what its reference computes."""
    file = file_of(module)
    if said := sentence_of(file):
        return said
    others = (file.parent / name for name in SAYS_WHAT_FOR)
    return next((re.split(": the |, the oracle", said)[0].rstrip(".") + "." for other in others
                 if other.is_file() and (said := sentence_of(other))), "")  # fmt: skip


def _link(module: str, page: str, words: str) -> str:
    return f'<a href="{API}/{page}.html#module-{module}"><code>{html.escape(words)}</code></a>'


def words(text: str) -> str:
    """Return a sentence of a docstring as HTML: words in backticks become code."""
    escaped = html.escape(text)
    return re.sub(r"(?::\w+:)?`+~?([^`]+)`+", r"<code>\1</code>", escaped)
