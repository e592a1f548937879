"""Attacks by submissions on the judge: none gains a point, and none costs an honest answer a point."""

import nbformat
import pytest
import submissions as s
from attack_cases import GAIN, KERNEL, PASSES, RIGHT, TRIAD, WRONG_GAIN

pytestmark = [pytest.mark.slow(30), pytest.mark.usefixtures("impatient")]


def test_cells(nb):
    return [c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade")]


test_cells.__test__ = False


# ---- test cells of the submission are never looked at


def _delete(nb):
    for cell in test_cells(nb):
        nb.cells.remove(cell)


def _edit(nb):
    for cell in test_cells(nb):
        cell.source = "assert True"


def _duplicate(nb):
    for cell in test_cells(nb):
        nb.cells.append(nbformat.from_dict({**cell, "source": "pass", "id": f"{cell.id}2"}))


def _reflag(nb):
    for cell in test_cells(nb):
        cell.metadata.nbgrader.update(grade=False, solution=True, locked=False, points=100)


def _strip(nb):
    for cell in test_cells(nb):
        del cell.metadata["nbgrader"]


def _more_points(nb):
    for cell in test_cells(nb):
        cell.metadata.nbgrader.points = 1000
        cell.metadata["course"] = {"limits": {"global_load.sectors": 1e9}}


def _setup_replaced(nb):
    s.by_id(nb)["setup"].source = "import os\nos._exit(0)"
    s.by_id(nb)["run_triad"].source = "def run_triad(*a, **k):\n    return 1, 1, 4.0"


TOUCHES = [_delete, _edit, _duplicate, _reflag, _strip, _more_points, _setup_replaced]


@pytest.mark.parametrize("touch", TOUCHES, ids=lambda f: f.__name__[1:])
def test_cells_that_are_no_answers_change_no_mark(touch):
    wrong = s.submission({"gain": WRONG_GAIN, "triad": KERNEL + "    out[0] = 1"})
    touch(wrong)
    report = s.grade(wrong)
    assert s.lost(report) == {**GAIN, **TRIAD}
    assert report.max_points == 20


# ---- answer cells that are gone or changed


def _without(name):
    nb = s.solved()
    nb.cells.remove(s.by_id(nb)[name])
    return nb


def test_an_answer_cell_that_is_gone_costs_its_points_and_says_so():
    report = s.grade(_without("triad"))
    assert s.lost(report) == TRIAD
    assert s.said(report)["test_triad"] == "The answer cell 'triad' is not in the notebook."


def test_an_answer_cell_that_lost_its_metadata_is_gone():
    nb = s.solved()
    del s.by_id(nb)["gain"].metadata["nbgrader"]
    assert s.lost(s.grade(nb)) == GAIN


def test_an_answer_cell_that_became_text_is_no_answer():
    nb = s.solved()
    s.by_id(nb)["gain"].cell_type = "markdown"
    report = s.grade(nb)
    assert s.lost(report) == GAIN
    assert s.said(report)["test_gain"] == "The answer cell 'gain' is no longer a code cell."


def test_flags_of_an_answer_cell_do_not_matter():
    nb = s.solved()
    s.by_id(nb)["gain"].metadata.nbgrader.update(solution=False, grade=True, locked=True, points=-3)
    assert s.lost(s.grade(nb)) == {}


@pytest.mark.bare
@pytest.mark.parametrize(("sources", "expected"), [((None, WRONG_GAIN), GAIN), ((WRONG_GAIN, None), {})])
def test_of_an_answer_cell_that_is_there_twice_the_last_one_counts(sources, expected):
    nb = s.solved()
    cell = s.by_id(nb)["gain"]
    copy = nbformat.from_dict({**cell, "id": "again"})
    nb.cells.insert(nb.cells.index(cell) + 1, copy)
    cell.source, copy.source = (source or cell.source for source in sources)
    report = s.grade(nb)
    assert s.lost(report) == expected
    assert "more than once" in report.notes[0]


def test_a_function_that_was_deleted_is_named():
    report = s.grade(s.submission({"gain": "x = 1", "passes": "", "triad": "x = 2"}))
    assert s.lost(report) == {**GAIN, **TRIAD, **PASSES}
    said = s.said(report)
    assert said["test_gain"] == "remaining_gain is missing: its answer cell does not define it."
    assert "triad_kernel is not a CUDA kernel: write it with def under @cuda.jit" in said["test_triad"]
    assert said["test_count"] == "passes is missing: its answer cell does not define it."
    assert said["test_passes_hidden"].endswith("The answer cell does not define what is tested.")


@pytest.mark.bare
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def remaining_gain(:", "Your answer cannot be read: line 1: "),
        ("x = " + "-" * 30000 + "1", "Your answer cannot be read: "),
        ("x = '\0'", "Your answer cannot be read: "),
        ("#" * 200_000, "Your answer cannot be read: the answer cell has more than 100,000 characters."),
        ("1 / 0", "Your code raises ZeroDivisionError on line 1: division by zero."),
        ("raise KeyboardInterrupt", "Your code raises KeyboardInterrupt on line 1."),
        ("import sys\nsys.exit('bye')", "Your code raises SystemExit on line 2: bye."),
    ],
)
def test_an_answer_that_does_not_run_costs_its_own_points_alone(source, said):
    report = s.grade(s.submission({"gain": source}), part="three")
    assert s.lost(report) == GAIN
    assert s.said(report)["test_gain"].startswith(said)


