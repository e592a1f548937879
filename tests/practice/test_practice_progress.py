"""What was solved is remembered; a file that cannot be read or written loses nothing."""

import json
import os
import subprocess
import sys

import practice_cells as cells
import pytest

from course_pkg import paths, practice
from course_pkg.core import CourseError
from course_pkg.practice import catalogue, remembered

RIGHT = {lab.step: lab for lab in cells.labs() if not lab.says}


def test_what_is_solved_is_remembered_by_another_session(learner_dir):
    assert remembered.solved() == {}
    assert practice.check("map", RIGHT["map"].answer).good
    code = "from course_pkg import practice; print(practice.progress('first_kernels'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "One thread for each element: solved on 20" in done.stdout
    assert (learner_dir / "practice.json").exists()


def test_a_wrong_answer_or_a_skeleton_is_not_remembered(learner_dir):
    practice.check("map", cells.kernel("..."))
    practice.check("map", cells.kernel("out[0] = 1"))
    assert not learner_dir.exists()


def test_a_step_whose_foundation_is_not_solved_is_for_later():
    rows = dict(practice.progress("01_first_kernels").rows("first_kernels"))
    assert rows["A guard"].startswith("later: it builds on “One thread")
    assert practice.check("guard", RIGHT["guard"].answer).good
    rows = dict(practice.progress("first_kernels").rows("first_kernels"))
    assert rows["A guard"].startswith("solved")
    assert rows["Many blocks"] == "open"


def test_the_list_is_drawn():
    practice.check("map", RIGHT["map"].answer)
    html = practice.progress()._repr_html_()
    assert f"1 of {len(catalogue.lectures()['first_kernels'])} solved" in html
    assert "✓" in html and "○" in html


def test_a_corrupt_file_is_set_aside_and_a_sentence_says_so(learner_dir):
    learner_dir.mkdir()
    (learner_dir / "practice.json").write_text("{broken", encoding="utf-8")
    assert "open" in str(practice.progress())
    result = practice.check("map", RIGHT["map"].answer)
    assert result.good
    assert "was kept as practice.json.orig, and a new one begins" in " ".join(result.notes)
    assert (learner_dir / "practice.json.orig").read_text(encoding="utf-8") == "{broken"
    assert set(remembered.solved()) == {"map"}


@pytest.mark.parametrize("content", ["[1, 2]", "null", '{"map": 3}', "\ufeff{}", ""])
def test_a_file_with_something_else_does_no_harm(learner_dir, content):
    learner_dir.mkdir()
    (learner_dir / "practice.json").write_text(content, encoding="utf-8")
    assert practice.check("guard", RIGHT["guard"].answer).good
    assert "guard" in json.loads((learner_dir / "practice.json").read_text(encoding="utf-8"))


def test_where_nothing_can_be_written_a_sentence_says_so(learner_dir, monkeypatch):
    (learner_dir.parent / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("COURSE_DATA", str(learner_dir.parent / "file" / "data"))  # a folder in a file
    result = practice.check("map", RIGHT["map"].answer)
    assert result.good
    assert "cannot be remembered" in result.notes[0]
    assert "open" in str(practice.progress())


def test_forgetting_begins_anew():
    practice.check("map", RIGHT["map"].answer)
    remembered.forget()
    assert remembered.solved() == {}


@pytest.mark.skipif(os.name == "nt", reason="paths of Linux")
def test_the_folder_is_the_operating_systems(monkeypatch):
    monkeypatch.delenv("COURSE_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    monkeypatch.setattr(paths.sys, "platform", "linux")
    assert str(paths.learner_dir()) == "/somewhere/at-the-speed-of-memory"
    monkeypatch.setattr(paths.sys, "platform", "darwin")
    assert paths.learner_dir().parts[-3:] == ("Library", "Application Support", "at-the-speed-of-memory")


def test_a_lecture_without_steps_is_refused():
    with pytest.raises(CourseError, match="has no steps; these have: first_kernels"):
        practice.progress("00_start_here")
