"""The sources of the exercises: one py:percent file each, with nbgrader's metadata in the cells."""

import ast
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.notebook import number_cells
from course_pkg.paths import repo_root

HIDDEN = "### BEGIN HIDDEN TESTS"


def sources() -> list[Path]:
    """Return the solutions, as ``.py`` files."""
    return sorted((repo_root() / "solutions").glob("[0-9][0-9]_*/[0-9][0-9]_*.py"))


def read_solution(source: Path, text: str | None = None):
    """Return a solution as a notebook, from its file or from its text, and check that its ids are unique.

    If a test cell has limits in its metadata, ``course={"limits": {"global_load.sectors": 1.15}}``, a first line is
    added that assigns them to ``limits``. So the cell runs in a learner's notebook, in nbgrader and in the judge. A
    test that learners see ends with ``check.passed``, which prints its points.

    Raises
    ------
    CourseError
        If the nbgrader metadata is missing or ids repeat.
    """
    import jupytext  # slow to import, and not needed for a solution that was read before

    if text is None:
        text = source.read_text(encoding="utf-8")
    nb = jupytext.reads(text, fmt=source.suffix)
    nb.metadata.pop("jupytext", None)
    for cell in nb.cells:
        cell.metadata.pop("lines_to_next_cell", None)  # blank lines of the .py file, which Jupytext keeps
    ids = [cell.metadata.nbgrader.grade_id for cell in nb.cells if "nbgrader" in cell.metadata]
    if not ids:
        raise CourseError(
            f"{source} has no nbgrader metadata: keep its YAML header, without it Jupytext drops it."
        )
    repeated = {i for i in ids if ids.count(i) > 1}
    if repeated:
        raise CourseError(
            f"{source} uses the grade_id {', '.join(sorted(repeated))} twice: give each cell its own."
        )
    checks = any("import check" in cell.source for cell in nb.cells)
    for cell in nb.cells:
        limits = cell.metadata.get("course", {}).get("limits")
        if limits:
            cell.source = f"limits = {dict(limits)!r}  # times what is needed\n{cell.source}"
        if checks and _is_visible_test(cell):
            cell.source = f"{cell.source}\ncheck.passed({cell.metadata.nbgrader.points:g})"
    number_cells(nb, source.stem)
    return nb


def _is_visible_test(cell) -> bool:
    """Return whether a cell is a test without hidden lines that gives all its points if it runs to its end."""
    about = cell.metadata.get("nbgrader", {})
    if cell.cell_type != "code" or not about.get("grade") or about.get("solution") or HIDDEN in cell.source:
        return False
    last = ast.parse(cell.source).body[-1]
    # a last expression may be a number, which is then the mark; these calls return no number
    return not isinstance(last, ast.Expr) or ast.unparse(last).startswith(("check.", "check_", "run_"))
