"""The judge inside nbgrader: `nbgrader autograde` asks the judge for the marks instead of running the notebook.

`nbgrader_config.py` puts three parts into nbgrader's pipeline. `set_links_aside` runs before a student's files are
copied. `Submission` makes the notebook that nbgrader grades: the teacher's cells in their order, with the learner's
answers in them. So a learner cannot delete a cell, edit a test or change metadata. A file that is not a notebook is
graded as an empty one, and the report gives the reason. `Judge` writes outputs from which nbgrader computes exactly the
judge's points. Manual grading, late penalties, comments and feedback are left to nbgrader.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course_pkg.core import CourseError
from course_pkg.grading import alone, intake
from course_pkg.grading import cells as texts
from course_pkg.grading.ahead import Ahead
from course_pkg.grading.exercise import read_solution
from course_pkg.grading.names import printable, shown
from course_pkg.grading.result import CellGrade

try:
    from nbconvert.exporters import NotebookExporter
    from nbconvert.preprocessors.sanitize import SanitizeHTML
    from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
except ImportError as error:
    raise CourseError("nbgrader is not installed: `pip install -e '.[grade]'` brings it.") from error

FULL_MARKS = "All points."
AHEAD = Ahead()  # one for all notebooks: nbgrader makes a Judge for each


def set_links_aside(assignment: str, student: str, notebooks: list[str]) -> None:
    """Rename links and devices in a submission to ``NAME.orig``: nbgrader ignores this name, and copies no targets.

    nbgrader calls this function before it copies the files that were handed in beside the notebooks. If no notebook has
    the exercise's name, the list ``notebooks`` gets that name as its only entry; `Submission` finds the actual file.
    """
    folder = Path(notebooks[0]).parent
    for where, _, names in os.walk(folder):
        for path in (Path(where) / name for name in names):
            if path.suffix != ".ipynb" and not stat.S_ISREG(path.lstat().st_mode):
                path.rename(path.with_name(f"{path.name}.orig"))
    expected = folder / f"{folder.name}.ipynb"
    if not os.path.lexists(expected):
        notebooks[:] = [str(expected)]


class Submission(NotebookExporter):
    """Read a submission for nbgrader's first pass; its second pass reads what the first one wrote."""

    def from_filename(self, filename, resources=None, **options):
        """Return the teacher's notebook with the learner's answers, as the text of a notebook."""
        if not self.parent._sanitizing:
            return super().from_filename(filename, resources, **options)
        about = resources["nbgrader"]
        source = solution_of(self.parent.coursedir, about["assignment"], about["notebook"])
        try:
            answers = alone.read(intake.choose(Path(filename).parent, Path(filename).stem))
        except intake.Refused:
            answers = NotebookNode(cells=[])  # the judge's report says why there are none
        return self.from_notebook_node(with_answers(source, answers), resources, **options)


def solution_of(coursedir, assignment: str, notebook: str) -> Path:
    """Return the teacher's source of a notebook in an nbgrader course."""
    folder = Path(coursedir.format_path(coursedir.source_directory, ".", assignment))
    for path in (folder / f"{notebook}.py", folder / f"{notebook}.ipynb"):
        if path.is_file():
            return path
    raise CourseError(f"{folder} holds no {notebook}.py: keep the exercise's source there.")


def with_answers(source: Path, answers: NotebookNode) -> NotebookNode:
    """Return the teacher's notebook whose solution cells hold a learner's answers, found by their ids.

    If an answer is missing, the exercise's stub stays. Text that a learner wrote is made harmless, because formgrader
    shows it to the teacher in a page that may change marks.
    """
    nb = read_solution(source)
    given = texts.answers(answers.cells)
    prose = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in answers.cells}
    ClearSolutions(enforce_metadata=False).preprocess(nb, {})
    for cell in nb.cells:
        about = cell.metadata.get("nbgrader", {})
        cell.pop("attachments", None)
        if about.get("solution") and about["grade_id"] in given:
            # the parts of a cell that was split follow each other, as the judge runs them
            parts = given[about["grade_id"]].sources
            cell.source = "\n\n".join(parts) if parts else prose[about["grade_id"]]
            if cell.cell_type == "markdown":
                cell.source = SanitizeHTML().sanitize_html_tags(cell.source)
    return nb


class Judge(NbGraderPreprocessor):
    """Give each graded cell the outputs from which nbgrader computes the judge's points.

    The students who come next are graded meanwhile, as many at a time as there are cores.
    """

    def preprocess(self, nb, resources):
        """Grade the submission as it was handed in; write the marks into the notebook's outputs."""
        about, coursedir = resources["nbgrader"], self.parent.parent.coursedir
        folder = coursedir.format_path(coursedir.submitted_directory, about["student"], about["assignment"])
        source = solution_of(coursedir, about["assignment"], about["notebook"])
        try:
            path = intake.choose(Path(folder), about["notebook"])
        except intake.Refused as error:
            graded, why = {}, str(error)
        else:
            report = AHEAD.report(path, source, self._later(about))
            if report.ungraded:  # nbgrader enters no marks, names the student and goes on
                raise CourseError(" ".join(report.notes))
            graded, why = {cell.grade_id: cell for cell in report.cells}, " ".join(report.notes)
            for note in report.notes:
                self.log.warning("%s: %s", shown(about["student"]), printable(note))
        for cell in nb.cells:
            mark = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
                if mark.get("grade") and not mark.get("solution"):
                    cell.outputs = outputs(graded.get(mark["grade_id"]), why)
        return nb, resources

    def _later(self, about):
        """Yield the submissions that nbgrader will come to after this one."""
        autograde = self.parent.parent
        folders = sorted(autograde.assignments)
        own = autograde._format_source(about["assignment"], about["student"])
        for folder in folders[folders.index(own) + 1 :] if own in folders else ():
            student = Path(folder).parent.name
            done = Path(autograde._format_dest(about["assignment"], student)).exists()
            if autograde.force or not done:
                with suppress(intake.Refused, OSError):
                    yield intake.choose(Path(folder), about["notebook"])


def outputs(graded: CellGrade | None, why: str = "") -> list:
    """Return the outputs that nbgrader reads as a mark; none is on stderr, because that would cost all points.

    For full marks the output is a sentence; for no points, an error with the feedback; otherwise, the number of points.
    """
    if graded is None or graded.points <= 0:
        text = (graded.feedback if graded else "") or why or "No points."
        # without what the hidden test says of itself
        reason = graded.verdict if graded and graded.hidden else ""
        return [new_output("error", ename="No points", evalue=reason or text, traceback=[text])]
    if graded.points >= graded.max_points:
        return [new_output("stream", name="stdout", text=f"{FULL_MARKS}\n")]
    return [
        new_output("stream", name="stdout", text=f"{graded.feedback}\n"),
        new_output("execute_result", execution_count=None, data={"text/plain": repr(float(graded.points))}),
    ]
