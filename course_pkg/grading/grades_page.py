"""``grades.html``: how a class has done, which tests were the hardest, and every submission with its reasons."""

from collections import Counter
from html import escape
from itertools import pairwise
from statistics import median

from course_pkg.grading.names import printable
from course_pkg.grading.pages import FULL, NONE, PART, WAITS, Mark, mark, number, page, with_code
from course_pkg.grading.result import CellGrade, Report

SIGNS = ((FULL, "✓"), (PART, "◐"), (NONE, "✗"))
HARDEST = 10  # tests that are shown before all others
STEPS = 10  # bars of equal width in a distribution; one more bar is for submissions with all points
APART = 16  # pixels between that bar and the others
STYLE = """
svg { width: 100%; max-width: 27rem; display: block; }
svg text { fill: var(--fg); font-size: 14px; text-anchor: middle; }
svg .bar { fill: var(--bar); } svg .axis { stroke: var(--muted); }
.share { display: flex; gap: .5rem; align-items: center; white-space: nowrap; }
.track { flex: none; width: 4.5rem; height: .7rem; border: 1px solid var(--muted); }
.track i { display: block; height: 100%; background: var(--bar); }
.said { min-width: 12rem; overflow-wrap: anywhere; } td { overflow-wrap: normal; }
@media (min-width: 40rem) { table:has(.said) td:not(:has(.said)) { white-space: nowrap; } }
@media (max-width: 40rem) { table:has(.said) {
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--rule); } tr:has(th) { display: none; }
  td { display: block; border: 0; padding: .1rem .6rem; } } }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 0 2rem; }
"""


def as_html(reports: list[Report]) -> str:
    """Return the page as HTML that needs no other file and no network.

    Parameters
    ----------
    reports : list of Report
        One for each submission, in the order of the page.
    """
    body = "".join(
        [
            "<h1>Grades</h1>\n",
            _summary(reports),
            _tests(reports),
            "<h2>Submissions</h2>\n",
            *map(_submission, reports),
        ]
    )
    return page("Grades", body, STYLE)


def _text(value) -> str:
    """Return a value as one line of printable HTML, since notes may contain text from a learner."""
    return escape(printable(str(value)))


def _table(head: list[str], rows: list[list[str]], numbers: set[int] = frozenset()) -> str:
    """Return a table of cells that are HTML; ``numbers`` are the columns aligned to the right."""

    def row(tag, values):
        kinds = [' class="number"' if k in numbers else "" for k in range(len(values))]
        return "".join(f"<{tag}{kind}>{value}</{tag}>" for value, kind in zip(values, kinds, strict=True))

    body = "".join(f"<tr>{row('td', values)}</tr>\n" for values in rows)
    return f'<div class="scroll"><table>\n<tr>{row("th", head)}</tr>\n{body}</table></div>\n'


# ---- the class


def _summary(reports: list[Report]) -> str:
    rows, pictures = [], []
    for exercise in dict.fromkeys(r.exercise for r in reports):
        points = [r.points for r in reports if r.exercise == exercise and not r.ungraded]
        most = max(r.max_points for r in reports if r.exercise == exercise)
        name = _name(exercise or "unknown")
        middle = number(median(points)) if points else "–"
        rows.append([name, str(len(points)), middle, number(most)])
        if points and most > 0:
            pictures.append(f"<div><h3>{name}</h3>\n{distribution(points, most)}</div>")
    warning = ""
    missing = sum(bool(r.ungraded) for r in reports)
    if missing:
        warning += (
            f'<p class="none">✗ Not graded: {missing}. Run the command again; the others are kept.</p>\n'
        )
    if not all(r.contained for r in reports):
        warning += (
            '<p class="none">✗ Some submissions were graded without isolation: '
            "install bubblewrap and grade them again.</p>\n"
        )
    table = _table(["Exercise", "Submissions", "Median points", "of"], rows, {1, 2, 3})
    shown = f'<div class="side">{"".join(pictures)}</div>\n'
    return f"{warning}{table}<h2>How many submissions got how many points</h2>\n{shown}"


def counts(points: list[float], most: float) -> list[int]:
    """Return how many submissions lie in each tenth of the points, and how many have all points.

    Examples
    --------
    >>> counts([0, 1, 2, 19.5, 20, 20], 20)
    [2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2]
    """
    places = Counter(STEPS if p >= most else int(STEPS * max(p, 0) / most) for p in points)
    return [places[k] for k in range(STEPS + 1)]


