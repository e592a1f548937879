"""The docstrings of what is public are valid reStructuredText, as the site's pages about the package need them."""

import ast
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
