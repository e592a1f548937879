"""Errors of the interpreter."""

import sysconfig
import traceback
from pathlib import Path

from course_pkg.core.errors import CourseError

MOST_FRAMES = 3  # lines of the learner's own functions that led to a launch
_OURS = (str(Path(__file__).parents[1]), *{sysconfig.get_path(name) for name in ("purelib", "stdlib")})


class SimtError(CourseError):
    """A kernel, a launch or an argument is wrong: CUDA or Numba would refuse it, too.

    Examples
    --------
    >>> from course_pkg import simt
    >>> simt.profile("no launch")
    Traceback (most recent call last):
    course_pkg.simt.errors.SimtError: simt.profile takes a launch, ...
    """

    lines: tuple[
        str, ...
    ] = ()  # of the kernel and of the device functions that led to the error, innermost first

    def passes(self, source, line: int) -> None:
        """Note the line of a function at which the error arose, unless a line of this function is noted already.

        Parameters
        ----------
        source : FunctionSource
        line : int
        """
        head = f"In {source.name}, line "
        if not any(one.startswith(head) for one in self.lines):
            self.lines += (f"{head}{line}:  {source.text(line)}",)

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows in place of a traceback: the learner's lines, and the message."""
        frames = [frame for frame in traceback.extract_tb(self.__traceback__) if _is_learners(frame.filename)]
        launches = [f"In {_name_of(f.filename)}, line {f.lineno}:  {f.line}" for f in frames[-MOST_FRAMES:]]
        return [*launches, *reversed(self.lines), f"{type(self).__name__}: {self}"]


class Unsupported(SimtError):
    """The interpreter does not know a construct, although Numba may know it.

    Examples
    --------
    >>> issubclass(Unsupported, SimtError)
    True
    """


class HazardError(SimtError):
    """A launch outside ``profile`` had a hazard that, on a GPU, could destroy data or never end.

    Attributes
    ----------
    hazard : Hazard

    Examples
    --------
    >>> issubclass(HazardError, SimtError)
    True
    """

    def __init__(self, hazard):
        super().__init__(str(hazard))
        self.hazard = hazard


def _is_learners(file: str) -> bool:
    """Tell whether a line of a file is neither the course's nor that of a library or of Python."""
    return not file.startswith((*_OURS, "<frozen"))


def _name_of(file: str) -> str:
    """Return a file's name; a notebook's cell has a name that says nothing."""
    return "the cell" if "ipykernel" in file or file.startswith("<ipython") else Path(file).name
