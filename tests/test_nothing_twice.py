"""No helper stands twice: two modules that need the same function import it from one place."""

import ast
from collections import defaultdict

from course_pkg.paths import repo_root

LETTERS = 60  # a shorter body says too little to be the same thing twice
# one operation for each library, kernels, and steps that learners read by themselves
EACH_ON_ITS_OWN = ("reference", "cpu_", "gpu_", "suite_gpu")
ROOMS_OF_KERNELS = ("gpu_numba", "practice", "cases")


def bodies():
    """Yield the module, the name and the body, without docstring, of each function at the top of a module."""
    package = repo_root() / "course_pkg"
    for path in sorted(package.rglob("*.py")):
        if path.name.startswith(EACH_ON_ITS_OWN) or {*path.parts} & {*ROOMS_OF_KERNELS}:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                said = node.body[1:] if ast.get_docstring(node) else node.body
                yield path.relative_to(package).as_posix(), node.name, ast.unparse(ast.Module(said, []))


def test_no_function_of_the_package_stands_twice():
    places = defaultdict(list)
    for module, name, body in bodies():
        if len(body) >= LETTERS:
            places[body].append(f"{module}: {name}")
    assert [found for found in places.values() if len(found) > 1] == []
