"""One row for each submission, whatever its neighbours, its name or its size."""

import csv
import os

from test_grading_batch import MOST, NAME, RELEASE, SOURCE, with_answers

from course_pkg.cli import main
from course_pkg.grading import alone, batch, intake
from course_pkg.grading.exercise import sources

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
