"""Write the marks of a batch: ``grades.csv`` for a spreadsheet, ``grades.html`` to read."""

import csv
import io
import re
from pathlib import Path

from course_pkg.core.files import write
from course_pkg.grading.grades_page import as_html
from course_pkg.grading.names import printable
from course_pkg.grading.pages import number

COLUMNS = ("student", "exercise", "points", "max_points", "needs_manual_grade", "isolated", "seed", "notes")


def write_all(reports: list, folder: Path) -> None:
    """Write ``grades.csv`` and ``grades.html`` into a folder.

    Parameters
    ----------
    reports : list of Report
        One for each submission, in the order of the rows.
    folder : path
        Where to write; it is made if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "grades.csv", as_csv(reports))
    write(folder / "grades.html", as_html(reports))


def as_csv(reports: list) -> str:
    """Return one row for each submission, with a column of points for each graded cell.

    The name of a test's column contains the exercise, because two exercises may use the same id. A cell that was not
    graded has an empty field, not 0 points. The byte order mark lets spreadsheets read names with accents.
    """
    cells = _cell_columns(reports)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    named = (f"{exercise}/{grade_id}" for exercise, grade_id in cells)
    rows.writerow([*COLUMNS, *map(_harmless, named)])
    for r in reports:
        points = {(r.exercise, cell.grade_id): _points(cell) for cell in r.cells}
        given = "" if r.ungraded else number(r.points)
        about = [r.student, r.exercise, given, number(r.max_points), _manual(r), r.contained]
        row = [*about, r.seed, " ".join(r.notes)]
        rows.writerow([_harmless(value) for value in (*row, *(points.get(cell, "") for cell in cells))])
    return "\ufeff" + out.getvalue()


def _cell_columns(reports: list) -> list[tuple[str, str]]:
    """Return exercise and id of every graded cell, in the order of the notebooks."""
    return list(dict.fromkeys((r.exercise, cell.grade_id) for r in reports for cell in r.cells))


def _points(cell) -> str:
    """Return the points of a cell; an empty text if a person has to give them."""
    return "" if cell.manual else number(cell.points)


def _manual(graded) -> bool:
    return any(cell.manual for cell in graded.cells)


_FORMULA = re.compile(r"(^|[;,|\t\r\n\"'])(\s*)(?=[=+\-@＝＋－＠])")


def _harmless(value) -> str:
    """Return a value as text in which no spreadsheet finds a formula, since names and notes come from learners.

    A spreadsheet may split a cell at a character that it takes for its separator, so a formula behind such a character
    counts as well. As in OWASP, *CSV injection*: an apostrophe goes before the formula, and every cell is quoted.
    """
    text = _text(value)
    return text if _isnumber(text) else _FORMULA.sub(r"\1\2'", text)


def _text(value) -> str:
    """Return a value as one line of printable text, since notes may contain text from a learner."""
    return printable(str(value))


def _isnumber(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
