"""CI runs tests marked ``bare`` without bubblewrap, too: those that look at what is not the same without it."""

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.bare
FILES = sorted(Path(__file__).parent.glob("test_*.py"))
LOOKS = re.compile(  # at a sandbox, at a note on the machine, or at the processes of a judge
    r"\bSandbox\b|\.note\b|\.contained\b|\bnotes\(|\breport\.notes ==|\bgraded\(.*\)\.notes|len\(.*children\(recursive"
)
REQUIRES = re.compile(r"\bcontained\(|\bneed_bubblewrap\(")  # skipped without it


def looking(text: str) -> list[str]:
    """The tests in a file that look at what differs, themselves or in a fixture or function of the file, unmarked."""
    tree = ast.parse(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    bodies = {name: "\n".join(map(ast.unparse, node.body)) for name, node in functions.items()}
    uses = {
        name: {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {a.arg for a in node.args.args}
        for name, node in functions.items()
    }

    def reached(name, seen):
        seen.add(name)
        for other in (uses[name] & functions.keys()) - seen:
            reached(other, seen)
        return seen

    found = []
    for name, node in functions.items():
        below = reached(name, set())
        marked = any("mark.bare" in ast.unparse(one) for one in node.decorator_list)
        skipped = "shared" in uses[name] or any(REQUIRES.search(bodies[one]) for one in below)
        if name.startswith("test_") and not (marked or skipped):
            found += [name] * any(LOOKS.search(bodies[one]) for one in below)
    whole = any("pytestmark" in ast.unparse(n) and "mark.bare" in ast.unparse(n) for n in tree.body)
    return [] if whole else found


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_who_looks_at_what_differs_is_marked(path):
    assert looking(path.read_text(encoding="utf-8")) == [], "mark it with pytest.mark.bare"


LOOK = "def test_it():\n    assert graded('x').notes == []"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LOOK, ["test_it"]),
        (f"@pytest.mark.bare\n{LOOK}", []),
        (f"pytestmark = [pytest.mark.slow(3), pytest.mark.bare]\n{LOOK}", []),
        ("def one():\n    return Sandbox()\n\ndef test_it(one):\n    pass", ["test_it"]),
        (
            "def one():\n    return two()\n\ndef two():\n    return Sandbox()\n\ndef test_it():\n    one()",
            ["test_it"],
        ),
        ("def one():\n    return contained()\n\ndef test_it(one):\n    assert one.note == ''", []),
        ("def test_it():\n    assert graded('x').points == 1", []),
    ],
)
def test_they_are_found(text, found):
    assert looking(text) == found
