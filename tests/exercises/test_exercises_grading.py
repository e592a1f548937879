"""Marks by nbgrader's own tests: the solution gets all points, the release none, and half a solution half of them."""

import copy
import re
import warnings
from functools import cache, partial

import nbformat
import notebooks
import pytest
from nbgrader.validator import Validator

from course_pkg.grading import feedback, release

pytestmark = [
    pytest.mark.slow(115),
    pytest.mark.filterwarnings("ignore"),
]  # of nbgrader, SQLAlchemy and the kernel, none of them ours

SOURCES = {path.stem: path for path in release.sources()}
KERNELS, FIRST, SECOND = "01_first_kernels", "02_memory_bound", "03_shared_memory"
REGISTERS, THIRD, PERMUTATIONS = "04_registers", "05_fusion", "06_permutations"
SSTEP, QUADRATIC, RANKS = "07_sstep_cg", "08_quadratic_programming", "09_many_gpus"


def solved(name):
    return copy.deepcopy(notebooks.solution(SOURCES[name]))


def untouched(name):
    return nbformat.reads(release.released(SOURCES[name]).read_text(encoding="utf-8"), as_version=4)


def answered(name, *grade_ids, **changes):
    """The release with these answers of the solution filled in, and changes to them."""
    right = notebooks.solution(SOURCES[name]).cells
    answers = {c.metadata.nbgrader.grade_id: c.source for c in right if "nbgrader" in c.metadata}
    nb = untouched(name)
    for cell in nb.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in grade_ids:
            cell.source = answers[grade_id]
            for old, new in changes.get(grade_id, {}).items():
                assert old in cell.source
                cell.source = cell.source.replace(old, new)
    return nb


def points(name):
    """The points of each graded cell of a solution."""
    about = [cell.metadata.get("nbgrader", {}) for cell in notebooks.solution(SOURCES[name]).cells]
    return {a.grade_id: a.points for a in about if a.get("grade")}


