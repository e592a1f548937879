"""Ranks in time, and what each of them did."""

import re
from types import SimpleNamespace as Deed

import pytest

from course_pkg.core import CourseError
from course_pkg.viz import Panel, deeds_picture, ranks_picture


def span(kind, start, end):
    return Deed(kind=kind, start=start, end=end)


TWO = {
    "rank 0": [span("computes", 0.0, 2e-6), span("halo", 0.0, 1e-6)],
    "rank 1": [span("computes", 0.0, 1e-6), span("waits", 1e-6, 3e-6)],
}


def test_the_text_tells_what_each_rank_does_for_how_long_and_when_the_last_ends():
    picture = ranks_picture([Panel("as it is", TWO)], ("computes", "waits"), "halo", note="Made up.")
    assert picture.alt == (
        "as it is: 3.00 µs. rank 0: computes 2.00 µs; halo on the wire 1.00 µs. rank 1: computes 1.00 µs; waits "
        "2.00 µs. Made up."
    )
    assert all(f'id="span-0-{rank}-{i}"' in picture.svg for rank in (0, 1) for i in (0, 1))


def test_all_panels_have_one_scale():
    """A span of half the time is half as wide, also in another panel."""
    short, long = ({"rank 0": [span("computes", 0.0, end)]} for end in (1e-6, 2e-6))
    svg = ranks_picture([Panel("short", short), Panel("long", long)], ("computes",), "halo").svg

    def wide(number):
        path = svg.split(f'id="span-{number}-0-0"')[1].split('d="')[1].split('"')[0]
        xs = [float(word) for word in path.replace("M", "L").split("L")[1].split()[:1]]
        xs += [float(path.split("L")[1].split()[0])]
        return abs(xs[1] - xs[0]) or abs(float(path.split("L")[2].split()[0]) - xs[0])

    assert wide(1) == pytest.approx(2 * wide(0), rel=1e-3)


def test_pictures_of_fewer_ranks_can_be_as_high_as_others():
    """A slider's picture neither jumps nor grows when the number of ranks changes."""
    three = {**TWO, "rank 2": TWO["rank 0"]}
    sizes = {
        re.search(
            r'viewBox="([^"]+)"',
            ranks_picture([Panel("a", lanes)] * 2, ("computes", "waits"), "halo", rows=3).svg,
        )[1]
        for lanes in (TWO, three)
    }
    assert len(sizes) == 1


@pytest.mark.parametrize(
    ("panels", "kinds", "says"),
    [
        ([], ("computes",), "nothing to draw"),
        ([Panel("empty", {"rank 0": []})], ("computes",), "nothing to draw"),
        ([Panel("as it is", TWO)], ("computes",), "'waits' is none of the kinds"),
        ([Panel("as it is", TWO)], ("a", "b", "c", "d", "computes", "waits"), "6 kinds and 5 colours"),
    ],
)
def test_what_cannot_be_drawn_in_time_is_said(panels, kinds, says):
    with pytest.raises(CourseError, match=says):
        ranks_picture(panels, kinds, "halo")


def test_deeds_are_drawn_in_their_order_and_many_are_cut():
    many = [Deed(kind="sums", what=f"adds {n} numbers") for n in range(2, 20)]
    picture = deeds_picture({"rank 0": many, "rank 1": []})
    assert (
        picture.alt.startswith("rank 0: adds 2 numbers, adds 3 numbers") and "rank 1: nothing." in picture.alt
    )
    assert (
        ">adds 13 numbers<" in picture.svg and ">adds 14 numbers<" not in picture.svg and ">…<" in picture.svg
    )


@pytest.mark.parametrize(
    ("lanes", "says"),
    [
        ({"rank 0": []}, "no rank did anything"),
        ({"rank 0": [Deed(kind="sleeps", what="…")]}, "'sleeps' is none of"),
    ],
)
def test_deeds_that_cannot_be_drawn_are_said(lanes, says):
    with pytest.raises(CourseError, match=says):
        deeds_picture(lanes)
