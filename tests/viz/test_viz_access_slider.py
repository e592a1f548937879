"""Several access strips behind a slider: in which order, how many of them, and by which labels."""

import re

import numpy as np
import pytest
from access_cases import LANE, access

from course_pkg.core import CourseError
from course_pkg.viz import Picture, access_strip, access_strips


def walk(n, **changed):
    return [access(8 * LANE + 256 * i, warp=i // 4, repetition=i % 4, **changed) for i in range(n)]


def test_a_slider_walks_over_warps_and_passes_and_starts_at_the_first():
    control, frames = access_strips(walk(8)).children
    assert [label for label, _ in control.options][:5] == [
        "warp 0, trip 0",
        "warp 0, trip 1",
        "warp 0, trip 2",
        "warp 0, trip 3",
        "warp 1, trip 0",
    ]
    assert control.index == frames.selected_index == 0
    assert control.description == "request"
    assert "warp 1, trip 3" in frames.children[7].value


def test_many_requests_are_thinned_evenly_and_it_is_said(monkeypatch):
    monkeypatch.setattr(
        "course_pkg.viz.access.access_strip", lambda one: Picture("<svg></svg>", "not drawn here")
    )
    control, frames = access_strips(walk(100)).children
    assert len(frames.children) == len(control.options) == 24
    assert control.description == "24 of 100 requests"
    labels = [label for label, _ in control.options]
    assert (labels[0], labels[-1]) == ("warp 0, trip 0", "warp 24, trip 3")
    numbers = [4 * int(w) + int(p) for w, p in (re.findall(r"\d+", label) for label in labels)]
    assert set(np.diff(numbers)) == {4, 5}


def test_labels_tell_what_differs():
    both = [access(8 * LANE), access(8 * LANE, kind="store", array="out", block=(2, 2, 0))]
    control, _ = access_strips(both).children
    assert [label for label, _ in control.options] == [
        "block (1,2,0), warp 3, trip 5, load u",
        "block (2,2,0), warp 3, trip 5, store out",
    ]


def test_one_request_needs_no_slider():
    (one,) = walk(1)
    assert access_strips([one]).svg == access_strip(one).svg


def test_no_request_is_an_error():
    with pytest.raises(CourseError, match="no access to draw"):
        access_strips([])
