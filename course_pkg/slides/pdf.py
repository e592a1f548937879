"""Print decks to PDF, one page per slide, in the light theme, with all fragments shown."""

from collections.abc import Iterable
from pathlib import Path

from course_pkg.slides.browser import chromium
from course_pkg.slides.check import open_deck
from course_pkg.slides.convert import HEIGHT, WIDTH


def print_decks(decks: Iterable[Path]) -> list[Path]:
    """Write ``NAME.pdf`` beside each deck ``NAME.html`` and return the PDFs.

    Raises
    ------
    SlidesError
        If there is no browser.
    """
    printed = []
    with chromium() as browser:
        for deck in map(Path, decks):
            context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, offline=True)
            try:
                page = open_deck(context, deck.resolve(), "?print-pdf&light")
                target = deck.with_suffix(".pdf")
                page.pdf(
                    path=str(target),
                    prefer_css_page_size=True,
                    print_background=True,
                    tagged=True,
                    outline=True,
                )
                printed.append(target)
            finally:
                context.close()
    return printed
