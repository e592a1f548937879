"""A small site in a browser: nothing leaves the machine, and its widgets answer without a kernel."""

import shutil
from pathlib import Path

import nbformat
import pytest
from looks import broken_dates, contrast_of_arrow
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from needs import need_browser, need_scripts

from course_pkg.core import CourseError
from course_pkg.paths import repo_root

pytestmark = [pytest.mark.slow(45), pytest.mark.browser]

SHEET = repo_root() / "docs" / "site" / "static" / "site.css"
LECTURE = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   title: Small
# ---

# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Small
#
# After this you know what a [sector](glossary.md#L1-sector) is, and that $B > 0$. It moves 8 GB/s `in 8 GB`.

# %% [markdown] slideshow={"slide_type": "notes"}
# > **For the speaker.** One minute.

# %% slideshow={"slide_type": "slide"} tags=["hide-input"]
from course_pkg import viz

svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="9"/>'
viz.slider(lambda n: viz.Picture(svg, f"{n} wide."), [10, 20, 30], label="width")

# %% tags=["hide-input"]
viz.Prediction("01-wide", "How wide?", ["10", "20"])

# %%
from course_pkg import bench

bench.Table([{"n": 1}], "Recorded on a device of this name, 2026-11-22 and later.")

# %%
import ipywidgets

ipywidgets.Dropdown(options=["one", "other"])

# %%
words = {"points": [64, 128], "method": ["CG, by operations", "moments, s = 4"], "GPUs": [2, 16]}
viz.explorer(lambda **chosen: viz.Picture(svg, str(chosen)), **words)
"""
SCRIPT = """
from course_pkg.viz import Picture

def pictures():
    return {"one": Picture('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>', "A sheet.")}
"""
EXERCISE = new_notebook(
    cells=[new_markdown_cell("# Exercise 1: $x^2$"), new_code_cell("answer = ...")],
    metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
)
README = """\
# The course

## Start

<!-- begin syllabus -->
| lecture |
|---|
| [1](lectures/01_small.ipynb) |
<!-- end syllabus -->
"""
TEXTS = {
    "lectures/01_small.py": LECTURE,
    "lectures/glossary.md": "# Glossary\n\n## Memory\n\n### L1 sector\n\n32 bytes.\n",
    "exercises/01_small/01_small.ipynb": nbformat.writes(EXERCISE),
    "figures/a.py": SCRIPT,
    "README.md": README,
    "CONTRIBUTING.md": "# Contributing\n",
    "docs/finds.md": "# Finds\n\nSee [the start](../README.md#start).\n\n```diff\n-    a[i] = 1\n+    a[j] = 1\n```\n\n"
    + f"```text\n{'word ' * 40}\n```\n\n```python\nimport numpy\n```\n",
    "docs/grading.md": "# Grading\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of a small site, built and looked at as by `course site`."""
    from course_pkg.site import build

    need_browser()
    need_scripts()
    root = tmp_path_factory.mktemp("course")
    for name, text in TEXTS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "figures" / "output").mkdir()
    (root / "figures" / "output" / "one.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>'
    )
    shutil.copytree(repo_root() / "docs" / "site", root / "docs" / "site")
    for picture in (repo_root() / "docs" / "pictures").glob("*"):
        (root / "docs" / "pictures").mkdir(exist_ok=True)
        shutil.copy2(picture, root / "docs" / "pictures")
    earlier = root / "build" / "site-source" / "api" / "course_pkg.cg.rst"  # of a build with the package
    earlier.parent.mkdir(parents=True)
    earlier.write_text("cg\n==\n", encoding="utf-8")
    built = build(root, root / "site", root / "build", api=False)
    assert built.looked.outbound == built.looked.console_errors == built.looked.problems == []
    return root / "site", built


# before the tests with a browser of their own: in one process there is one at a time
def test_a_page_that_asks_another_machine_or_complains_is_found(tmp_path, monkeypatch):
    from course_pkg.site.look import look, require_clean

    need_browser()
    (tmp_path / "a.html").write_text(
        '<img src="https://example.org/x.png" alt=""><script>console.error("broken")</script>'
        '<div style="width: 600px">wide</div>'
    )
    monkeypatch.chdir(tmp_path.parent)
    seen = look(Path(tmp_path.name))
    assert seen.pages == 1
    with pytest.raises(CourseError) as error:
        require_clean(seen)
    said = str(error.value)
    assert "asks for https://example.org/x.png (a.html)" in said
    assert "the console says “broken (a.html)”" in said
    assert "px wider than a window of 390 px" in said


def test_every_kind_of_page_is_there_and_looked_at(site):
    folder, built = site
    pages = {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}
    assert pages >= {
        "index.html", "lectures/01_small.html", "lectures/glossary.html", "exercises/01_small/01_small.html",
        "records.html", "gallery.html", "slides/index.html", "slides/01_small.html", "docs/finds.html", "README.html",
        "package.html", "api/course_pkg.html",
    }  # fmt: skip
    assert built.looked.pages == built.pages == len(pages)


