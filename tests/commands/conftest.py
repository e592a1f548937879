"""A course with two lectures."""

import pytest
from paired_cases import LECTURE

from course_pkg import cli
from course_pkg.commands import sync as room


@pytest.fixture
def lectures(tmp_path, monkeypatch):
    """A course with two synced lectures, 01 and 02."""
    folder = tmp_path / "lectures"
    folder.mkdir()
    monkeypatch.setattr(room, "repo_root", lambda: tmp_path)
    for name in ("01_first.py", "02_second.py"):
        (folder / name).write_text(LECTURE, encoding="utf-8")
    assert cli.main(["sync"]) == 0
    return folder
