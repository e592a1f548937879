"""`course exercises` generates, checks, and never overwrites somebody's work."""

import argparse
import json

import nbformat
import pytest

from course_pkg.core import CourseError
from course_pkg.grading import command, release

CHECK = argparse.Namespace(check=True, register=False)
WRITE = argparse.Namespace(check=False, register=False)
SOURCE = next(path for path in release.sources() if path.stem == "02_memory_bound")
TEXT = release.released(SOURCE).read_text(encoding="utf-8")


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    """The path of the exercise in a course that is elsewhere; the text is the tracked one."""
    monkeypatch.setattr(command, "repo_root", lambda: tmp_path)
    monkeypatch.setattr(release, "repo_root", lambda: tmp_path)
    monkeypatch.setattr(release, "sources", lambda: [SOURCE])
    monkeypatch.setattr(release, "release_text", lambda source: TEXT)
    return release.released(SOURCE)


def test_a_missing_exercise_is_written(exercise, capsys):
    with pytest.raises(CourseError, match=r"Not up to date: .*\.ipynb; run `course exercises`"):
        command.run(CHECK)
    assert not exercise.exists()
    assert command.run(WRITE) == 0
    assert exercise.read_text(encoding="utf-8") == TEXT
    assert "written" in capsys.readouterr().out
    assert command.run(CHECK) == 0
    assert command.run(WRITE) == 0
    assert capsys.readouterr().out == "", "nothing to do, nothing to say"


def older(text):
    """The exercise as an earlier release was, untouched."""
    nb = nbformat.reads(text, as_version=4)
    nb.cells[0].source += "\nAn older sentence."
    nb.metadata.course.released = release.fingerprint(nb)
    return nbformat.writes(nb)


def test_an_older_exercise_that_nobody_touched_is_replaced(exercise):
    exercise.parent.mkdir(parents=True)
    exercise.write_text(older(TEXT), encoding="utf-8")
    with pytest.raises(CourseError, match="Not up to date"):
        command.run(CHECK)
    assert exercise.read_text(encoding="utf-8") == older(TEXT)
    assert command.run(WRITE) == 0
    assert exercise.read_text(encoding="utf-8") == TEXT


def _answered(nb):
    cell = next(cell for cell in nb.cells if "raise NotImplementedError()" in cell.source)
    cell.source = cell.source.replace("raise NotImplementedError()", "pass")


def _run(nb):
    cell = next(cell for cell in nb.cells if cell.cell_type == "code")
    cell.outputs = [nbformat.v4.new_output("stream", text="printed")]


def _new_cell(nb):
    nb.cells.append(nbformat.v4.new_markdown_cell("My notes."))


def _no_fingerprint(nb):
    del nb.metadata["course"]


@pytest.mark.parametrize("touch", [_answered, _run, _new_cell, _no_fingerprint], ids=lambda f: f.__name__[1:])
def test_somebodys_work_is_never_overwritten(exercise, touch):
    nb = nbformat.reads(TEXT, as_version=4)
    touch(nb)
    work = nbformat.writes(nb)
    exercise.parent.mkdir(parents=True)
    exercise.write_text(work, encoding="utf-8")
    with pytest.raises(
        CourseError, match=r"\.ipynb holds somebody's work and is left as it is: move it away"
    ):
        command.run(WRITE)
    assert exercise.read_text(encoding="utf-8") == work


@pytest.mark.parametrize(
    "text", ["", "not a notebook", "{}", json.dumps({"cells": [], "nbformat": 4})], ids=repr
)
def test_a_file_that_is_no_exercise_is_not_overwritten(exercise, text):
    exercise.parent.mkdir(parents=True)
    exercise.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match="somebody's work"):
        command.run(WRITE)
    assert exercise.read_text(encoding="utf-8") == text


def test_one_exercise_with_work_does_not_stop_the_others(exercise, monkeypatch, tmp_path):
    other = SOURCE.parent.parent / "02_other" / "02_other.py"
    monkeypatch.setattr(release, "sources", lambda: [SOURCE, other])
    exercise.parent.mkdir(parents=True)
    exercise.write_text("mine", encoding="utf-8")
    with pytest.raises(CourseError, match="02_memory_bound"):
        command.run(WRITE)
    assert exercise.read_text(encoding="utf-8") == "mine"
    assert release.released(other).read_text(encoding="utf-8") == TEXT


def test_the_gradebook_is_for_teachers_who_ask(exercise, monkeypatch, capsys):
    registered = []
    monkeypatch.setattr(release, "register", registered.append)
    assert command.run(WRITE) == 0
    assert registered == []
    assert command.run(argparse.Namespace(check=False, register=True)) == 0
    assert registered == [SOURCE]
    assert f"nbgrader autograde {SOURCE.stem}" in capsys.readouterr().out
