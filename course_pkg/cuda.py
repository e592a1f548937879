"""The one door to CUDA: ``from course_pkg import cuda``.

With an NVIDIA GPU, ``cuda`` *is* ``numba.cuda``. Without one, it is Numba's CUDA simulator under the same names, so
that every kernel of the course runs on a laptop, slowly. Set ``COURSE_BACKEND=gpu`` or ``COURSE_BACKEND=simulator``
to force one.

Numba resolves ``cuda.threadIdx`` and its like by the identity of the module ``numba.cuda``, so this module does not
wrap it: it replaces itself by it.
"""

import os
import sys

from course_pkg import driver
from course_pkg.core.errors import CourseError

_CHOICES = ("gpu", "simulator")


def _choose() -> str:
    asked = os.environ.get("COURSE_BACKEND", "").strip().lower()
    if asked and asked not in _CHOICES:
        raise CourseError(f"COURSE_BACKEND={asked!r} is not known: use {' or '.join(_CHOICES)}, or unset it.")
    gpus = max(0, driver.device_count())
    if asked == "gpu" and not gpus:
        raise CourseError(
            "COURSE_BACKEND=gpu asks for an NVIDIA GPU and none was found: unset it to run in the simulator."
        )
    return asked or ("gpu" if gpus else "simulator")


def _open():
    choice = _choose()
    from numba.core import config

    if "numba.cuda" not in sys.modules:
        config.ENABLE_CUDASIM = choice == "simulator"
        # the simulator drops inactive lanes of a warp silently unless asked; low occupancy is no news in a lesson
        config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    elif bool(config.ENABLE_CUDASIM) != (choice == "simulator"):
        raise CourseError(
            "numba.cuda was imported before course_pkg.cuda, with the other backend: "
            "import course_pkg.cuda first, and restart the kernel."
        )
    from numba import cuda

    return cuda


sys.modules[__name__] = _open()