def test_a_lecture_works_without_a_kernel(site, browser):
    page = browser.new_page()
    page.goto((site[0] / "lectures" / "01_small.html").as_uri())
    shown = page.locator("img[alt$=' wide.']:visible")
    shown.wait_for()
    assert shown.get_attribute("alt") == "20 wide."
    page.get_by_role("slider", name="width").press("ArrowRight")
    page.locator("img[alt='30 wide.']:visible").wait_for()
    page.get_by_role("button", name="10", exact=True).click()
    page.locator("button[aria-pressed=true]").wait_for()
    assert "mod-active" in page.get_by_role("button", name="10", exact=True).get_attribute("class")
    page.locator("p mjx-container svg").wait_for()
    assert page.locator("h1").inner_text().startswith("1\u00a0· Small")
    assert not page.get_by_text("One minute.").is_visible()
    page.get_by_text("For the speaker").click()
    assert page.get_by_text("One minute.").is_visible()
    page.get_by_role("link", name="sector", exact=True).click()
    path, _, place = page.url.partition("#")
    assert path.endswith("/lectures/glossary.html")
    assert page.locator(f"#{place} > h3").inner_text().startswith("L1 sector")
    page.close()


def test_widgets_are_drawn_where_a_word_of_theirs_was_searched_for(site, browser):
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site[0] / "lectures" / "01_small.html").as_uri() + "?highlight=wide+sector")
    page.locator("span.highlighted").first.wait_for()
    assert page.locator("span.highlighted").first.inner_text() == "sector"
    page.locator("img[alt='20 wide.']:visible").wait_for()
    page.get_by_role("button", name="10", exact=True).wait_for()
    assert errors == []
    page.close()


def test_figures_turn_dark_with_the_page_and_a_slider_can_be_seen(site, browser):
    page = browser.new_page(color_scheme="dark")
    for name, figure in (
        ("lectures/01_small.html", "img[alt='20 wide.']"),
        ("gallery.html", "img[alt='A sheet.']"),
    ):
        page.goto((site[0] / name).as_uri())
        shown = page.locator(figure)
        shown.wait_for()
        look = "(e) => [getComputedStyle(e).filter, getComputedStyle(e).mixBlendMode].join(' ')"
        assert shown.evaluate(look) == "invert(1) hue-rotate(180deg) screen"
        page.emulate_media(color_scheme="light")
        assert shown.evaluate(look) == "none normal"
        page.emulate_media(color_scheme="dark")
    page.emulate_media(color_scheme="light")
    page.goto((site[0] / "lectures" / "01_small.html").as_uri())
    handle = page.locator(".noUi-handle").first
    handle.wait_for()
    assert handle.evaluate("(e) => getComputedStyle(e).backgroundColor") == "rgb(0, 105, 165)", (
        "not white on white"
    )
    page.close()


def test_a_deck_is_a_card_with_its_first_slide_as_light_or_dark_as_the_page(site, browser):
    page, seen = browser.new_page(color_scheme="light"), []
    page.goto((site[0] / "slides.html").as_uri())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        picture = page.locator(".decks img:visible")
        picture.wait_for()
        assert picture.count() == 1 and f"01_small-{theme}.png" in picture.get_attribute("src")
        page.wait_for_function(
            "[...document.querySelectorAll('.decks img')].some((i) => i.naturalWidth === 640)"
        )
        seen.append((site[0] / picture.get_attribute("src")).read_bytes())
    assert seen[0] != seen[1]
    assert (
        "1\u00a0· Small" in page.locator(".decks").inner_text()
        and "2 slides" in page.locator(".decks").inner_text()
    )
    page.locator(".decks a").click()
    page.wait_for_url("**/slides/01_small.html*")
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_says_what_it_is_and_can_be_read(site, browser, axe, theme):
    """Furo's menus have names; a mend shows in two colours what it takes away and adds; columns stay columns."""
    page = browser.new_page(color_scheme=theme, viewport={"width": 1280, "height": 720})
    page.goto((site[0] / "docs" / "finds.html").as_uri())
    assert axe(page) == []
    away, added, other = (
        page.locator(f".highlight {part}").first.evaluate("e => getComputedStyle(e).color")
        for part in (".gd", ".gi", "pre")
    )
    assert len({away, added, other}) == 3
    module = page.locator(".highlight .nn").first.evaluate("e => getComputedStyle(e).textDecorationLine")
    assert module == "none", "it looks like a link"
    text = page.locator(".highlight-text pre").first
    assert text.evaluate("e => e.clientHeight < 60 && e.scrollWidth > e.clientWidth"), "one line, to scroll"
    page.close()


SIGN_IN_LINE = """(formula, widths) => {
  const after = formula.closest('.course-whole').lastChild, sign = document.createRange();
  sign.setStart(after, 0);
  sign.setEnd(after, 1);
  return widths.filter((width) => {
    formula.closest('p').style.width = `${width}px`;
    return sign.getBoundingClientRect().left < formula.getBoundingClientRect().right - 1;
  });
}"""


