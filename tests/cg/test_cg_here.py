"""Iterations on this machine's GPU; in these tests the interpreter replaces it, on a grid too small to time."""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.bench import gpu
from course_pkg.cg import here
from course_pkg.cg.problem import PoissonProblem
from course_pkg.cg.variants import VARIANTS
from course_pkg.core import CourseError
from course_pkg.vector import here as vector_here

METHODS = VARIANTS["cg_baseline"], VARIANTS["cg_two_kernel"]


def test_two_iterations_are_measured_under_the_names_of_a_record(interpreted, monkeypatch):
    measure = here.measure
    monkeypatch.setattr(here, "measure", lambda *args, **options: measure(*args, **options, min_sample_s=0))
    found = here.on_this_gpu(*METHODS, edge=12, samples=2)
    assert [m.label for m in found] == ["cg baseline, Numba CUDA", "cg two kernel, Numba CUDA"]
    for m, variant in zip(found, METHODS, strict=True):
        assert m.cost == 2 * variant.cost((12,) * 3)
        assert m.parameters == {"shape": [12] * 3, "dtype": "float64", "iterations": 2}
        assert m.observed["iterations"] >= 2 * 4, "it went on while it was timed"


def test_a_residual_that_is_not_that_of_x_is_not_timed():
    b = cuda.to_device(PoissonProblem.ones(8).b)
    with pytest.raises(AssertionError):
        here.two_iterations(METHODS[1], b, lambda x, b: 1.0, samples=1)


def test_a_solver_that_stops_while_it_is_timed_is_not_measured(monkeypatch):
    problem = PoissonProblem.ones(4)
    monkeypatch.setattr(here, "NEVER", 1e-3)

    def residual(x, b):
        return np.linalg.norm(problem.b - problem.matvec(x.copy_to_host()))

    with pytest.raises(AssertionError, match=r"two kernel stopped after \d+ iterations while it was timed"):
        here.two_iterations(METHODS[1], cuda.to_device(problem.b), residual, samples=1)


def test_what_cannot_be_measured_is_said(monkeypatch):
    with pytest.raises(CourseError, match="Pass at least one method"):
        here.on_this_gpu()
    if gpu().kind != "gpu":
        with pytest.raises(CourseError, match="An NVIDIA GPU is needed"):
            here.on_this_gpu(*METHODS)
    monkeypatch.setattr(vector_here, "free_bytes", lambda device: 10**8)
    with pytest.raises(CourseError, match=r"8 fields of 250³ unknowns need 1\.0 GB"):
        here.on_this_gpu(*METHODS)
