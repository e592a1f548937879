"""JupyterLab, started by `course lab`, in a real browser: lectures open, run, answer and are saved on both sides.

Two small notebooks run here from top to bottom. Two lectures open with the outputs of their one execution: their
widgets answer in the browser, and their first cells run. `test_lab_kinds.py` finds what another lecture has and these
two do not.
"""

import io
import json
import re
from pathlib import Path

import nbformat
import pytest
from lab_pages import (
    DIRTY,
    EDIT,
    PAGE_NAME,
    RUN_BEGINNING,
    SAMPLE_NAME,
    SHOW_CELL,
    SHOWN,
    SLIDER_OF_SAMPLE,
    change_theme,
    move_slider,
    open_beside,
    open_notebook,
    run_all,
    save,
    show_the_execution,
    sign,
    until,
    until_done,
)
from looks import broken_dates, contrast_of_arrow
from PIL import Image

from course_pkg import viz
from course_pkg.commands.pairing import KERNELSPEC, Pair, State
from course_pkg.viz.picture import LEGIBLE

ROOT = Path(__file__).resolve().parents[2]
SMALL = "00_start_here"
BEGINNING = 2  # code cells: whether the course is there, and what the lecture imports
SHOWN_PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"

pytestmark = [pytest.mark.slow(70), pytest.mark.browser]


@pytest.mark.parametrize("lecture", [SMALL, SAMPLE_NAME])
def test_a_lecture_runs_in_the_lab(lab, page, lecture):
    pair = Pair(lab.root / "lectures" / f"{lecture}.py")
    open_notebook(page, lab.url, lecture)
    # JupyterLab notes which Python the kernel is, which is no edit
    until(page, lambda: not page.evaluate(DIRTY), "a lecture that was only opened is to be saved")
    state = run_all(page)
    assert not state["errors"], state
    assert state["done"] == state["cells"] > 0, state
    if lecture == SAMPLE_NAME:
        move_slider(page, SLIDER_OF_SAMPLE)
    save(page, pair)
    assert pair.state() is State.SAME
    assert page.problems == []


@pytest.mark.parametrize("lecture", SHOWN)
def test_an_executed_lecture_answers_in_the_lab(lab, page, lecture, executed):
    pair = Pair(lab.root / "lectures" / f"{lecture}.py")
    slider = show_the_execution(lab, lecture, executed(ROOT / "lectures" / f"{lecture}.py"))
    open_notebook(page, lab.url, lecture)
    move_slider(page, slider)
    page.evaluate(RUN_BEGINNING, BEGINNING)
    state = until_done(page, BEGINNING)
    assert not state["errors"], state
    assert state["done"] == BEGINNING, state
    save(page, pair)
    assert pair.state() is State.SAME
    assert page.problems == []


def test_an_edit_is_saved_on_both_sides(lab, sample):
    pair = Pair(lab.root / "lectures" / f"{PAGE_NAME}.py")
    before = pair.source.read_text(encoding="utf-8")
    sample.evaluate(EDIT)
    save(sample, pair)
    text = pair.source.read_text(encoding="utf-8")
    assert text == before.replace("#cache-line).\n", "#cache-line).\n#\n# Written by a learner.\n")
    assert "Written by a learner." in "".join(json.loads(pair.notebook.read_text())["cells"][0]["source"])
    # The next start has nothing to say and nothing to change but its own note of what is in step.
    assert pair.state() is State.SAME
    pair.remember()
    assert pair.state() is State.SAME and pair.source.read_text(encoding="utf-8") == text


def ground_of(picture, contain="style"):
    """Return the colour of a picture's corner, as JupyterLab contains a cell in view, or another one."""
    picture.evaluate("(e, contain) => { e.closest('.jp-Cell').style.contain = contain; }", contain)
    with Image.open(io.BytesIO(picture.screenshot())) as shot:
        return shot.convert("RGB").getpixel((shot.width - 3, 3))


def test_widgets_are_accessible_and_figures_fit_the_theme_and_the_column(sample, axe):
    page = sample
    run_all(page)
    page.set_viewport_size({"width": 900, "height": 900})
    assert page.evaluate("jupyterapp.shell.currentWidget.content.widgets.at(-1).inputHidden"), (
        "a note is unfolded"
    )
    page.evaluate(SHOW_CELL, SLIDER_OF_SAMPLE + 1)
    output = page.locator(
        ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output:has(.widget-slider)"
    ).last
    output.locator("[role=slider][aria-label='a number'][aria-valuetext='2']").wait_for()
    page.get_by_role("button", name="a copy").click()
    page.locator(".widget-toggle-button[aria-pressed=true]", has_text="a copy").wait_for()
    ours = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output:has(.course-question, .course-figure)"
    assert axe(page, ours) == []
    picture = output.locator("img.course-figure").last
    assert picture.bounding_box()["width"] <= output.bounding_box()["width"]
    bar = page.locator(".jp-Cell.jp-mod-active .jp-OutputCollapser .jp-Collapser-child").bounding_box()
    assert output.bounding_box()["x"] - bar["x"] - bar["width"] >= 2, "the bar touches the letters beside it"
    assert picture.evaluate("(e) => getComputedStyle(e).filter") == "none"
    change_theme(page, "Dark")
    assert "invert" in picture.evaluate("(e) => getComputedStyle(e).filter")
    assert ground_of(picture) == ground_of(picture, "layout style paint"), (
        "black, where JupyterLab contains it"
    )
    change_theme(page, "Light")


