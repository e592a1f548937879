"""The course's one base error."""


class CourseError(Exception):
    """An error whose message says, in one sentence, how to mend it."""
