"""The build of slides fails for each fault that an audience would notice, and names it."""

import base64

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_pkg.setup import system
from course_pkg.slides import SlidesError, browser, build, check_decks, find_chromium
from course_pkg.slides.assets import copy_assets
from course_pkg.slides.convert import convert
from course_pkg.viz import MEMORIES, here_picture
from course_pkg.viz.style import COMPUTE, INK, MEMORY_WRITE, RULE, pale

TALL = '# %% [markdown] slideshow={"slide_type": "slide"}\n# ## Too much\n#\n' + "".join(
    f"# - Line {n} of a list that does not end.\n" for n in range(20)
)


@pytest.mark.browser
def test_an_overflowing_slide_fails_the_build(tmp_path, write_lecture, chromium, fetched):
    fits = '# %% [markdown] slideshow={"slide_type": "slide"}\n# ## It fits\n\n'
    source = write_lecture(tmp_path / "lectures", "07_full", fits + TALL)
    named = r"07_full, slide 2 “Too much”: <li> “Line \d+ of.* px too far below"
    with pytest.raises(SlidesError, match=named):
        build([source], tmp_path / "out")


def page_of(folder, name, *cells):
    """Write a deck from outputs as they are, without running a kernel."""
    for cell in cells:
        cell.metadata.setdefault("slideshow", {"slide_type": "slide"})
    path = folder / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=list(cells), metadata={"language_info": {"name": "python"}}), path)
    page = folder / f"{name}.html"
    page.write_text(convert(path).html, encoding="utf-8")
    return page


def shows(html, source=""):
    output = new_output("display_data", data={"text/html": html})
    return new_code_cell(source, outputs=[output], metadata={"tags": ["hide-input"]})


def beside(picture):
    """Return a cell that shows a picture on the slide of the cell before."""
    cell = shows(picture._repr_html_())
    cell.metadata["slideshow"] = {"slide_type": "-"}
    return cell


PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="


def svg_of(size):
    """Return a figure with letters of this size; the slide shows it a little more than twice as large."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="500" height="250" viewBox="0 0 500 250">'
        f'<text style="font-size: {size}px; font-family: Arial" x="20" y="40">letters</text></svg>'
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def words_of(*words):
    """Return a figure with words, each at its place; they are letters of 16."""
    texts = "".join(f'<text style="font-size: 16px" x="{x}" y="{y}">{said}</text>' for x, y, said in words)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="500" height="250" viewBox="0 0 500 250">{texts}</svg>'
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def word_on(fill, ink):
    """Return a figure with a word of one colour on an area of another."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="500" height="250" viewBox="0 0 500 250"><rect width="300" '
        f'height="99" fill="{fill}"/><text style="font-size: 16px; fill: {ink}" x="20" y="40">seen</text></svg>'
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def line_through(stroke, then="", extra=""):
    """Return a figure with a line through a word, and what is drawn between the two."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="500" height="250" viewBox="0 0 500 250"><path d="M0 100H500" '
        f'style="fill: none; stroke: {stroke}"/>{then}<text style="font-size: 16px; {extra}" x="20" y="105">label'
        "</text></svg>"
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


CELL = '<text font-size="6" x="20" y="40">cell</text>'
PUZZLE = f'<div class="course-threads"><svg viewBox="0 0 500 99">{CELL}</svg></div>'


def slider_of(before, behind, track=400):
    """Return a slider's parts as html-manager writes them, with this room before and behind a track of this width."""
    style = f"flex:0 0 {track}px;height:6px;margin:0 {behind}px 0 {before}px"
    track = f'<div class="slider-container" style="{style}">'
    handle = '<div class="noUi-handle" style="width:26px;height:26px"></div></div>'
    readout = '<div class="widget-readout">value</div>'
    return f'<div class="widget-hslider" style="display:flex;width:600px">{track}{handle}{readout}</div>'


