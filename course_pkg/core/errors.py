"""The base class of the course's errors, and the form in which a notebook shows them."""

import sysconfig
import traceback
from pathlib import Path

MOST_FRAMES = 3  # most lines of the learner's own code that are shown with an error
_COURSE = str(Path(__file__).parents[1])
_NOT_LEARNERS = (_COURSE, *{sysconfig.get_path(name) for name in ("purelib", "stdlib")}, "<frozen")


class CourseError(Exception):
    """An error whose message says, in one sentence, what is wrong and how to fix it.

    A notebook shows the learner's lines and the message in place of a traceback.

    Examples
    --------
    >>> from course_pkg.core import machine
    >>> try:
    ...     machine("abacus")
    ... except CourseError as error:
    ...     print(str(error)[:37])
    The catalogue has no machine 'abacus'
    """

    lines: tuple[str, ...] = ()  # lines of functions that are not in the traceback, innermost first

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows in place of a traceback."""
        return [*learners_lines(self), *reversed(self.lines), f"{type(self).__name__}: {self}"]


def learners_lines(error: BaseException) -> list[str]:
    """Return the last lines of the learner's own code that led to an error, outermost first.

    Examples
    --------
    >>> learners_lines(ValueError("never raised"))
    []
    """
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_NOT_LEARNERS)
    ]
    return [f"In {file_name(f.filename)}, line {f.lineno}:  {f.line}" for f in frames[-MOST_FRAMES:]]


def in_the_course(error: BaseException) -> tuple[bool, bool]:
    """Tell whether an error passed through a function of this package, and whether it arose there.

    It did not arise there if this package had called a function of the learner, in which it then arose.

    Examples
    --------
    >>> in_the_course(ValueError("never raised"))
    (False, False)
    """
    files = [f.filename for f in traceback.extract_tb(error.__traceback__)]
    passed = any(file.startswith(_COURSE) for file in files)
    # what NumPy or Python's library raises arose in the function that had called it
    whose = [file for file in files if file.startswith(_COURSE) or not file.startswith(_NOT_LEARNERS)]
    return passed, passed and whose[-1].startswith(_COURSE)


def file_name(file: str) -> str:
    """Return a file's name, or "the cell" for a notebook's cell, whose file has a name made of numbers.

    Examples
    --------
    >>> file_name("/home/me/blur.py"), file_name("/tmp/ipykernel_4711/3637929687.py")
    ('blur.py', 'the cell')
    """
    return "the cell" if "ipykernel" in file or file.startswith("<ipython") else Path(file).name
