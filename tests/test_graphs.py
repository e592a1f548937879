"""Launches that are recorded once: a graph on a GPU, the step itself elsewhere."""

import numpy as np
import pytest

from course_pkg import cuda, graphs
from course_pkg.core import CourseError


@cuda.jit
def add_one_kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1.0


def test_a_captured_step_runs_each_time_it_is_called_and_not_before():
    a = cuda.to_device(np.zeros(40))

    def step(stream):
        add_one_kernel[2, 32, stream](a)
        add_one_kernel[2, 32, stream](a)

    step(0)  # compiles
    run = graphs.captured(step)
    cuda.synchronize()
    assert (a.copy_to_host() == 2).all(), "a capture launches nothing"
    run()
    run()
    cuda.synchronize()
    assert (a.copy_to_host() == 6).all()


@pytest.mark.skipif(graphs.SIMT, reason="without a GPU there is no capture that could be refused")
def test_a_step_that_waits_for_the_device_is_refused_and_the_next_one_is_not():
    a = cuda.to_device(np.zeros(40))
    with pytest.raises(CourseError, match="may only launch kernels"):
        graphs.captured(lambda stream: stream.synchronize())
    add_one_kernel[2, 32](a)
    graphs.captured(lambda stream: add_one_kernel[2, 32, stream](a))()
    cuda.synchronize()
    assert (a.copy_to_host() == 2).all()
