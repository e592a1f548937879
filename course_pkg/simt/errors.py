"""Errors of the interpreter."""

import re
import traceback
from pathlib import Path

from course_pkg.core.errors import CourseError

_BELOW = str(Path(__file__).parents[1])


class SimtError(CourseError):
    """A kernel, a launch or an argument is wrong: CUDA or Numba would refuse it, too.

    Examples
    --------
    >>> from course_pkg import simt
    >>> simt.profile("no launch")
    Traceback (most recent call last):
    course_pkg.simt.errors.SimtError: simt.profile takes a launch, ...
    """

    sources: tuple = ()  # the texts of the functions of the launch

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows in place of the traceback: the learner's lines, and the sentence."""
        launched = [f for f in traceback.extract_tb(self.__traceback__) if not f.filename.startswith(_BELOW)]
        lines = [f"{type(self).__name__}: {self}"]
        where = re.match(r"(?:(\w[\w.]*), )?line (\d+)", str(self))
        text = self._line_of_the_kernel(*where.groups()) if where else ""
        if text:
            lines.append(f"    line {where[2]}: {text}")
        if launched and launched[-1].line and launched[-1].line != text:
            lines.append(f"launched by line {launched[-1].lineno}: {launched[-1].line}")
        return lines

    def _line_of_the_kernel(self, function: str | None, line: str) -> str:
        names = [s for s in self.sources if function in (None, s.name)]
        return next((text for source in names if (text := source.text(int(line)))), "")


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
        super().__init__(hazard.message)
        self.hazard = hazard
