"""The tile picture: cells of each kind, the first warp's outline, the table, and what cannot be drawn."""

import re

import pytest
from access_cases import corners, count, marks, width

from course_pkg.core import CourseError
from course_pkg.viz import tile, tile_picture

# threads, halo, padding: columns, rows, own, halo, corner and padding cells
TILES = [
    ((32, 8), 1, 1, 35, 10, 256, 80, 4, 10),
    ((32, 8), 1, 0, 34, 10, 256, 80, 4, 0),
    ((16, 16), 2, 0, 20, 20, 256, 128, 16, 0),
    ((32, 32), 0, 1, 33, 32, 1024, 0, 0, 32),
    ((24, 4), 1, 2, 28, 6, 96, 56, 4, 12),
    ((1, 1), 0, 0, 1, 1, 1, 0, 0, 0),
    ((128, 8), 4, 0, 136, 16, 1024, 1088, 64, 0),
]
FACTS = [("sectors a request", "8.1"), ("bank conflicts", "0"), ("occupancy, H200", "100% (threads)")]


@pytest.mark.parametrize(
    ("block", "halo", "padding", "columns", "rows", "own", "ring", "corner", "pad"), TILES
)
def test_the_cells_of_a_tile_are_counted(block, halo, padding, columns, rows, own, ring, corner, pad):
    one = tile.Tile(*block, halo, padding)
    assert (one.columns, one.rows) == (columns, rows)
    assert one.cells == {"own": own, "halo": ring, "corner": corner, "padding": pad}
    covered = {}
    for kind, x, y, nx, ny in one.boxes:
        for cell in ((x + i, y + j) for i in range(nx) for j in range(ny)):
            assert cell not in covered, "two rectangles overlap"
            covered[cell] = kind
    assert set(covered) == {(x, y) for x in range(columns) for y in range(rows)}
    assert all(sum(k == kind for k in covered.values()) == n for kind, n in one.cells.items())
    assert all(covered[cell] == "own" for cell in one.warp)


@pytest.mark.parametrize("case", TILES)
def test_what_is_drawn_is_the_tile(case):
    block, halo, padding, columns, rows, *_ = case
    ids, groups = marks(tile_picture(block, halo=halo, padding=padding, facts=FACTS))
    boxes = {i: g for i, g in groups.items() if re.fullmatch(r"(own|halo|corner|padding)-\d+-\d+", i)}
    assert count(ids, r"own-\d+-\d+") == 1
    assert count(ids, r"halo-\d+-\d+") == count(ids, r"corner-\d+-\d+") == (4 if halo else 0)
    assert count(ids, r"padding-\d+-\d+") == (1 if padding else 0)
    side = width(boxes[f"own-{halo}-{halo}"]) / block[0]
    x, y = zip(*(point for group in boxes.values() for point in corners(group)), strict=True)
    assert max(x) - min(x) == pytest.approx(columns * side, rel=1e-3)
    assert max(y) - min(y) == pytest.approx(rows * side, rel=1e-3)
    assert min(x) >= tile.LEFT - 0.01
    assert max(x) <= tile.RIGHT + 0.01


@pytest.mark.parametrize(
    ("block", "halo", "cells", "edges"),
    [
        ((32, 8), 1, 32, 66),
        ((16, 16), 2, 32, 36),
        ((24, 4), 1, 32, 52),
        ((64, 4), 0, 32, 66),
        ((8, 2), 1, 16, 20),
    ],
)
def test_the_first_warp_is_outlined(block, halo, cells, edges):
    one = tile.Tile(*block, halo, 0)
    assert len(set(one.warp)) == cells
    assert one.warp[0] == (halo, halo)
    assert len(tile._outline(set(one.warp), lambda x, y: (x, y))) == edges
    assert "warp" in marks(tile_picture(block, halo=halo))[0]


def test_the_alternative_text_carries_the_numbers_and_the_table():
    alt = tile_picture((32, 8), halo=1, padding=1, facts=FACTS).alt
    assert alt.startswith("32 × 8 threads keep 35 × 10 cells of 8 B: 2.73 KiB.")
    for said in (
        "256 cells of the threads",
        "80 cells of the halo",
        "4 corners are hatched",
        "10 cells of padding",
    ):
        assert said in alt
    assert alt.endswith("sectors a request: 8.1; bank conflicts: 0; occupancy, H200: 100% (threads)")
    plain = tile_picture((32, 8), itemsize=4).alt
    assert plain.startswith("32 × 8 threads keep 32 × 8 cells of 4 B: 1 KiB.")
    assert not re.search("halo|corner|padding", plain)


def test_the_same_tile_gives_the_same_bytes_and_another_gives_others():
    one, two = (tile_picture((32, 8), halo=1, facts=FACTS).svg for _ in range(2))
    assert one == two
    assert one != tile_picture((32, 8), halo=1, facts=FACTS[:2]).svg


def test_a_frame_is_small_enough_for_a_dozen_on_a_slide():
    frame = tile_picture((32, 32), halo=1, padding=1, facts=[*FACTS, *FACTS])
    assert 12 * len(frame._repr_html_()) < 1.25e6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"block": 32}, r"block is 32: give the threads along x and y, such as \(32, 8\)"),
        ({"block": (32, 4, 2)}, r"block is \(32, 4, 2\): give the threads"),
        ({"block": (32, 0)}, "32 × 0 threads with cells of 8 B has nothing to draw"),
        ({"block": (32.0, 8)}, "threads_x is 32.0: it must be an integer"),
        ({"block": (32, 8), "itemsize": 0}, "nothing to draw"),
        ({"block": (32, 8), "halo": -1}, "halo is -1: it must be an integer of at least 0"),
        ({"block": (32, 8), "padding": 1.5}, "padding is 1.5: it must be an integer"),
        ({"block": (1024, 1)}, r"1024 × 1 cells cannot be told apart on a slide: .* at most 141 × 71"),
        ({"block": (1, 128), "halo": 1}, "3 × 130 cells cannot be told apart"),
        ({"block": (32, 8), "facts": [("a", "b")] * 8}, "room for 7 facts, not for 8"),
    ],
)
def test_mistakes_are_named(arguments, said):
    with pytest.raises(CourseError, match=said):
        tile_picture(**arguments)
