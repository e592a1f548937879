"""Errors on the way from a lecture to its slides."""

from course_pkg.core.errors import CourseError


class SlidesError(CourseError):
    """The decks could not be built, or a deck has problems."""


class LectureError(SlidesError):
    """A cell of a lecture failed, or wrote something that a lecture must not show."""


def one_line(text: str, limit: int = 200) -> str:
    """Return `text` with its white space collapsed, cut to `limit` characters."""
    flat = " ".join(str(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
