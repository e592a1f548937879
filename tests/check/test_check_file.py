"""`course check` on files such as people write: it finds bugs, makes inputs, and refuses in a sentence."""

import json

import pytest
from check_sources import HEAD, NO_GUARD, SAXPY

from course_pkg.check import check_file
from course_pkg.check.facts import facts
from course_pkg.check.show import as_text, place
from course_pkg.core import machine

ENDLESS = """
@cuda.jit
def spin(flag, out):
    while flag[0] < 2.0:
        out[0] += 1.0
"""


def statuses(report):
    return {kernel.name: kernel.status for kernel in report.kernels}


CLEAN = {
    "by its own launch": (SAXPY + "saxpy[4, 64](2.0, np.ones(200), np.ones(200))\n", "launched in a.py:"),
    "without a launch": (SAXPY, "n = 261"),
    "in two directions, with a signature": (
        """
@cuda.jit("void(float32[:,:], float32[:,:])")
def transpose(a, out):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[j, i] = a[i, j]
""",
        "a float32[37, 37]",
    ),
    "a sparse product": (
        """
@cuda.jit
def spmv(indptr, indices, data, x, y, n):
    row = cuda.grid(1)
    if row < n:
        value = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            value += data[k] * x[indices[k]]
        y[row] = value
""",
        "indptr int64[262], indices int64[261], data float64[261]",
    ),
    "a sum in shared memory, whose size gives the block": (
        """
TPB = 64

@cuda.jit
def sums(a, out):
    parts = cuda.shared.array(TPB, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    parts[t] = a[i] if i < a.size else 0.0
    s = TPB // 2
    while s > 0:
        cuda.syncthreads()
        if t < s:
            parts[t] += parts[t + s]
        s //= 2
    if t == 0:
        out[cuda.blockIdx.x] = parts[0]
""",
        "block 64;",
    ),
    "a flat matrix": (
        """
@cuda.jit
def add(a, b, rows, columns):
    y, x = cuda.grid(2)
    if y < rows and x < columns:
        a[y * columns + x] += b[y * columns + x]
""",
        "a float64[1369]",
    ),
    "threads in two directions and blocks in one": (
        """
@cuda.jit
def rows(a, out):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    if y < a.shape[0]:
        for column in range(x, a.shape[1], cuda.blockDim.x):
            out[y, column] = a[y, column]
""",
        "grid 1 × 3, block 16 × 16",
    ),
    "annotations, and a block that an uncalled function gives": (
        """
def main():
    threads = 32
    fill[4, threads](np.ones(100), 1)

@cuda.jit
def fill(out: np.ndarray, value: np.int32):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value
""",
        "value 69",
    ),
}


@pytest.mark.parametrize("case", CLEAN)
def test_right_kernels_are_clean(file, case):
    text, said = CLEAN[case]
    report = check_file(file(text))
    assert report.status == 0, as_text(report, machine("h200"))
    told = as_text(report, machine("h200"))
    assert said in told and ("clean, with inputs that were made" in told) is ("launched in" not in said)


def test_a_missing_guard_is_found_at_its_line_and_said_to_depend_on_the_size(file):
    report = check_file(file(NO_GUARD))
    (kernel,) = report.kernels
    (pair,) = kernel.hazards
    assert report.status == 1
    assert (pair[0].kind, pair[0].line) == ("out_of_bounds", 8)
    assert "size that the block divides" in kernel.remark(pair[0])


def test_an_index_that_is_always_outside_is_not_said_to_depend_on_the_size(file):
    report = check_file(file(NO_GUARD.replace("a[i]", "a[i + 1]")))
    (kernel,) = report.kernels
    assert report.status == 1 and not kernel.remark(kernel.hazards[0][0])


def test_a_race_is_found_and_other_kernels_of_the_file_are_clean(file):
    race = SAXPY.replace("y[i] =", "y[i // 2] =").replace("saxpy", "half")
    report = check_file(file(SAXPY + race))
    assert statuses(report) == {"saxpy": 0, "half": 1}
    assert report.kernels[1].hazards[0][0].kind == "race"


def test_one_line_that_wastes_its_sectors_is_named(file):
    report = check_file(file(SAXPY.replace("x[i] +", "x[(i * 8) % x.size] +")))
    found = facts(report.kernels[0].shown, machine("h200"))
    assert [(line.line, line.what) for line in found.lines] == [(9, "sectors")]
    assert found.lines[0].per_request >= 2 * found.lines[0].would_do
    assert found.sector_bytes >= found.requested_bytes >= found.compulsory_bytes > 0


