"""Submissions that nbgrader will request next are graded in advance, and each request gets the right report."""

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_pkg.grading import alone, preprocessor
from course_pkg.grading.ahead import Ahead
from course_pkg.grading.exercise import sources
from course_pkg.grading.result import Report

SOURCE = next(path for path in sources() if path.stem == "02_memory_bound")


@pytest.fixture
def started(monkeypatch):
    """A judge that tells what it was given, and works when it is let."""
    judge = SimpleNamespace(calls=[], go=threading.Event())

    def grade_bytes(data, path, solutions, *, given):
        judge.calls.append(data)
        judge.go.wait(30)
        return Report(solutions[0].exercise, notes=[data.decode()])

    monkeypatch.setattr(alone, "grade_bytes", grade_bytes)
    return judge


@pytest.fixture
def paths(tmp_path):
    made = [tmp_path / f"{student}.ipynb" for student in "abcd"]
    for path in made:
        path.write_bytes(path.stem.encode())
    return made


def test_the_next_ones_are_graded_meanwhile(started, paths):
    ahead, found = Ahead(jobs=2), []
    asking = threading.Thread(target=lambda: found.append(ahead.report(paths[0], SOURCE, paths[1:])))
    asking.start()
    while len(started.calls) < 3:
        assert asking.is_alive()
    started.go.set()
    asking.join()
    assert sorted(started.calls) == [b"a", b"b", b"c"], "as many as there are cores, beside the one asked for"
    assert found[0].notes == ["a"]
    assert ahead.report(paths[1], SOURCE, paths[2:]).notes == ["b"]
    assert ahead.report(paths[2], SOURCE, paths[3:]).notes == ["c"]
    assert ahead.report(paths[3], SOURCE).notes == ["d"]
    assert sorted(started.calls) == [b"a", b"b", b"c", b"d"], "each once"


def test_a_submission_that_was_replaced_meanwhile_is_graded_as_it_is(started, paths):
    started.go.set()
    ahead = Ahead(jobs=2)
    ahead.report(paths[0], SOURCE, paths[1:2])
    paths[1].write_bytes(b"new")
    assert ahead.report(paths[1], SOURCE).notes == ["new"]


def test_what_cannot_be_read_has_its_reason_and_holds_up_nobody(started, paths):
    started.go.set()
    paths[1].unlink()
    paths[1].symlink_to(paths[0])
    ahead = Ahead(jobs=2)
    assert ahead.report(paths[0], SOURCE, paths[1:]).notes == ["a"]
    assert "is a link" in ahead.report(paths[1], SOURCE).notes[0]


def test_an_error_comes_to_the_one_who_asked(monkeypatch, paths):
    def broken(*arguments, **options):
        raise ZeroDivisionError

    monkeypatch.setattr(alone, "grade_bytes", broken)
    with pytest.raises(ZeroDivisionError):
        Ahead().report(paths[0], SOURCE)


def test_who_comes_later_are_those_that_nbgrader_will_grade(tmp_path):
    for student in ("ann", "bob", "cem", "dora"):
        (tmp_path / student / "x").mkdir(parents=True)
        (tmp_path / student / "x" / "x.ipynb").write_bytes(b"{}")
    (tmp_path / "done" / "cem").mkdir(parents=True)
    autograde = SimpleNamespace(
        assignments={str(tmp_path / s / "x"): [] for s in ("dora", "bob", "ann", "cem")},
        _format_source=lambda assignment, student: str(tmp_path / student / assignment),
        _format_dest=lambda assignment, student: str(tmp_path / "done" / student),
        force=False,
    )
    judge = SimpleNamespace(parent=SimpleNamespace(parent=autograde))

    def later(student):
        about = {"assignment": "x", "student": student, "notebook": "x"}
        return [Path(p).parts[-3] for p in preprocessor.Judge._later(judge, about)]

    assert later("ann") == ["bob", "dora"], "in nbgrader's order, without who is graded already"
    autograde.force = True
    assert later("bob") == ["cem", "dora"]
    assert later("dora") == later("nobody") == []
