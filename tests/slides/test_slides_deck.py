"""A built deck, opened from disk in a browser that has no network."""

import re

import pytest
from small_deck import BODY

from course_pkg.slides import build
from course_pkg.slides.check import open_deck

pytestmark = [pytest.mark.slow(42), pytest.mark.browser]


@pytest.fixture(scope="module")
def built(tmp_path_factory, write_lecture, chromium, fetched):
    """One deck for all tests of this file, checked and printed."""
    folder = tmp_path_factory.mktemp("slides of a course")  # with spaces: addresses have to survive them
    source = write_lecture(folder / "lectures", "02_small", BODY, title='"Bytes & <flops>"')
    [deck] = build([source], folder / "out", pdf=True)
    return deck


@pytest.fixture
def opened(built, browser):
    """Return a function that opens the deck in a fresh browser profile."""
    contexts = []

    def open_it(query="", **options):
        context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True, **options)
        contexts.append(context)
        return open_deck(context, built.html.resolve(), query)

    yield open_it
    for context in contexts:
        context.close()


def test_the_check_is_clean(built):
    assert (built.name, built.title) == ("02_small", "Bytes & <flops>")
    assert built.promise == "After this you can count bytes."
    assert built.slides == built.report.slides == 6
    assert built.report.outbound == []
    assert built.report.console_errors == []
    assert built.report.problems == []
    assert built.report.formulas == 3
    assert built.report.widgets == 1


def test_nothing_in_the_deck_points_outside(built):
    html = re.sub(r"data:[^\"]*", "", built.html.read_text(encoding="utf-8"))
    loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"", html)
    assert loaded
    assert all(address.startswith("assets/") or not address for address in loaded)


def test_mathematics_is_drawn(opened):
    page = opened()
    assert page.locator("section mjx-container[display=true] svg").count() == 1
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0


