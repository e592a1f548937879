"""`course clean` removes files that tools made, and nothing that a learner wrote."""

from course_pkg import cli
from course_pkg.commands import clean


def test_clean(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(clean, "repo_root", lambda: tmp_path)
    products = ["build/slides/a.html", ".pytest_cache/x", "course_pkg/core/__pycache__/a.pyc"]
    people = [
        "lectures/01_x.ipynb",
        "lectures/01_x.ipynb.orig",
        "exercises/e.ipynb",
        "grading/db",
        "mine/notes.py",
    ]
    environment = [".venv/bin/python", ".course/install.log"]
    for name in products + people + environment:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert cli.main(["clean"]) == 0
    assert not any((tmp_path / name).exists() for name in products)
    assert all((tmp_path / name).exists() for name in people + environment)
    assert cli.main(["clean", "--all"]) == 0
    assert not any((tmp_path / name).exists() for name in environment)
    assert all((tmp_path / name).exists() for name in people)
    assert "removed .venv" in capsys.readouterr().out