# Only its last value is too long. A slider moves by a key, as noUiSlider's handle does.
LONG_VALUE = """<div class="widget-hslider" style="display:flex;width:600px"><div class="slider-container"
style="width:400px;height:6px;margin:0 30px 0 20px"><div class="noUi-handle" tabindex="0" style="width:26px;height:26px"
onkeydown="event.stopPropagation();
this.parentElement.nextElementSibling.textContent = event.key === 'End' ? 'the last value of all' : 'first'">
</div></div><div class="widget-readout" style="width:99px;overflow:hidden;white-space:nowrap">first</div></div>"""


@pytest.mark.browser
def test_every_kind_of_problem_is_found(tmp_path, chromium, fetched):
    copy_assets(tmp_path)
    long_line = "x = " + " + ".join(f"value_{n}" for n in range(20))
    page = page_of(
        tmp_path,
        "08_bad",
        new_markdown_cell("## Fine"),
        shows(f'<img src="{PIXEL}">'),
        shows(f'<img src="{PIXEL}" alt=" ">'),
        new_code_cell(long_line),
        new_code_cell("", outputs=[new_output("stream", text="y" * 300)]),
        new_markdown_cell(r"$\undefinedmacro{x}$ and $\frac{1$"),
        shows('<img src="https://example.org/picture.png" alt="away">'),
        shows('<img src="gone.png" alt="gone">'),
        shows("<p>x</p><script>console.error('oh no')</script>"),
        shows('<p style="margin-left: 1250px">wide</p>'),
        shows('<div style="height: 500px"><p>a</p></div><p style="margin-top: 300px">low</p>'),
        shows('<p style="font-size: 15px">words</p>'),
        shows(f'<img class="course-figure" src="{svg_of(6)}" alt="letters of 6 in a figure of 500">'),
        shows(f'<img class="course-figure" src="{svg_of(16)}" alt="larger letters">'),
        shows(PUZZLE),
        shows(slider_of(5, 30)),
        shows(slider_of(20, 15)),
        shows(slider_of(20, 30)),
        shows(
            f'<img class="course-figure" src="{words_of((470, 99, "beyond"))}" alt="a word at the border">'
        ),
        shows(
            f'<img class="course-figure" src="{words_of((9, 40, "one"), (9, 48, "two"))}" alt="two words">'
        ),
        shows(
            f'<img class="course-figure" src="{words_of((9, 40, "one"), (9, 60, "two"))}" alt="two lines">'
        ),
        shows(
            f'<img class="course-figure" src="{word_on(MEMORY_WRITE, INK)}" alt="a word in ink on the lighter blue">'
        ),
        shows(
            f'<img class="course-figure" src="{word_on(pale(MEMORY_WRITE), INK)}" alt="a word on a pale blue">'
        ),
        shows(f'<img class="course-figure" src="{word_on(COMPUTE, "white")}" alt="a white word on orange">'),
        shows(LONG_VALUE),
        shows(f'<img class="course-figure" src="{line_through(INK)}" alt="a label on a line">'),
        *(
            shows(f'<img class="course-figure" src="{fine}" alt="a label beside lines">')
            for fine in (
                line_through(RULE),  # a grid
                line_through(INK, '<rect x="9" y="80" width="99" height="40" style="fill: white"/>'),
                line_through(INK, extra="paint-order: stroke; stroke: white; stroke-width: 4px"),
            )
        ),
        *(
            cell
            for heading in ("A heading that is so long that it runs into the picture", "A short heading")
            for cell in (new_markdown_cell(f"## {heading}"), beside(here_picture(MEMORIES, "registers")))
        ),
        shows(slider_of(20, 30, track=31)),
    )
    [report] = check_decks([page])
    found = {(problem.slide, problem.kind) for problem in report.problems}
    wanted = {(2, "alt"), (3, "alt"), (4, "overflow"), (5, "overflow"), (6, "mathematics"), (7, "image"),
              (8, "image"), (10, "overflow"), (11, "overflow"), (12, "small"), (13, "small"),
              (15, "small"), (16, "slider"), (17, "slider"), (19, "cut"), (20, "collision"),
              (22, "contrast"), (24, "contrast"), (25, "overflow"), (26, "line"), (30, "overflow"),
              (32, "slider"), (32, "heading"), (0, "outbound"), (0, "console"),
              *((n, "heading") for n in range(2, 30))}  # fmt: skip
    assert found == wanted
    assert report.outbound == ["https://example.org/picture.png"]
    said = "\n".join(map(str, report.problems))
    assert "slide 4: <pre> “x = value_0" in said
    assert "oh no" in said
    assert "slide 2: <img> has no alt text" in said
    assert "cuts “beyond”" in said and "writes “one” over “two”" in said
    assert "draws a line through “label”" in said
    assert "“seen” with a contrast of 2.8 in the dark theme: fewer than 4.5" in said
    assert "“seen” with a contrast of 3.9 in the light theme: fewer than 4.5" in said
    assert "“the last value" in said and "px too wide for its box" in said
    assert said.count("into the picture beside it") == 1
    assert "cuts 8 px of its handle" in said and "has a handle that touches its value" in said
    assert "has a track of only 31 px" in said


