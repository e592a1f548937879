"""Lecture 1's picture of threads: numbers of lanes do not touch the frames of lanes."""

import sys

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from course_pkg.paths import repo_root


def test_no_number_of_a_lane_touches_a_frame(monkeypatch):
    monkeypatch.syspath_prepend(str(repo_root() / "figures"))
    monkeypatch.delitem(sys.modules, "threads_and_launches", raising=False)
    from threads_and_launches import _levels

    figure = Figure((9.6, 4.5))
    _levels(figure)
    (ax,) = figure.axes
    numbers = [text.get_window_extent() for text in ax.texts if text.get_text().isdigit()]
    frames = [
        patch.get_window_extent() for patch in ax.artists + ax.patches if isinstance(patch, FancyBboxPatch)
    ]
    assert len(numbers) == 10 and len(frames) > 32
    assert not [number for number in numbers if any(number.overlaps(frame) for frame in frames)]
