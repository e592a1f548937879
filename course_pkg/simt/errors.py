"""What can go wrong in the interpreter."""

from course_pkg.core.errors import CourseError


class SimtError(CourseError):
    """A kernel, a launch or an argument that CUDA or Numba would refuse."""


class Unsupported(SimtError):
    """A construct that the interpreter does not know, though Numba may."""


class HazardError(SimtError):
    """A launch outside ``profile`` met a hazard that would spoil memory or hang a GPU.

    Attributes
    ----------
    hazard : Hazard
    """

    def __init__(self, hazard):
        super().__init__(hazard.message)
        self.hazard = hazard
