"""The active-set explorer: what a run shows, runs of different lengths, both choices, and mistakes."""

from types import SimpleNamespace

import ipywidgets as W
import numpy as np
import pytest
from access_cases import marks
from matplotlib.axes import Axes
from visible import shown

from course_pkg.core import CourseError
from course_pkg.viz import ActiveSetExplorer
from course_pkg.viz.active_set_explorer import run_picture


def run(last=4, shape=(6,)):
    """Return what the caller passes: made-up numbers for iterations 0 to ``last``."""
    states = np.ones((last + 1, 6), int)
    states[1:, 2], states[1:, 4:] = 0, 2
    x = np.where(states == 1, np.arange(1, 7) / 4, 0)
    many = np.arange(last + 1)
    return SimpleNamespace(
        x=x,
        states=states,
        growing=np.minimum(many, 1),
        kkt=10.0 ** (2 - many),
        objective=-1000.5 - many,
        bytes_of_q={"all of Q": np.full(last + 1, 288), "by a list": 288 - many},
        shape=shape,
    )


RUNS = {"string": run(), "membrane": run(2, shape=(2, 3))}


def test_a_picture_says_what_it_shows():
    assert run_picture(RUNS["string"], "string", 3).alt == (
        "string, iteration 3 of 4. 6 unknowns: 3 free; 1 are 0, as in the solution; 2 are 0, but not in the solution; "
        "of all zeros, 1 have a negative gradient. KKT residual 1.00e-01, F -1003.5. Q in this iteration: "
        "all of Q: 288 bytes; by a list: 285 bytes."
    )


def test_unknowns_are_drawn_where_and_as_what_they_are(monkeypatch):
    drawn, plot = [], Axes.plot
    monkeypatch.setattr(Axes, "plot", lambda ax, *of, **how: drawn.append((of, how)) or plot(ax, *of, **how))
    run_picture(RUNS["string"], "string", 1)
    points = {
        how["color"]: [(int(i), float(x)) for i, x in zip(*of[:2], strict=True)]
        for of, how in drawn
        if "mec" in how
    }
    assert [*points.values()] == [[(0, 0.25), (1, 0.5), (3, 1.0)], [(2, 0.0)], [(4, 0.0), (5, 0.0)]]
    assert len({*points}) == 3, "each state has a colour of its own"


def test_a_picture_of_unknowns_is_an_image_of_their_states(monkeypatch):
    drawn, imshow = [], Axes.imshow
    monkeypatch.setattr(Axes, "imshow", lambda ax, of, **how: drawn.append(of) or imshow(ax, of, **how))
    picture = run_picture(RUNS["membrane"], "membrane", 1)
    assert drawn[0].tolist() == [[1, 1, 0], [1, 2, 2]]
    assert "<image" in picture.svg


def test_the_bytes_and_the_gradient_check_of_the_iteration_are_told():
    svg = run_picture(RUNS["string"], "string", 4).svg
    assert "0, but not in the solution: 2; ∇F &lt; 0 at 1" in svg
    assert ">10²<" in svg, "the largest residual"
    assert marks(run_picture(RUNS["string"], "string", 4))


def test_a_residual_of_zero_has_a_picture():
    solved = run()
    solved.kkt = np.zeros(5)
    assert "KKT residual 0.00e+00" in run_picture(solved, "string", 0).alt


def test_a_run_that_ended_shows_its_last_iteration():
    assert run_picture(RUNS["membrane"], "membrane", 4).alt.startswith("membrane, iteration 2 of 2.")
    assert "iteration 2, its last" in run_picture(RUNS["membrane"], "membrane", 4).svg
    assert "its last" not in run_picture(RUNS["membrane"], "membrane", 2).svg


def test_the_same_run_gives_the_same_bytes():
    one, two = (run_picture(RUNS["string"], "string", 2).svg for _ in range(2))
    assert one == two
    assert len(one) < 1e5


def test_the_explorer_draws_every_iteration_of_every_run():
    box = ActiveSetExplorer(RUNS, iterations=[0, 4], start={"iteration": 4})
    row, stack = box.children
    assert isinstance(box, W.VBox)
    assert [c.description for c in row.children] == ["problem", "iteration"]
    assert [[label for label, _ in c.options] for c in row.children] == [["string", "membrane"], ["0", "4"]]
    assert [len(s.children) for s in (stack, *stack.children)] == [2, 2, 2]
    assert shown(box).startswith("string, iteration 4 of 4. ")


def test_iterations_to_choose_from_lie_closer_at_the_start():
    box = ActiveSetExplorer({"string": run(100)})
    assert [int(label) for label, _ in box.children[0].children[1].options] == [0, 1, 3, 6, 16, 40, 100]
    assert len(ActiveSetExplorer({"string": run(0)}).children[0].children[1].options) == 1


@pytest.mark.parametrize(
    ("runs", "iterations", "said"),
    [
        ({}, None, "nothing to explore: pass at least one run"),
        (RUNS, [0, 5], "There is no iteration 5: the longest run has 4"),
    ],
)
def test_mistakes_are_named(runs, iterations, said):
    with pytest.raises(CourseError, match=said):
        ActiveSetExplorer(runs, iterations=iterations)
