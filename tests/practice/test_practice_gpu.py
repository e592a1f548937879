"""Where there is a GPU: kernels are Numba's, are tried in the interpreter all the same, and right ones are timed.

Numba makes such kernels without a GPU as well, and anything that touches CUDA then raises an error. The GPU that takes
time is a fake.
"""

import sys
from pathlib import Path

import numpy as np
import practice_cells as cells
import pytest

from course_pkg import practice
from course_pkg.core import CourseError
from course_pkg.core.checks import unwritten
from course_pkg.practice import catalogue, timing
from course_pkg.practice import checking as checking
from course_pkg.practice.step import Step, Trial

sys.path.append(str(Path(__file__).parents[1] / "bench"))  # fake_gpu: several files of tests use it

numba_cuda = pytest.importorskip("numba.cuda")
LABS = cells.labs()
RIGHT = {lab.step: lab for lab in LABS if not lab.says}
N = 1000
NOT_TIMED = {"map", "zip", "guard", "coalesced", "by_list"}


@pytest.fixture
def untouched(monkeypatch):
    """Fail where anything asks for the driver, here or in a copy of this process."""
    from numba.cuda.cudadrv import driver

    def refuse(*_):
        raise AssertionError("CUDA was touched")

    monkeypatch.setattr(driver.Driver, "__getattr__", refuse)
    monkeypatch.setattr(timing, "note", lambda step, answer: "")


@pytest.mark.family
@pytest.mark.parametrize("step", RIGHT)
def test_a_kernel_of_numbas_is_tried_without_its_gpu(step, untouched):
    answer = RIGHT[step].answer_by(numba_cuda)
    if type(answer).__module__.startswith("numba."):
        result = practice.check(step, answer)
        assert result.good, result


def test_a_wrong_kernel_of_numbas_gets_its_sentence(untouched):
    lab = next(lab for lab in LABS if lab.says)
    assert lab.says in str(practice.check(lab.step, lab.answer_by(numba_cuda)))


def test_a_device_function_of_numbas_is_no_answer():
    names = cells.run_cell("@cuda.jit(device=True)\ndef f(a, out):\n    out[0] = a[0]\n", numba_cuda)
    assert "f is a device function, which kernels call" in str(practice.check("map", names["f"]))


def doubled(n, rng):
    a = np.arange(n, dtype=float)
    return Trial({"a": a, "n": n, "out": np.full(n, np.nan)}, {"out": 2 * a}, grid=-(-n // 32), block=32)


DOUBLE = Step("double", "Twice", "Double a.", doubled, (40, 7), ("?", "2 * a[i]"), timed=N)
SOURCE = (
    "@cuda.jit\ndef kernel(a, n, out):\n    i = cuda.grid(1)\n    if i < n:\n        out[i] = {} * a[i]\n"
)


class Compiled:
    """A kernel that Numba compiled, as far as ``practice`` can see, for a GPU on which a launch takes 100 µs."""

    def __init__(self, gpu, factor=2):
        self.py_func = cells.run_cell(SOURCE.format(factor))["kernel"].py_func
        self.targetoptions, self.launches, self.gpu = {}, [], gpu

    def __getitem__(self, configuration):
        self.launches.append(configuration)
        return self.gpu.call


@pytest.fixture
def gpu(monkeypatch):
    from fake_gpu import Array, FakeGpu

    made = FakeGpu(monkeypatch, launch_s=1e-6)
    made.copied = []
    monkeypatch.setattr(
        "course_pkg.cuda.to_device", lambda a: made.copied.append(a) or Array(), raising=False
    )
    monkeypatch.setattr("course_pkg.practice.remembered.remember", lambda step: "")
    return made


def test_a_right_answer_is_timed_on_the_gpu(gpu):
    answer = Compiled(gpu)
    result = checking.check_step(DOUBLE, answer)
    assert result.good, result
    small = "Small blocks, for the picture: 32 of 32 threads, 1,024 threads per multiprocessor."
    assert result.notes == (f"On this machine's A GPU: 100 µs, 0 GB/s. {small}",)
    assert answer.launches == [(-(-N // 32), 32, 0, 0)] or answer.launches == [((-(-N // 32)), 32, 0, 0)]
    assert [a.size for a in gpu.copied] == [N, N], "arrays are copied, numbers are not"
    assert "On this machine" in result._repr_html_()


def test_gigabytes_per_second_are_those_of_what_must_move(gpu):
    large = Step(**{**vars(DOUBLE), "timed": 1_000_000})
    small = "Small blocks, for the picture: 31,250 of 32 threads, 0.31 per ns; larger ones would be fewer."
    assert checking.check_step(large, Compiled(gpu)).notes == (
        f"On this machine's A GPU: 100 µs, 160 GB/s. {small}",
    )


def test_nothing_is_said_of_blocks_that_are_large_enough():
    assert timing.few_or_small(Trial({}, {}, grid=(256, 256), block=(16, 16)), 1e-4, 132) == ""
    assert "256 of 64 threads" in timing.few_or_small(Trial({}, {}, grid=(16, 16), block=(8, 8)), 1e-4, 132)


def test_a_wrong_answer_is_not_timed(gpu):
    answer = Compiled(gpu, factor=3)
    result = checking.check_step(DOUBLE, answer)
    assert not result.good and not result.notes
    assert not answer.launches and not gpu.events


def test_a_launch_that_the_gpu_refuses_is_told_and_the_verdict_stays(gpu):
    def refuse(*arguments):
        raise CourseError("the GPU has no room.")

    answer = Compiled(gpu)
    gpu.call = refuse
    result = checking.check_step(DOUBLE, answer)
    assert result.good
    assert result.notes == ("Not timed on this machine's A GPU: the GPU has no room.",)


def test_without_a_gpu_nothing_is_timed():
    kernel = cells.run_cell(SOURCE.format(2))["kernel"]
    result = checking.check_step(DOUBLE, kernel)
    assert result.good
    assert type(kernel).__module__.startswith("numba.") or not result.notes


def test_what_a_trial_must_move_counts_results_with_old_values_twice():
    a, out = np.arange(4.0), unwritten(2)
    made = Trial({"a": a, "n": 4, "out": out}, {"a": a + 1, "out": a[:2]}, grid=1, block=4)
    assert (made.must_move.bytes_read, made.must_move.bytes_written) == (32, 32 + 16)


def test_every_step_with_a_kernel_is_timed_or_says_why_it_is_not():
    steps = [step for of_lecture in catalogue.lectures().values() for step in of_lecture]
    launches = {step.name: step for step in steps if step.trials()[0].is_launch}
    assert {name for name, step in launches.items() if step.timed is None} == NOT_TIMED
    assert {name for name, step in launches.items() if step.untimed} == NOT_TIMED
    assert {step.name for step in steps if step.timed is not None or step.untimed} <= set(launches)


def test_a_step_that_is_not_timed_says_why(gpu):
    untimed = Step(**{**vars(DOUBLE), "timed": None, "untimed": "one block does it."})
    answer = Compiled(gpu)
    assert checking.check_step(untimed, answer).notes == ("Not timed: one block does it.",)
    assert not answer.launches
    with pytest.raises(CourseError, match="leave out timed or untimed"):
        Step(**{**vars(untimed), "timed": N})


def test_few_blocks_leave_multiprocessors_idle():
    said = timing.few_or_small(Trial({}, {}, grid=2, block=256), 1e-4, 132)
    assert said == "2 blocks work, of 256 threads: 130 of the 132 multiprocessors have nothing to do."
    assert timing.few_or_small(Trial({}, {}, grid=132, block=256), 1e-4, 132) == ""