@pytest.mark.browser
def test_what_leaves_its_column_is_named(tmp_path, chromium, fetched):
    copy_assets(tmp_path)
    cells = [
        cell
        for numbers in (4, 7)
        for cell in (
            new_markdown_cell("## Two columns", metadata={"tags": ["two-columns"]}),
            shows(f"<table><tr>{'<td>10,000</td>' * numbers}</tr></table>"),
            new_markdown_cell("- Right", metadata={"tags": ["right"]}),
        )
    ]
    for cell in cells:
        cell.metadata["slideshow"] = {"slide_type": "slide" if cell.source.startswith("## ") else "-"}
    [report] = check_decks([page_of(tmp_path, "09_columns", *cells)])
    assert [(found.slide, found.element[:7]) for found in report.problems] == [(2, "<table>")]
    assert "px too far to the right" in report.problems[0].detail


@pytest.mark.browser
def test_pictures_of_all_slides(tmp_path, chromium, fetched):
    copy_assets(tmp_path)
    page = page_of(tmp_path, "09_shots", new_markdown_cell("## One"), new_markdown_cell("## Two"))
    check_decks([page], shots=tmp_path / "shots")
    names = [f"09_shots-0{n}-{theme}.png" for n in (1, 2) for theme in ("dark", "light")]
    assert sorted(p.name for p in (tmp_path / "shots").iterdir()) == names


@pytest.fixture
def no_browser(monkeypatch):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(system, "MACOS_CHROME", "/nowhere")
    monkeypatch.setattr(browser, "_playwrights_own", lambda: None)


def test_without_a_browser_a_notice_here_an_error_on_ci(tmp_path, no_browser, fetched, monkeypatch, capsys):
    pytest.importorskip("playwright")
    assert find_chromium() is None
    monkeypatch.setenv("CI", "true")
    with pytest.raises(SlidesError, match="cannot be checked: no browser found"):
        build([], tmp_path / "out")
    monkeypatch.delenv("CI")
    assert build([], tmp_path / "out") == []
    assert "overflow not checked: no browser found; install Chromium" in capsys.readouterr().out


def test_a_hidden_browser_is_not_there_by_any_of_its_names(tmp_path, monkeypatch):
    (tmp_path / "mine").touch()
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "mine"))
    monkeypatch.setattr(browser, "_playwrights_own", lambda: tmp_path / "mine")
    monkeypatch.setenv("COURSE_HIDE", "bwrap, chromium")
    assert find_chromium() is None


def test_chromium_can_be_named(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_HIDE", raising=False)
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "none"))
    with pytest.raises(SlidesError, match=r"CHROMIUM is set to .*none, which does not exist"):
        find_chromium()
    (tmp_path / "mine").touch()
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "mine"))
    assert find_chromium() == tmp_path / "mine"


def test_the_sandbox_is_given_up_for_root_only(monkeypatch):
    monkeypatch.setattr(browser.os, "geteuid", lambda: 1000, raising=False)
    assert "--no-sandbox" not in browser.launch_arguments()
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0, raising=False)
    assert "--no-sandbox" in browser.launch_arguments()
