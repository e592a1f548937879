"""Errors of the interpreter."""

from course_pkg.core.errors import CourseError


class SimtError(CourseError):
    """A kernel, a launch or an argument is invalid: CUDA or Numba would also refuse it.

    Examples
    --------
    >>> from course_pkg import simt
    >>> simt.profile("no launch")
    Traceback (most recent call last):
    course_pkg.simt.errors.SimtError: simt.profile takes a launch, ...
    """

    def passes(self, source, line: int) -> None:
        """Note the line of a function at which the error arose, unless a line of this function is already noted.

        Parameters
        ----------
        source : FunctionSource
        line : int
        """
        head = f"In {source.name}, line "
        if not any(one.startswith(head) for one in self.lines):
            self.lines += (f"{head}{line}:  {source.text(line)}",)


class Unsupported(SimtError):
    """The interpreter does not support a construct. Numba may support it.

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
