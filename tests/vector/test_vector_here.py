"""Polynomials on this machine's GPU; in these tests the interpreter replaces it, on vectors too short to time."""

import pytest

from course_pkg.bench import Device
from course_pkg.core import CourseError
from course_pkg.vector import cost, gpu_numba, here


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setattr(here, "gpu", lambda: Device("gpu", "A GPU", 1, 0, 0))
    monkeypatch.setattr(here, "free_bytes", lambda device: 10**9)


def test_polynomials_are_measured_under_the_names_of_a_record(interpreted):
    found = here.flops_on_this_gpu((1, 4), n=2500)  # longer than both ends that are compared
    assert [m.label for m in found] == ["horner, Numba CUDA"] * 2
    assert [m.parameters for m in found] == [{"n": 2500, "dtype": "float64", "degree": d} for d in (1, 4)]
    assert [m.cost for m in found] == [cost.horner(2500, d) for d in (1, 4)]


WRONG = {
    "nothing": lambda a, degree, out: None,
    "a copy": lambda a, degree, out: gpu_numba.copy_two(a, out),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_polynomial_is_not_timed(interpreted, monkeypatch, wrong):
    monkeypatch.setattr(gpu_numba, "horner", WRONG[wrong])
    with pytest.raises(AssertionError):
        here.flops_on_this_gpu((3,), n=100)


def test_vectors_that_do_not_fit_are_not_made(interpreted):
    with pytest.raises(CourseError, match=r"Three vectors of 67108864 doubles need 1\.6 GB"):
        here.flops_on_this_gpu((1,))
