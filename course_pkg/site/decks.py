"""The decks as cards: each has a photograph of its first slide, its promise, and its number of slides."""

import html
import re
from pathlib import Path

from course_pkg.site.shots import THEMES
from course_pkg.slides.browser import chromium
from course_pkg.slides.build import BuiltDeck
from course_pkg.slides.check import open_deck
from course_pkg.slides.convert import HEIGHT, WIDTH

PICTURES = "pictures"  # the folder of the photographs, beside the decks
SCALE = 0.5  # scale of a photograph: a card is narrower than half of a slide


def photograph(decks: list[BuiltDeck]) -> None:
    """Photograph the first slide of each deck, light and dark.

    Raises
    ------
    SlidesError
        If there is no browser, or a deck does not open.
    """
    with chromium() as browser:
        for deck in decks:
            for theme in THEMES:
                context = browser.new_context(
                    viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme, device_scale_factor=SCALE
                )
                page = open_deck(context, deck.html)
                page.wait_for_timeout(200)  # wait until reveal.js has laid the slide out
                path = picture_of(deck, theme)
                path.parent.mkdir(exist_ok=True)
                page.screenshot(path=str(path))
                context.close()


def picture_of(deck: BuiltDeck, theme: str) -> Path:
    """Return the path of the photograph of a deck."""
    return deck.html.parent / PICTURES / f"{deck.name}-{theme}.png"


def cards(decks: list[BuiltDeck]) -> str:
    """Return the decks as HTML, for a page beside their folder; without a photograph, a card has words only."""
    return f'<ul class="decks">\n{"".join(map(_card, decks))}</ul>\n'


def _card(deck: BuiltDeck) -> str:
    folder = deck.html.parent.name
    pictures = "".join(
        f'<img class="only-{theme}" loading="lazy" src="{folder}/{PICTURES}/{picture_of(deck, theme).name}" alt="" '
        f'width="{WIDTH}" height="{HEIGHT}">'
        for theme in THEMES
        if picture_of(deck, theme).is_file()
    )
    number = re.match(r"\d+", deck.name)
    title = html.escape(f"{int(number[0])} · {deck.title}" if number else deck.title)
    return (
        f'<li><a href="{folder}/{deck.html.name}">{pictures}<strong>{title}</strong></a> '
        f'<span class="count">{deck.slides} slides</span>'
        f"<p>{html.escape(deck.promise)}</p></li>\n"
    )
