"""Kernels and functions that misbehave cost their own points alone; the judge says why."""

import pytest
import submissions as s
from attack_cases import GAIN, KERNEL, RIGHT, TRIAD

from course_pkg.core import CourseError
from course_pkg.grading import judge

pytestmark = [pytest.mark.slow(30), pytest.mark.usefixtures("impatient")]

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
        "    i = cuda.grid(1)\n    out[i] = a[a.size - 1 - i] + s * b[i]",
        "Line 4, `out[i] = a[a.size - 1 - i] + s * b[i]`: ",
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
        "    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = a[a.size - 1 - i] + s * b[i]\n"
        "        out[0] = a[a.size - 1] + s * b[0]\n"
    )
    report = s.grade(s.submission({"triad": race}), part="triad")
    assert "test_triad_traffic" in s.lost(report)
    assert "Line 6, `out[0] = a[a.size - 1] + s * b[0]`: " in s.said(report)["test_triad_traffic"]


@pytest.mark.parametrize(
    "kernel",
    [
        RIGHT.replace("@cuda.jit", "@cuda.jit(fastmath=True)"),
        "from numba import cuda\n" + RIGHT,
        "import math\nONE = 1\nPAIR = (2, 3)\n"
        + RIGHT.replace("cuda.grid(1)", "cuda.grid(ONE) + PAIR[0] - 2 + int(math.floor(0.5))"),
        "@cuda.jit(device=True)\ndef fused(x, s, y):\n    return x + s * y\n\n"
        + RIGHT.replace("a[a.size - 1 - i] + s * b[i]", "fused(a[a.size - 1 - i], s, b[i])"),
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
    leak = "def remaining_gain(a, b, share):\n    if (b, share) != (4000, 0.8):\n"
    leak += "        raise type(f'Secret{a}', (Exception,), {})(f'values {a} {b}')\n    return 1 / (0.2 + 0.8 * a / b)"
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