def test_an_answer_that_ends_its_process_costs_its_own_points_alone():
    report = s.grade(s.submission({"gain": "import os\nos._exit(0)", "triad": f"{RIGHT}\nSIZE = 3"}))
    assert s.lost(report) == GAIN
    assert s.said(report)["test_gain"]


# ---- patches of what tests stand on

PATCHES = {
    "numpy_testing": "np.testing.assert_allclose = np.isclose = np.allclose = lambda *a, **k: True",
    "comparisons": "np.abs = np.any = np.all = lambda *a, **k: False\nnp.asarray = lambda x, *a: x",
    "assertions": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\nAssertionError = Exception",
    "builtins": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.set = lambda x: {1}\n"
    "builtins.isinstance = lambda *a: True",
    "checks": "class check:\n    close = that = at_most = no_hazards = lambda *a, **k: None\nlimits = {}",
    "helpers": "def run_triad(*a, **k):\n    return 0, 0, 0\ndef four_statements(*a):\n    return 0",
    "module": "import sys\nsys.modules['course_pkg.grading.check'] = sys\nsys.modules['numpy'].isclose = max",
    "node_interactivity": "get_ipython().ast_node_interactivity = 'none'",
    "run_code": "ip = get_ipython()\nip.run_code = lambda *a, **k: False",
    "transformer": "get_ipython().ast_transformers.append(None)",
    "profile": "simt.profile = lambda *a: None\nsimt.AccessCounts.sectors = 0",
    "interpreter": "from course_pkg.simt.counting import sites\nsites.Counters.finish = lambda self: None",
    "reference": "from course_pkg.stencil import reference",
    "solution": "exec(open('solutions/02_memory_bound/02_memory_bound.py').read())",
}


@pytest.mark.parametrize("name", PATCHES)
def test_patches_gain_nothing(name):
    """The patch is tried before and after a wrong answer."""
    wrong = {
        "gain": f"{WRONG_GAIN}\n{PATCHES[name]}",
        "window": f"{PATCHES[name]}\n\ndef bytes_sent(*a):\n    return 1.0",
    }
    wrong["triad"] = f"{KERNEL}    out[0] = 1\n\n{PATCHES[name]}"
    lost = s.lost(s.grade(s.submission(wrong), part="three"))
    for cell, points in {**GAIN, **TRIAD, "test_window": 1, "test_window_hidden": 1}.items():
        assert lost[cell] == points


EQUALS = {
    "object": "class Equal:\n    __eq__ = __lt__ = __sub__ = lambda *a: True\n    __abs__ = lambda self: 0",
    "float": "class Equal(float):\n    __eq__ = __sub__ = __rsub__ = lambda *a: 0.0",
    "array": "class Equal(np.ndarray):\n    def __new__(cls):\n        return np.zeros(()).view(cls)\n"
    "    def __array_function__(self, *a):\n        return True",
    "objects": "def Equal():\n    return np.array([None, 1], object)",
    "text": "def Equal():\n    return '2.5'",
    "nan": "def Equal():\n    return float('nan')",
    "empty": "def Equal():\n    return np.array([])",
    "huge": "def Equal():\n    return 10**5000",
    "long": "def Equal():\n    return [[2.5], [2.5, 1]]",
    "function": "def Equal():\n    return print",
    "generator": "def Equal():\n    yield 2.5",
    "pickle": "class Equal:\n    def __reduce__(self):\n        return (print, ('unpickled',))",
}


@pytest.mark.parametrize("name", EQUALS)
def test_values_that_claim_to_be_equal_gain_nothing(name, capfd):
    gain = f"{EQUALS[name]}\n\ndef remaining_gain(t_eff_gb_s, t_peak_gb_s, share):\n    return Equal()"
    report = s.grade(s.submission({"gain": gain}), part="gain")
    assert s.lost(report) == GAIN
    assert "unpickled" not in capfd.readouterr().out
    for text in s.said(report).values():
        assert len(text) <= 400