def test_no_line_begins_with_the_sign_after_a_formula(site, browser):
    page = browser.new_page()
    page.goto((site[0] / "lectures" / "01_small.html").as_uri())
    formula = page.locator("p .course-whole mjx-container")
    formula.wait_for()
    assert formula.evaluate(SIGN_IN_LINE, list(range(80, 600))) == []
    page.close()


def test_a_number_and_its_unit_and_a_date_are_on_one_line(site, browser):
    page = browser.new_page()
    page.goto((site[0] / "lectures" / "01_small.html").as_uri())
    page.wait_for_function("document.querySelector('article p').textContent.includes('8\\u00a0GB/s')")
    assert page.locator("article p code").first.inner_text() == "in 8 GB", "code stays as it is"
    caption = page.locator(".course-table caption")
    assert caption.locator(".whole").inner_text() == "2026-11-22"
    assert broken_dates(caption) == []
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_arrow_of_a_list_is_seen_on_its_ground(site, browser, theme):
    page = browser.new_page(color_scheme=theme)
    page.goto((site[0] / "lectures" / "01_small.html").as_uri())
    choice = page.locator(".widget-dropdown select")
    choice.wait_for()
    page.wait_for_function(
        "getComputedStyle(document.querySelector('.widget-dropdown select')).backgroundImage !== 'none'"
    )
    assert contrast_of_arrow(choice) >= 3
    page.close()


SOURCE = """\
<link rel="stylesheet" href="{}"><pre style="line-height: 20px">first

<div class="viewcode-block">
<a class="viewcode-back" style="float: right" href="#">[docs]</a>
<span>def one</span>
</div>

<div class="viewcode-block">
<a class="viewcode-back" style="float: right" href="#">[docs]</a>
<span>def two</span>
</div>

<span>last</span></pre>"""


def test_a_page_of_source_has_the_empty_lines_of_the_source(request, tmp_path):
    need_browser()
    browser = request.getfixturevalue("browser")  # only now: without a browser this test is skipped
    (tmp_path / "page.html").write_text(SOURCE.format(SHEET.as_uri()))
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    one, two, last = (box["y"] for box in (line.bounding_box() for line in page.locator("span").all()))
    assert (two - one, last - two) == (40, 40)
    link = page.locator("a").last.bounding_box()
    assert abs(link["y"] - (two - 20)) <= 2, "the link stands on the empty line"
    page.close()


APART = """(words) => {
  const boxes = words.map((word) => {
    const range = document.createRange();
    range.selectNodeContents(word);
    return range.getBoundingClientRect();
  });
  const page = words[0].closest('.cell_output').getBoundingClientRect();
  const apart = (a, b) => a.right + 20 <= b.left || b.right + 20 <= a.left || a.bottom <= b.top || b.bottom <= a.top;
  return boxes.every((a, i) => a.right <= page.right && boxes.every((b, k) => i === k || apart(a, b)));
}"""


@pytest.mark.parametrize("width", [1280, 900, 390])
def test_words_of_sliders_in_a_row_do_not_touch(site, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 720})
    page.goto((site[0] / "lectures" / "01_small.html").as_uri())
    row = page.locator(".widget-hbox:has(> .widget-hslider)")
    row.get_by_text("CG, by operations").wait_for()
    assert row.locator(".widget-label, .widget-readout").evaluate_all(APART)
    page.close()


def test_options_of_a_prediction_stand_apart(site, browser):
    page = browser.new_page()
    page.goto((site[0] / "lectures" / "01_small.html").as_uri())
    one, other = (page.get_by_role("button", name=name, exact=True) for name in ("10", "20"))
    other.wait_for()
    left, right = sorted((one.bounding_box(), other.bounding_box()), key=lambda box: box["x"])
    assert right["x"] - left["x"] - left["width"] >= 8
    page.close()


def test_records_are_chosen_and_sorted(site, browser):
    page = browser.new_page()
    page.goto((site[0] / "records.html").as_uri())
    rows = page.locator(".records tbody tr:visible")
    every = rows.count()
    page.get_by_label("topic").select_option("stencil")
    page.get_by_label("device").select_option("H200")
    assert 0 < rows.count() < every
    assert page.get_by_role("status").inner_text() == f"{rows.count():,} of {every:,} measurements"
    assert set(rows.locator("td:nth-child(2)").all_inner_texts()) == {"H200"}
    assert page.locator(".plot .dots circle").count() == rows.locator("td.bar").count() > 0
    named = page.locator(".plot svg > text").all_text_contents()
    assert named.count("H200") == 1 and "H100" not in named, "a colour for each device that is shown"
    for order in (sorted, lambda values: sorted(values, reverse=True)):
        page.get_by_role("button", name="time", exact=True).click()
        cells = rows.locator("td:nth-child(6)")
        times = [float(cell) for cell in cells.evaluate_all("all => all.map(one => one.dataset.value)")]
        assert times == order(times)
    page.reload()
    assert set(rows.locator("td:nth-child(2)").all_inner_texts()) == {"H200"}, (
        "the address keeps what was chosen"
    )
    page.close()
