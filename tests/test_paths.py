"""The path of the course's repository."""

from pathlib import Path

import pytest

from course_pkg import paths
from course_pkg.core import CourseError


def test_the_root_is_the_parent_of_the_package():
    root = paths.repo_root()
    assert root == Path(paths.__file__).resolve().parents[1]
    assert (root / "lectures").is_dir()
    assert (root / "pyproject.toml").is_file()


def test_folders_and_figures():
    assert paths.recorded_dir() == paths.repo_root() / "figures" / "data"
    assert paths.figure("a.svg") == paths.repo_root() / "figures" / "output" / "a.svg"


def test_a_package_without_its_course_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "course_pkg" / "paths.py"))
    with pytest.raises(CourseError, match=r"has no folder lectures/: .*`pip install -e \.`"):
        paths.repo_root()
    (tmp_path / "lectures").mkdir()
    assert paths.repo_root() == tmp_path.resolve()
