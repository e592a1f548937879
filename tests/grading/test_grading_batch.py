"""A folder of submissions: one row for each, the same marks in any order, and no submission stops the batch."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from course_pkg.cli import main
from course_pkg.core import CourseError
from course_pkg.grading import alone, archive, batch, folder, intake
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


@pytest.fixture
def counted(monkeypatch):
    """A judge that is quick: the points are the number of answers; `calls` says what was graded."""
    calls = []

    def grade_bytes(data, path, solutions, *, given=False, seed=None, require_sandbox=False):
        data = archive.unpacked(data)
        calls.append(data)
        if b"JUDGE BREAKS" in data:
            raise ZeroDivisionError("a bug")
        if b"NO SANDBOX" in data and require_sandbox:
            raise CourseError("bubblewrap is missing: install it.")
        missing = data.count(b"raise NotImplementedError")
        made = alone.nothing(solutions[0], f"{missing} answers are missing.")
        made.points = float(10 - missing)
        return made

    monkeypatch.setattr(alone, "grade_bytes", grade_bytes)
    return calls


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


# The real judge.


@pytest.fixture
def real_folder(tmp_path):
    """Submissions with known marks: a crash and an endless loop among them."""
    root = tmp_path / "real"
    root.mkdir()
    for student, data in {
        "ann": with_answers("gain", "t_eff"),
        "bob": with_answers("gain", t_eff="import os\n\nos._exit(0)\n"),
        "cem": with_answers("gain", t_eff="def t_eff(a, b):\n    while True:\n        pass\n"),
        "dora": RELEASE,
        "eve": RELEASE[: len(RELEASE) // 2],
    }.items():
        (root / f"{student}.ipynb").write_bytes(data)
    (root / "finn.zip").write_bytes(zipped(with_answers("gain")))
    return root


REAL_MARKS = {"ann": 4, "bob": 2, "cem": 2, "dora": 0, "eve": 0, "finn": 2}


def test_a_crash_and_a_timeout_are_marks_with_reasons(real_folder):
    reports = {r.student: r for r in batch.grade_folder(real_folder)}
    assert {student: r.points for student, r in reports.items()} == REAL_MARKS
    assert {r.max_points for r in reports.values()} == {MOST}

    def reason(student):
        return next(cell.feedback for cell in reports[student].cells if cell.grade_id == "test_t_eff")

    assert "ended the Python process" in reason("bob")
    assert "endless loop" in reason("cem")
    assert "NotImplementedError" in reason("dora")
    assert "cut short" in reason("eve")


def test_a_local_dask_cluster_gives_the_same_marks(real_folder):
    distributed = pytest.importorskip("distributed")
    (real_folder / "cem.ipynb").unlink()  # its time-out is long, and no other on a worker
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        reports = batch.grade_folder(real_folder, executor="dask", scheduler=cluster.scheduler_address)
    marks = {r.student: r.points for r in reports}
    assert marks == {student: points for student, points in REAL_MARKS.items() if student != "cem"}


# Rows do not depend on each other.


def rows(root, **options):
    return {r.student: (r.exercise, r.points, r.max_points) for r in batch.grade_folder(root, **options)}


def test_a_neighbour_changes_no_row(tmp_path, counted):
    """Whatever another student hands in: another exercise, something damaged, nothing."""
    root = tmp_path / "class"
    (root / "ann" / NAME).mkdir(parents=True)
    (root / "ann" / NAME / f"{NAME}.ipynb").write_bytes(with_answers("gain"))
    (root / "eve").mkdir()
    (root / "eve" / "notes.txt").write_bytes(b"sorry")
    before = rows(root)
    assert before["eve"] == ("", 0, 0), "nothing tells its exercise"
    other = sources()[2]
    (root / "bob" / other.stem).mkdir(parents=True)
    (root / "bob" / other.stem / "x.ipynb").write_bytes(b"{")
    (root / "cem.docx").write_bytes(b"PK no archive")
    after = rows(root)
    assert {student: after[student] for student in before} == before
    assert rows(root, solution=SOURCE)["eve"] == (NAME, 0, MOST), (
        "where the exercise is given, it has its row"
    )


STRANGE = [b"caf\xe9", b"a\x1b[2J\x1b]0;mine\x07", "b\u202ecod".encode(), b"c\nd,e", b'"=1+1', b"\xff\xfe"]


def test_names_of_any_bytes_have_their_rows(tmp_path, counted, capsys):
    root, out = tmp_path / "class", tmp_path / "out"
    root.mkdir()
    for name in STRANGE:
        with open(os.fsencode(root) + b"/" + name + b".ipynb", "wb") as file:
            file.write(with_answers("gain"))
        os.makedirs(os.fsencode(root) + b"/x" + name)
        os.symlink(name, os.fsencode(root) + b"/x" + name + b"/l" + name + b".ipynb")
    assert main(["grade", str(root), "--out", str(out), "--jobs", "2"]) == 0
    assert main(["grade", str(root), "--out", str(out)]) == 0, "and they are found again"
    said = capsys.readouterr()
    text = (
        said.out
        + said.err
        + (out / "grades.csv").read_text("utf-8-sig")
        + (out / "grades.html").read_text("utf-8")
    )
    assert all(c.isprintable() or c in "\n\r" for c in text), [c for c in text if not c.isprintable()]
    assert r"caf\xe9" in text and r"a\x1b[2J" in text and r"b\u202ecod" in text and r"c\nd,e" in text
    with open(out / "grades.csv", newline="", encoding="utf-8-sig") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 2 * len(STRANGE) == len({row["student"] for row in table})


def test_a_student_who_hands_in_too_much_has_one_row(tmp_path, counted):
    root = tmp_path / "class"
    for student, number, suffix in (
        ("ann", 11, ".ipynb"),
        ("bob", intake.ENTRIES + 1, ".txt"),
        ("cem", 2, ".zip"),
    ):
        (root / student).mkdir(parents=True)
        for k in range(number):
            (root / student / f"{k}{suffix}").write_bytes(RELEASE[:10])
    reports = batch.grade_folder(root, solution=SOURCE)
    notes = {r.student: r.notes[0] for r in reports}
    assert [r.student for r in reports] == ["ann", "bob", "cem", "cem"]
    assert notes["ann"].startswith("The folder holds 11 notebooks, but 10 are allowed")
    assert notes["bob"].startswith("The folder holds more than 5000 files")


def test_what_is_not_graded_has_no_points_and_is_graded_when_it_is_tried_again(
    tmp_path, counted, monkeypatch, capsys
):
    root, out = tmp_path / "class", tmp_path / "out"
    root.mkdir()
    (root / "ann.ipynb").write_bytes(RELEASE)
    (root / "bob.ipynb").write_bytes(with_answers("gain"))
    quick = alone.grade_bytes

    def busy(data, path, solutions, **options):
        if "ann" in path:
            return alone.not_graded(solutions[0], "the machine was busy")
        return quick(data, path, solutions, **options)

    monkeypatch.setattr(alone, "grade_bytes", busy)
    assert main(["grade", str(root), "--out", str(out)]) == 1
    assert "not graded: the machine was busy" in capsys.readouterr().out
    with open(out / "grades.csv", newline="", encoding="utf-8-sig") as file:
        ann, bob = csv.DictReader(file)
    assert (ann["points"], ann["max_points"], ann["notes"][:10]) == ("", "20", "not graded")
    assert bob["points"] != ""
    assert "Not graded: 1." in (out / "grades.html").read_text("utf-8")
    monkeypatch.setattr(alone, "grade_bytes", quick)
    counted.clear()
    assert main(["grade", str(root), "--out", str(out)]) == 0
    assert len(counted) == 1


def test_ctrl_c_ends_a_batch_and_leaves_nothing(tmp_path):
    root, scratch = tmp_path / "class", tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    sleeps = with_answers(gain="import time\ntime.sleep(600)\n", t_eff="while True: pass\n")
    for number in range(4):
        (root / f"s{number}.ipynb").write_bytes(sleeps)
    command = [sys.executable, "-m", "course_pkg.cli", "grade", str(root), "--out", str(tmp_path / "out")]
    batch_ = psutil.Popen(
        command,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # a shell that started the tests in the background lets all that they start ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    end = time.monotonic() + 120
    while len(family := batch_.children(recursive=True)) < 4:  # the warm parent, a child, its sandbox
        assert time.monotonic() < end
        time.sleep(0.05)
    batch_.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert batch_.wait(60) != 0
    assert time.monotonic() - begin < 30, "it used to wait for what was being graded, minutes"
    assert psutil.wait_procs(family, 10)[1] == []
    assert list(scratch.iterdir()) == []


def test_a_batch_that_is_killed_takes_its_children_along(tmp_path):
    root, scratch = tmp_path / "class", tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    (root / "ann.ipynb").write_bytes(with_answers(gain="import time\ntime.sleep(600)\n"))
    batch_ = psutil.Popen(
        [sys.executable, "-m", "course_pkg.cli", "grade", str(root), "--jobs", "1"],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 120
    while len(family := batch_.children(recursive=True)) < 4:
        assert time.monotonic() < end
        time.sleep(0.05)
    batch_.kill()
    batch_.wait()
    assert psutil.wait_procs(family, 30)[1] == []
    assert list(scratch.iterdir()) == []