# exercise, student: (what is handed in, the points of each graded cell that are not zero)
SUBMISSIONS = {
    **{(name, "all"): (lambda name=name: solved(name), points(name)) for name in SOURCES},
    **{(name, "none"): (lambda name=name: untouched(name), {}) for name in SOURCES},
    # the launch of the mirror is not written; a diagonal with a negative offset leaves the matrix
    (KERNELS, "half"): (
        lambda: answered(
            KERNELS,
            *("mirror", "diagonal", "power"),
            diagonal={"0 <= column < nx": "column < nx"},
        ),
        {
            "test_mirror": 1,
            "test_mirror_hidden": 1,
            "test_diagonal": 1,
            "test_diagonal_traffic": 1,
            "test_power": 1,
            "test_power_hidden": 1,
            "test_power_traffic": 2,
        },
    ),
    # the window is right in double precision only; the triad knows its scalar only; the bytes
    # are right in double precision only; nothing is fused; the gain knows one share
    (FIRST, "half"): (
        lambda: answered(
            FIRST,
            *("window", "triad", "passes", "count", "t_eff", "gain"),
            window={"np.dtype(dtype).itemsize": "8"},
            triad={"s * b[i]": "3.0 * b[i]"},
            count={"(wide * np.dtype(dtype).itemsize + 1) * ny * nx": "97 * ny * nx"},
            gain={"share * t_eff_gb_s / t_peak_gb_s": "0.8 * t_eff_gb_s / t_peak_gb_s"},
        ),
        {
            "test_window": 1,
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
    # the barrier is missing still; the mixed difference is not written; one number of padding is not enough; the slow
    # line is not found; the halving reads columns
    (SECOND, "half"): (
        lambda: answered(
            SECOND,
            *("smooth", "fields", "column_mean", "halve"),
            smooth={"cuda.syncthreads()": "pass"},
            fields={"(8, 34)": "(8, 33)"},
            column_mean={"k // 32, k % 32": "k % 12, k // 12"},
            halve={
                "k // 64, k % 64]": "k % 16, k // 16]",
                "k // 64, 64 *": "k % 16, 64 *",
                "x + k % 64": "x + k // 16",
            },
        ),
        {"test_smooth": 1, "test_fields": 1, "test_halve": 1},
    ),
    # the centre is loaded twice; each thread sums up a sample; the second sum is that of b; all registers are one pool
    (REGISTERS, "half"): (
        lambda: answered(
            REGISTERS,
            *("carry", "power", "two_sums", "most_registers"),
            carry={"3 * centre": "3 * u[k, j, i]"},
            power={"if t < z.size and t % 2 == 0": "if t < z.size - 1"},
            two_sums={"square += x * x": "square += b[i] * b[i]"},
            most_registers={"16_384 // -(-warps // 4)": "65_536 // warps"},
        ),
        {
            "test_carry": 1,
            "test_carry_hidden": 1,
            "test_carry_planes_hidden": 1,
            "test_two_sums_dot_hidden": 1,
            "test_most_registers_unfit_hidden": 1,
        },
    ),
    # no neighbour is ever reused; the dot reads p and s again; the map is not fused into the stencil; s is stored; the
    # rules are not named
    (THIRD, "half"): (
        lambda: answered(
            THIRD,
            *("count", "scale_and_correct", "stencil_dot", "plans"),
            count={"(2 + 2 + 2 + 1)": "(8 + 2 + 2 + 1)"},
            stencil_dot={"centre * result": "p[j, i] * s[j, i]"},
            plans={'"recompute": ["q"]': '"recompute": []'},
        ),
        {
            "test_count": 1,
            "test_multiplications_hidden": 1,
            "test_halo_hidden": 1,
            "test_scale_and_correct": 1,
            "test_scale_and_correct_traffic": 1,
            "test_scale_and_correct_hidden": 1,
            "test_stencil_dot": 1,
            "test_stencil_dot_hidden": 1,
            "test_plans": 1,
            "test_stored_hidden": 1,
        },
    ),
    # sectors are those of doubles, whatever the numbers are; the other parts are not begun
    (PERMUTATIONS, "half"): (
        lambda: answered(
            PERMUTATIONS,
            *("permutations", "restore", "jacobi"),
            restore={"* itemsize // 32": "* 8 // 32"},
        ),
        {
            "test_invert": 1,
            "test_invert_hidden": 1,
            "test_translate_hidden": 1,
            "test_restore": 1,
            "test_restore_hidden": 1,
            "test_jacobi": 1,
            "test_jacobi_sectors": 1,
            "test_jacobi_requests": 1,
            "test_jacobi_hidden": 1,
        },
    ),
    # no guard in the update; the sums, the scalar work, the basis and the fault are not begun
    (SSTEP, "half"): (
        lambda: answered(SSTEP, *("power", "update"), update={"    if i < x.size:": "    if True:"}),
        {
            "test_power": 1,
            "test_power_traffic": 1,
            "test_power_hidden": 1,
            "test_update": 1,
            "test_update_near": 1,
            "test_update_bound": 1,
        },
    ),
    # upper bounds are forgotten; the other parts are not begun
    (QUADRATIC, "half"): (
        lambda: answered(
            QUADRATIC,
            *("split", "residual", "safe"),
            residual={"np.clip(x - g, 0, upper)": "np.maximum(x - g, 0)"},
        ),
        {
            "test_split": 1,
            "test_split_traffic": 1,
            "test_split_hidden": 1,
            "test_fooled_hidden": 1,
            "test_safe": 1,
            "test_safe_traffic": 1,
            "test_safe_hidden": 1,
        },
    ),
    # with two ranks, neighbours are mixed up, and two planes come in; the other parts are not begun
    (RANKS, "half"): (
        lambda: answered(
            RANKS,
            *("march", "model"),
            march={
                "[(above, from_above), (below, from_below)]": "[(below, from_below), (above, from_above)]"
            },
            model={"min(ranks - 1, 2)": "2 * min(ranks - 1, 1)"},
        ),
        {"test_march": 1, "test_march_order": 1, "test_iteration": 1, "test_overtakes_hidden": 1},
    ),
}


@pytest.fixture(scope="module")
def course():
    """A course of nbgrader's: its folder, and nbgrader."""
    with release.course_folder() as (root, api):
        yield root, api


@pytest.fixture(scope="module")
def graded(course):
    """Return the scores of each student of an exercise by cell; an exercise is released and graded once."""
    return cache(partial(grade_all, *course))


def grade_all(root, api, name):
    students = {student: submission for (of, student), (submission, _) in SUBMISSIONS.items() if of == name}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(solved(name), root / "source", name)
        assert api.generate_assignment(name, create=True, force=True)["success"]
        for student, submission in students.items():
            write(submission(), root / "submitted" / student, name)
        outcome = api.autograde(name, "*", force=True, create=True)  # all at once: started and graded ahead
        assert outcome["success"], outcome
        with api.gradebook as gradebook:
            return {student: found(gradebook.find_submission(name, student)) for student in students}


def write(nb, folder, name):
    (folder / name).mkdir(parents=True)
    nbformat.write(nb, folder / name / f"{name}.ipynb")


def found(submission):
    """What the gradebook knows of a submission."""
    cells = {g.name: g.score for notebook in submission.notebooks for g in notebook.grades}
    return submission.score, submission.max_score, cells, submission.needs_manual_grade


def test_each_exercise_is_graded_for_three_students():
    wanted = {(name, student) for name in SOURCES for student in ("all", "none", "half")}
    assert set(SUBMISSIONS) == wanted, "add to SUBMISSIONS what is handed in where a part is solved"


@pytest.mark.parametrize(("name", "student"), SUBMISSIONS, ids=str)
def test_points(graded, name, student):
    score, most, cells, needs_a_person = graded(name)[student]
    expected = SUBMISSIONS[name, student][1]
    assert {cell: points for cell, points in cells.items() if points} == expected
    assert (score, most) == (sum(expected.values()), 20)
    assert set(cells) == set(points(name))
    assert not needs_a_person


def test_each_visible_test_says_that_nothing_is_written_yet(graded, course):
    for name in SOURCES:
        graded(name)
        nb = nbformat.read(course[0] / "autograded" / "none" / name / f"{name}.ipynb", as_version=4)
        tests = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade")]
        visible = [cell for cell in tests if not feedback.is_hidden(cell.source)]
        assert visible
        for cell in visible:
            [error] = [output for output in cell.outputs if output.output_type == "error"]
            assert re.search("NotImplementedError|NameError", f"{error.ename} {error.evalue}"), cell.source


def validate(nb, tmp_path):
    path = tmp_path / "submission.ipynb"
    nbformat.write(nb, path)
    return Validator().validate(str(path))


def test_a_solution_validates(tmp_path):
    assert validate(solved(REGISTERS), tmp_path) == {}


def test_a_release_does_not_validate(tmp_path):
    found = validate(untouched(REGISTERS), tmp_path)
    assert set(found) == {"failed"}
    tests = [cell for cell in solved(REGISTERS).cells if cell.metadata.get("nbgrader", {}).get("grade")]
    visible = [cell for cell in tests if not feedback.is_hidden(cell.source)]
    assert len(found["failed"]) == len(visible), "each visible test fails on an empty answer"
