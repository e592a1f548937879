"""Figures of several devices in one picture."""

import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from course_pkg import viz
from course_pkg.bench import Comparison, compare
from course_pkg.core import Cost, CourseError
from course_pkg.viz import Note, Picture, Rung, ladder_picture, on_each, side_by_side
from course_pkg.viz.ladder import MISSING
from course_pkg.viz.pairs import WIDTH, _panels
from course_pkg.viz.style import RC
from course_pkg.viz.widgets import Controls

H100, H200 = (
    SimpleNamespace(device=SimpleNamespace(name=f"NVIDIA {name}")) for name in ("H100 80GB HBM3", "H200")
)
SPEED = {"NVIDIA H100 80GB HBM3": 30, "NVIDIA H200": 40}


def words(picture):
    return [re.sub("<[^>]*>", "", text) for text in re.findall(r"<text[^>]*>(.*?)</text>", picture.svg, re.S)]


def copied():
    return compare({"copy": np.copyto}, np.empty(8), np.ones(8), cost=Cost(64, 64), samples=2)["copy"]


def curves(one):
    return viz.curves_picture(
        {"CG": [(0, 0.0), (8, SPEED[one.device.name])]},
        xlabel="iterations",
        ylabel="TB/s",
        note=one.device.name,
    )


def test_a_figure_of_each_gpu_takes_records_or_what_was_found_of_them_in_their_order():
    for given in ([H100, H200], [SimpleNamespace(found=one) for one in (H100, H200)]):
        drawn = []
        picture = on_each(
            lambda one, drawn=drawn: drawn.append(one) or curves(getattr(one, "found", one)), given
        )
        assert drawn == given and isinstance(picture, Picture)
        assert picture.alt.index("H100: TB/s against") < picture.alt.index("H200: TB/s against")


def test_a_figure_of_one_gpu_is_its_own_and_of_none_says_how_to_record_one():
    assert on_each(curves, [H200]).svg == curves(H200).svg
    with pytest.raises(CourseError, match="There is no record to draw: record one"):
        on_each(curves, [])
    with pytest.raises(CourseError, match="nothing to draw"):
        side_by_side({})


def test_panels_stand_beside_each_other_under_their_names_and_share_their_scale():
    picture = on_each(curves, [H100, H200])
    titles = [
        re.search(rf"<g id=\"text_\d+\">\s*<text[^>]*>{name}</text>", picture.svg)
        for name in ("H100", "H200")
    ]
    assert all(titles)
    assert "NVIDIA H100 80GB HBM3 NVIDIA H200" in words(picture), "they share a note"
    assert words(picture).count("40") == 2, "both axes reach the larger number"


def test_pictures_that_have_places_of_their_own_are_frames_of_a_slider():
    memories = [viz.Level("L2"), viz.Level("memory", ("141 GB",), 4.3, "4.3 TB/s")]
    box = on_each(lambda one: viz.memories_picture(memories, note=one.device.name), [H100, H200])
    control, frames = box.children
    assert isinstance(box, Controls) and control.options == (("H100", 0), ("H200", 1))
    assert control.index == frames.selected_index == 1
    with pytest.raises(CourseError, match="H100, H200 cannot stand beside"):
        side_by_side({name: viz.memories_picture(memories) for name in ("H100", "H200")})


def ladders(**rungs):
    return side_by_side({name: ladder_picture(of, bound_gb_s=1000.0 * len(of)) for name, of in rungs.items()})


def test_a_ladder_has_a_bar_for_each_device_and_the_bound_of_each():
    picture = ladders(
        H100=[Rung("flat", 0.4, {"loads": "7"}, "L1 90%"), Rung("tiled", 0.8, {"loads": "2"}, "issue 74%")],
        H200=[Rung("flat", 0.2, {"loads": "7"}, "L1 80%"), Rung("tiled", 0.1, {"loads": "2"}, "issue 74%")],
    )
    found = re.findall(r'<g id="rung-(\d)-(\d)">\s*<path d="M ([\d.]+) [\d.]+ \nL ([\d.]+) ', picture.svg)
    wide = {(int(i), int(k)): float(right) - float(left) for i, k, left, right in found}
    assert wide[0, 0] / wide[0, 1] == pytest.approx(2, rel=1e-3)
    assert wide[1, 0] / wide[1, 1] == pytest.approx(8, rel=1e-3)
    said = words(picture)
    assert "copy: H100 2,000, H200 2,000 GB/s" in said
    assert said.count("7") == 1 and said.count("issue 74%") == 1, "devices that agree are written once"
    assert {"L1 90%", "L1 80%"} <= set(said) and said.count("H100") == said.count("H200") == 2
    assert "H100: flat: 40%, loads 7, longest clock L1 90%; tiled: 80%" in picture.alt
    assert "H200: flat: 20%" in picture.alt and "tiled: 10%, a fall" in picture.alt


