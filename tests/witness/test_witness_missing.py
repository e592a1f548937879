"""A device that has not counted something says so in its place, in each figure and table of clocks."""

import pytest

from course_pkg import bench, viz
from course_pkg.core import CourseError
from course_pkg.stencil.variants import VARIANTS
from course_pkg.viz.pairs import on_each
from course_pkg.witness import every, longest, record
from course_pkg.witness.clocks import NOT_COUNTED, OF_PEAK, READ
from course_pkg.witness.ladder import Ladder

LAPLACIAN = {v.name: v for v in VARIANTS.of("laplacian")}
H100 = "nvidia-h100-80gb-hbm3"
ISSUE = "smsp__issue_active" + OF_PEAK


@pytest.fixture
def poorer(monkeypatch):
    """Let the H100 lack a case, the bytes of another, and a clock of a third; and counters of a small case."""
    whole = record.recorded

    def recorded(kind=record.COUNTERS, device=record.DEVICE):
        found = whole(kind, device)
        if found.device.slug == H100:
            for case in ("laplacian_flat_512", "laplacian_flat_64"):
                found.counters.pop(case, None)
            for case, metric in (("laplacian_marching_512", READ), ("laplacian_tiled_512", ISSUE)):
                found.counters.get(case, {}).pop(metric, None)
        return found

    monkeypatch.setattr(record, "recorded", recorded)
    longest.counted_large.cache_clear()
    yield
    longest.counted_large.cache_clear()


def on(slug):
    return Ladder(bench.recorded("stencil", slug))


@pytest.mark.usefixtures("poorer")
def test_a_ladder_says_what_a_device_has_not_counted():
    names = {name: LAPLACIAN[name] for name in ("flat", "tiled", "marching", "vectorised")}
    said = on(H100).climb(names).alt
    assert f"flat: 91%, instructions per warp {NOT_COUNTED}, loads per point {NOT_COUNTED}" in said
    assert [on(H100).longest_clock(v) == NOT_COUNTED for v in names.values()] == [True, True, True, False]
    assert NOT_COUNTED not in on("nvidia-h200").climb(names).alt


@pytest.mark.usefixtures("poorer")
def test_the_picture_of_the_clocks_names_the_missing_ones_and_draws_the_others():
    picture = on(H100).draw({name: LAPLACIAN[name] for name in ("flat", "tiled")})
    assert f"flat: 784 µs, of which {NOT_COUNTED}: clocks" in picture.alt
    assert f"L1 65%, {NOT_COUNTED}: issue" in picture.alt and f">{NOT_COUNTED}: issue<" in picture.svg


@pytest.mark.usefixtures("poorer")
def test_the_table_of_all_clocks_knows_no_clock_that_binds_where_one_is_missing():
    rows = {row["case"]: row for row in every.every_clock("stencil").rows}
    assert rows["laplacian_flat_512"]["memory"][0] == NOT_COUNTED
    assert rows["laplacian_marching_512"]["L1"][0] == NOT_COUNTED
    tiled = rows["laplacian_tiled_512"]
    assert tiled["memory"][0] == "71%" and tiled["binds"] == (NOT_COUNTED, "none")


@pytest.mark.usefixtures("poorer")
def test_to_ask_for_what_was_not_counted_says_how_to_count_it():
    with pytest.raises(
        CourseError, match=r"H100 80GB HBM3 has not counted laplacian_flat_512: .*--case laplacian_flat_512"
    ):
        on(H100).moved(LAPLACIAN["flat"])


@pytest.mark.usefixtures("poorer")
def test_a_figure_whose_device_lacks_something_names_it_below_the_others():
    def moved(found):
        read, _, time_s = Ladder(found).moved(LAPLACIAN["flat"])
        return viz.clock_bars({"flat": (time_s, {"memory": read / 1e12})})

    box = on_each(moved, bench.records("stencil"))
    picture, words = (child.value for child in box.children)
    assert "flat: 627 µs" in picture and "H100: not recorded. NVIDIA H100 80GB HBM3 has not counted" in words
    with pytest.raises(CourseError, match="has not counted"):
        on_each(moved, bench.records("stencil")[:1])
