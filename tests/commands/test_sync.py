"""`course sync` makes the two files of a lecture agree, and never loses an edit."""

import json
import tomllib
from pathlib import Path

import nbformat
from paired_cases import contents, edit_notebook, edit_source, notebook, run_cells

from course_pkg import cli
from course_pkg.commands import pairing
from course_pkg.commands.pairing import tidy


def test_a_synced_notebook_is_clean_and_stable(lectures):
    before = contents(lectures)
    nb = notebook(lectures / "01_first.ipynb")
    assert [cell["cell_type"] for cell in nb["cells"]] == ["markdown", "code", "code", "code"]
    assert nb["cells"][1]["metadata"] == {"tags": ["setup"]}
    assert set(nb["metadata"]) == {"course", "kernelspec", "title"}
    assert all(not cell.get("outputs") for cell in nb["cells"])
    assert cli.main(["sync"]) == 0
    assert cli.main(["sync", "--check"]) == 0
    assert contents(lectures) == before


def test_ids_differ_within_a_course_and_survive_edits_elsewhere(lectures):
    before = [cell["id"] for cell in notebook(lectures / "01_first.ipynb")["cells"]]
    other = [cell["id"] for cell in notebook(lectures / "02_second.ipynb")["cells"]]
    assert len(set(before + other)) == 8
    edit_source(lectures)
    assert cli.main(["sync"]) == 0
    after = [cell["id"] for cell in notebook(lectures / "01_first.ipynb")["cells"]]
    assert [a == b for a, b in zip(after, before, strict=True)] == [True, False, True, True]


def test_only_the_source_changed(lectures, capsys):
    run_cells(lectures)
    edit_source(lectures)
    assert cli.main(["sync", "--check", "01"]) == 1
    assert "differ" in capsys.readouterr().out
    assert cli.main(["sync"]) == 0
    cells = notebook(lectures / "01_first.ipynb")["cells"]
    assert "".join(cells[1]["source"]) == "import math  # mine"
    assert cells[1]["outputs"] == []
    assert [cell["outputs"][0]["text"] for cell in cells[2:]] == [["1\n"], ["2\n"]]


def test_pasted_pictures_outlive_a_changed_source(lectures):
    path = lectures / "01_first.ipynb"
    nb = notebook(path)
    nb["cells"][0]["attachments"] = {"a.png": {"image/png": "aGk="}}
    path.write_text(json.dumps(nb), encoding="utf-8")
    edit_source(lectures)
    assert cli.main(["sync"]) == 0
    assert notebook(path)["cells"][0]["attachments"] == {"a.png": {"image/png": "aGk="}}


def test_only_the_notebook_changed_is_left_alone(lectures, capsys):
    edit_notebook(lectures)
    before = contents(lectures)
    assert cli.main(["sync"]) == 0
    assert contents(lectures) == before
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert "--from ipynb 01" in line and "--from py 01" in line
    # Jupytext shows the .py and overwrites the notebook, except where the notebook is clearly newer.
    assert (lectures / "01_first.ipynb").stat().st_mtime > (lectures / "01_first.py").stat().st_mtime + 1


def test_both_changed_is_left_alone_and_said(lectures, capsys):
    edit_notebook(lectures)
    edit_source(lectures)
    before = contents(lectures)
    assert cli.main(["sync"]) == 1
    assert contents(lectures) == before
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert "both edited" in line and "--from ipynb 01" in line and "--from py 01" in line


def test_both_changed_alike_is_in_step(lectures, capsys):
    """JupyterLab with Jupytext saves both sides."""
    path = lectures / "01_first.ipynb"
    run_cells(lectures)
    nb = notebook(path)
    nb["cells"][1]["source"] = ["import math  # mine"]
    path.write_text(json.dumps(nb), encoding="utf-8")
    edit_source(lectures)
    assert cli.main(["sync"]) == 0
    assert capsys.readouterr().out == ""
    assert notebook(path)["cells"][2]["outputs"]
    edit_source(lectures, "# mine", "# yours")
    assert cli.main(["sync"]) == 0
    assert notebook(path)["cells"][1]["source"] == ["import math  # yours"]


def test_outputs_alone_are_no_change(lectures):
    run_cells(lectures)
    before = contents(lectures)
    assert cli.main(["sync"]) == 0
    assert contents(lectures) == before


