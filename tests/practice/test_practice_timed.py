"""Timed launches are made by whole arrays, so that a verdict comes within seconds; no cache holds these arrays."""

import sys
import time

import numpy as np
import pytest

from course_pkg.practice import catalogue
from course_pkg.practice.step import Trial

TIMED = [step for steps in catalogue.lectures().values() for step in steps if step.timed is not None]
LARGE = 1 << 7  # an entry of a size from here on counts elements, and is made smaller here
L2_BYTES = 60 << 20  # of an H200


def smaller(size, times):
    if isinstance(size, tuple):
        return tuple(smaller(entry, times) for entry in size)
    return size // times if size >= LARGE else size


def lines_of(step, size) -> tuple[Trial, int]:
    """Return a trial, and how many lines of Python ran until it was made."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        trial = step.trial(size, np.random.default_rng(0))
    finally:
        sys.settrace(before)
    return trial, count


def bytes_of(trial) -> int:
    return sum(a.nbytes for a in trial.arrays.values())


@pytest.mark.parametrize("step", TIMED, ids=lambda step: step.name)
def test_a_timed_launch_is_made_by_whole_arrays_which_no_cache_holds(step):
    quarter, few = lines_of(step, smaller(step.timed, 64))
    began = time.process_time()
    half, many = lines_of(step, smaller(step.timed, 32))
    took_s = time.process_time() - began
    assert many < 1.2 * few, "twice the elements take more lines of Python"
    assert took_s < 0.05 + 60e-9 * bytes_of(half), (
        "the arrays are made too slowly for a verdict within seconds"
    )
    growth = bytes_of(half) / bytes_of(quarter)
    assert bytes_of(half) * growth ** np.log2(32) > L2_BYTES
