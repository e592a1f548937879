"""The access strip: one mark for each lane, sector, bank and word; the alternative text has the numbers."""

import re

import numpy as np
import pytest
from access_cases import (
    ALL,
    ANYWHERE,
    GLOBAL,
    LANE,
    SHARED,
    access,
    corners,
    count,
    drawn,
    marks,
    shared,
    width,
)

from course_pkg.core import CourseError
from course_pkg.viz import access_strip, banks, sectors, strip
from course_pkg.viz.style import MEMORY, MEMORY_WRITE

# ---- both


@pytest.mark.parametrize("one", ALL)
def test_there_are_32_lanes_and_a_ribbon_for_each_at_work(one):
    ids, _ = marks(drawn(one))
    on = int((one.offsets >= 0).sum())
    assert count(ids, r"lane-\d+") == on
    assert count(ids, r"off-\d+") == 32 - on
    ribbons = {int(i.split("-")[1]) for i in ids if i.startswith("ribbon-")}
    assert ribbons == set(np.flatnonzero(one.offsets >= 0))
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("one", ALL)
def test_the_drawing_keeps_to_its_sheet(one):
    picture = drawn(one)
    assert 'width="619.2pt" height="237.6pt"' in picture.svg
    _, groups = marks(picture)
    shapes = {
        i: g for i, g in groups.items() if re.match(r"(lane|off|ribbon|sector|used|line|bank|word|idle)-", i)
    }
    for name, group in shapes.items():
        for x, y in corners(group):
            assert 0 <= x <= strip.WIDTH, name
            assert 0 <= y <= strip.HEIGHT - 50, f"{name} runs into the words beneath"
    assert len(shapes) > 40


def test_caption_and_legend_never_meet():
    one = access(np.where(LANE == 5, -1, 8 * ANYWHERE))
    memory = sectors.touched(one)
    legend = sum(strip.breadth(text, 11) + 28 for _, _, text in sectors._legend(one, memory)) - 14
    assert len(sectors._legend(one, memory)) == 3
    assert strip.breadth(sectors._caption(memory), 11) + 8 < strip.RIGHT - strip.LEFT - legend


def test_the_alternative_text_says_whose_access_it_is():
    alt = access_strip(access(8 * LANE)).alt
    assert "Line 42: total -= u[k, j, i - 1]" in alt
    assert "global load of u, 8 B per lane · laplacian_kernel · block (1,2,0), warp 3, trip 5" in alt


def test_loads_and_writes_have_their_colours():
    for kind, colour in (("load", MEMORY), ("store", MEMORY_WRITE), ("atomic", MEMORY_WRITE)):
        for one in (access(8 * LANE, kind=kind), shared(8 * LANE, kind=kind, wavefronts=2)):
            assert strip.colour(one) == colour
            _, groups = marks(access_strip(one))
            ribbon = next(g for i, g in groups.items() if i.startswith("ribbon-0-"))
            (path,) = ribbon.iter("{http://www.w3.org/2000/svg}path")
            assert f"fill: {colour.lower()}" in path.get("style")


@pytest.mark.parametrize("space", ["global", "shared"])
def test_a_warp_that_is_off_is_drawn_hollow(space):
    picture = access_strip(access(0 * LANE - 1, space=space))
    ids, _ = marks(picture)
    assert count(ids, r"off-\d+") == 32
    assert count(ids, r"(sector|word|ribbon)-.*") == 0
    assert picture.alt.startswith("No lane of this warp is at work here")


def test_a_line_of_source_is_cut_where_it_is_too_long():
    long = "u[i] + " * 40
    cut = strip.shortened(long, 10.5, 300, family="monospace")
    assert 280 < strip.breadth(cut, 10.5, family="monospace") <= 300
    assert cut.endswith(" …")
    assert long.startswith(cut.removesuffix(" …"))
    assert strip.shortened("u[i]", 10.5, 300) == "u[i]"


