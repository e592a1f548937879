"""A lecture is run once, and a cell that fails or warns is named in one sentence."""

import importlib
from types import SimpleNamespace

import nbformat
import pytest

from course_pkg.slides import LectureError, SlidesError, execute, lecture


def test_runs_once_until_the_source_changes(tmp_path, write_lecture):
    body = "# %%\nimport os, time\nprint(os.path.basename(os.getcwd()), time.time_ns())\n"
    source = write_lecture(tmp_path / "lectures", "01_once", body)
    target = execute(source, tmp_path / "executed")
    first = nbformat.read(target, as_version=4).cells[0].outputs[0].text
    assert first.startswith("lectures "), "a lecture runs in its own folder"
    assert execute(source, tmp_path / "executed") == target
    assert nbformat.read(target, as_version=4).cells[0].outputs[0].text == first, "executed again"
    source.write_text(source.read_text() + "\n# %%\nprint('more')\n")
    execute(source, tmp_path / "executed")
    assert nbformat.read(target, as_version=4).cells[0].outputs[0].text != first, "not executed again"


def test_slides_show_nobodys_guesses_and_nobodys_progress(tmp_path, write_lecture, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "somebody"))
    (tmp_path / "somebody").mkdir()
    (tmp_path / "somebody" / "practice.json").write_text('{"guard": "2026-11-23"}', encoding="utf-8")
    monkeypatch.delenv("COURSE_GUESSES", raising=False)
    store = tmp_path / "guesses.json"
    choices = ["a", "b", "c", "d", "e", "f"]
    ask = f"viz.Prediction('09-x', 'Which?', {choices}, store='{store}')"
    body = f"# %%\nfrom course_pkg import viz\nasked = {ask}\nprint(asked.guess, asked.choices)\nasked.reveal('b')\n"
    body += "\n# %%\nfrom course_pkg.practice import remembered\nprint(remembered.solved())\n"
    source, printed = write_lecture(tmp_path, "01_guess", body), ""
    for seed in (1, 2):
        store.write_text(f'{{"seed": {seed}, "guesses": {{"09-x": {{"guess": "b"}}}}}}', encoding="utf-8")
        before = store.read_bytes()
        cell, solved = nbformat.read(execute(source, tmp_path / str(seed)), as_version=4).cells[:2]
        assert solved.outputs[0].text == "{}\n"
        assert cell.outputs[0].text == (printed or cell.outputs[0].text)
        printed = cell.outputs[0].text
        assert printed.startswith("None [") and "You said" not in cell.outputs[1].data["text/html"]
        assert store.read_bytes() == before
    assert printed != f"None {choices}\n", "the order is drawn there, too"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("values = [1]\nvalues[3]", r"05_bad\.py: .*“values = \[1\]” raised IndexError: list index out"),
        ("import warnings\nwarnings.warn('old')", r"05_bad\.py: .*“import warnings” wrote to stderr.*old"),
    ],
    ids=["raises", "warns"],
)  # fmt: skip
def test_a_bad_cell_is_named(tmp_path, write_lecture, cell, said):
    source = write_lecture(tmp_path, "05_bad", f"# %%\nx = 1\n\n# %%\n{cell}\n")
    with pytest.raises(LectureError, match=said) as caught:
        execute(source, tmp_path / "executed")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "executed" / "05_bad.ipynb").exists()


def test_a_slow_cell_is_named(tmp_path, write_lecture):
    source = write_lecture(tmp_path, "06_slow", "# %%\nimport time\ntime.sleep(60)\n")
    with pytest.raises(LectureError, match="“import time” took longer than 1 s"):
        execute(source, tmp_path / "executed", cell_timeout_s=1)


def test_a_missing_lecture_is_named(tmp_path):
    with pytest.raises(SlidesError, match=r"99_none\.py does not exist"):
        execute(tmp_path / "99_none.py", tmp_path)


def test_header_title_and_promise(tmp_path):
    path = tmp_path / "01_x.py"
    path.write_text('# ---\n# title: "A & B"\n# promise: You can.\n# ---\n\n# %% [markdown]\n# # Other\n')
    nb = lecture.read(path)
    assert (lecture.title_of(nb, "?"), lecture.promise_of(nb)) == ("A & B", "You can.")
    title_slide = "# # From the heading\n#\n# **Part 1**\n#\n# You *can*\n# tell.\n#\n# More.\n"
    path.write_text('# %% [markdown] tags=["title-slide"]\n' + title_slide)
    nb = lecture.read(path)
    assert (lecture.title_of(nb, "?"), lecture.promise_of(nb)) == ("From the heading", "You can tell.")


def test_a_room_that_only_shows_lectures_runs_none_again(tmp_path, monkeypatch):
    # the package's name `execute` is the function
    module = importlib.import_module("course_pkg.slides.execute")
    for name in ("site/pages.py", "bench/limit.py", "__init__.py", "lecture.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(module, "course_pkg", SimpleNamespace(__file__=str(tmp_path / "__init__.py")))
    before = module._digest(tmp_path / "lecture.py")
    (tmp_path / "site/pages.py").write_text("changed = True")
    assert module._digest(tmp_path / "lecture.py") == before
    (tmp_path / "bench/limit.py").write_text("changed = True")
    assert module._digest(tmp_path / "lecture.py") != before


def test_a_lecture_runs_again_when_a_figure_was_redrawn(tmp_path, monkeypatch):
    module = importlib.import_module("course_pkg.slides.execute")
    (tmp_path / "lecture.py").touch()
    (tmp_path / "drawn").mkdir()
    drawn = tmp_path / "drawn" / "orders.svg"
    drawn.write_text("<svg/>")
    monkeypatch.setattr(module, "figure", lambda name: tmp_path / "drawn" / name)
    before = module._digest(tmp_path / "lecture.py")
    assert module._digest(tmp_path / "lecture.py") == before
    drawn.write_text("<svg>4,096</svg>")
    assert module._digest(tmp_path / "lecture.py") != before