def test_bank_conflicts_shared_memory_and_occupancy_are_reported(file):
    text = """
@cuda.jit
def columns(a):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[x, y] = a[y, x]
    cuda.syncthreads()
    a[y, x] = tile[x, y]

columns[1, (32, 32)](np.ones((32, 32), np.float32))
"""
    trial = check_file(file(text)).kernels[0].shown
    found = facts(trial, machine("h200"))
    assert (found.wavefronts, found.bank_conflicts) == (2 * 32 * 32, 2 * 31 * 32)
    assert (found.shared_bytes, found.occupancy, found.registers_for_it) == (4096, 1.0, 32)


def test_a_loop_that_never_ends_is_stopped_and_the_others_are_checked(file):
    report = check_file(file(ENDLESS + SAXPY), steps=300)
    assert statuses(report) == {"spin": 2, "saxpy": 0} and report.status == 2
    assert "never becomes false" in report.kernels[0].errors[0]


def test_a_host_that_never_ends_is_stopped_and_its_kernels_are_checked(file):
    report = check_file(file(NO_GUARD + "while True:\n    pass\n"), seconds=0.3)
    assert statuses(report) == {"double": 1}
    assert "was stopped after 0.3 s" in report.error and "--set" in report.error


def test_a_negative_index_is_noted_because_numba_counts_it_from_the_end(file):
    ring = """
@cuda.jit
def ring(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + a[i - 1]

ring[2, 64](np.ones(100), np.ones(100))
"""
    [kernel] = check_file(file(ring)).kernels
    assert not kernel.status and [note.kind for note, _ in kernel.notes] == ["negative_index"]


def test_what_the_host_cannot_do_here_is_noted_and_the_rest_runs(file):
    report = check_file(
        file("import no_such_module\n" + SAXPY + "no_such_module.run(saxpy)\nraise SystemExit\n")
    )
    assert report.status == 0 and len(report.notes) == 3
    assert "a.py:4: ModuleNotFoundError" in report.notes[0]


LAUNCHES = {
    "configure with keywords": "saxpy.configure((4,), (64,), stream=cuda.stream(), sharedmem=0)(2.0, x, y)\n",
    "arguments that say which way they are copied": "saxpy[4, 64](2.0, cuda.In(x), cuda.InOut(y))\n",
    "a vectorized function beside the kernel": """
@numba.vectorize(["float64(float64, float64)"], target="cuda")
def plus(u, v):
    return u + v

y[:] = plus(x, y)
saxpy[4, 64](1.0, x, y)
""",
}


@pytest.mark.parametrize("case", LAUNCHES)
def test_each_way_to_launch_is_seen_and_does_its_work(file, case):
    host = "import numba\nx, y = np.ones(200), np.ones(200)\n"
    report = check_file(file(SAXPY + host + LAUNCHES[case] + "assert (y == 3).all(), y\n"))
    assert not report.notes and statuses(report) == dict.fromkeys(
        ("saxpy", "plus") if "vectorized" in case else ("saxpy",), 0
    )
    assert all(kernel.trials[0].origin.startswith("launched in a.py") for kernel in report.kernels)


VECTORIZED = """
import numpy as np
from numba import float64, guvectorize, vectorize

@vectorize(["float32(float32, int32)", "float64(float64, int64)"], target="cuda")
def times(a, i):
    return a * i

@guvectorize([(float64[:], float64[:], float64[:])], "(n),(m)->()", target="cuda")
def past_its_end(first, second, total):
    for i in range(first.shape[0] + 1):
        total[0] = first[i]

@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda")
def sums(a, out):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i]
        out[i] = total

@vectorize(["float64(float64)"])
def on_the_host(x):
    return x + 1
"""


def test_functions_of_vectorize_run_with_made_inputs(file):
    report = check_file(file(VECTORIZED))
    assert statuses(report) == {"times": 0, "past_its_end": 1, "sums": 0}
    [(hazard, trial)] = report.kernels[1].hazards
    assert (hazard.kind, hazard.line, hazard.array) == ("out_of_bounds", 15, "first")
    assert trial.made and "first float64[261, 7]" in trial.arguments
    assert statuses(check_file(file(VECTORIZED), only="sums")) == {"sums": 0}


def test_functions_of_vectorize_that_the_file_calls_run_with_its_inputs(file):
    report = check_file(file(VECTORIZED + "assert (sums(np.ones((4, 3))) == [1, 2, 3]).all()\n"))
    assert not report.notes
    assert "a float64[4, 3]" in report.kernels[2].trials[0].arguments and not report.kernels[2].trials[0].made


