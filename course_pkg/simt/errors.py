"""What can go wrong in the interpreter."""

from course_pkg.core.errors import CourseError


class SimtError(CourseError):
    """A kernel, a launch or an argument that CUDA or Numba would refuse.

    Examples
    --------
    >>> from course_pkg import simt
    >>> simt.profile("no launch")
    Traceback (most recent call last):
    course_pkg.simt.errors.SimtError: simt.profile takes a launch, ...
    """


class Unsupported(SimtError):
    """A construct that the interpreter does not know, though Numba may.

    Examples
    --------
    >>> issubclass(Unsupported, SimtError)
    True
    """


class HazardError(SimtError):
    """A launch outside ``profile`` met a hazard that would spoil memory or hang a GPU.

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
