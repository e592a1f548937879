"""The docstrings of what is public are valid reStructuredText, as the site's pages about the package need them."""

import ast
import re
from io import StringIO
from pathlib import Path

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser, roles
from docutils.utils import new_document
from sphinx.ext.napoleon import Config, NumpyDocstring

import course_pkg

PACKAGE = Path(course_pkg.__file__).parent
AS_THE_SITE = Config(napoleon_use_rtype=False, napoleon_use_param=False, napoleon_use_ivar=True)
SETTINGS = get_default_settings(Parser)
SETTINGS.report_level, SETTINGS.halt_level = 2, 5  # report warnings, and go on
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = {
    "Parameters": r"\*{0,2}\w+(, \*{0,2}\w+)*( : .+)?",
    "Attributes": r"\w+(, \w+)*( : .+)?",
    "Raises": r"[\w.]+(, [\w.]+)*",
}
# lines of a quotation or of a definition that columns keep apart: on a page they would follow each other
COLUMNS = re.compile(r"^ {4,}\S+( \S+)*  +\S.*\n {4,}\S+( \S+)*  +\S", re.MULTILINE)
OF_SPHINX = ("attr", "class", "data", "doc", "exc", "func", "meth", "mod", "obj", "ref", "term")


@pytest.fixture(autouse=True)
def roles_of_sphinx(monkeypatch):
    """Let docutils know the roles that Sphinx adds, for one test."""
    monkeypatch.setattr(roles, "_roles", dict(roles._roles))
    for name in OF_SPHINX:
        roles.register_generic_role(name, nodes.literal)


def complaints(*docstrings):
    """Return what docutils says of docstrings in NumPy's style, which are read as one text: that is twice as fast."""
    said = StringIO()
    document = new_document("docstring", SETTINGS)
    document.reporter.stream.destination = said
    text = "\n\n".join(str(NumpyDocstring(one, AS_THE_SITE)) for one in docstrings if one)
    Parser().parse(text, document)  # without transforms, which take most of the time
    return said.getvalue() + "".join(f"{kind} referenced: {name}\n" for kind, name in undefined(document))


def misread(docstring):
    """Return what a page would show as something else: sentences as entries of a section, columns as running text."""
    head, *parts = SECTION.split(docstring)
    found = [
        f"{section} has “{line}”"
        for section, text in zip(parts[::2], parts[1::2], strict=True)
        for line in text.splitlines()
        if line[:1].strip() and section in ENTRY and not re.fullmatch(ENTRY[section], line)
    ]
    for paragraph, text in zip(["", *head.split("\n\n")], head.split("\n\n"), strict=False):
        if not paragraph.endswith("::") and (columns := COLUMNS.search(text)):
            found.append(f"columns: “{columns[0].split(chr(10))[0].strip()}”")
    return found + [
        f"an initial as a number: “{line}”" for line in re.findall(r"(?<=\n\n)[A-Z]\. .*", docstring)
    ]


def undefined(document):
    """Return what a document refers to and does not define, which docutils' transforms would find."""
    found = [
        ("Undefined substitution", node["refname"]) for node in document.findall(nodes.substitution_reference)
    ]
    targets = {**document.refnames, **document.footnote_refs, **document.citation_refs}
    return found + [("Unknown target", name) for name in targets if name not in document.nameids]


def documented(path):
    """Return the names and docstrings of a module, and of its public functions, classes and methods."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found, waiting = [], [(path.stem, tree)]
    while waiting:
        name, node = waiting.pop()
        found.append((name, ast.get_docstring(node) or ""))
        inside = node.body if isinstance(node, (ast.Module, ast.ClassDef)) else ()
        kinds = (ast.FunctionDef, ast.ClassDef)
        waiting += [(n.name, n) for n in inside if isinstance(n, kinds) and not n.name.startswith("_")]
    return found


@pytest.mark.parametrize(
    "folder",
    sorted({path.parent for path in PACKAGE.rglob("*.py")}),
    ids=lambda folder: str(folder.relative_to(PACKAGE.parent)),
)
def test_docstrings_are_valid(folder):
    found = {path: documented(path) for path in sorted(folder.glob("*.py"))}
    if said := complaints(*(text for entries in found.values() for _, text in entries)):
        for path, entries in found.items():
            for name, text in entries:
                assert complaints(text) == "", f"{path.relative_to(PACKAGE)}: {name}"
    assert said == ""


def on_pages():
    """Return the names and docstrings on the site: of a package that exports names, not those of its modules."""
    apart = {
        "check",
        "cli.py",
        "commands",
        "grading",
        "setup",
        "site",
        "slides",
        "witness",
        "notebook.py",
        "paths.py",
    }
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in apart:
            exports = "\n__all__ =" in (path.parent / "__init__.py").read_text(encoding="utf-8")
            for name, text in documented(path):
                if not name.startswith("_") and not (exports and name == path.stem):
                    yield f"{path.relative_to(PACKAGE)}: {name}", text


def test_sections_and_columns_are_shown_as_they_are_meant():
    assert {name: said for name, text in on_pages() if (said := misread(text))} == {}


@pytest.mark.parametrize(
    ("docstring", "said"),
    [
        (
            "A.\n\nAttributes\n----------\nx : int\n\nThe first two are one.",
            "Attributes has “The first two are one.”",
        ),
        ("A.\n\nParameters\n----------\nx : int\n\nSource: a book.", "Parameters has “Source: a book.”"),
        ("A.\n\nRaises\n------\nCourseError\n    If so.\n\nSource: it.", "Raises has “Source: it.”"),
        ("A.\n\n    one  the first\n    two  the second", "columns: “one  the first”"),
        ("A.\n\nKernels:\n    one  the first\n    two  the second", "columns: “one  the first”"),
        ("A.\n\nW. D. Hillis, 1986.", "an initial as a number: “W. D. Hillis, 1986.”"),
    ],
)
def test_what_a_page_would_show_otherwise_is_found(docstring, said):
    assert misread(docstring) == [said]


def test_columns_that_stay_columns_are_none():
    assert misread("A.\n\n::\n\n    one  the first\n    two  the second\n\nMore.") == []
    assert (
        misread("A.\n\nParameters\n----------\na, *b : int\n    One.\n\nRaises\n------\nKeyError, OSError")
        == []
    )


@pytest.mark.parametrize(
    ("docstring", "said"),
    [
        ("Return *half of it.", "Inline emphasis start-string without end-string"),
        ("Return ``half.", "Inline literal start-string without end-string"),
        ("Return.\n\n- a\n  - b\n c", "Unexpected indentation|unindent"),
        ("See :funk:`this`.", 'Unknown interpreted text role "funk"'),
        ("Return.\n\nParameters\n----------\nx : int\n    `open", "Inline interpreted text"),
        ("Return the largest sum of a row of |Q|, as usual.", "Undefined substitution referenced: Q"),
        ("Return x_ and y.", "Unknown target referenced: x"),
        ("Return x, see [1]_.", "Unknown target referenced: 1"),
    ],
)
def test_a_fault_is_found(docstring, said):
    assert any(part in complaints(docstring) for part in said.split("|"))


def test_a_sound_docstring_is_none():
    head = "Return ``a`` as :func:`~numpy.abs` does."
    text = head + "\n\nParameters\n----------\na : int\n\nExamples\n--------\n>>> abs(-1)\n1"
    assert complaints(text, text) == ""


def test_a_fault_is_found_among_others():
    assert "Inline literal start-string" in complaints("Return.\n\n>>> 1\n1", "Return ``half.", "Return.")
