"""The permutation explorer: what a view shows, one scale for all orders of a matrix, both choices, and mistakes."""

import re
from types import SimpleNamespace

import ipywidgets as W
import numpy as np
import pytest
from access_cases import marks
from matplotlib.axes import Axes
from visible import shown

from course_pkg.core import CourseError
from course_pkg.viz import PermutationExplorer
from course_pkg.viz.permutation_explorer import view_picture

LANES = (1, 4, 32)


def view(bandwidth=3, x_sectors=600, lanes=LANES, shift=1):
    """Return what the caller passes: a matrix with a diagonal and one entry per row beside it, and made-up counts."""
    n = 100
    columns = np.stack([np.arange(n), (np.arange(n) + shift) % n], axis=1)
    matrix = SimpleNamespace(
        shape=(n, n), indptr=2 * np.arange(n + 1), indices=np.sort(columns, axis=1).reshape(-1)
    )
    loads = {
        k: SimpleNamespace(requests=100 * k, x_sectors=x_sectors * k, matrix_sectors=1000 // k) for k in lanes
    }
    return SimpleNamespace(matrix=matrix, bandwidth=bandwidth, profile=1234, least_sectors=321, loads=loads)


ORDERS = {"natural": view(), "random": view(99, 2400, shift=50)}


def test_a_picture_says_what_it_shows():
    assert view_picture(ORDERS, "ring", "random").alt == (
        "ring, order: random. 100 rows, 200 nonzeros, bandwidth 99, envelope 1,234. By lanes that share a row: "
        "1: 100 requests of x with 24.0 sectors each, 3,400 sectors in all; "
        "4: 400 requests of x with 24.0 sectors each, 9,850 sectors in all; "
        "32: 3,200 requests of x with 24.0 sectors each, 76,831 sectors in all. Everything once: 321 sectors."
    )


def test_no_request_is_no_division_by_nothing():
    empty = view()
    empty.loads = {1: SimpleNamespace(requests=0, x_sectors=0, matrix_sectors=8)}
    assert "1: 0 requests of x with 0.0 sectors each" in view_picture({"natural": empty}, "m", "natural").alt


def test_every_number_of_lanes_has_a_bar_of_each_kind(monkeypatch):
    drawn = []
    monkeypatch.setattr("matplotlib.axes.Axes.bar", lambda ax, places, heights, **_: drawn.append([*heights]))
    monkeypatch.setattr("matplotlib.axes.Axes.legend", lambda *_, **__: None)
    view_picture(ORDERS, "ring", "natural")
    matrix, x, requests = drawn
    assert matrix == [1, 0.25, 0.031]
    assert x == [0.6, 2.4, 19.2]
    assert requests == [100, 400, 3200]


def test_all_orders_of_a_matrix_have_one_scale(monkeypatch):
    limits, set_ylim = [], Axes.set_ylim

    def noted(ax, *of, **more):
        limits.extend([of] * (not more))
        return set_ylim(ax, *of, **more)

    monkeypatch.setattr(Axes, "set_ylim", noted)
    for order in ORDERS:
        view_picture(ORDERS, "ring", order)
    assert limits[0] == limits[2] == (0, pytest.approx(1.22 * 76.831))
    assert limits[1] == limits[3] == (0, pytest.approx(1.22 * 3200))


def test_where_the_nonzeros_lie_is_an_image_of_few_bytes():
    pictures = [view_picture(ORDERS, "ring", order) for order in ORDERS]
    assert all("<image" in p.svg for p in pictures)
    images = [re.search(r'base64,([^"]+)"', p.svg)[1] for p in pictures]
    assert images[0] != images[1]
    assert 12 * max(len(p._repr_html_()) for p in pictures) < 1.5e6, "a dozen on a slide"
    assert marks(pictures[0])


def test_the_same_view_gives_the_same_bytes():
    one, two = (view_picture(ORDERS, "ring", "natural").svg for _ in range(2))
    assert one == two


def test_the_explorer_draws_every_order_of_every_matrix():
    box = PermutationExplorer({"ring": ORDERS, "other": ORDERS})
    row, stack = box.children
    assert isinstance(box, W.VBox)
    assert [c.description for c in row.children] == ["matrix", "order"]
    assert [[label for label, _ in c.options] for c in row.children] == [
        ["ring", "other"],
        ["natural", "random"],
    ]
    assert [len(s.children) for s in (stack, *stack.children)] == [2, 2, 2]
    assert shown(box).startswith("ring, order: natural. ")
    started = PermutationExplorer({"ring": ORDERS}, start={"order": "random"})
    assert shown(started).startswith("ring, order: random. ")


@pytest.mark.parametrize(
    ("views", "said"),
    [
        ({}, "nothing to explore: pass at least one matrix"),
        ({"ring": {}}, "nothing to explore"),
        (
            {"ring": ORDERS, "other": {"natural": view()}},
            "other is there in the orders natural, and ring in natural, random: give all matrices the same orders",
        ),
        (
            {"ring": {"natural": view(), "random": view(lanes=(1, 2))}},
            "The orders of ring differ in their numbers of lanes",
        ),
    ],
)
def test_mistakes_are_named(views, said):
    with pytest.raises(CourseError, match=said):
        PermutationExplorer(views)


def test_a_start_that_is_no_choice_is_named():
    with pytest.raises(CourseError, match="start is 'sorted' for order"):
        PermutationExplorer({"ring": ORDERS}, start={"order": "sorted"})
