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
