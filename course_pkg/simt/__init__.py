"""Runs ``@cuda.jit`` kernels without a GPU, for all threads at once, and counts what the hardware would count.

``profile(kernel[blocks, threads], *args)`` returns a :class:`KernelProfile`; a plain launch only computes.
"""

from course_pkg.simt.counts import AccessCounts, FlopCounts, Flops, LineCounts
from course_pkg.simt.errors import HazardError, SimtError, Unsupported
from course_pkg.simt.hazards import Hazard, Thread
from course_pkg.simt.kernel import Kernel, Launch, jit
from course_pkg.simt.kernel_profile import KernelProfile
from course_pkg.simt.launch import limits
from course_pkg.simt.profiling import profile
from course_pkg.simt.source import FunctionSource, SourceLine

__all__ = [
    "AccessCounts",
    "FlopCounts",
    "Flops",
    "FunctionSource",
    "Hazard",
    "HazardError",
    "Kernel",
    "KernelProfile",
    "Launch",
    "LineCounts",
    "SimtError",
    "SourceLine",
    "Thread",
    "Unsupported",
    "jit",
    "limits",
    "profile",
]
