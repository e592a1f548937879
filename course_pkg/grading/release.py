"""Make ``exercises/NN_topic/NN_topic.ipynb`` from ``solutions/NN_topic/NN_topic.py``, by nbgrader.

The released notebook contains no answer: solutions and hidden tests are cut out, the paired ``.py`` is not released,
and Jupytext's metadata are removed, because a sync could use them to bring the answers back. Cell ids depend only on
the content, so the same source always gives the same bytes.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import nbformat

from course_pkg.core import CourseError
from course_pkg.grading.exercise import read_solution, sources
from course_pkg.notebook import number_cells, to_json
from course_pkg.paths import repo_root

__all__ = [
    "course_folder",
    "fingerprint",
    "is_untouched",
    "read_solution",
    "reason",
    "register",
    "release_text",
    "released",
    "sources",
]

try:
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config
except ImportError as error:
    raise CourseError("nbgrader is not installed: `pip install -e '.[grade]'` brings it.") from error


def released(source: Path) -> Path:
    """Return the path of the exercise that is made from a solution."""
    return repo_root() / "exercises" / source.parent.name / f"{source.stem}.ipynb"


def release_text(source: Path) -> str:
    """Return the exercise of a solution, as the text of its ``.ipynb``."""
    name = source.stem
    with course_folder(gradebook=False) as (root, api):
        folder = root / "source" / name
        folder.mkdir(parents=True)
        nbformat.write(read_solution(source), folder / f"{name}.ipynb")
        outcome = api.generate_assignment(name, create=True, force=True)
        if not outcome["success"]:
            raise CourseError(f"nbgrader could not make the exercise of {name}: {reason(outcome)}")
        nb = nbformat.read(root / "release" / name / f"{name}.ipynb", as_version=4)
    for cell in nb.cells:
        cell.metadata.pop("course", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nb.metadata.pop("jupytext", None)
    number_cells(nb, name)
    nb.metadata["course"] = {"released": fingerprint(nb)}
    return to_json(nb)


def register(source: Path) -> None:
    """Enter a solution into the gradebook that ``nbgrader_config.py`` names, so that nbgrader can grade submissions.

    nbgrader's own release goes to ``grading/release``. ``exercises/`` keeps the course's release, which has stable ids
    and no answers.
    """
    root, name = repo_root(), source.stem
    nbformat.write(read_solution(source), source.with_suffix(".ipynb"))  # git ignores it
    (root / "grading").mkdir(exist_ok=True)
    options = ["--create", "--force", f"--CourseDirectory.release_directory={root / 'grading' / 'release'}"]
    with environment_on_path():
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", "generate_assignment", name, *options],
            cwd=root,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise CourseError(f"nbgrader could not register {name}: {reason({'log': done.stderr})}")


def fingerprint(nb) -> str:
    """Hash the inputs of an exercise; a different hash shows that a learner has worked in it."""
    inputs = json.dumps([(cell.cell_type, cell.source) for cell in nb.cells])
    return hashlib.sha256(inputs.encode()).hexdigest()[:16]


def is_untouched(path: Path) -> bool:
    """Return True if an exercise is as it was released: no input was changed, and no cell was run."""
    try:
        nb = nbformat.read(path, as_version=4)
    except Exception:  # a file that cannot be read may be somebody's work, so it must not be replaced
        return False
    run = any(cell.get("outputs") or cell.get("execution_count") for cell in nb.cells)
    return not run and nb.metadata.get("course", {}).get("released") == fingerprint(nb)


@contextmanager
def course_folder(gradebook: bool = True):
    """Yield a fresh nbgrader course ``(root, api)`` in a temporary folder, with folders named as nbgrader does.

    Making exercises needs no gradebook, and creating one takes seconds.
    """
    root = Path(tempfile.mkdtemp(prefix="course-nbgrader-"))
    config = Config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.course_id = "speed-of-memory"
    config.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db"
    config.ExecutePreprocessor.timeout = 120
    config.GenerateAssignment.no_database, config.SaveCells.enabled = not gradebook, gradebook
    try:
        with environment_on_path():
            yield root, NbGraderAPI(config=config)
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def environment_on_path():
    """Let nbgrader find alembic and jupyter, which it starts by name, in this environment."""
    path = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    try:
        yield
    finally:
        os.environ["PATH"] = path


def reason(outcome: dict) -> str:
    """Return the line of nbgrader's output that names the reason of a failure."""
    lines = f"{outcome.get('log') or ''}\n{outcome.get('error') or ''}".splitlines()
    errors = [line.strip() for line in lines if re.match(r"\s*[\w.]*(Error|Exception)\b", line)]
    return errors[0] if errors else "it gave no reason"
