"""A widget on a slide, which has no kernel, in a browser."""

from contextlib import contextmanager

from needs import need_browser, need_scripts

from course_pkg.slides import browser, build
from course_pkg.slides.check import open_deck

LECTURE = """\
# ---
# jupyter:
#   title: Widget
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% slideshow={"slide_type": "skip"}
from course_pkg import viz

# %% [markdown] slideshow={"slide_type": "slide"}
# ## A widget

# %% tags=["hide-input"]
"""


@contextmanager
def slide_with(cell, folder):
    """Build a deck whose slide shows what a cell returns, check it, and yield its page; skip without a browser."""
    need_browser()
    need_scripts()
    source = folder / "02_widget.py"
    source.write_text(LECTURE + cell, encoding="utf-8")
    [deck] = build([source], folder / "out")
    assert deck.report.problems == []
    assert deck.report.console_errors == []
    with browser.chromium() as running:
        context = running.new_context(viewport={"width": 1280, "height": 720}, offline=True)
        yield open_deck(context, deck.html.resolve(), "")
        context.close()
