"""Nothing stands twice: modules import the same function from one place, and ask a variant for its name."""

import ast
from collections import defaultdict
from importlib import import_module

from course_pkg.paths import repo_root
from course_pkg.topics import with_module

LETTERS = 48  # a shorter body says too little to be the same thing twice
# one operation for each library, kernels, and steps that learners read by themselves
EACH_ON_ITS_OWN = ("reference", "cpu_", "gpu_")
ROOMS_OF_KERNELS = ("gpu_numba", "practice", "cases")


def statements():
    """Yield the module and each statement at its top, and those of its classes."""
    package = repo_root() / "course_pkg"
    for path in sorted(package.rglob("*.py")):
        if path.name.startswith(EACH_ON_ITS_OWN) or {*path.parts} & {*ROOMS_OF_KERNELS}:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for inside in node.body if isinstance(node, ast.ClassDef) else (node,):
                yield path.relative_to(package).as_posix(), inside


def twice(found):
    """Return where texts stand that are found in several places; ``found`` yields module, name and text."""
    places = defaultdict(list)
    for module, name, text in found:
        if len(text) >= LETTERS:
            places[text].append(f"{module}: {name}")
    return [where for where in places.values() if len(where) > 1]


def body(function):
    """Return the text of a function without its docstring."""
    return ast.unparse(ast.Module(function.body[bool(ast.get_docstring(function)) :], []))


def test_no_function_of_the_package_stands_twice():
    defined = ((module, node) for module, node in statements() if isinstance(node, ast.FunctionDef))
    assert twice((module, node.name, body(node)) for module, node in defined) == []


def test_no_table_of_the_package_stands_twice():
    tables = (
        (module, ast.unparse(node.targets[0]), ast.unparse(node.value))
        for module, node in statements()
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
    )
    assert twice(tables) == []


def typed(*patterns):
    """Yield the file and each string of the scripts whose paths match a pattern; of f-strings, each piece."""
    for path in sorted(found for pattern in patterns for found in repo_root().glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value


def test_no_lecture_or_figure_types_the_name_of_a_method():
    """A piece of an f-string such as "moments, s = " counts as well; the name of a function is for programs."""
    every = [
        v for topic in with_module("variants") for v in import_module(f"course_pkg.{topic}.variants").VARIANTS
    ]
    names, functions = {v.called for v in every} - {""}, {v.function_name for v in every}
    assert len(names) > 4
    assert [
        (file, said)
        for file, said in typed("lectures/*.py", "figures/*.py")
        if said.removesuffix(", s = ") in names and said not in functions
    ] == []