def test_a_sum_in_an_output_of_guvectorize_that_nobody_has_set_is_a_hazard(file):
    report = check_file(file(VECTORIZED.replace("total[0] = first[i]", "total[0] += first[i]")))
    found = [(hazard.kind, hazard.line, hazard.array) for hazard, _ in report.kernels[1].hazards]
    assert ("uninitialised", 15, "total") in found


def test_a_function_of_vectorize_whose_output_overlaps_with_an_input_has_a_race_in_its_first_line(file):
    calls = "x = cuda.to_device(np.arange(99.0))\nplus(x[1:], x[:-1], out=x[:-1])\n"
    plus = '@cuda.vectorize(["float64(float64, float64)"])\ndef plus(u, v):\n    return u + v\n\n'
    report = check_file(file(plus + calls))
    [(hazard, trial)] = report.kernels[0].hazards
    assert (hazard.kind, place(hazard, trial)) == ("race", f"a.py:{report.kernels[0].line}")


def test_a_function_of_vectorize_that_numba_refuses_could_not_run(file):
    text = VECTORIZED.replace("return a * i", "return [a]")
    report = check_file(file(text))
    assert statuses(report)["times"] == 2
    assert "calls `module.times(a, i)`" in report.kernels[0].errors[0]


def test_a_launch_that_cuda_refuses_is_an_error_with_its_line(file):
    report = check_file(file(SAXPY + "saxpy[200 / 64, 64](2.0, np.ones(200), np.ones(200))\n"))
    assert report.status == 2 and report.error.startswith("a.py:10: The grid is (3.125,)")


MAKER = """
def make(width):
    @cuda.jit
    def stepped(a):
        i = cuda.grid(1)
        if i < a.size - width:
            a[i] = i
    return stepped
"""


def test_a_kernel_that_nothing_makes_needs_inputs_and_takes_them(file):
    name = file(MAKER)
    refused = check_file(name)
    assert statuses(refused) == {"stepped": 2}
    assert "def launches(module):" in refused.kernels[0].errors[0]
    inputs = file("def launches(module):\n    module.make(3)[2, 32](np.ones(60))\n", "inputs.py")
    given = check_file(name, inputs=inputs)
    assert statuses(given) == {"stepped": 0}
    assert "launched" in given.kernels[0].shown.origin


def test_a_kernel_whose_inputs_cannot_be_made_says_how_to_give_them(file):
    report = check_file(file(SAXPY.replace("@cuda.jit", '@cuda.jit("void(no_type, int32)")')))
    assert report.status == 2
    assert "--inputs FILE" in report.kernels[0].errors[0]


def test_a_launch_that_is_too_large_names_the_size_to_set(file):
    name = file("N = 1 << 22\n" + SAXPY + "saxpy[N // 64, 64](2.0, np.ones(N), np.ones(N))\n")
    report = check_file(name)
    assert report.status == 2 and "4,194,304 threads" in report.kernels[0].errors[0]
    assert "N = 4194304 (a.py:4)" in report.notes[-1]
    assert check_file(name, values={"N": 640}).status == 0


def test_a_notebook_is_checked_cell_by_cell(tmp_path):
    cells = ["%matplotlib inline\n" + HEAD, NO_GUARD.strip(), "double[4, 64](np.ones(200))"]
    path = tmp_path / "a.ipynb"
    path.write_text(
        json.dumps({"cells": [{"cell_type": "code", "source": [c]} for c in cells]}), encoding="utf-8"
    )
    report = check_file(path)
    told = as_text(report, machine("h200"), width=1000)
    assert report.status == 1
    assert f"{path}, cell 2:4: out of bounds" in told and f"launched in {path}, cell 3:1" in told


def test_a_file_of_a_package_is_checked_under_its_name(tmp_path):
    folder = tmp_path / "kernels_of_a_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("FACTOR = 2.0\n", encoding="utf-8")
    (folder / "a.py").write_text(
        HEAD + "from . import FACTOR\n" + SAXPY.replace("a *", "FACTOR *"), encoding="utf-8"
    )
    assert check_file(folder / "a.py").status == 0


def test_nothing_is_left_behind(file):
    import sys

    before = dict(sys.modules)
    check_file(file("import json.tool\n" + SAXPY))
    assert sys.modules.get("numba.cuda") is before.get("numba.cuda") and "json.tool" not in sys.modules