@pytest.mark.parametrize(
    "source", ["cost = '$x$ and $'", r"s = '\$ \frac'", "x = 1 # 中文 🚀", "\tx = 1", "", "x_{i}^2"]
)
def test_any_source_can_be_written(source):
    assert f"Line 42: {source.strip()}".strip() in access_strip(access(8 * LANE, source=source)).alt


def test_letters_that_the_font_lacks_become_boxes():
    assert strip.shortened("# 中 β", 10.5, 300, family="monospace") == "# □ β"


def test_an_access_has_32_lanes():
    with pytest.raises(CourseError, match=r"each of the 32 lanes, not an array of shape \(16,\)"):
        access_strip(access(8 * LANE[:16]))


def test_the_same_access_gives_the_same_bytes():
    one = access(8 * ANYWHERE)
    assert access_strip(one).svg == access_strip(one).svg


# ---- sectors


@pytest.mark.parametrize(("one", "moved", "used", "lines"), GLOBAL.values(), ids=GLOBAL)
def test_every_sector_that_is_touched_is_drawn(one, moved, used, lines):
    ids, _ = marks(drawn(one))
    assert count(ids, r"sector-\d+") == moved == one.sectors
    assert count(ids, r"line-\d+-0") == lines
    assert count(ids, r"(bank|word)-.*") == 0


@pytest.mark.parametrize(("one", "moved", "used", "lines"), GLOBAL.values(), ids=GLOBAL)
def test_used_and_unused_bytes_add_up_to_what_is_moved(one, moved, used, lines):
    memory = sectors.touched(one)
    assert memory.used_bytes == used
    assert memory.used.size == 32 * moved
    picture = drawn(one)
    ids, groups = marks(picture)
    pieces = [list(map(int, i.split("-")[1:])) for i in ids if i.startswith("used-")]
    assert sum(last - first for _, first, last in pieces) == used
    assert f"{used:,} B are coloured as used, {32 * moved - used:,} B are grey" in picture.alt
    # coloured and grey have the same scale
    for sector, first, last in pieces:
        share = width(groups[f"used-{sector}-{first}-{last}"]) / width(groups[f"sector-{sector}"])
        assert share == pytest.approx((last - first) / 32, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("coalesced", "32 lanes ask for 256 B: 8 sectors, 256 B moved, 100% used."),
        ("misaligned by one", "32 lanes ask for 256 B: 9 sectors, 288 B moved, 88.9% used."),
        ("stride 32", "32 lanes ask for 256 B: 32 sectors, 1,024 B moved, 25% used."),
        ("broadcast", "32 lanes ask for the same 8 B: 1 sector, 32 B moved, 25% used."),
        ("half off", "16 lanes ask for 128 B: 4 sectors, 128 B moved, 100% used."),
    ],
)
def test_the_headline_carries_the_numbers(name, said):
    assert drawn(GLOBAL[name][0]).alt.startswith(said)


