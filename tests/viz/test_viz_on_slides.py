"""Widgets on slides, which have no kernel, in a browser: all of them in one deck, a slide for each."""

import os

import pytest
from needs import need_browser, need_scripts

from course_pkg.slides import browser, build
from course_pkg.slides.check import open_deck

pytestmark = pytest.mark.browser

LECTURE = """\
# ---
# jupyter:
#   title: Widgets
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% slideshow={"slide_type": "skip"}
from types import SimpleNamespace

import ipywidgets as W

from course_pkg import viz
from course_pkg.permutation.problem import problem
from course_pkg.qp import problem as qp
from course_pkg.qp.history import history
from course_pkg.spmv.orders import views
"""
SLIDE = """
# %% [markdown] slideshow={{"slide_type": "slide"}}
# ## The {name}

# %% tags=["hide-input"]
{cell}
"""
CELLS = {
    "choices": """\
viz.explorer(
    lambda block, halo, padding: viz.tile_picture(block, halo=halo, padding=padding, facts=[("halo", str(halo))]),
    block=[(32, 8), (16, 16)], halo=[1, 2], padding=[0, 1],
)""",
    "order": """\
viz.PermutationExplorer({"Poisson": views(problem("poisson_2d", size=16).matrix)})""",
    "iteration": """\
viz.ActiveSetExplorer({"string": history(qp.problem("obstacle_1d", 64), 40)}, iterations=[0, 20, 40])""",
    "tracks": """\
frame = lambda value: viz.ladder_picture([viz.Rung("flat", 0.5)], note=value)
W.VBox([
    viz.Estimate("02-x", "How many?", 1, 10_000, "multiplications per point").widget,
    viz.slider(frame, ["no", "the point itself"], label="neighbour", start="no"),
])""",
}


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """A browser context and the deck to open in it."""
    need_browser()
    need_scripts()
    folder = tmp_path_factory.mktemp("widgets")
    source = folder / "02_widgets.py"
    slides = [SLIDE.format(name=name, cell=cell) for name, cell in CELLS.items()]
    source.write_text(LECTURE + "".join(slides), encoding="utf-8")
    [deck] = build([source], folder / "out")
    assert deck.report.problems == []
    assert deck.report.console_errors == []
    with browser.chromium() as running:
        made = running.new_context(viewport={"width": 1280, "height": 720}, offline=True)
        yield made, deck.html.resolve()
        made.close()


@pytest.fixture
def slide(context):
    """Open the deck at the slide of this name; with ``SHOTS``, photograph it at the end."""
    opened = []

    def show(name):
        opened.append((name, open_deck(*context, f"#/{list(CELLS).index(name)}")))
        return opened[0][1]

    yield show
    for name, page in opened:
        if folder := os.environ.get("SHOTS"):
            page.screenshot(path=f"{folder}/{name}.png")
        page.close()


def picture_of(page):
    return page.locator("section.present img.course-figure:visible")


def test_controls_choose_the_picture(slide):
    page = slide("choices")
    picture, handles = picture_of(page), page.locator("section.present .noUi-handle")
    assert handles.count() == 3
    assert picture.get_attribute("alt").startswith("32 × 8 threads keep 34 × 10 cells")
    assert picture.bounding_box()["height"] > 300, "the picture takes the room that there is"
    wanted = ["16 × 16 threads keep 18 × 18", "16 × 16 threads keep 20 × 20", "16 × 16 threads keep 21 × 20"]
    for i, words in enumerate(wanted):
        handles.nth(i).focus()
        page.keyboard.press("ArrowRight")
        page.locator(f'section.present img[alt^="{words}"]:visible').wait_for()
        assert picture.count() == 1


@pytest.mark.parametrize(
    ("name", "first", "others"),
    [
        (
            "order",
            "Poisson, order: natural. 256 rows",
            [f"Poisson, order: {order}." for order in ("RCM", "random", "by row length")],
        ),
        (
            "iteration",
            "string, iteration 0 of 40. 64 unknowns: 64 free",
            [f"string, iteration {iteration} of 40." for iteration in (20, 40)],
        ),
    ],
    ids=["order", "iteration"],
)
def test_the_second_control_chooses_the_picture(name, first, others, slide):
    page = slide(name)
    picture = picture_of(page)
    assert picture.get_attribute("alt").startswith(first)
    assert picture.bounding_box()["height"] > 300
    page.locator("section.present .noUi-handle").nth(1).focus()
    for words in others:
        page.keyboard.press("ArrowRight")
        page.locator(f'section.present img[alt^="{words}"]:visible').wait_for()
        assert picture.count() == 1


def test_a_track_stays_as_long_as_it_is_while_its_words_change(slide):
    page = slide("tracks")
    tracks, handles = (
        page.locator(f"section.present .{part}") for part in ("slider-container", "noUi-handle")
    )
    assert handles.count() == 2
    for i in range(2):
        found = []
        for key in ("Home", "End"):
            handles.nth(i).press(key)
            page.wait_for_timeout(100)
            found.append(tracks.nth(i).bounding_box()["width"])
            readout = page.locator("section.present .widget-readout").nth(i)
            assert readout.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 1, "its words are not cut"
        assert found[0] == pytest.approx(found[1], abs=1) and found[0] > 200
