"""Wrong and right ways to time streams, and the sweep on this machine, tested on sizes too small for real timings."""

import numpy as np
import pytest

from course_pkg.bench import Device, cpu, gpu, mistime, pitfalls
from course_pkg.commands import bench as command
from course_pkg.core import Cost, CourseError, Library
from course_pkg.vector import cost, cpu_numba, here, suite_honest

NAMES = {
    "cpu": ["first_call", "in_cache", "one_call", "allocates"],
    "gpu": ["no_wait", "first_call", "host_clock", "one_launch", "in_cache", "with_copies", "pageable", "idle_clock"],
}  # fmt: skip


@pytest.fixture
def interpreted(monkeypatch):
    """Kernels run in the interpreter, which is taken for a GPU whose vectors have 1024 elements."""
    for module in (here, suite_honest):
        monkeypatch.setattr(module, "gpu", lambda: Device("gpu", "A GPU", 1, 0, 2048))
    monkeypatch.setattr(suite_honest, "QUICK", 1024)
    monkeypatch.setattr(suite_honest, "MANY_FLOPS", 2)
    monkeypatch.setattr(mistime, "BUSY_S", 0.001)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(suite_honest, "QUICK", 1024)


def test_each_pitfall_of_a_cpu_has_a_wrong_and_a_right_measurement(short):
    found = list(suite_honest.run("cpu", quick=True))
    assert [m.operation for m in found] == [name for name in NAMES["cpu"] for _ in range(2)]
    assert [m.variant for m in found] == ["wrong", "right"] * 4
    assert all(m.device == cpu() for m in found)
    assert [pair.pitfall.name for pair in pitfalls.pairs(found)] == NAMES["cpu"]
    costs = {(m.operation, m.variant): m.cost for m in found}
    assert costs["first_call", "wrong"] == costs["first_call", "right"] == cost.copy(1024)
    assert costs["in_cache", "wrong"] == cost.copy(1024)  # as many as there are: the vectors are that short
    assert costs["allocates", "wrong"] == costs["allocates", "right"] == cost.triad_two_passes(1024)


def test_each_pitfall_of_a_gpu_has_a_wrong_and_a_right_measurement(interpreted):
    found = list(suite_honest.run("gpu", quick=True))
    assert [(m.operation, m.variant) for m in found] == [
        (name, way) for name in NAMES["gpu"] for way in ("wrong", "right")
    ]
    sizes = {(m.operation, m.variant): m.parameters["n"] for m in found}
    assert sizes["no_wait", "wrong"] == sizes["no_wait", "right"] == 1024
    assert sizes["one_launch", "wrong"] == sizes["host_clock", "right"] == 64
    assert (sizes["in_cache", "wrong"], sizes["in_cache", "right"]) == (64, 1024)
    costs = {(m.operation, m.variant): m.cost for m in found}
    assert costs["with_copies", "wrong"] == costs["with_copies", "right"] == cost.copy(512)
    assert costs["pageable", "wrong"] == costs["pageable", "right"] == Cost(bytes_read=8 * 512)
    assert costs["idle_clock", "wrong"] == cost.horner(1024, 2)
    assert {m.library for m in found} == {Library.NUMBA_CUDA}


def test_both_devices_have_only_pitfalls_that_are_listed():
    assert set(NAMES["cpu"]) | set(NAMES["gpu"]) == set(pitfalls.PITFALLS)


def test_a_wrong_copy_is_not_timed(short, monkeypatch):
    monkeypatch.setattr(cpu_numba, "copy", lambda a, out: np.multiply(a, 2, out=out))
    with pytest.raises(AssertionError):
        next(suite_honest.run("cpu", quick=True))


def test_a_call_that_does_nothing_cannot_pass_on_the_last_ones_result():
    vectors = here.Vectors("cpu", 3000)
    work = vectors.copy(3000)
    work.fn(*work.args)
    work.check()
    assert np.isnan(vectors.out[[0, 999, -1000, -1]]).all()
    with pytest.raises(AssertionError):
        work.check()
    triad = vectors.triad(2500)
    triad.fn(*triad.args)
    vectors.out[2499] += 1e-6
    with pytest.raises(AssertionError):
        triad.check()


def test_functions_of_the_first_call_are_fresh():
    a, out = np.ones(8), np.zeros(8)
    one, other = suite_honest._fresh_cpu(), suite_honest._fresh_cpu()
    one(a, out)
    assert out.sum() == 8
    assert (len(one.signatures), len(other.signatures)) == (1, 0)
    assert one is not cpu_numba._copy


@pytest.mark.parametrize(
    ("llc_bytes", "n"), [(60 * 2**20, 2**21), (50 * 2**20, 2**21), (40 * 2**20, 2**20), (0, 1)]
)
def test_what_fits_in_a_cache(llc_bytes, n):
    assert suite_honest.size_in_cache(llc_bytes) == n


def test_the_suite_is_a_choice_of_the_command_and_a_gpu_is_asked_for_in_a_sentence():
    assert command.suites()["honest"] == "course_pkg.vector.suite_honest"
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="honest --device gpu` needs an NVIDIA GPU: none was found"):
        next(suite_honest.run("gpu"))


def test_the_sweep_measures_copy_and_triad_up_to_the_longest_vectors():
    found = list(here.sweep("cpu", n=2**16, samples=2))
    assert [(m.operation, m.parameters["n"]) for m in found] == [
        (op, n) for n in (2**13, 2**16) for op in ("copy", "triad")
    ]
    assert [m.cost for m in found[:2]] == [cost.copy(2**13), cost.triad(2**13)]


def test_the_sweep_of_a_gpu_names_its_kernels(interpreted):
    found = list(here.sweep("gpu", n=4096, samples=1))
    assert [(m.label, m.parameters["n"]) for m in found] == [
        ("copy two, Numba CUDA", 4096),
        ("triad, Numba CUDA", 4096),
    ]
    assert [m.label for m in here.on_this_gpu(1024)] == ["copy two, Numba CUDA", "triad, Numba CUDA"]


def test_too_little_memory_and_no_gpu_are_said(interpreted, monkeypatch):
    monkeypatch.setattr(here, "free_bytes", lambda device: 10**6)
    with pytest.raises(
        CourseError, match=r"Three vectors of 32768 doubles need 0\.0 GB\. .* pass a smaller size"
    ):
        here.on_this_gpu(2**15)
    monkeypatch.undo()
    if gpu().kind != "gpu":
        with pytest.raises(CourseError, match="An NVIDIA GPU is needed"):
            here.Vectors("gpu", 8)


@pytest.mark.parametrize(
    ("llc_bytes", "free_bytes", "n"),
    [
        (2**26, 2**40, 2**24),  # a copy moves 256 MiB: four times 64 MiB
        (2**26 + 1, 2**40, 2**25),
        (0, 2**40, here.LEAST),  # no cache is known
        (2**29, 2**33, 2**26),  # what a quarter of 8 GiB has room for, three times
        (2**26, 0, here.FIRST),
    ],
)
def test_a_copy_exceeds_the_cache_four_times_if_memory_allows(monkeypatch, llc_bytes, free_bytes, n):
    monkeypatch.setattr(here, "cpu", lambda: Device("cpu", "A CPU", 1, 0, llc_bytes))
    monkeypatch.setattr(here, "free_bytes", lambda device: free_bytes)
    assert here.defensible_size("cpu") == n
