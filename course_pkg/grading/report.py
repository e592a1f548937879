"""Write the marks of a batch: ``grades.csv`` for a spreadsheet, ``grades.html`` to read."""

import csv
import io
import re
from html import escape
from pathlib import Path
from statistics import median

from course_pkg.core.files import write
from course_pkg.grading.names import printable

COLUMNS = ("student", "exercise", "points", "max_points", "needs_manual_grade", "isolated", "seed", "notes")
STYLE = """
:root { color-scheme: light dark; --line: #8886; --lost: #b3400a; --full: #1a6e8e; }
@media (prefers-color-scheme: dark) { :root { --lost: #ffa36b; --full: #7fd0ee; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.lost { color: var(--lost); } .full { color: var(--full); }
code { overflow-wrap: anywhere; } .scroll { overflow-x: auto; }
"""


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
        given = "" if r.ungraded else _number(r.points)
        about = [r.student, r.exercise, given, _number(r.max_points), _manual(r), r.contained]
        row = [*about, r.seed, " ".join(r.notes)]
        rows.writerow([_harmless(value) for value in (*row, *(points.get(cell, "") for cell in cells))])
    return "\ufeff" + out.getvalue()


def _cell_columns(reports: list) -> list[tuple[str, str]]:
    """Return exercise and id of every graded cell, in the order of the notebooks."""
    return list(dict.fromkeys((r.exercise, cell.grade_id) for r in reports for cell in r.cells))


def _points(cell) -> str:
    """Return the points of a cell; an empty text if a person has to give them."""
    return "" if cell.manual else _number(cell.points)


def _number(value: float) -> str:
    """Return a number without trailing zeros: 2, 1.5."""
    return f"{value:g}" if value == round(value, 4) else repr(float(value))


def _manual(graded) -> bool:
    return any(cell.manual for cell in graded.cells)


_FORMULA = re.compile(r"(^|[;,|\t\r\n\"'])(\s*)(?=[=+\-@＝＋－＠])")


def _harmless(value) -> str:
    """Return a value as text in which no spreadsheet finds a formula, since names and notes come from learners.

    A spreadsheet may split a cell at a character that it takes for its separator, so a formula behind such a character
    counts as well. As in OWASP, *CSV injection*: an apostrophe goes before the formula, and every cell is quoted.
    """
    text = _text(value)
    return text if _is_number(text) else _FORMULA.sub(r"\1\2'", text)


def _text(value) -> str:
    """Return a value as one line of printable text, since notes may contain text from a learner."""
    return printable(str(value))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_html(reports: list) -> str:
    """Return a self-contained HTML page: a summary, the success of each test, and each submission with its reasons."""
    parts = [_summary(reports), _tests(reports), *map(_submission, reports)]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}<title>Grades</title><style>{STYLE}</style></head>\n'
        f"<body>\n<h1>Grades</h1>\n{''.join(parts)}</body>\n</html>\n"
    )


def _table(head: list[str], rows: list[list], numbers: set[int] = frozenset()) -> str:
    """Return a table; cells are text and are escaped; `numbers` are the columns aligned to the right."""

    def row(tag, values):
        kinds = [' class="number"' if i in numbers else "" for i in range(len(values))]
        return "".join(
            f"<{tag}{kind}>{escape(_text(v))}</{tag}>" for v, kind in zip(values, kinds, strict=True)
        )

    body = "".join(f"<tr>{row('td', values)}</tr>\n" for values in rows)
    return f'<div class="scroll"><table>\n<tr>{row("th", head)}</tr>\n{body}</table></div>\n'


def _summary(reports: list) -> str:
    rows = []
    for exercise in dict.fromkeys(r.exercise for r in reports):
        points = [r.points for r in reports if r.exercise == exercise and not r.ungraded]
        most = max(r.max_points for r in reports if r.exercise == exercise)
        rows.append(
            [exercise or "unknown", len(points), _number(median(points)) if points else "–", _number(most)]
        )
    warning = ""
    missing = sum(bool(r.ungraded) for r in reports)
    if missing:
        warning += f'<p class="lost">Not graded: {missing}. Run the command again; the others are kept.</p>\n'
    if not all(r.contained for r in reports):
        warning += (
            '<p class="lost">Some submissions were graded without isolation: '
            "install bubblewrap and grade them again.</p>\n"
        )
    return warning + _table(["Exercise", "Submissions", "Median points", "of"], rows, {1, 2, 3})


def _tests(reports: list) -> str:
    rows = []
    for exercise, grade_id in _cell_columns(reports):
        cells = [c for r in reports if r.exercise == exercise for c in r.cells if c.grade_id == grade_id]
        if not any(cell.manual for cell in cells):
            full = sum(cell.points == cell.max_points for cell in cells)
            rows.append([exercise, grade_id, f"{full} of {len(cells)}"])
    return "<h2>Full marks in each test</h2>\n" + _table(["Exercise", "Test", "Submissions"], rows, {2})


def _submission(graded) -> str:
    points = "not graded" if graded.ungraded else f"{_number(graded.points)} of {_number(graded.max_points)}"
    title = f"{graded.student}: {points}"
    full = graded.points == graded.max_points and not graded.ungraded
    kind = "full" if full else "lost"
    notes = "".join(f"<p>{escape(_text(note))}</p>\n" for note in graded.notes)
    rows = [
        [cell.grade_id, _points(cell) or "–", _number(cell.max_points), _feedback(cell)]
        for cell in graded.cells
    ]
    table = _table(["Test", "Points", "of", "Feedback"], rows, {1, 2}) if rows else ""
    return (
        f'<details><summary class="{kind}">{escape(_text(title))} ({escape(graded.exercise or "unknown exercise")})'
        f"</summary>\n{notes}{table}</details>\n"
    )


def _feedback(cell) -> str:
    return "to be graded by a person" if cell.manual else cell.feedback
