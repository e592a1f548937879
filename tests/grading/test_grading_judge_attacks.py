"""Attacks by submissions on the judge: none gains a point, and none costs an honest answer a point."""

from functools import partial

import nbformat
import pytest
import submissions as s

from course_pkg.core import CourseError
from course_pkg.grading import judge
from course_pkg.grading.sandbox import Limits

pytestmark = pytest.mark.slow(30)

WRONG_GAIN = "def remaining_gain(t_eff_gb_s, t_peak_gb_s, share):\n    return 0.5"
GAIN = {"test_gain": 1, "test_gain_hidden": 1}
TRIAD = {"test_triad": 1, "test_triad_traffic": 1, "test_triad_hidden": 1}
PASSES = {"test_count": 1, "test_passes_hidden": 1, "test_bytes_hidden": 1}
KERNEL = "@cuda.jit\ndef triad_kernel(a, b, s, out):\n"
RIGHT = KERNEL + "    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = a[i] + s * b[i]\n"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait one second for a learner's code, not ten."""
    monkeypatch.setattr(judge, "Sandbox", partial(judge.Sandbox, Limits(call_s=3.0)))


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


# ---- kernels

KERNELS = {
    "endless_while": ("    while out.size:\n        out[0] = 1", "runs on and on"),
    "endless_for": ("    for k in range(10**12):\n        pass", "runs on and on"),
    "memory": ("    t = cuda.local.array(10**9, np.float64)\n    out[0] = t[0]", "over the limit"),
    "shared_memory": ("    t = cuda.shared.array(10**9, np.float64)\n    out[0] = t[0]", "49152"),
    "process": ("    out[0] = cuda.config.os.getpid()", "cuda.config"),
    "file": ("    out[0] = np.load('hidden')", "numpy.load"),
    "import": ("    import os\n    os._exit(0)", "an import"),
    "test_values": ("    out[0] = found[0]", "found"),
    "checks": ("    check.close = 3", "Line 3, `check.close = 3`: "),
    "out_of_bounds": (
        "    i = cuda.grid(1)\n    out[i] = a[i] + s * b[i]",
        "Line 4, `out[i] = a[i] + s * b[i]`: ",
    ),
    "negative": ("    out[-101 - cuda.grid(1)] = 1", "Line 3, `out[-101 - cuda.grid(1)] = 1`: "),
    "no_parameters": ("    pass", "nan"),
    "print": ("    print('hello')", ""),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_is_no_triad_gets_nothing_and_says_why(name):
    body, why = KERNELS[name]
    report = s.grade(s.submission({"triad": KERNEL + body}), part="triad")
    expected = dict(TRIAD)
    if name == "out_of_bounds":
        expected.pop("test_triad_traffic")  # as many threads as elements
    assert s.lost(report) == expected
    assert why in s.said(report)["test_triad"], s.said(report)["test_triad"]


def test_races_cost_points_though_the_result_looks_right():
    race = KERNEL + (
        "    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = a[i] + s * b[i]\n"
        "        out[0] = a[0] + s * b[0]\n"
    )
    report = s.grade(s.submission({"triad": race}), part="triad")
    assert "test_triad_traffic" in s.lost(report)
    assert "Line 6, `out[0] = a[0] + s * b[0]`: " in s.said(report)["test_triad_traffic"]


@pytest.mark.parametrize(
    "kernel",
    [
        RIGHT.replace("@cuda.jit", "@cuda.jit(fastmath=True)"),
        "from numba import cuda\n" + RIGHT,
        "import math\nONE = 1\nPAIR = (2, 3)\n"
        + RIGHT.replace("cuda.grid(1)", "cuda.grid(ONE) + PAIR[0] - 2 + int(math.floor(0.5))"),
        "@cuda.jit(device=True)\ndef fused(x, s, y):\n    return x + s * y\n\n"
        + RIGHT.replace("a[i] + s * b[i]", "fused(a[i], s, b[i])"),
        "%matplotlib inline\n" + RIGHT + "\n!ls\n",
        RIGHT.replace("triad_kernel(", "triad_kernel(").replace("i <", "i+0 <") + "\nprint(triad_kernel)",
        KERNEL + "    pass\n\n" + RIGHT,
        "from math import floor\nfrom numba import float64 as real\n"
        + RIGHT.replace("cuda.grid(1)", "cuda.grid(int(floor(real(1.5))))"),
    ],
)
def test_right_kernels_in_other_words_get_all_points(kernel):
    report = s.grade(s.submission({"triad": kernel}), part="triad")
    assert s.lost(report) == {}, s.said(report)


# ---- functions


def test_a_function_that_never_ends_costs_its_own_points_alone():
    endless = "def remaining_gain(*a):\n    while True:\n        pass"
    report = s.grade(s.submission({"gain": endless}), part="gain")
    assert s.lost(report) == GAIN
    assert "took more than 3 s of processor time: is there an endless loop?" in s.said(report)["test_gain"]


def test_a_warning_or_a_print_costs_nothing():
    noise = "import sys, warnings\nwarnings.warn('careful')\nprint('x' * 1000, file=sys.stderr)\n"
    cell = s.by_id(s.solved())["gain"].source
    body = cell.replace("    return", "    warnings.warn('again')\n    print('here')\n    return")
    assert s.lost(s.grade(s.submission({"gain": noise + body}))) == {}


def test_hidden_values_do_not_come_out_with_an_error():
    leak = "def remaining_gain(a, b, share):\n    if (a, b) != (1000, 4000):\n"
    leak += "        raise type(f'Secret{a}', (Exception,), {})(f'values {a} {b}')\n    return 2.5"
    report = s.grade(s.submission({"gain": leak}))
    assert s.lost(report) == {"test_gain_hidden": 1}
    assert s.said(report)["test_gain_hidden"] == (
        "Hidden tests: at the peak and below it. Your code raises an error."
    )


# ---- a part that does not count


def test_cells_to_skip_get_their_reason():
    report = judge.grade_cells(
        s.solved().cells, s.solved().cells, exercise="x", skip={"test_gain": "It broke."}
    )
    assert s.lost(report) == {"test_gain": 1}
    assert s.said(report)["test_gain"] == "It broke."


@pytest.mark.bare
def test_isolation_that_is_required_and_missing_refuses(monkeypatch):
    from course_pkg.grading import bubblewrap

    monkeypatch.setattr(bubblewrap, "obstacle", lambda: "there is no bubblewrap")
    with pytest.raises(CourseError, match="sandbox is required"):
        s.grade(s.solved(), require_sandbox=True)
