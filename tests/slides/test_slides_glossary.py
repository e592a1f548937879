"""The glossary beside the decks: each word has a place, and a deck's links lead to it."""

import sys
from html import unescape
from urllib.parse import unquote

import pytest

from course_pkg.paths import repo_root
from course_pkg.slides import browser, build
from course_pkg.slides.check import open_deck
from course_pkg.slides.glossary import link_to_page, write_glossary

LECTURE = """\
# %% [markdown] slideshow={"slide_type": "slide"} tags=["title-slide"]
# # Words
#
# After this you know one.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A slide
#
# A [cache line](glossary.md#cache-line) has four sectors.
"""


def words():
    """The course's own reader of the glossary, which its tests share."""
    sys.path.insert(0, str(repo_root() / "tests" / "lectures"))
    try:
        from glossary_words import words
    finally:
        sys.path.pop(0)
    return words()


def test_each_word_has_the_place_to_which_jupyterlab_jumps(tmp_path):
    text = write_glossary(repo_root() / "lectures", tmp_path).read_text(encoding="utf-8")
    # nbconvert writes a letter such as σ as an escape, in a place and in links to it
    html = unquote(unescape(text))
    assert html.count("<h3") == len(words())
    for word in words():
        assert f'<h3 id="{word.anchor}">{word.name}</h3>' in html
        assert f'href="#{word.anchor}"' in html


def test_without_a_glossary_there_is_no_page(tmp_path):
    assert write_glossary(tmp_path, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_the_page_links_only_to_what_is_beside_it(tmp_path):
    lectures = tmp_path / "lectures"
    lectures.mkdir()
    lectures.joinpath("glossary.md").write_text(
        "# Glossary\n\n### L1\n\nSee [a *page*](../docs/finds.md), [L1](#L1) and [there](https://example.org/).\n"
    )
    html = write_glossary(lectures, tmp_path).read_text(encoding="utf-8")
    assert "See a <em>page</em>, <a" in html
    assert '<a href="#L1">L1</a> and <a href="https://example.org/">there</a>' in html


def test_only_links_to_the_glossary_and_to_lectures_change():
    html = '<a href="glossary.md#L1">L1</a> <a href="glossary.md">all</a> <a href="other.md#L1">x</a> glossary.md#L1'
    assert link_to_page(html) == (
        '<a href="glossary.html#L1" target="glossary">L1</a> <a href="glossary.html" target="glossary">all</a> '
        '<a href="other.md#L1">x</a> glossary.md#L1'
    )
    assert link_to_page('<a href="06_rows.ipynb">6</a>') == '<a href="06_rows.html" target="06_rows">6</a>'
    assert link_to_page(kept := '<a href="rows.ipynb">rows</a> 06_rows.ipynb') == kept


@pytest.mark.browser
def test_a_deck_s_link_opens_the_glossary_at_its_word(tmp_path, write_lecture, chromium, fetched):
    source = write_lecture(tmp_path / "lectures", "01_words", LECTURE)
    (source.parent / "glossary.md").write_bytes((repo_root() / "lectures" / "glossary.md").read_bytes())
    [deck] = build([source], tmp_path / "slides")
    assert deck.report.problems == []
    with browser.chromium() as started:
        context = started.new_context(viewport={"width": 1280, "height": 720})
        page = open_deck(context, deck.html, "#/1")
        with context.expect_page() as opened:
            page.get_by_role("link", name="cache line").click()
        words = opened.value
        words.wait_for_load_state()
        assert words.url.endswith("/glossary.html#cache-line")
        assert 0 <= words.locator("h3#cache-line").bounding_box()["y"] < 100
        assert page.url.endswith("#/1"), "the talk keeps its place"
