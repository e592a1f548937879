"""What tests of an exercise's tests share: the names of the exercise, with the answers of its solution."""

import runpy

import pytest

from course_pkg.grading import release


@pytest.fixture(scope="module")
def names(request, tmp_path_factory):
    """The names of the exercise ``SOURCE`` of a test file, and of the solution's answers: those of its ``CELLS``."""
    chosen = request.module.CELLS
    cells = release.read_solution(request.module.SOURCE).cells
    texts = [cell.source for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") in chosen]
    # the interpreter reads a kernel's text in its file
    file = tmp_path_factory.mktemp("exercise") / "answers.py"
    file.write_text("\n\n".join(texts), encoding="utf-8")
    return runpy.run_path(str(file))