EXPLORER = """\
from course_pkg import viz

picture = viz.Picture('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="9"/>', "A sheet.")
start = {"problem": "string, re-admitted"}
choices = {"problem": ["string", start["problem"]], "iteration": [1, 300]}
viz.explorer(lambda problem, iteration: picture, start=start, **choices)"""
OVERFLOWS = "(e) => e.scrollWidth - e.clientWidth"


def test_figures_and_values_are_legible_in_a_narrow_window(lab, page, axe):
    sheet = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} 60" width="{0}pt" height="60pt">'
    svg = sheet + '<text y="40" font-size="14">letters</text></svg>'
    pictures = [viz.Picture(svg.format(width), f"A sheet of {width}.") for width in (600, 960)]
    outputs = [
        nbformat.v4.new_output("display_data", {"text/html": picture._repr_html_()}) for picture in pictures
    ]
    cells = [
        nbformat.v4.new_code_cell("# two pictures", outputs=outputs),
        nbformat.v4.new_code_cell(EXPLORER),
    ]
    path = lab.root / "lectures" / "narrow.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}), path)
    sign(lab, path)
    page.set_viewport_size({"width": 800, "height": 900})
    open_notebook(page, lab.url, "narrow")
    until(page, lambda: page.evaluate("jupyterapp.shell.leftCollapsed"), "the list of files is still there")
    for picture, scrolls in zip(pictures, (False, True), strict=True):
        image = page.locator(f'img[alt="{picture.alt}"]')
        output = page.locator(f"{SHOWN_PANEL} .jp-OutputArea-output", has=image)
        output.wait_for(timeout=180_000)
        wide = float(picture.svg.split('width="')[1].split("pt")[0])
        assert output.locator("img").bounding_box()["width"] * 14 / wide >= LEGIBLE - 0.05
        assert output.evaluate("(e) => e.scrollWidth > e.clientWidth") == scrolls
    assert axe(page, f"{SHOWN_PANEL} .jp-OutputArea-output") == []
    assert not run_all(page)["errors"]
    values = page.locator(f"{SHOWN_PANEL} .widget-readout")
    values.nth(1).wait_for(timeout=180_000)
    assert [one.inner_text() for one in values.all()] == ["string, re-admitted", "1"]
    assert [one.evaluate(OVERFLOWS) for one in values.all()] == [0, 0], (
        "a value lies over the next slider's name"
    )
    assert page.problems == []


LIST = """\
import ipywidgets
from course_pkg.core.table import Table

display(ipywidgets.Dropdown(options=["one", "other"]))
Table([{"n": 1}], "Recorded on a device of this name, 2026-11-22 and later.")"""


def test_the_arrow_of_a_list_is_seen_and_dates_are_whole(lab, in_view):
    path = lab.root / "lectures" / "list.ipynb"
    cells = [nbformat.v4.new_code_cell(LIST)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC}), path)
    sign(lab, path)
    open_beside(in_view, "lectures/list.ipynb")
    assert not run_all(in_view)["errors"]
    choice = in_view.locator(f"{SHOWN_PANEL} .widget-dropdown select")
    choice.wait_for(timeout=180_000)
    assert contrast_of_arrow(choice) >= 3
    change_theme(in_view, "Dark")
    assert contrast_of_arrow(choice) >= 3
    change_theme(in_view, "Light")
    assert broken_dates(in_view.locator(f"{SHOWN_PANEL} .course-table caption")) == []


def test_a_picture_stays_when_its_widget_is_gone(lab, in_view):
    view = {"model_id": "gone", "version_major": 2, "version_minor": 0}
    html = '<img class="course-figure" alt="Still there." src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">'
    data = {"application/vnd.jupyter.widget-view+json": view, "text/html": html, "text/plain": "Controls()"}
    cell = nbformat.v4.new_code_cell("viz.slider(…)", outputs=[nbformat.v4.new_output("display_data", data)])
    path = lab.root / "lectures" / "gone.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": KERNELSPEC}), path)
    sign(lab, path)
    open_beside(in_view, "lectures/gone.ipynb")
    in_view.locator('.course-still img[alt="Still there."]').wait_for(timeout=180_000)
    assert not in_view.get_by_text("model not found").count()


def test_no_line_begins_with_the_sign_after_a_formula(sample):
    whole = sample.locator(f"{SHOWN_PANEL} .course-whole:has(mjx-container)")
    whole.wait_for(timeout=180_000)
    assert whole.evaluate("(e) => [e.lastChild.data, getComputedStyle(e).whiteSpace]") == [":", "nowrap"]


def test_at_the_end_of_a_notebook_its_last_cell_is_in_view(sample):
    run_all(sample)
    end = """() => {
      const notebook = jupyterapp.shell.currentWidget.content;
      const view = notebook.node.querySelector('.jp-WindowedPanel-outer');
      view.scrollTop = view.scrollHeight;
      const [cell, window] = [notebook.widgets.at(-1).node, view].map((node) => node.getBoundingClientRect());
      return window.bottom - cell.bottom;
    }"""
    until(sample, lambda: -5 <= sample.evaluate(end) < 200, "below the last cell, the window is empty")


def test_a_word_s_link_opens_the_glossary_at_the_word(sample):
    page = sample
    page.locator(SHOWN_PANEL).get_by_role("link", name="cache line").click()
    page.wait_for_function("() => jupyterapp.shell.currentWidget?.context?.path === 'lectures/glossary.md'")
    heading = page.locator(".jp-MarkdownViewer h3", has_text=re.compile("^cache line"))
    heading.wait_for(timeout=180_000)
    elsewhere = "the page is shown as text, or at another word"
    until(page, lambda: 0 <= heading.bounding_box()["y"] < 200, elsewhere)
