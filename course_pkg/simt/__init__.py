"""The SIMT interpreter: runs ``@cuda.jit`` kernels without a GPU, and counts what the hardware would count.

``profile(kernel[blocks, threads], *args)`` runs a launch and returns a :class:`KernelProfile`. A plain launch computes
without counting.
"""

from course_pkg.simt import api
from course_pkg.simt.errors import HazardError, SimtError, Unsupported
from course_pkg.simt.front.source import FunctionSource, SourceLine
from course_pkg.simt.memory.hazard import Hazard
from course_pkg.simt.memory.places import Thread
from course_pkg.simt.report.kernel_profile import KernelProfile
from course_pkg.simt.report.profiling import profile
from course_pkg.simt.report.quantities import AccessCounts, FlopCounts, Flops, LineCounts
from course_pkg.simt.run.budget import limits
from course_pkg.simt.run.kernel import Kernel, Launch, jit
from course_pkg.simt.run.order import NoOrder, observed, warps_first

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
    "NoOrder",
    "SimtError",
    "SourceLine",
    "Thread",
    "Unsupported",
    "api",
    "jit",
    "limits",
    "observed",
    "profile",
    "warps_first",
]
