"""The base class of the course's errors."""


class CourseError(Exception):
    """An error whose message says, in one sentence, what is wrong and how to fix it.

    Examples
    --------
    >>> from course_pkg.core import machine
    >>> try:
    ...     machine("abacus")
    ... except CourseError as error:
    ...     print(str(error)[:37])
    The catalogue has no machine 'abacus'
    """
