"""Every public function and class that readers call has an example, and every example gives the output that it shows.

A name is public if its package exports it in ``__all__``. In a topic, in ``device`` or in ``distributed``, if the
package exports nothing, a name is public if it does not begin with an underscore. Three rules say which public names
readers do not call.
Packages with a ``command.py`` are used through ``course``. Modules of some roles are found by the course (suites,
cases, traffic), judge measurements, check arguments for other modules, or call other libraries. Kernels, and sweeps
over the rows of a grid, are run by the functions that follow them.

Examples in other places are run, too.
"""

import ast
import doctest
import importlib
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import course_pkg
from course_pkg import cuda
from course_pkg.topics import topics

PACKAGE = Path(course_pkg.__file__).parent
ROLES = ("suite", "case", "traffic", "demands", "checks", "rivals")  # how the names of such modules begin
NEEDS = {"gpu_cupy": "cupy"}  # a module that is left out where the library is missing
pytestmark = pytest.mark.slow(120)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8")).body


@cache
def definitions(path):
    """Return the functions and classes of a module by name."""
    body = parsed(path)
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def exports(init):
    """Return what a package or module exports in ``__all__`` and imports: names, each with the file that defines it."""
    body = parsed(init)
    listed = [
        ast.literal_eval(n.value) for n in body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"
    ]
    origin = {a.name: n.module for n in body if isinstance(n, ast.ImportFrom) for a in n.names}
    return {name: file_of(origin[name]) for names in listed for name in names if name in origin}


def file_of(module):
    path = PACKAGE.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def public():
    """Return file and name of everything that a reader calls."""
    found = set()
    for init in PACKAGE.rglob("__init__.py"):
        if not (init.parent / "command.py").exists():
            found |= {(path, name) for name, path in exports(init).items()}
    check = PACKAGE / "grading" / "check.py"
    exercises = (path.read_text(encoding="utf-8") for path in (PACKAGE.parent / "solutions").rglob("*.py"))
    called = {name for text in exercises for name in re.findall(r"\bcheck\.(\w+)\(", text)}
    found |= {(exports(check).get(name, check), name) for name in called}
    for path in (
        path for folder in ("device", "distributed", *topics()) for path in (PACKAGE / folder).rglob("*.py")
    ):
        if not exports(path.parent / "__init__.py") and not path.stem.startswith(ROLES):
            found |= {(path, name) for name in definitions(path) if not name.startswith("_")}
    return {(path, name) for path, name in found if is_called(definitions(path).get(name))}


def is_called(node):
    """Return whether a name is a function or a class, and not a kernel, a function of one, or a pass over rows."""
    decorators = [ast.unparse(d) for d in getattr(node, "decorator_list", ())]
    compiled = any(d.startswith(("cuda.jit", "intrinsic", "_over_rows")) for d in decorators)
    return node is not None and not compiled and not node.name.endswith("_kernel")


def with_examples():
    """Return file and name of all that has an example, public or not; methods belong to their class."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        if ">>> " in (text := path.read_text(encoding="utf-8")):
            lines = text.splitlines()
            for name, node in definitions(path).items():
                if any(">>> " in line for line in lines[node.lineno - 1 : node.end_lineno]):
                    found.add((path, name))
    return found


def label(entry):
    path, name = entry
    return f"{module_of(path)}.{name}".removeprefix("course_pkg.")


def module_of(path):
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


PUBLIC, SHOWN = (sorted(found, key=label) for found in (public(), with_examples()))


def test_what_is_public_has_an_example():
    without = [
        label((path, name))
        for path, name in PUBLIC
        if ">>> " not in (ast.get_docstring(definitions(path)[name]) or "")
    ]
    assert not without, "show a call and what it gives, in two to five lines, under 'Examples'"


@pytest.mark.family
@pytest.mark.parametrize("entry", SHOWN, ids=label)
def test_an_example_gives_what_it_shows(entry):
    path, name = entry
    if needed := NEEDS.get(path.stem):
        pytest.importorskip(needed, reason=f"{needed} is not installed", exc_type=ImportError)
    module = importlib.import_module(module_of(path))
    names = {"np": np, "cuda": cuda} | vars(module)  # what an example may use without importing it
    said = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for test in doctest.DocTestFinder().find(vars(module)[name], name, module, globs=names):
        runner.run(test, out=said.append, clear_globs=False)
    assert runner.tries, f"{label((path, name))} shows an example that nothing runs"
    assert not runner.failures, "".join(said)


def test_the_rules_find_functions_classes_and_what_is_exported():
    found = set(map(label, PUBLIC))
    assert {"core.cost.Cost", "vector.reference.triad", "cg.gpu_numba.methods.cg_baseline"} <= found
    assert {"grading.check.at_most", "grading.explain.explained"} <= found
    assert not any(
        name.endswith("_kernel") or ".suite" in name or name.startswith("slides.") for name in found
    )
