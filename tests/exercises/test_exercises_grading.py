"""nbgrader's own judgement: the solution gets all points, the release none, half of it exactly its half."""

import re
import warnings

import nbformat
import pytest
from nbgrader.validator import Validator

from course_pkg.grading import release

pytestmark = pytest.mark.filterwarnings("ignore")  # of nbgrader, SQLAlchemy and the kernel, none of them ours

SOURCES = {path.stem: path for path in release.sources()}
NAME = "01_memory_bound"


def solved():
    return release.read_solution(SOURCES[NAME])


def untouched():
    return nbformat.reads(release.released(SOURCES[NAME]).read_text(encoding="utf-8"), as_version=4)


def answered(*grade_ids, **changes):
    """The release with these answers of the solution filled in, and changes to them."""
    answers = {c.metadata.nbgrader.grade_id: c.source for c in solved().cells if "nbgrader" in c.metadata}
    nb = untouched()
    for cell in nb.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in grade_ids:
            cell.source = answers[grade_id]
            for old, new in changes.get(grade_id, {}).items():
                assert old in cell.source
                cell.source = cell.source.replace(old, new)
    return nb


def points():
    """The points of each graded cell of the solution."""
    about = [cell.metadata.get("nbgrader", {}) for cell in solved().cells]
    return {a.grade_id: a.points for a in about if a.get("grade")}


# student: (what is handed in, the points of each graded cell that are not zero)
SUBMISSIONS = {
    "all": (solved, points()),
    "none": (untouched, {}),
    # the balance is right in double precision only; a thread of the triad does more than its element; the bytes
    # are right in double precision only; nothing is fused; the gain is rounded down
    "half": (
        lambda: answered(
            *("balance", "triad", "passes", "count", "t_eff", "gain"),
            balance={"np.dtype(dtype).itemsize": "8"},
            triad={
                "i = cuda.grid(1)\n    if i < out.size:": "for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):"
            },
            count={"sum(passes.values()) * ny * nx * np.dtype(dtype).itemsize": "11 * ny * nx * 8"},
            gain={"t_peak_gb_s / t_eff_gb_s": "t_peak_gb_s // t_eff_gb_s"},
        ),
        {
            "test_balance": 1,
            "test_triad": 1,
            "test_triad_traffic": 1,
            "test_count": 1,
            "test_passes_hidden": 1,
            "test_a_eff_hidden": 1,
            "test_t_eff": 1,
            "test_t_eff_hidden": 1,
            "test_gain": 1,
        },
    ),
}


@pytest.fixture(scope="module")
def graded():
    """Release and grade everything once; return the scores of each student by cell."""
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with release.course_folder() as (root, api):
            folder = root / "source" / NAME
            folder.mkdir(parents=True)
            nbformat.write(solved(), folder / f"{NAME}.ipynb")
            assert api.generate_assignment(NAME, create=True, force=True)["success"]
            for student, (submission, _) in SUBMISSIONS.items():
                folder = root / "submitted" / student / NAME
                folder.mkdir(parents=True)
                nbformat.write(submission(), folder / f"{NAME}.ipynb")
                outcome = api.autograde(NAME, student, force=True, create=True)
                assert outcome["success"], outcome
            with api.gradebook as gradebook:
                for student in SUBMISSIONS:
                    submission = gradebook.find_submission(NAME, student)
                    cells = {g.name: g.score for notebook in submission.notebooks for g in notebook.grades}
                    scores[student] = (
                        submission.score,
                        submission.max_score,
                        cells,
                        submission.needs_manual_grade,
                    )
    return scores


@pytest.mark.parametrize("student", SUBMISSIONS)
def test_points(graded, student):
    score, most, cells, needs_a_person = graded[student]
    expected = SUBMISSIONS[student][1]
    assert {name: points for name, points in cells.items() if points} == expected
    assert (score, most) == (sum(expected.values()), 20)
    assert set(cells) == set(points())
    assert not needs_a_person


def validate(nb, tmp_path):
    path = tmp_path / "submission.ipynb"
    nbformat.write(nb, path)
    return Validator().validate(str(path))


def test_the_solution_validates(tmp_path):
    assert validate(solved(), tmp_path) == {}


def test_the_release_does_not_validate(tmp_path):
    found = validate(untouched(), tmp_path)
    assert set(found) == {"failed"}
    failed = [re.search(r"\w+", cell["source"])[0] for cell in found["failed"]]
    assert len(failed) == 8, "each visible test fails on an empty answer"
    assert all(
        "NotImplementedError" in cell["error"] or "NameError" in cell["error"] for cell in found["failed"]
    )
