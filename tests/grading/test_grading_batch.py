"""A folder of submissions: one row for each, the same marks in any order, and no submission stops the batch."""

import io
import json
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_pkg.core import CourseError
from course_pkg.grading import alone, batch, folder
from course_pkg.grading.exercise import read_solution, sources

SOURCE = next(path for path in sources() if path.stem == "02_memory_bound")
NAME = SOURCE.stem
RELEASE = (SOURCE.parents[2] / "exercises" / NAME / f"{NAME}.ipynb").read_bytes()
MOST = 20


def with_answers(*grade_ids, **texts) -> bytes:
    """The release with these answers of the solution, and others of one's own."""
    answers = {
        c.metadata.nbgrader.grade_id: c.source
        for c in read_solution(SOURCE).cells
        if "nbgrader" in c.metadata
    }
    nb = json.loads(RELEASE)
    for cell in nb["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in grade_ids:
            cell["source"] = answers[grade_id]
        if grade_id in texts:
            cell["source"] = texts[grade_id]
    return json.dumps(nb).encode()


def zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("work.ipynb", data)
        file.writestr("conftest.py", "raise SystemExit('ran')")
    return out.getvalue()


@pytest.fixture
def class_folder(tmp_path):
    """Every way in which something may be handed in."""
    root = tmp_path / "class"
    files = {
        "ann.ipynb": with_answers("window"),
        "bob.zip": zipped(with_answers("window", "gain")),
        f"cem/{NAME}/{NAME}.ipynb": with_answers("gain"),
        f"cem/{NAME}/timestamp.txt": b"2026-01-01",
        "dora/my homework.ipynb": with_answers("t_eff"),
        "dora/conftest.py": b"raise SystemExit('ran')",
        "eve.ipynb": RELEASE[:3000],
        "finn/notes.txt": b"sorry",
        "hal/one.ipynb": with_answers("count"),
        "hal/two.ipynb": with_answers(),
        ".DS_Store": b"x",
    }
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "ida.ipynb").symlink_to(root / "ann.ipynb")
    (root / "jan").symlink_to(root / "cem", target_is_directory=True)
    return root


def test_everything_that_was_handed_in_has_its_row(class_folder, counted):
    reports = batch.grade_folder(class_folder, jobs=2, solution=SOURCE)
    who = "ann bob cem dora eve finn hal hal ida jan"
    assert " ".join(r.student for r in reports) == who
    assert {r.exercise for r in reports} == {NAME}
    assert {r.max_points for r in reports} == {MOST}
    points = {r.student: r.points for r in reports if r.points}
    assert {s: points[s] for s in ("ann", "bob", "cem", "dora")} == {
        "ann": points["cem"],
        "bob": points["cem"] + 1,
        "cem": points["dora"],
        "dora": points["cem"],
    }
    reasons = {r.student: r.notes[0] for r in reports}
    assert "holds no notebook" in reasons["finn"]
    assert "ida.ipynb is a link" in reasons["ida"]
    assert "jan is a link" in reasons["jan"]
    for r in reports:
        if r.student in ("finn", "ida", "jan"):
            assert r.points == 0 and all(cell.feedback == r.notes[0] for cell in r.cells) and r.cells
    assert [r.notes[-1] for r in reports if r.student == "hal"] == [
        "This is one.ipynb, one of several that were handed in.",
        "This is two.ipynb, one of several that were handed in.",
    ]


def test_a_folder_that_is_none_or_empty_is_said(tmp_path):
    with pytest.raises(CourseError, match="is not a folder"):
        batch.grade_folder(tmp_path / "nowhere")
    with pytest.raises(CourseError, match="holds no submissions"):
        batch.grade_folder(tmp_path)


def test_the_report_in_the_folder_is_no_submission(class_folder, counted):
    out = class_folder / "report"
    first = batch.grade_folder(class_folder, out=out)
    assert len(batch.grade_folder(class_folder, out=out)) == len(first)


class FirstIsLast(ThreadPoolExecutor):
    """Finishes what it was given later before what it was given first."""

    def submit(self, function, *args):
        wait_s = 0.3 / (1 + self.given)
        self.given += 1

        def late():
            time.sleep(wait_s)
            return function(*args)

        return super().submit(late)

    given = 0


def test_marks_do_not_depend_on_order_jobs_or_run(class_folder, counted):
    def marks(**options):
        return [r.to_dict() for r in batch.grade_folder(class_folder, seed=3, **options)]

    first = marks(jobs=1)
    alone_order = list(counted)
    counted.clear()
    with FirstIsLast(8) as pool:
        assert marks(executor=pool, jobs=8) == first
    assert sorted(counted) == sorted(alone_order) and counted != alone_order
    assert marks(jobs=4) == first


