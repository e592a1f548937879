"""`course sync` with a damaged or missing file, a full disk or a folder that cannot be written: no edit is lost."""

import errno
import os

import pytest
from paired_cases import contents, edit_notebook, edit_source, notebook, run_cells

from course_pkg import cli
from course_pkg.commands import pairing
from course_pkg.commands import sync as room
from course_pkg.core import files
from course_pkg.core.errors import CourseError


@pytest.mark.parametrize("damage", [b"", b'{"cells": [', b"[1]", b"\xff\xfe", b'{"nbformat": 4}'])
def test_a_corrupt_notebook(lectures, capsys, damage):
    path = lectures / "01_first.ipynb"
    path.write_bytes(damage)
    assert cli.main(["sync"]) == 1
    line = capsys.readouterr().out
    assert line.count("\n") == 1 and "course sync --from py 01" in line
    assert path.read_bytes() == damage
    assert cli.main(["sync", "--from", "py", "01"]) == 0
    assert (lectures / "01_first.ipynb.orig").read_bytes() == damage
    assert cli.main(["sync", "--check"]) == 0


def test_strip_does_not_hide_an_edit(lectures):
    run_cells(lectures)
    edit_notebook(lectures)
    assert cli.main(["sync", "--strip"]) == 0
    nb = notebook(lectures / "01_first.ipynb")
    assert nb["cells"][0]["source"] == ["my own words"]
    assert not any(cell.get("outputs") for cell in nb["cells"])
    assert pairing.Pair(lectures / "01_first.py").state() is pairing.State.IPYNB_CHANGED


def test_a_full_disk_leaves_the_old_file(lectures, capsys, monkeypatch):
    edit_source(lectures)
    before = contents(lectures)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    assert cli.main(["sync"]) == 1
    assert "free space" in capsys.readouterr().out
    assert contents(lectures) == before


def test_an_unwritable_backup_changes_nothing(lectures, capsys, monkeypatch):
    edit_notebook(lectures)
    before = contents(lectures)

    def refuse(path):
        raise CourseError("could not be backed up")

    monkeypatch.setattr(room, "backup", refuse)
    assert cli.main(["sync", "--from", "py", "01"]) == 1
    assert contents(lectures) == before


def test_a_broken_header_costs_nothing(lectures, capsys):
    edit_source(lectures, "#   title: First steps", "#   title: [First: steps")
    before = contents(lectures)
    for command in (["sync"], ["sync", "--from", "py", "01"]):
        assert cli.main(command) == 1
        assert "header" in capsys.readouterr().out
        assert contents(lectures) == before


def test_an_unknown_lecture_is_named(lectures, capsys):
    assert cli.main(["sync", "07"]) == 1
    assert capsys.readouterr().err == "No lecture starts with '07'; there are: 01_first, 02_second.\n"
