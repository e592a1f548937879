"""The only place from which the course imports CUDA: ``from course_pkg import cuda``.

With an NVIDIA GPU, ``cuda`` *is* ``numba.cuda``. Without one, it is ``course_pkg.simt.api``, which has the same names,
as far as the course uses them; kernels then run in the course's SIMT interpreter, on any laptop. ``COURSE_BACKEND=gpu``
or ``COURSE_BACKEND=simt`` forces one of the two.

Numba recognises names such as ``cuda.threadIdx`` only as members of the module object ``numba.cuda`` itself. So this
module does not wrap ``numba.cuda``: it replaces itself by ``numba.cuda``.
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
            "COURSE_BACKEND=gpu demands an NVIDIA GPU, but none was found: "
            "unset COURSE_BACKEND to run kernels in the SIMT interpreter."
        )
    return asked or ("gpu" if gpus else "simt")


def _open():
    if _choose() == "simt":  # then numba.cuda is not imported, because that takes long
        from course_pkg.simt import api, door_of_numba, random

        door_of_numba.serve()
        sys.modules[f"{__name__}.random"] = random  # so that `from course_pkg.cuda.random import …` works
        return api
    from numba.core import config

    if "numba.cuda" not in sys.modules:
        config.ENABLE_CUDASIM = False
        # the course discusses low occupancy itself
        config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    elif config.ENABLE_CUDASIM:
        raise CourseError(
            "numba.cuda was imported before course_pkg.cuda, as Numba's simulator: "
            "restart the kernel, and import course_pkg.cuda first."
        )
    from numba import cuda

    return cuda


sys.modules[__name__] = _open()
