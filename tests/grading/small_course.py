"""A small exercise in a course of its own, and nbgrader's commands in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_pkg.grading.exercise import read_solution
from course_pkg.paths import repo_root

NAME = "09_small"
META = '"schema_version": 3, "task": false'
SOLUTION = f"""\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A small exercise

# %% nbgrader={{{META}, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}}
import numpy as np

# %% nbgrader={{{META}, "grade": false, "solution": true, "locked": false, "grade_id": "double"}}
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% nbgrader={{{META}, "grade": true, "solution": false, "locked": true, "grade_id": "test_double", "points": 2}}
assert double(2) == 4, "twice two is four"

# %% nbgrader={{{META}, "grade": true, "solution": false, "locked": true, "grade_id": "test_secret", "points": 3}}
# Hidden tests: negative numbers.
### BEGIN HIDDEN TESTS
assert double(-12345) == -24690, "secretly"
### END HIDDEN TESTS

# %% nbgrader={{{META}, "grade": true, "solution": false, "locked": true, "grade_id": "test_partial", "points": 2.5}}
right = [double(x) == 2 * x for x in (1.0, 2.5, 7.0, 1000.0)]
sum(right) * 0.625

# %% [markdown] nbgrader={{{META}, "grade": true, "solution": true, "locked": false, "grade_id": "essay", "points": 5}}
# Why twice?
"""


def make_course(root: Path) -> str:
    """Make a course with the repository's `nbgrader_config.py`, and the exercise in it; return the release's text."""
    shutil.copy(repo_root() / "nbgrader_config.py", root)
    source = root / "solutions" / NAME / f"{NAME}.py"
    source.parent.mkdir(parents=True)
    source.write_text(SOLUTION, encoding="utf-8")
    nbformat.write(read_solution(source), source.with_suffix(".ipynb"))
    (root / "grading").mkdir()
    made = nbgrader(root, "generate_assignment", NAME, "--create")
    assert made.returncode == 0, made.stderr
    return (root / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")


def environment(root: Path, *python_path: Path) -> dict[str, str]:
    """Return the environment of nbgrader's commands and of the server: nobody's own settings."""
    own = os.pathsep.join([*map(str, python_path), str(repo_root())])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": own, "JUPYTER_CONFIG_DIR": str(root / "jupyter")}


def notebook(text) -> NotebookNode:
    return nbformat.reads(text, as_version=4)


def cell_of(nb, grade_id):
    return next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def answer(text, source="def double(x):\n    return 2 * x\n", essay=None):
    nb = notebook(text)
    cell_of(nb, "double").source = source
    if essay:
        cell_of(nb, "essay").source = essay
    return nb


def nbgrader(root: Path, *arguments, python_path=()):
    """Run one of nbgrader's commands in a course; return what it said."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "nbgrader", *arguments],
        cwd=root,
        env=environment(root, *python_path),
        capture_output=True,
        text=True,
        timeout=300,
    )