def test_the_headline_tells_bytes_that_several_lanes_share():
    assert "for 256 B, 128 B of them distinct: 4 sectors" in access_strip(access(8 * (LANE // 2))).alt


def test_the_headline_names_what_a_lane_does():
    assert access_strip(access(8 * LANE, kind="store")).alt.startswith("32 lanes write 256 B:")
    assert access_strip(access(8 * LANE, kind="atomic")).alt.startswith("32 lanes update 256 B:")
    assert access_strip(access(np.where(LANE, -1, 0))).alt.startswith("1 lane asks for 8 B: 1 sector, 32 B")


def test_sectors_are_those_of_the_profile():
    assert "16 sectors, 512 B moved, 50% used" in access_strip(access(8 * LANE, sectors=16)).alt


def test_gaps_are_told():
    rows = access_strip(access(LANE % 8 * 8 + LANE // 8 * 4096))
    assert "8 sectors in 4 cache lines of 128 B with gaps of 4,032 B between them" in rows.alt
    assert "gaps of 224 B between" in drawn(GLOBAL["stride 32"][0]).alt
    assert re.search(r"gaps of [\d,.]+ \w+ to [\d,.]+ KiB between", access_strip(access(8 * ANYWHERE)).alt)
    assert "gaps" not in drawn(GLOBAL["coalesced"][0]).alt


@pytest.mark.parametrize("one", [case[0] for case in GLOBAL.values()])
def test_sectors_stand_apart_in_the_order_of_their_addresses(one):
    memory = sectors.touched(one)
    x, scale = sectors._layout(memory)
    assert (np.diff(x) > 32 * scale).all()
    assert x[0] >= strip.LEFT
    assert x[-1] + 32 * scale <= strip.RIGHT


def test_words_of_local_memory_lie_side_by_side():
    # the same element of every lane: 32 pairs of words
    picture = access_strip(access(0 * LANE + 8, space="local", sectors=8))
    assert count(marks(picture)[0], r"sector-\d+") == 8
    assert picture.alt.startswith("32 lanes ask for 256 B: 8 sectors, 256 B moved, 100% used.")
    assert sectors.pieces(access(0 * LANE + 8, space="local"))[:4] == [
        (0, 256, 4),
        (0, 384, 4),
        (1, 260, 4),
        (1, 388, 4),
    ]
    # an index that differs between lanes scatters
    apart = sectors.touched(access(4 * LANE, 4, space="local"))
    assert len(apart.sectors) == 32


def test_a_line_whose_sectors_lie_apart_is_framed_in_pieces():
    ids, _ = marks(access_strip(access(LANE % 2 * 96)))
    assert count(ids, r"sector-\d+") == 2
    assert [i for i in ids if i.startswith("line-")] == ["line-0-0", "line-0-1"]


# ---- banks


@pytest.mark.parametrize(("one", "waiting", "distinct", "used_banks", "rows"), SHARED.values(), ids=SHARED)
def test_words_are_stacked_at_their_banks(one, waiting, distinct, used_banks, rows):
    ids, _ = marks(drawn(one))
    assert count(ids, r"bank-\d+") == 32
    words = [tuple(map(int, i.split("-")[1:])) for i in ids if i.startswith("word-")]
    assert len(words) == waiting
    assert len({bank for bank, _ in words}) == used_banks
    assert max(row for _, row in words) < rows == one.wavefronts
    idle = sum(int(i.split("-")[1]) for i in ids if i.startswith("idle-"))
    assert waiting + idle == 32 * rows, "every bank gives a word or is idle, in every wavefront"
    found = banks.stacks(one)
    assert (len(found.words), found.banks) == (distinct, used_banks)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fp64 row", "32 lanes read 64 words in 32 banks: 2 wavefronts, no conflict."),
        ("fp64 column", "32 lanes read 64 words in 2 banks: 32 wavefronts where 2 would do."),
        ("fp64 column, padded", "32 lanes read 64 words in 32 banks: 2 wavefronts, no conflict."),
        ("fp32 stride 2", "32 lanes read 32 words in 16 banks: 2 wavefronts where 1 would do."),
        ("fp32 broadcast", "32 lanes read 1 word in 1 bank: 1 wavefront, no conflict."),
        ("fp64 broadcast, by halves", "32 lanes read 2 words in 2 banks: 2 wavefronts, no conflict."),
        ("halves that differ", "32 lanes read 16 words in 4 banks: 8 wavefronts where 2 would do."),
        ("atomics", "32 lanes update 1 word in 1 bank: 32 wavefronts where 1 would do."),
    ],
)
def test_the_headline_carries_wavefronts(name, said):
    picture = drawn(SHARED[name][0])
    assert picture.alt.startswith(said)
    assert ("bound" in marks(picture)[0]) == ("would do" in said)


def test_wavefronts_are_those_of_the_profile():
    picture = access_strip(shared(8 * LANE, 8, wavefronts=7))
    assert "7 wavefronts where 2 would do" in picture.alt
    assert f"idle-{7 * 32 - 64}" in marks(picture)[0]