def test_a_rung_that_a_device_has_no_record_of_says_so_in_its_place():
    picture = ladders(H100=[Rung("flat", 0.4)], H200=[Rung("flat", 0.2), Rung("tiled", 0.1)])
    assert words(picture).count(MISSING) == 1
    assert f"H100: flat: 40%; tiled: {MISSING}." in picture.alt


def test_a_note_says_once_what_all_devices_share():
    each = {
        name: ladder_picture([Rung("flat", 0.4)], note=Note("512³ doubles.", f"Recorded on an {name}."))
        for name in ("H100", "H200")
    }
    assert side_by_side(each).alt.endswith("512³ doubles. Recorded on an H100. Recorded on an H200.")


def test_areas_of_two_devices_have_the_same_scales():
    one = copied()
    picture = side_by_side(
        {name: viz.areas_picture({"copy": one}, t_peak_gb_s=8.0) for name in ("H100", "H200")}
    )
    found = re.findall(r'<g id="area-\d-0-[^"]*">\s*<path d="M ([\d.]+) ([\d.]+) \nL ([\d.]+) ', picture.svg)
    (left, low, right), (other_left, other_low, other_right) = [tuple(map(float, three)) for three in found]
    assert right - left == pytest.approx(other_right - other_left) and low == other_low and right < other_left
    assert {"H100: T_peak 8 GB/s", "H200: T_peak 8 GB/s"} <= set(words(picture))


def test_passes_of_two_devices_are_columns_with_a_dot_for_each_relative_to_its_own_copy():
    from course_pkg.cg.fusion import TWO_KERNEL

    def passes(us, per_pass):
        return viz.passes_picture(
            {"two kernels": TWO_KERNEL},
            per_pass=per_pass,
            axis="µs",
            measured={"two kernels": us},
            written="{:.0f} µs".format,
        )

    picture = side_by_side({"H100": passes(18.0, 2.0), "H200": passes(9.0, 1.0)})
    dots = re.findall(r'<use xlink:href="#\w+" x="([\d.]+)" y="([\d.]+)"', picture.svg)
    assert len({y for _, y in dots[:1] + dots[2:3]}) == 1, "18 at 2 a pass is as high as 9 at 1"
    assert {"18 µs", "9 µs", "H100", "H200"} <= set(words(picture))
    assert "two kernels: H100 16 µs, measured 18 µs; H200 8 µs, measured 9 µs." in picture.alt
    other = viz.passes_picture({"others": TWO_KERNEL}, per_pass=1, axis="µs")
    with pytest.raises(CourseError, match="the same plans"):
        side_by_side({"H100": passes(18.0, 2.0), "H200": other})


@pytest.fixture
def in_panels():
    """A function that lays a picture out beside itself, and returns the two panels as Matplotlib drew them."""

    def lay_out(picture):
        with mpl.rc_context(RC):
            figure = Figure(figsize=(WIDTH, picture.panel[1][1]), layout="constrained")
            _panels(figure, {"H100": picture, "H200": picture})
            figure.draw_without_rendering()
        return figure.subfigs

    return lay_out


def test_ticks_of_a_panel_have_room_for_their_names(in_panels):
    sizes = [replace(copied(), cost=Cost(2**k, 2**k)) for k in range(14, 33)]
    for part in in_panels(viz.t_eff_sweep({"copy two": sizes}, t_peak_gb_s=9.0)):
        [ax] = part.axes
        names = [t.get_window_extent() for t in ax.get_xticklabels()]
        names = [one for one in names if ax.bbox.x0 <= one.x0 and one.x1 <= ax.bbox.x1]
        assert len(names) >= 2 and all(one.x1 < other.x0 for one, other in pairwise(names))


def test_the_legend_of_a_panel_is_no_wider_than_the_panel(in_panels):
    found = compare(
        {"copy": np.copyto}, np.empty(8), np.ones(8), cost=Cost(96, 96, unknown_bytes=32), samples=2
    )
    for part in in_panels(viz.bars(Comparison(found.measurements, 4.0), bound="copy of 512³")):
        [legend] = part.legends
        assert len(legend.get_texts()) == 3
        box = legend.get_window_extent()
        assert part.bbox.x0 <= box.x0 and box.x1 <= part.bbox.x1
