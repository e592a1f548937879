"""The interpreter's walk through source is Python's own, and source without anything to rewrite stays as it is."""

import ast

import pytest

from course_pkg.paths import repo_root
from course_pkg.simt.front.rewriting import rewritten
from course_pkg.simt.front.walking import walk

SOURCES = sorted(repo_root().glob("course_pkg/*/gpu_numba/*.py"))


@pytest.mark.parametrize("topic", sorted({path.parent.parent.name for path in SOURCES}))
def test_all_nodes_come_in_the_order_of_python(topic):
    for path in SOURCES:
        if path.parent.parent.name == topic:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert walk(tree) == list(ast.walk(tree))


def test_a_tree_may_change_as_a_caller_goes_through_its_nodes():
    tree = ast.parse("a + b\nc + d")
    for node in walk(tree):
        if isinstance(node, ast.Module):
            node.body.clear()
    assert not tree.body


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a[0] += b[1] * 2", "a[0] += b[1] * 2"),
        ("a.fill(0)", "a[:] = 0"),
        ("x = y * 10 ** -2", "x = y * 0.01"),
        (
            "match n:\n    case 1:\n        a.fill(2 ** -1)",
            "matched n = n\nif matched n == 1:\n    a[:] = 0.5",
        ),
    ],
)
def test_what_is_to_be_rewritten_is_and_the_rest_stays(text, after):
    tree = rewritten(ast.parse(text))
    assert ast.unparse(tree) == after
    assert all(hasattr(node, "lineno") for node in walk(tree) if isinstance(node, (ast.stmt, ast.expr)))
