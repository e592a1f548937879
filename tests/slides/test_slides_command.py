"""`course slides` chooses lectures by the beginning of their name."""

import argparse
from pathlib import Path

import pytest

from course_pkg.slides import SlidesError, add_arguments, run
from course_pkg.slides.command import choose
from course_pkg.slides.contents import write_contents

SOURCES = [Path("01_memory.py"), Path("02_shared.py"), Path("02_tiles.py")]


def test_choose():
    assert choose(SOURCES, []) == SOURCES
    assert choose(SOURCES, ["02"]) == SOURCES[1:]
    assert choose(SOURCES, ["02_t", "01"]) == [SOURCES[0], SOURCES[2]]
    with pytest.raises(SlidesError, match="No lecture begins with '09': there are 01_memory, 02_shared"):
        choose(SOURCES, ["01", "09"])
    with pytest.raises(SlidesError, match="contains no lecture"):
        choose([], [])


def parse(*words):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def test_arguments(monkeypatch, tmp_path):
    args = parse("01", "02", "--pdf", "--out", "x")
    assert (args.lectures, args.pdf, args.no_check, args.out) == (["01", "02"], True, False, Path("x"))
    (tmp_path / "lectures").mkdir()
    (tmp_path / "lectures" / "01_a.py").touch()
    monkeypatch.setattr("course_pkg.slides.command.repo_root", lambda: tmp_path)
    with pytest.raises(SlidesError, match="omit one of the two options"):
        run(parse("--shots", "x", "--no-check"))


def test_contents_keeps_the_decks_of_earlier_builds(tmp_path):
    for name in ("01_a", "02_b"):
        (tmp_path / f"{name}.html").touch()
        write_contents(tmp_path, [{"name": name, "title": name, "promise": "", "slides": 1}])
    html = (tmp_path / "index.html").read_text()
    assert html.index("01_a.html") < html.index("02_b.html")
    assert "1 slide<" in " ".join(html.split())
    (tmp_path / "01_a.html").unlink()
    write_contents(tmp_path, [])
    assert "01_a" not in (tmp_path / "index.html").read_text()
