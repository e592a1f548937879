"""Updates on this machine's GPU: several kernels are checked, and without a GPU nothing is measured."""

import pytest

from course_pkg.bench import gpu
from course_pkg.core import CourseError
from course_pkg.qp import gpu_numba, here


def test_each_kernel_that_is_named_is_measured():
    found = here.updates_of(["update_staged", "update_rows"], 33, samples=2)
    assert [(m.variant, m.parameters["n"], len(m.samples_s)) for m in found] == [
        ("staged", 33, 2),
        ("rows", 33, 2),
    ]


def test_a_wrong_kernel_is_found(monkeypatch):
    def wrong(Q, h, shift, x, out, parts):
        out.copy_to_device(x)
        parts.copy_to_device(x)

    monkeypatch.setattr(gpu_numba, "update_rows", wrong)
    with pytest.raises(AssertionError):
        here.updates_of(["update_rows"], 33, samples=2)


def test_what_cannot_be_measured_is_said():
    with pytest.raises(CourseError, match="Name at least one variant"):
        here.on_this_gpu()
    if gpu().kind != "gpu":
        with pytest.raises(CourseError, match="GPU"):
            here.on_this_gpu("update_rows", n=64)
