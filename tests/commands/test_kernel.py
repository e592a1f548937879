"""What a cell that fails shows in a kernel of `course lab`: the learner's lines and one sentence."""

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from course_pkg.commands import kernel, lab

SETUP = "# Setup: what this lecture uses.\nimport math as m\nfrom course_pkg.core import checks"
CELLS = [SETUP, "radius = m.sqrt(2)", "def area(r):\n    return pi_of(r)"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that runs a cell and returns what it shows if it fails; the notebook lies beside."""
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    nbformat.write(nb, tmp_path / "lecture.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "lecture.ipynb"))
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    kernel.prepare(shell)
    shown = []
    monkeypatch.setattr(shell, "_showtraceback", lambda kind, error, lines: shown.append("\n".join(lines)))

    def run(source):
        shown.clear()
        failed = not shell.run_cell(source).success
        assert failed == bool(shown)
        return "".join(shown)

    return run


def test_a_cell_that_was_skipped_is_named(run):
    said = run("y = 2\nx = m.sqrt(2)")
    assert said.splitlines()[-1] == (
        "NameError: m is made by the cell that begins “# Setup: what this lecture uses.”, which has not run to its "
        "end: run it first, or all cells above this one by Run, Run All Above Selected Cell."
    )
    assert "line 2:  x = m.sqrt(2)" in said and len(said.splitlines()) == 2
    assert "“radius = m.sqrt(2)”" in run("print(radius)")
    assert run(SETUP) == "" and run(CELLS[1]) == ""


def test_a_name_that_no_cell_makes_is_python_s_affair(run, monkeypatch, tmp_path):
    run(CELLS[2])
    assert "Traceback" in run("area(1)")  # pi_of
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "deleted.ipynb"))
    assert "Traceback" in run("m.sqrt(2)")
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert "Traceback" in run("m.sqrt(2)")


def test_an_error_of_the_course_is_the_learner_s_line_and_a_sentence(run):
    for call in ("machine('abacus')", "Cost(bytes_read=-1)"):
        said = run(
            f"from course_pkg.core import Cost, machine\n\n\ndef mine():\n    return {call}\n\n\nmine()"
        )
        lines = said.splitlines()
        assert lines[0].endswith(":  mine()") and lines[1].endswith(f":  return {call}"), said
        assert ".py" not in said and len(lines) <= 4


def test_another_error_in_the_course_is_short_too(run):
    said = run("from course_pkg import viz\nviz.slider(3, [1], label='n')")
    assert said.splitlines() == [
        "In the cell, line 2:  viz.slider(3, [1], label='n')", "TypeError: 'int' object is not callable",
        "%tb shows where in the course this arose.",
    ]  # fmt: skip


def test_an_error_of_a_function_that_the_course_calls_is_the_learner_s(run):
    for error in ("1 / 0", "np.zeros(-1)"):
        said = run(
            "import numpy as np\nfrom course_pkg.grading.ranks import on_each_rank, play\n\n\n"
            f"@on_each_rank\ndef mine(comm):\n    return {error}\n\n\nplay(mine, [(), ()])"
        ).splitlines()
        assert [line.partition(":  ")[2] for line in said[:2]] == ["play(mine, [(), ()])", f"return {error}"]
        assert len(said) == 3 and said[2].partition(":")[0] in ("ZeroDivisionError", "ValueError"), said


@pytest.mark.parametrize(
    "call", ["play(on_each_rank(lambda comm: f()), [(), ()])", "check.using(f, sin=cos)()"]
)
def test_without_the_lab_s_kernel_the_course_is_not_in_a_traceback(call, monkeypatch):
    shell, shown = InteractiveShell(), []
    shell.history_manager.enabled = False
    monkeypatch.setattr(shell, "_showtraceback", lambda kind, error, lines: shown.extend(lines))
    shell.run_cell(
        "from math import cos, sin\nfrom course_pkg.grading import check\n"
        f"from course_pkg.grading.ranks import on_each_rank, play\ndef f():\n    1 / 0\n{call}"
    )
    said = "\n".join(shown)
    assert "ZeroDivisionError" in said and "skipping hidden" in said and ".py" not in said, said


def test_a_learner_s_own_error_keeps_its_traceback(run):
    assert "ZeroDivisionError" in (said := run("1 / 0")) and "Traceback" in said


def test_the_names_of_a_cell():
    cell = "import a.b, c as d\nfrom e import f as g\nh, (i, *j) = k = 1, (2, 3)\nfor l in h: m = l\n"
    cell += "with n as o: p: int = 2\nclass q:\n    r = 1\ndef s(t):\n    u = 1\nif (v := 1): w = [x for x in y]\n"
    cell += "try:\n    z += 1\nexcept E as error: pass"
    assert kernel.defined(cell) == set("adghijklmopqsvwz")  # of an exception, no name stays
    assert kernel.defined("this is no Python") == set()


def test_a_kernel_starts_so_and_leaves_no_name(monkeypatch):
    shell, space = InteractiveShell(), {}
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    exec(compile(lab.KERNEL_STARTUP.read_text(), "startup", "exec"), space)
    assert shell.custom_exceptions == (Exception,) and set(space) == {"__builtins__"}
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    exec(compile(lab.KERNEL_STARTUP.read_text(), "startup", "exec"), space)  # in a terminal's Python
