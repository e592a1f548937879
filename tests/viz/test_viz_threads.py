"""The picture of threads: its cells, its connections, its words, and what pointing at a cell shows."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from math import prod

import pytest
from needs import need_browser

from course_pkg.slides.browser import chromium
from course_pkg.viz.picture import LEGIBLE
from course_pkg.viz.threads import FILLS, LINES, threads_picture
from course_pkg.viz.threads_layout import WIDTH, arrange, fits
from course_pkg.viz.threads_scene import Cells, Link, Scene

SVG = "{http://www.w3.org/2000/svg}"


def scene(n=6, threads=4, blocks=2, block=None, shape=None):
    shape = shape or (n,)
    n = prod(shape)
    a = Cells("a", shape, tuple(map(str, range(n))), ("read",) * n)
    out = Cells(
        "out", shape, ("1",) * (n - 2) + ("?", "2"), ("right",) * (n - 2) + ("nobody", "wrong"), "below"
    )
    links = [Link(i, name, i, kind) for i in range(n) for name, kind in (("a", "load"), ("out", "store"))]
    return Scene(
        (blocks, 1, 1), block or (threads, 1, 1), (a, out), tuple(links), frozenset({1}), frozenset({7})
    )


def boxes(placed):
    return [*placed.threads.values(), *(box for array in placed.elements.values() for box in array)]


@pytest.mark.parametrize(
    "drawn",
    [
        scene(),
        scene(64, 64, 1),
        scene(100, 128, 1),
        scene(blocks=3, block=(4, 4, 1), shape=(6, 9)),
        scene(blocks=4, block=(8, 8, 1), shape=(16, 16)),
        scene(blocks=1, block=(4, 2, 2), shape=(2, 2, 4)),
    ],
    ids=["blocks", "two rows", "four rows", "matrix", "large matrix", "three dimensions"],
)
def test_no_cell_lies_on_another_and_none_outside(drawn):
    placed = arrange(drawn)
    assert len(placed.threads) == prod(drawn.grid) * prod(drawn.block)
    assert [len(placed.elements[a.name]) for a in drawn.arrays] == [len(a.texts) for a in drawn.arrays]
    found = boxes(placed)
    for x, y, width, height in found:
        assert x >= 0 and y >= 0 and x + width <= WIDTH and y + height <= placed.height
    corners = sorted((y, x, width) for x, y, width, _ in found)
    for (y0, x0, width), (y1, x1, _) in pairwise(corners):
        assert y1 > y0 or x1 >= x0 + width


def test_a_small_picture_is_cut_to_what_is_drawn_so_that_it_can_be_shown_larger():
    def width(drawn):
        return float(ET.fromstring(threads_picture(drawn, "Threads.").svg).get("viewBox").split()[2])

    large = scene(64, 32, 2)
    small = Scene((1, 1, 1), (4, 1, 1), (Cells("a", (4,), tuple("0123"), ("right",) * 4),), large.links[:2])
    assert width(small) < 0.7 * WIDTH < width(large) <= WIDTH
    for drawn in (small, large, scene(blocks=3, block=(4, 4, 1), shape=(6, 9))):
        assert max(x + w for x, _, w, _ in boxes(arrange(drawn))) <= width(drawn)


def test_matrices_lie_beside_their_threads_and_vectors_above_and_below():
    across, along = arrange(scene(blocks=1, block=(4, 4, 1), shape=(4, 4))), arrange(scene())
    assert across.across and not along.across
    assert across.elements["a"][0][0] < across.threads[0][0] < across.elements["out"][0][0]
    assert along.elements["a"][0][1] < along.threads[0][1] < along.elements["out"][0][1]


def test_what_is_too_large_is_not_drawn():
    assert fits(scene(64, 64, 1))
    assert not fits(scene(2000, 64, 32))
    assert not fits(scene(blocks=1, shape=(2, 200)))


def test_every_cell_says_in_words_what_it_touches():
    titles = [t.text for t in ET.fromstring(threads_picture(scene(), "Alt.").svg).iter(f"{SVG}title")]
    assert "thread 1 of block 1 reads a[5], and writes out[5]" in titles
    assert "thread 2 of block 1 touches nothing" in titles
    assert "a[0] = 0, read by thread 0 of block 0" in titles
    assert "out[4] = ?, written by thread 0 of block 1" in titles
    assert "out[5] = 2 (wrong), written by thread 1 of block 1" in titles
    assert len(titles) == 8 + 6 + 6


def test_colours_are_named_and_the_picture_has_its_text():
    picture = threads_picture(scene(), 'Two "blocks".')
    words = [t.text for t in ET.fromstring(picture.svg).iter(f"{SVG}text")]
    for word in ("right", "wrong", "written by nobody", "a thread that leaves its array", "reads", "writes"):
        assert word in words
    assert "written by two threads at once" not in words
    assert 'aria-label="Two &quot;blocks&quot;."' in picture._repr_html_()
    assert set(LINES) == {"load", "store", "atomic"}


def test_two_pictures_in_one_page_have_names_of_their_own():
    one, other = (ET.fromstring(threads_picture(scene(), "Alt.").svg).get("id") for _ in range(2))
    assert one != other


@pytest.mark.browser
def test_pointing_at_a_thread_shows_its_lines_and_hides_the_others():
    need_browser()
    visible = """() => [...document.querySelectorAll('.l')].filter(g => getComputedStyle(g).opacity === '1')
        .map(g => g.getAttribute('class').split(' ').filter(c => c !== 'l' && c !== 'd').join(' '))"""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1000, "height": 600})
        page.set_content(threads_picture(scene(), "Alt.")._repr_html_())
        assert page.evaluate(visible) == 2 * ["t1 a0e1", "t1 a1e1"]  # lines, then their ends
        page.locator(".c.t3").hover()
        assert page.evaluate(visible) == 2 * ["t3 a0e3", "t3 a1e3"]
        page.locator(".c.a1e5").hover()
        assert page.evaluate(visible) == 2 * ["t5 a1e5"]
        page.mouse.move(999, 599)
        assert page.evaluate(visible) == 2 * ["t1 a0e1", "t1 a1e1"]  # lines, then their ends


@pytest.mark.parametrize("drawn", [scene(64, 32, 2), scene(blocks=1, block=(4, 4, 1), shape=(4, 4))])
def test_a_line_passes_below_cells_and_its_ends_lie_over_them(drawn):
    marks = list(ET.fromstring(threads_picture(drawn, "Threads.").svg))
    of = {
        kind: [i for i, m in enumerate(marks) if (m.get("class") or "").startswith(f"{kind} ")]
        for kind in "lc"
    }
    lines = [i for i in of["l"] if any("C" in path.get("d") for path in marks[i].iter(f"{SVG}path"))]
    ends = [i for i in of["l"] if marks[i].find(f"{SVG}rect") is not None]
    assert len(lines) == len(ends) == len(drawn.links) and not set(lines) & set(ends)
    assert max(lines) < min(of["c"]) and max(of["c"]) < min(ends)


def test_a_title_stands_right_of_the_lines_that_are_shown():
    """Thread 0 reads a[0] and tile[1], and writes out[0]: its lines would cross the titles of block, tile and out."""
    a, out = (
        Cells(name, (16,), ("1",) * 16, ("right",) * 16, at)
        for name, at in (("a", "above"), ("out", "below"))
    )
    tile = Cells("tile", (16,), ("1",) * 16, ("read",) * 16, "shared", "tile: shared memory")
    links = (Link(0, "a", 0, "load"), Link(0, "tile", 1, "load"), Link(0, "out", 0, "store"))

    def places(shown):
        svg = threads_picture(Scene((1, 1, 1), (16, 1, 1), (a, tile, out), links, shown), "Threads.").svg
        texts = (t for t in ET.fromstring(svg).iter(f"{SVG}text") if t.get("text-anchor") is None)
        return {t.text: float(t.get("x")) for t in texts}

    before, after = places(frozenset()), places(frozenset({0}))
    assert after["a"] == before["a"]
    for title in ("block 0", "tile: shared memory", "out"):
        assert before[title] + 10 < after[title] < before[title] + 60


def test_numbers_stand_over_the_lines_with_an_edge_and_stay_legible_in_a_narrow_column():
    picture = threads_picture(scene(64, 32, 2), "Threads.")
    marks = list(ET.fromstring(picture.svg))
    lines = [i for i, mark in enumerate(marks) if (mark.get("class") or "").startswith("l ")]
    numbers = [i for i, mark in enumerate(marks) if mark.tag == f"{SVG}text" and mark.get("text-anchor")]
    assert len(numbers) == 3 * 64 and lines and max(lines) < min(numbers)
    assert all(marks[i].get("paint-order") == "stroke" for i in numbers)
    least = float(picture.svg.split("min-width:")[1].split("px")[0]) / float(
        ET.fromstring(picture.svg).get("viewBox").split()[2]
    )
    assert min(float(marks[i].get("font-size")) for i in numbers) * least >= LEGIBLE - 0.05
    assert "overflow-x:auto" in picture._repr_html_()


def test_what_is_written_in_a_cell_is_legible():
    """WCAG's contrast of 4.5 : 1 for small letters."""

    def luminance(colour):
        channels = [int({"white": "#ffffff"}.get(colour, colour)[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for fill, ink, what in FILLS.values():
        light, dark = sorted((luminance(fill), luminance(ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, what