def test_the_slider_moves_the_figure(opened):
    page = opened()
    page.evaluate("Reveal.slide(4)")
    image = page.locator("section.present img.course-figure")
    assert image.get_attribute("alt") == "A disc of radius 80"
    assert image.bounding_box()["height"] > 350, "a figure takes the room that there is"
    page.locator("section.present .noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    page.locator('section.present img[alt="A disc of radius 120"]').wait_for()
    assert page.evaluate("Reveal.getIndices().h") == 4, "the arrow moved the slide"
    page.keyboard.press("PageUp")
    assert page.evaluate("Reveal.getIndices().h") == 3, "a presenter's remote did not"


def test_notes_reach_the_speaker_view_only(opened):
    page = opened()
    assert not page.locator("aside.notes").first.is_visible()
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    notes = popup.value.locator(".speaker-controls-notes")
    notes.get_by_text("guess").wait_for()
    assert notes.locator("mjx-container svg").count() == 1


def test_fragments_wait(opened):
    page = opened()
    page.evaluate("Reveal.slide(1)")
    fragment = page.locator("section.present .fragment")
    assert "visible" not in fragment.get_attribute("class")
    page.keyboard.press("ArrowRight")
    assert "visible" in fragment.get_attribute("class")


def ground(page):
    frame = page.locator("section.present .frame")
    colour = frame.evaluate("(e) => getComputedStyle(e).backgroundColor")
    return "dark" if sum(map(int, re.findall(r"\d+", colour)[:3])) < 200 else "light"


def test_dark_mode_follows_system_address_and_key(opened):
    assert ground(opened(color_scheme="dark")) == "dark"
    assert ground(opened("?light", color_scheme="dark")) == "light"
    assert ground(opened("?dark", color_scheme="light")) == "dark"
    page = opened(color_scheme="light")
    assert ground(page) == "light"
    page.keyboard.press("d")
    assert ground(page) == "dark"
    page.evaluate("Reveal.slide(2)")
    style = "getComputedStyle(document.querySelector('section.present img.course-figure')).filter"
    assert "invert" in page.evaluate(style)
    page.reload()
    assert ground(page) == "dark", "the choice is remembered"


def test_the_page_is_accessible(opened):
    page = opened()
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.title() == "Bytes & <flops> · At the Speed of Memory"
    assert not page.locator(".deck-footer").is_visible(), "the title slide has a footer"
    page.keyboard.press("ArrowRight")
    assert page.locator(".deck-footer").is_visible()
    assert "Bytes & <flops> · CC BY 4.0" in page.locator(".deck-footer").inner_text()
    assert page.locator(".deck-number").inner_text() == "2 / 6"


def test_axe_finds_no_fault(built, browser, opened, axe):
    """A phone shows all slides at once: one look in each theme, and one at what surrounds a slide."""
    page = opened()
    page.evaluate("Reveal.slide(4)")
    assert axe(page) == []
    context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
    for theme in ("light", "dark"):
        page = open_deck(context, built.html.resolve(), f"?{theme}")
        for _ in range(100):  # what is drawn gets its names a moment later
            page.wait_for_timeout(200)
            if not (found := axe(page)):
                break
        assert found == [], theme
    page.evaluate(
        "document.querySelector('.frame').innerHTML += '<div role=slider tabindex=0 aria-valuenow=1></div>'"
    )
    assert any("aria-input-field-name" in found for found in axe(page)), "axe is asleep"
    context.close()


def test_widgets_say_their_names_and_what_is_chosen(opened):
    page = opened()
    page.evaluate("Reveal.slide(4)")
    # drawn first, named a moment later
    slider = page.locator("section.present [role=slider][aria-label=radius]")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.locator("section.present [role=slider][aria-valuetext='2']").wait_for()
    seen, muted = page.locator("section.present .noUi-connects").evaluate(
        "(e) => [getComputedStyle(e).backgroundColor, getComputedStyle(e).getPropertyValue('--muted')]"
    )
    assert seen == "rgb({}, {}, {})".format(*(int(muted.strip()[i : i + 2], 16) for i in (1, 3, 5)))
    answers = page.locator("section.present .widget-toggle-button")
    assert [one.get_attribute("aria-pressed") for one in answers.all()] == ["false", "false"]
    answers.nth(1).click()
    page.locator("section.present .widget-toggle-button[aria-pressed=true]").wait_for()
    assert [one.get_attribute("aria-pressed") for one in answers.all()] == ["false", "true"]


def test_every_slide_has_a_heading(opened):
    page = opened()
    headings = page.locator("section").evaluate_all(
        "(all) => all.map((s) => s.querySelector('h1, h2, h3, [role=heading]')?.textContent)"
    )
    assert headings[-2:] == ["A figure that moves", "One sentence to remember."] and all(headings)


def test_type_is_legible_from_the_last_row(opened):
    page = opened()
    page.evaluate("Reveal.slide(1, 0, 9)")
    size = "(e) => parseFloat(getComputedStyle(e).fontSize)"
    assert page.locator("section.present p").first.evaluate(size) >= 28
    for pre in page.locator("section.present pre").all():
        assert pre.evaluate(size) >= 19


def test_no_line_ends_between_a_number_and_what_belongs_to_it(opened):
    said = opened().locator("section:nth-of-type(2)").evaluate("(slide) => slide.textContent")
    assert "8\u00a0GB/s, new[i]\u00a0=\u00a0old[i], 2\u00a0·\u00a010⁶ times, in lecture\u00a09" in said
    assert "and so on\u00a0…," in said
    assert "At s\u00a0=\u00a04 it does 5,300\u00a0GFLOP/s, a\u00a0+ b." in said
    assert 'print("bytes", 2 * 8 * 64**3)' in said  # code stays as it is


def test_no_line_begins_with_the_sign_after_a_formula(opened):
    whole = opened().locator("section:nth-of-type(2) .course-whole:has(mjx-container)")
    assert whole.evaluate("(e) => [e.lastChild.data, getComputedStyle(e).whiteSpace]") == [":", "nowrap"]


def test_a_figure_builds_up_key_by_key(opened):
    page = opened()
    index = page.evaluate("Reveal.getSlides().findIndex((s) => s.querySelector('.course-steps'))")
    page.evaluate("(index) => Reveal.slide(index)", index)
    shown = "[...document.querySelectorAll('section.present .course-steps .fragment.visible')].length"
    for count in (0, 1, 2):
        assert page.evaluate(shown) == count
        page.keyboard.press("ArrowRight")
    assert page.evaluate("Reveal.getIndices().h") == index + 1
    page.evaluate("(index) => Reveal.slide(index, 0, 999)", index)
    box = page.locator("section.present .course-steps svg").bounding_box()
    assert box["width"] > 900 and box["height"] > 300


def test_keys_turn_slides_after_a_click_on_an_answer(opened):
    """A slider keeps its arrows; everything else goes to the deck."""
    page = opened()
    last = page.evaluate("Reveal.getTotalSlides()") - 2  # before it are slides without widgets
    for key, step in (("ArrowLeft", -1), ("n", 1), ("p", -1), ("Shift+Space", -1)):
        page.evaluate("(index) => Reveal.slide(index)", last)
        page.locator("section.present .widget-toggle-button").first.click()
        assert page.evaluate("document.activeElement.tagName") == "BODY"
        page.keyboard.press(key)
        assert page.evaluate("Reveal.getIndices().h") == last + step, key
    page.evaluate("(index) => Reveal.slide(index)", last)
    page.locator("section.present .noUi-handle").first.focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("Reveal.getIndices().h") == last
    page.keyboard.press("p")
    assert page.evaluate("Reveal.getIndices().h") == last - 1


def test_printing_opens_the_pages_of_the_pdf(opened):
    page = opened()
    page.add_init_script("window.print = () => { window.printed = (window.printed ?? 0) + 1; }")
    slides = page.evaluate("Reveal.getTotalSlides()")
    page.keyboard.press("Control+p")
    page.wait_for_function("window.printed === 1")
    assert page.locator(".pdf-page").count() == slides
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)], ids=["portrait", "landscape"])
def test_a_phone_shows_one_column_that_can_be_read(built, browser, width, height):
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
    page = open_deck(context, built.html.resolve())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tops = page.evaluate(
        "[...document.querySelectorAll('.slides > section')].map((s) => s.getBoundingClientRect().top)"
    )
    assert len(tops) > 3 and tops == sorted(tops) and len(set(tops)) == len(tops)

    def styles(selector, what):
        return page.evaluate(
            "([s, w]) => [...document.querySelectorAll(s)].map((e) => parseFloat(getComputedStyle(e)[w]))",
            [selector, what],
        )

    assert min(styles(".frame :is(p, li, h1, h2, pre)", "fontSize")) >= 16
    assert styles(".frame .fragment", "opacity") == [1.0] * 3
    # figures and widgets have the room that they need: none is squeezed, none lies on what follows
    for what, many, least in (
        (".widget-slider, .widget-toggle-button", 3, 20),
        ("img, .course-steps svg", 3, 150),
    ):
        shown = [one.bounding_box() for one in page.locator(f".frame :is({what})").all() if one.is_visible()]
        assert len(shown) == many and all(box["height"] > least for box in shown), what
    frames = page.locator(".frame").evaluate_all(
        "(all) => all.map((one) => one.scrollHeight - one.clientHeight)"
    )
    assert max(frames) <= 2
    # a path that is one long word breaks; a wide table moves in its box, with letters and a caption as elsewhere
    wide = "<th>a column</th>" * 12
    page.locator(".frame .markdown").last.evaluate(
        "(one, html) => { one.innerHTML += html; }",
        f"<p><code>{'course_pkg_' * 12}</code></p>"
        f"<table><caption>{'Recorded here. ' * 20}<code>{'--option ' * 20}</code></caption>"
        f"<thead><tr>{wide}</tr></thead><tbody><tr>{wide}</tr></tbody></table>",
    )
    assert page.evaluate("document.body.scrollWidth") <= width
    for found in (
        page.locator(".frame .markdown").last.locator("p:last-of-type code, caption, caption code").all()
    ):
        box = found.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert styles(".frame table :is(th, caption, code)", "fontSize")[-26:] == 26 * [16.0]
    context.close()


def test_the_pdf_has_a_page_for_each_slide(built):
    pages = re.findall(rb"/Type\s*/Page\b", built.pdf.read_bytes())
    assert len(pages) == built.slides


def test_contents_lists_the_deck(built):
    html = (built.html.parent / "index.html").read_text(encoding="utf-8")
    assert "Bytes &amp; &lt;flops&gt;" in html
    assert "After this you can count bytes." in html
    assert "6 slides" in html
    assert 'href="02_small.pdf"' in html
