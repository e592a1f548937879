"""The ladder, and the areas of bytes: what is drawn is as long, as high and as wide as the numbers say."""

import re

import pytest

from course_pkg.bench import Device, Measurement
from course_pkg.core import Cost, CourseError
from course_pkg.viz import Rung, areas_picture, ladder_picture
from course_pkg.viz.style import COMPUTE_TEXT, MEMORY, WASTED

CPU = Device("cpu", "A CPU", 2, 0, 0)
RUNGS = [
    Rung("naive", 0.4, {"loads": "7", "registers": "30"}, "issue 69%"),
    Rung("flat", 0.8, {"loads": "7", "registers": "20"}, "memory 80%"),
    Rung("tiled", 0.5, {"loads": "2", "registers": "32"}, "issue 79%"),
]


def rectangle(svg, gid):
    """Return left, top, width, height and fill of a rectangle with this gid."""
    found = re.search(rf'<g id="{re.escape(gid)}">\s*<path d="([^"]*)"[^>]*style="fill: (#\w+)', svg)
    numbers = [float(n) for n in re.findall(r"-?[\d.]+", found[1])]
    xs, ys = numbers[0::2], numbers[1::2]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys), found[2]


def test_a_bar_is_as_long_as_its_share_and_a_fall_has_its_own_colour():
    svg = ladder_picture(RUNGS).svg
    bars = [rectangle(svg, f"rung-{i}") for i in range(3)]
    assert bars[1][2] / bars[0][2] == pytest.approx(2, rel=1e-3)
    assert [bar[4].upper() for bar in bars] == [MEMORY, MEMORY, COMPUTE_TEXT]


def test_the_share_of_a_short_bar_stands_beside_it_and_not_behind_the_line_of_the_one_before():
    svg = ladder_picture([Rung("a", 0.8), Rung("b", 0.05)]).svg
    left, _, width, *_ = rectangle(svg, "rung-1")
    _, _, before, *_ = rectangle(svg, "rung-0")
    place = float(re.search(r'<text[^>]* x="([\d.]+)"[^>]*>5% ▾<', svg)[1])
    assert left + width < place < left + width + 20 < left + before


def test_the_text_says_shares_falls_counters_and_clocks():
    said = ladder_picture(RUNGS, bound="T_peak", note="Recorded here.").alt
    assert said.startswith(
        "Share of T_peak. naive: 40%, loads 7, registers 30, longest clock issue 69%; flat: 80%"
    )
    assert "tiled: 50%, a fall, loads 2" in said and said.endswith("Recorded here.")


def test_problems_are_not_compared_with_each_other_but_with_the_bound():
    picture = ladder_picture(
        [
            Rung("a", 1.4, {"products": "9"}),
            Rung("b", 1.1, {"products": "8"}),
            Rung("c", 0.6, {"products": "7"}),
        ],
        steps=False,
    )
    assert [rectangle(picture.svg, f"rung-{i}")[4].upper() for i in range(3)] == [
        MEMORY,
        MEMORY,
        COMPUTE_TEXT,
    ]
    assert "a fall" not in picture.alt and "▾" not in picture.svg


def test_to_end_before_a_ceiling_takes_no_colour():
    rungs = [Rung("a", 0.9), Rung("b", 0.6)]
    for ceiling, colour in ((True, MEMORY), (False, COMPUTE_TEXT)):
        svg = ladder_picture(rungs, bound="T_peak", steps=False, ceiling=ceiling).svg
        assert [rectangle(svg, f"rung-{i}")[4].upper() for i in range(2)] == [colour, colour]


def test_a_fall_is_one_that_the_percentages_show():
    same, lower = (
        ladder_picture([Rung("a", 0.9201), Rung("b", 0.9199)]),
        ladder_picture([Rung("a", 0.92), Rung("b", 0.91)]),
    )
    assert "▾" not in same.svg and "a fall" not in same.alt
    assert "▾" in lower.svg and "a fall" in lower.alt


def test_a_counter_is_bold_where_it_changed():
    bold = re.findall(r"font-weight: 700[^>]*>([^<]*)<", ladder_picture(RUNGS).svg)
    assert {"20", "2", "32"} <= set(bold) and not {"7", "30"} & set(bold)


@pytest.mark.parametrize(
    ("rungs", "complaint"),
    [
        ([], "nothing to draw"),
        ([Rung("a", 0.0)], "share of a is 0.0"),
        ([Rung("a", 0.5, dict.fromkeys("wxyz", ""))], "room for 3 counters, not for 4"),
        ([Rung("a", 0.5, {"loads": "1"}), Rung("b", 0.5)], "b needs the counters loads"),
        ([Rung("a" * 90, 0.5)], "no room for the bars"),
    ],
)
def test_what_cannot_be_drawn_as_a_ladder_is_said(rungs, complaint):
    with pytest.raises(CourseError, match=complaint):
        ladder_picture(rungs)


def measured(time_s, moved, needed):
    cost = Cost(moved // 2, moved - moved // 2, 0, needed, 0)
    return Measurement("step", (time_s,), (1.0,), 1, "exceeds", cost, CPU, {}, "2026-01-02")


def test_areas_are_bytes_and_those_that_must_move_are_equal():
    four, fused = measured(11e-3, 11 * 10**9, 3 * 10**9), measured(4e-3, 3 * 10**9, 3 * 10**9)
    assert four.cost.a_eff_bytes == fused.cost.a_eff_bytes
    picture = areas_picture({"four": four, "fused": fused}, t_peak_gb_s=1200.0)

    def area(number, colour):
        _, _, wide, high, _ = rectangle(picture.svg, f"area-{number}-{colour}")
        return wide * high

    needed = [area(number, MEMORY) for number in (0, 1)]
    assert needed[0] == pytest.approx(needed[1], rel=1e-3)
    besides = (four.cost.bytes - four.cost.a_eff_bytes) / four.cost.a_eff_bytes
    assert area(0, WASTED) / needed[0] == pytest.approx(besides, rel=1e-3)
    assert f"area-1-{WASTED}" not in picture.svg
    assert "four: 1,000 GB/s for 11.0 ms, 11 GB moved" in picture.alt and "T_peak: 1,200 GB/s." in picture.alt


def test_words_of_a_flat_area_do_not_lie_across_it():
    """A slow program beside a fast one is a flat rectangle, whose edges would go through the words."""
    slow, fast = measured(40e-3, 4 * 10**8, 5 * 10**7), measured(1e-3, 10**8, 5 * 10**7)
    for programs, beside in (({"slow": slow}, 0), ({"slow": slow, "fast": fast}, 1)):
        picture = areas_picture(programs)
        _, _, _, high, _ = rectangle(picture.svg, f"area-0-{MEMORY}")
        assert (high < 18) == bool(beside)
        assert ("moved besides</text>" in picture.svg) == (not beside)
    assert "100 MB must move</text>" in picture.svg, "beside the narrow area of the fast one"


def test_without_bytes_there_is_no_area():
    with pytest.raises(CourseError, match="no measurement says how many bytes"):
        areas_picture({})
