"""Make reveal.js decks from lectures; the decks open without a network.

>>> from course_pkg.slides import build
>>> build(lectures, out_dir)                                        # doctest: +SKIP

Functions import Jupytext, nbclient, nbconvert and Playwright only when they need them: `course doctor` uses only
`find_chromium`, and should not wait for these imports.
"""

from course_pkg.slides.assets import copy_assets
from course_pkg.slides.browser import find_chromium
from course_pkg.slides.build import BuiltDeck, build
from course_pkg.slides.check import DeckReport, Problem, check_decks
from course_pkg.slides.command import add_arguments, run
from course_pkg.slides.errors import LectureError, SlidesError
from course_pkg.slides.execute import execute

__all__ = [
    "BuiltDeck",
    "DeckReport",
    "LectureError",
    "Problem",
    "SlidesError",
    "add_arguments",
    "build",
    "check_decks",
    "copy_assets",
    "execute",
    "find_chromium",
    "run",
]
