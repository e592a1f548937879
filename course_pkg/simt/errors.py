"""Errors of the interpreter."""

from course_pkg.core.errors import CourseError


class SimtError(CourseError):
    """A kernel, a launch or an argument is wrong: CUDA or Numba would refuse it, too.

    Examples
    --------
    >>> from course_pkg import simt
    >>> simt.profile("no launch")
    Traceback (most recent call last):
    course_pkg.simt.errors.SimtError: simt.profile takes a launch, ...
    """

    def passes(self, source, line: int) -> None:
        """Note the line of a kernel or device function at which the error arose, unless one of it is noted already.

        Parameters
        ----------
        source : FunctionSource
        line : int
        """
        head = f"In {source.name}, line "
        if not any(one.startswith(head) for one in self.lines):
            self.lines += (f"{head}{line}:  {source.text(line)}",)


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
