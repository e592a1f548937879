"""What is recorded of s-step methods on one device: sums and updates, also by cuBLAS, and solves by every method.

A record of this topic may hold only a part of what its suite measures. Functions return None for a missing part.
"""

from course_pkg.bench import Measurement, matching
from course_pkg.core import Library, Variant
from course_pkg.sstep.variants import VARIANTS
from course_pkg.witness.on_device import OnDevice

CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY


class Rounds(OnDevice):
    """What is recorded of the topic ``sstep`` on one device.

    Parameters
    ----------
    found : Recorded
        The device's measurements of that topic.
    """

    def operation(self, name: str, s: int, library: Library = CUDA) -> Measurement | None:
        """Return the measurement of the sums or the update of a round, by our kernel or by calls of cuBLAS."""
        return self._one(VARIANTS[name].by(library), s=s)

    def steps(self, name: str) -> list[int]:
        """Return each s for which our kernel and cuBLAS were measured."""
        ours = matching(self.found.measurements, VARIANTS[name].by(CUDA))
        # with warps, it is another kernel
        every = sorted(m.parameters["s"] for m in ours if "warps" not in m.parameters)
        return [s for s in every if self.operation(name, s, CUPY)]

    def over_cublas(self, name: str, s: int) -> float:
        """Return the time of the calls of cuBLAS, divided by that of our kernel; s must be one of :meth:`steps`."""
        return self.operation(name, s, CUPY).median_s / self.operation(name, s).median_s

    def of_copy(self, name: str, s: int) -> float:
        """Return the bandwidth of our kernel, divided by that of the copy; s must be one of :meth:`steps`."""
        return self.operation(name, s).of_copy(self.copy)

    def solve(self, variant: Variant, edge: int, *, rtol: float = 1e-6, **chosen) -> Measurement | None:
        """Return the measurement of a whole solve of Poisson's problem, matrix-free and without a preconditioner."""
        return self._one(variant.by(CUDA), shape=[edge] * 3, rtol=rtol, **chosen)

    def stored(self, variant: Variant, edge: int, M: str | None = None, **chosen) -> Measurement | None:
        """Return the measurement of a whole solve with a stored matrix; ``M`` is ``"vcycle"`` or None."""
        return self._one(variant.by(CUDA), matrix="poisson_3d", n=edge**3, M=M, **chosen)

    def iteration_s(self, variant: Variant, edge: int, **chosen) -> float | None:
        """Return the seconds of an iteration of a whole solve, matrix-free."""
        found = self.solve(variant, edge, **chosen)
        return found and found.median_s / found.observed["iterations"]

    def _one(self, what, **parameters):
        return next(iter(matching(self.found.measurements, what, **parameters)), None)