def test_an_interrupted_batch_goes_on_where_it_stopped(class_folder, counted, monkeypatch, tmp_path):
    out, quick = tmp_path / "out", alone.grade_bytes

    def interrupted(*arguments, **options):
        if len(counted) == 3:
            raise KeyboardInterrupt
        return quick(*arguments, **options)

    monkeypatch.setattr(alone, "grade_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        batch.grade_folder(class_folder, out=out, jobs=1)
    before = list(counted)
    assert len(before) == 3
    monkeypatch.setattr(alone, "grade_bytes", quick)
    reports = batch.grade_folder(class_folder, out=out, jobs=1)
    assert counted[:3] == before
    assert len(counted) == len(set(counted)) == 7, "seven can be read; only what was missing is graded now"
    again = batch.grade_folder(class_folder, out=out, jobs=2)
    assert len(counted) == 7 and again == reports


def test_what_changed_is_graded_again(class_folder, counted, monkeypatch, tmp_path):
    def graded(**options):
        counted.clear()
        batch.grade_folder(class_folder, out=tmp_path / "out", **options)
        return len(counted)

    assert (graded(), graded()) == (7, 0)
    (class_folder / "ann.ipynb").write_bytes(with_answers("gain"))
    assert (graded(), graded()) == (1, 0)
    assert (graded(seed=1), graded(seed=1)) == (7, 0)
    assert (graded(require_sandbox=True), graded()) == (7, 0)
    monkeypatch.setattr("course_pkg.grading.store.judge_fingerprint", lambda: "another judge")
    assert graded() == 7
    kept = next((tmp_path / "out" / "results").iterdir())
    for path in kept.parent.iterdir():
        path.write_text("{", encoding="utf-8")
    assert graded() == 7, "a damaged result counts as none"


def test_the_judges_own_failure_costs_one_row_and_is_not_kept(class_folder, counted, tmp_path):
    (class_folder / "bad.ipynb").write_bytes(with_answers(gain="# JUDGE BREAKS"))
    reports = {r.student: r for r in batch.grade_folder(class_folder, out=tmp_path / "out", jobs=2)}
    assert reports["bad"].ungraded == "the judge itself failed (ZeroDivisionError: a bug)"
    assert (
        reports["bad"].notes[0].startswith("not graded: the judge itself failed (ZeroDivisionError: a bug)")
    )
    assert reports["ann"].points and reports["jan"].notes
    counted.clear()
    batch.grade_folder(class_folder, out=tmp_path / "out")
    assert [b"JUDGE BREAKS" in data for data in counted] == [True]


def test_a_missing_sandbox_stops_the_batch_with_its_sentence(class_folder, counted):
    (class_folder / "bad.ipynb").write_bytes(with_answers(gain="# NO SANDBOX"))
    with pytest.raises(CourseError, match="bubblewrap is missing"):
        batch.grade_folder(class_folder, require_sandbox=True)
    assert batch.grade_folder(class_folder)


def test_only_as_many_submissions_as_are_graded_are_held(tmp_path, counted):
    root = tmp_path / "class"
    root.mkdir()
    for number in range(30):
        (root / f"s{number}.ipynb").write_bytes(RELEASE)

    class Watched(ThreadPoolExecutor):
        held = most = 0

        def submit(self, *arguments):
            self.held += 1
            self.most = max(self.most, self.held)
            future = super().submit(*arguments)
            future.add_done_callback(lambda _: setattr(self, "held", self.held - 1))
            return future

    with Watched(2) as pool:
        assert len(batch.grade_folder(root, executor=pool, jobs=2)) == 30
    assert 1 < pool.most <= 4


def test_an_unknown_executor_and_a_silent_scheduler_are_said(class_folder, counted):
    with pytest.raises(CourseError, match="There is no executor 'cloud': choose local or dask"):
        batch.grade_folder(class_folder, executor="cloud")
    pytest.importorskip("distributed")
    with pytest.raises(CourseError, match=r"Name the scheduler .*--scheduler tcp://HOST:8786"):
        batch.grade_folder(class_folder, executor="dask")


def test_students_are_named_by_file_or_folder():
    names = ["ann.ipynb", "bob.tar.gz", "cem.ZIP", "dora.v2.ipynb", "notes.txt", ".zip"]
    assert [folder._student(name) for name in names] == ["ann", "bob", "cem", "dora.v2", "notes.txt", ".zip"]
