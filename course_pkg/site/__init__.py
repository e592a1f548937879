"""The course as one static site: lectures, decks, exercises, words, the package, records and figures.

Sphinx makes the pages; this package only gathers the sources that Sphinx reads. ``docs/site`` holds Sphinx's settings
and the pages that are written by hand.
"""

from course_pkg.site.build import Site, build
from course_pkg.site.command import add_arguments, run
from course_pkg.site.look import look

__all__ = ["Site", "add_arguments", "build", "look", "run"]