def distribution(points: list[float], most: float) -> str:
    """Return a picture of the points of an exercise: a bar for each tenth of them, and one for all points."""
    width, height, found = 30, 100, counts(points, most)
    bottom, tallest, parts = 18 + height, max(found), []
    for k, many in enumerate(found):
        left, tall = 12 + k * width + APART * (k == STEPS), height * many / tallest
        middle, label = left + width // 2, "all" if k == STEPS else ""
        parts.append(
            f'<rect class="bar" x="{left + 1}" y="{bottom - tall:.1f}" width="{width - 2}" height="{tall:.1f}"/>'
            f'<text x="{middle}" y="{bottom - 5 - tall:.1f}">{many or ""}</text>'
            f'<text x="{middle}" y="{bottom + 16}">{label}</text>'
        )
    limits = [number(round(most * k / STEPS, 2)) for k in range(STEPS + 1)]
    parts += [
        f'<text x="{12 + k * width}" y="{bottom + 16}">{limit}</text>' for k, limit in enumerate(limits)
    ]
    said = [f"{n} from {a} to below {b}" for n, (a, b) in zip(found, pairwise(limits), strict=False) if n]
    said += [f"{found[-1]} all {limits[-1]}"] if found[-1] else []
    right = 12 + (STEPS + 1) * width + APART
    return (
        f'<svg viewBox="0 0 {right + 6} {bottom + 38}" role="img" aria-label="Points of {len(points)} submissions: '
        f'{", ".join(said)}.">{"".join(parts)}'
        f'<line class="axis" x1="12" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
        f'<text x="{right // 2}" y="{bottom + 34}">points</text></svg>\n'
    )


# ---- the tests


def by_test(reports: list[Report]) -> dict[tuple[str, str], list[CellGrade]]:
    """Return the grades of each test by exercise and id, in the notebooks' order, without manually graded cells."""
    found: dict[tuple[str, str], list[CellGrade]] = {}
    for report in reports:
        if not report.ungraded:
            for cell in report.cells:
                found.setdefault((report.exercise, cell.grade_id), []).append(cell)
    return {test: cells for test, cells in found.items() if not any(cell.manual for cell in cells)}


def share(cells: list[CellGrade]) -> float:
    """Return the points that submissions reached in a test, as a fraction of the points that they could reach."""
    most = sum(cell.max_points for cell in cells)
    return sum(cell.points for cell in cells) / most if most else 1.0


def _tests(reports: list[Report]) -> str:
    tests = by_test(reports)
    hard = [test for test in sorted(tests, key=lambda test: share(tests[test])) if share(tests[test]) < 1]
    rows = {test: _row(test, cells) for test, cells in tests.items()}
    first = [[*rows[test], f'<div class="said">{_often(tests[test])}</div>'] for test in hard[:HARDEST]]
    head, key = ["Test", "Points reached"], '<p class="quiet">✓ all points, ◐ some points, ✗ no points</p>\n'
    hardest = f"<h2>The hardest tests</h2>\n{key}{_table([*head, 'Said most often'], first)}" if hard else ""
    return f"{hardest}<h2>All tests</h2>\n{_table(head, list(rows.values()))}"


def _row(test: tuple[str, str], cells: list[CellGrade]) -> list[str]:
    """Return a table row: a test's name, its points reached, and how many submissions got all, some or none."""
    kinds = Counter(mark(cell.points, cell.max_points).kind for cell in cells)
    reached = share(cells)
    bar = f'<span class="track"><i style="width:{100 * reached:.0f}%"></i></span>'
    signs = ", ".join(f"{sign} {kinds[kind]}" for kind, sign in SIGNS if kinds[kind])
    return [
        f'<code>{_name(test[1])}</code><br><span class="quiet">{_name(test[0])}</span>',
        f'<span class="share">{bar}{100 * reached:.0f}%</span><span class="quiet">{signs}</span>',
    ]


def _name(text: str) -> str:
    """Return a name as HTML in which a line may break only after an underscore."""
    return _text(text).replace("_", "_<wbr>")


def _often(cells: list[CellGrade]) -> str:
    """Return the most frequent verdict's first feedback; without a verdict, equal feedback counts as the same."""
    told: dict[str, list[str]] = {}
    for cell in cells:
        if cell.feedback and cell.points < cell.max_points:
            told.setdefault(cell.verdict or cell.feedback, []).append(cell.feedback)
    if not told:
        return ""
    most = max(told.values(), key=len)
    return f"{len(most)} ×: {with_code(printable(most[0]))}"


# ---- the submissions


def _submission(graded: Report) -> str:
    points = "not graded" if graded.ungraded else f"{number(graded.points)} of {number(graded.max_points)}"
    shown = Mark(WAITS, "–", "") if graded.ungraded else mark(graded.points, graded.max_points)
    notes = "".join(f"<p>{_text(note)}</p>\n" for note in graded.notes)
    rows = [_cell(cell) for cell in graded.cells]
    table = _table(["Test", "Points", "Feedback"], rows) if rows else ""
    return (
        f'<details><summary><span class="{shown.kind}">{shown.sign}</span> {_text(graded.student)}: {points} '
        f"({_text(graded.exercise or 'unknown exercise')})</summary>\n{notes}{table}</details>\n"
    )


def _cell(cell: CellGrade) -> list[str]:
    name, most = f"<code>{_name(cell.grade_id)}</code>", number(cell.max_points)
    if cell.manual:
        return [name, f"– of {most}", '<div class="said">to be graded by a person</div>']
    shown = mark(cell.points, cell.max_points)
    said = f'<div class="said">{with_code(printable(cell.feedback))}</div>'
    return [name, f'<span class="{shown.kind}">{shown.sign}</span> {number(cell.points)} of {most}', said]
