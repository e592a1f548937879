"""The one door to CUDA: ``from course_pkg import cuda``.

With an NVIDIA GPU, ``cuda`` *is* ``numba.cuda``. Without one, it is ``course_pkg.simt.api``, which offers the part of
it that the course uses: kernels then run in the course's SIMT interpreter, on any laptop. Set ``COURSE_BACKEND=gpu``
or ``COURSE_BACKEND=simt`` to force one.

Numba resolves ``cuda.threadIdx`` and its like by the identity of the module ``numba.cuda``, so this module does not
wrap it: it replaces itself by it.
"""

import os
import sys

from course_pkg.core.errors import CourseError
from course_pkg.setup import driver

_CHOICES = ("gpu", "simt")


def _choose() -> str:
    asked = os.environ.get("COURSE_BACKEND", "").strip().lower()
    if asked == "simulator":
        raise CourseError(
            "COURSE_BACKEND='simulator' is now called simt: set COURSE_BACKEND=simt, or unset it."
        )
    if asked and asked not in _CHOICES:
        raise CourseError(f"COURSE_BACKEND={asked!r} is not known: use {' or '.join(_CHOICES)}, or unset it.")
    gpus = max(0, driver.device_count())
    if asked == "gpu" and not gpus:
        raise CourseError(
            "COURSE_BACKEND=gpu asks for an NVIDIA GPU and none was found: "
            "unset it to run kernels in the SIMT interpreter."
        )
    return asked or ("gpu" if gpus else "simt")


def _open():
    if _choose() == "simt":  # numba.cuda stays closed: it takes long to import
        from course_pkg.simt import api

        return api
    from numba.core import config

    if "numba.cuda" not in sys.modules:
        config.ENABLE_CUDASIM = False
        # low occupancy is no news in a lesson
        config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    elif config.ENABLE_CUDASIM:
        raise CourseError(
            "numba.cuda was imported before course_pkg.cuda, as Numba's simulator: "
            "import course_pkg.cuda first, and restart the kernel."
        )
    from numba import cuda

    return cuda


sys.modules[__name__] = _open()