def test_from_notebook(lectures):
    old = (lectures / "01_first.py").read_bytes()
    edit_notebook(lectures)
    assert cli.main(["sync", "--from", "ipynb", "01"]) == 0
    text = (lectures / "01_first.py").read_text(encoding="utf-8")
    assert "# my own words" in text and "#   title: First steps" in text
    assert (lectures / "01_first.py.orig").read_bytes() == old
    assert cli.main(["sync", "--check"]) == 0


def test_from_source_keeps_every_notebook(lectures):
    kept = []
    for text in ("first words", "second words", "third words"):
        edit_notebook(lectures, text)
        kept.append((lectures / "01_first.ipynb").read_bytes())
        assert cli.main(["sync", "--from", "py", "01"]) == 0
    names = ["01_first.ipynb.orig", "01_first.ipynb.2.orig", "01_first.ipynb.3.orig"]
    assert [(lectures / name).read_bytes() for name in names] == kept
    assert cli.main(["sync", "--check"]) == 0


def test_one_lectures_trouble_does_not_stop_the_others(lectures):
    (lectures / "01_first.ipynb").write_text("{", encoding="utf-8")
    (lectures / "02_second.ipynb").unlink()
    assert cli.main(["sync"]) == 1
    assert (lectures / "02_second.ipynb").exists()


def test_a_missing_source_can_come_back(lectures, capsys):
    text = (lectures / "01_first.py").read_bytes()
    (lectures / "01_first.py").unlink()
    assert cli.main(["sync"]) == 1
    assert "--from ipynb 01" in capsys.readouterr().out
    assert cli.main(["sync", "--from", "ipynb", "01"]) == 0
    assert (lectures / "01_first.py").read_bytes() == text


def test_a_learners_own_notebook_is_no_lecture(lectures):
    own = lectures / "03_mine.ipynb"
    own.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', encoding="utf-8")
    assert cli.main(["sync", "--strip"]) == 0
    assert cli.main(["sync"]) == 0
    assert not own.with_suffix(".py").exists()


def test_check_names_the_trouble(lectures, capsys):
    run_cells(lectures)
    assert cli.main(["sync", "--check"]) == 1
    assert "01_first.ipynb has outputs" in capsys.readouterr().out
    assert cli.main(["sync", "--strip"]) == 0
    assert cli.main(["sync", "--check"]) == 0
    path = lectures / "01_first.ipynb"
    nb = notebook(path)
    nb["cells"][0]["id"] = "random"
    path.write_text(json.dumps(nb), encoding="utf-8")
    assert cli.main(["sync", "--check"]) == 1
    assert "ids" in capsys.readouterr().out


def test_lab_and_sync_filter_alike():
    root = Path(__file__).resolve().parents[2]
    config = tomllib.loads((root / "lectures" / "jupytext.toml").read_text(encoding="utf-8"))
    assert config.pop("formats") == "ipynb,py:percent"
    assert config == pairing.FILTERS


def test_blank_lines_are_laid_out_as_jupytext_writes_them(lectures):
    """Else the lab finds that the two files differ, and asks which one to take."""
    source = lectures / "01_first.py"
    assert cli.main(["sync", "--check"]) == 0
    source.write_text(source.read_text(encoding="utf-8").replace("\n\n# %%", "\n\n\n# %%"), encoding="utf-8")
    assert cli.main(["sync", "--check"]) == 1
    assert cli.main(["sync"]) == 0
    assert cli.main(["sync", "--check"]) == 0


def test_what_a_learner_need_not_read_is_folded():
    def cell(kind, source, slide, *tags):
        return {
            "cell_type": kind,
            "source": source,
            "metadata": {"slideshow": {"slide_type": slide}, "tags": [*tags]},
        }

    cells = [
        cell("markdown", "# A lecture", "slide"), cell("markdown", "> For the speaker.", "notes"),
        cell("code", "import numpy", "skip"), cell("code", "n = 1", "skip"), cell("markdown", "## An idea", "slide"),
        cell("code", "plot()", "-", "hide-input"), cell("code", "kernel()", "skip"), cell("code", "print(n)", "-"),
    ]  # fmt: skip
    fresh = tidy(
        nbformat.from_dict({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "00_a"
    )
    folded = [c.source for c in fresh.cells if c.metadata.get("jupyter", {}).get("source_hidden")]
    assert folded == ["> For the speaker.", "import numpy", "n = 1", "plot()"]
