"""Every lecture is paired, contains little code, and runs from top to bottom without a warning; its slides fit."""

import re

import nbformat
import notebooks
import pytest
from needs import need_browser

from course_pkg.commands import sync
from course_pkg.core import Library
from course_pkg.grading import exercise
from course_pkg.paths import repo_root
from course_pkg.slides import build

pytestmark = pytest.mark.slow(220)

LECTURES = sorted((repo_root() / "lectures").glob("[0-9][0-9]_*.py"))
CELL_LINES = 24  # what a reader takes in at once
SLIDE_LINES = 16  # what is shown on a slide
MOST_SLIDES, MOST_PREDICTIONS = 30, 6  # of a talk of 45 minutes
LEAST_STEPS = 6  # of a laboratory, in which learners write


def name(path):
    return path.stem


def code_cells(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code" and cell.source.strip()]


@pytest.mark.parametrize("lecture", LECTURES, ids=name)
def test_a_sync_would_change_nothing(lecture):
    [pair] = sync.pairs(lecture.parent, [lecture.stem])
    assert sync.complaint(pair) == ""


@pytest.mark.parametrize("lecture", LECTURES, ids=name)
def test_cells_are_short(lecture):
    for cell in notebooks.read(lecture).cells:
        if cell.cell_type != "code":
            continue
        lines = cell.source.count("\n") + 1
        tags = cell.metadata.get("tags", [])
        kind = cell.metadata.get("slideshow", {}).get("slide_type", "-")
        shown = kind not in ("skip", "notes") and "hide-input" not in tags
        assert lines <= (SLIDE_LINES if shown else CELL_LINES), f"too long: {cell.source[:60]!r}"


@pytest.mark.parametrize("lecture", LECTURES, ids=name)
def test_nothing_that_is_shown_is_taken_apart(lecture):
    """A number is asked of the object that holds it, and not read from a text for people such as ``"memory 93%"``."""
    code = "\n".join(cell.source for cell in code_cells(notebooks.read(lecture)))
    apart = re.findall(
        r"\.(?:r?partition|startswith|endswith|removeprefix|removesuffix)\(|\bre\.(?:search|match|f\w+)\(",
        code,
    )
    assert apart == []


def test_percentages_are_written_in_one_way():
    """Texts that learners read say "5%", as `:.0%` does in what lectures compute."""
    root = repo_root()
    sources = [*LECTURES, *root.glob("solutions/[0-9]*/*.py")]
    texts = {
        path: "\n".join(cell.source for cell in notebooks.read(path).cells if cell.cell_type == "markdown")
        for path in sources
    }
    texts |= {
        path: path.read_text(encoding="utf-8")
        for path in (root / "README.md", root / "lectures" / "glossary.md")
    }
    apart = {
        path.name: found for path, text in texts.items() if (found := re.findall(r".{20}\d\s%.{5}", text))
    }
    assert len(sources) > 15 and not apart


def test_the_syllabus_lists_every_lecture_with_the_points_of_its_exercise():
    """The table is written by hand, in README.md; the first page of the site shows it, too."""
    points = {}
    for source in exercise.sources():
        about = [cell.metadata.get("nbgrader", {}) for cell in notebooks.read(source).cells]
        points[source.stem] = sum(one["points"] for one in about if one.get("grade"))
    found, exercises = syllabus((repo_root() / "README.md").read_text(encoding="utf-8"))
    assert found == [(path.stem, str(int(path.stem[:2]))) for path in LECTURES]
    assert exercises == points


def syllabus(readme):
    """Return the lecture and the number of each row of the table, and the points of each exercise."""
    table = readme.partition("<!-- begin syllabus -->")[2].partition("<!-- end syllabus -->")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| [")]
    lectures, exercises = [], {}
    for row in rows:
        number, stem = re.fullmatch(r"\| \[(\d+) .+\]\(lectures/(\w+)\.ipynb\)", row[0]).groups()
        lectures.append((stem, number))
        if cell := row[-1].strip(" |"):
            of, path = re.fullmatch(r"\[(\d+) points\]\(exercises/(.+)\.ipynb\)", cell).groups()
            assert path == f"{stem}/{stem}", "a row links to the exercise of its lecture"
            exercises[stem] = int(of)
    return lectures, exercises


@pytest.mark.parametrize("lecture", LECTURES, ids=name)
def test_lecture_has_its_parts(lecture):
    cells = notebooks.read(lecture).cells
    text = "\n".join(cell.source for cell in cells)
    tags = [tag for cell in cells for tag in cell.metadata.get("tags", [])]
    kinds = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in cells]
    assert "title-slide" in tags and "predict" in tags and "notes" in kinds
    assert "## Onward" in text
    assert None not in kinds, "give every cell a slide_type: slide, fragment, -, skip or notes"
    assert "live" in tags, "one cell measures on a GPU where there is one: bench.live"
    assert kinds.count("slide") + kinds.count("subslide") <= MOST_SLIDES
    assert tags.count("predict") <= MOST_PREDICTIONS
    if not lecture.stem.startswith("00"):
        assert tags.count("predict") >= 3
        assert text.count("practice.check(") >= LEAST_STEPS
        assert "you can" in text and "## Summary" in text and "## Laboratory" in text and "exercises/" in text


@pytest.mark.parametrize("lecture", LECTURES, ids=name)
def test_lecture_runs_from_top_to_bottom(lecture, executed):
    notebook = executed(lecture)  # raises if a cell fails or warns
    assert all(cell.execution_count for cell in code_cells(nbformat.read(notebook, as_version=4)))


@pytest.mark.parametrize("lecture", LECTURES, ids=name)
def test_a_table_of_this_gpu_calls_methods_as_the_lecture_does(lecture, executed):
    cells = nbformat.read(executed(lecture), as_version=4).cells
    live = [cell for cell in cells if "live" in cell.metadata.get("tags", [])]
    said = "".join(output.get("data", {}).get("text/plain", "") for cell in live for output in cell.outputs)
    assert live and Library.NUMBA_CUDA not in said, "give bench.live the titles of the variants"


@pytest.mark.browser
def test_slides_of_all_lectures_fit():
    need_browser()
    decks = build(LECTURES, repo_root() / "build" / "slides")  # raises what does not fit, with deck and slide
    assert [deck.slides > 5 for deck in decks] == [True] * len(LECTURES)
