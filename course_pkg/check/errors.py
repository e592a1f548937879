"""The error of a file that cannot be checked."""

from course_pkg.core.errors import CourseError


class NotChecked(CourseError):
    """A file, or an option of ``course check``, cannot be used; the message says what to write instead."""
