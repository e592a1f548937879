"""What is recorded of conjugate gradient on one device: times of iterations and solves, bytes moved, flops, clocks."""

from functools import cached_property
from math import prod

from course_pkg.bench import Measurement
from course_pkg.cg.demands import RTOL
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.program import CG
from course_pkg.cg.variants import Method
from course_pkg.core import Library, Variant
from course_pkg.vector.bound import COPY
from course_pkg.witness.cases import large_cases
from course_pkg.witness.clocks import NOT_COUNTED, Clocks
from course_pkg.witness.compare import by_name
from course_pkg.witness.longest import clocks_in_turn
from course_pkg.witness.on_device import OnDevice

SMALL, LARGE = PUBLISHED  # edges of the two cubes that are measured


class Iterations(OnDevice):
    """What is recorded of conjugate gradient on one device.

    Parameters
    ----------
    found : Recorded
        The device's measurements of the topic ``cg``.

    Examples
    --------
    >>> from course_pkg import bench
    >>> from course_pkg.cg.variants import VARIANTS
    >>> on = Iterations(bench.recorded("cg"))
    >>> on.name, on.solve(VARIANTS["cg_two_kernel"]).observed["iterations"]
    ('H200', 514)
    """

    @cached_property
    def copy(self) -> Measurement:
        """The measurement of a copy of 1000³ numbers, whose bandwidth gives every bound."""
        return self.copy_of(LARGE)

    def copy_of(self, edge: int) -> Measurement:
        """Return the measurement of a copy of edge³ numbers."""
        return self.found.one(COPY, shape=[edge] * 3)

    def pair(self, variant: Variant, edge: int = SMALL) -> Measurement:
        """Return the measurement of one CUDA graph: two iterations in the middle of a solve."""
        return self.found.one(variant.by(Library.NUMBA_CUDA), shape=[edge] * 3, iterations=2)

    def iteration_s(self, variant: Variant, edge: int = SMALL) -> float:
        """Return the seconds of one iteration, without what comes before and after the loop."""
        return self.pair(variant, edge).median_s / 2

    def over_bound(self, variant: Variant, edge: int = SMALL) -> float:
        """Return the time of an iteration, divided by the time that a long copy takes for the same bytes."""
        return self.pair(variant, edge).over_bound(self.copy)

    def pass_s(self, edge: int = SMALL, itemsize: int = 8) -> float:
        """Return the seconds in which a long copy moves one field of edge³ numbers."""
        return itemsize * edge**3 / (self.copy.t_eff_gb_s * 1e9)

    def solve(self, variant: Variant, edge: int = SMALL) -> Measurement:
        """Return the measurement of a whole solve, which ends once the norm of the residual is at most 1e-6 ‖b‖."""
        return self.found.one(variant.by(Library.NUMBA_CUDA), shape=[edge] * 3, rtol=RTOL)

    def whole_s(self, variant: Variant, library: Library = Library.NUMBA_CUDA) -> float:
        """Return the seconds of a whole solve on 250³ points, divided by the number of its iterations."""
        if library is Library.NUMBA_CUDA:
            solved = self.solve(variant)
            return solved.median_s / solved.observed["iterations"]
        call = self.found.one(variant.by(library), shape=[SMALL] * 3)
        return call.median_s / call.parameters["iterations"]

    def seen(self, case: str) -> dict[str, float | None]:
        """Return what the hardware counted in a small case, by the profile's names: ``global load sectors``, …"""
        return by_name(self.counters.counters[case])

    def flops_per_point(self, *kernels: str) -> float:
        """Return the flops that the hardware counted in kernels on the case's 64-wide box; an fma is two flops."""
        from course_pkg.cg.cases import BOXES  # imported only here, because it needs Numba's CUDA

        total = 0
        for kernel in kernels:
            seen = self.seen(f"cg_{kernel}_64_float64")
            total += seen["float64 add"] + seen["float64 mul"] + 2 * seen["float64 fma"]
        return total / prod(BOXES["64"])

    def iteration_clock(
        self, variant: Variant, edge: int = SMALL, library: Library = Library.NUMBA_CUDA
    ) -> str:
        """Return the longest clock of an iteration: of all its launches over whole fields, in turn.

        The launches of one block, which make α and β, are left out: they read one number for each block. The result
        is ``"not counted"`` if one of the others was not counted on a grid of this size, and for a library: only our
        kernels were counted.

        Examples
        --------
        >>> from course_pkg import bench
        >>> from course_pkg.cg.variants import VARIANTS
        >>> on, two = Iterations(bench.recorded("cg")), VARIANTS["cg_two_kernel"]
        >>> on.iteration_clock(two), on.iteration_clock(two, library=Library.CUPY)
        ('memory 93%', 'not counted')
        """
        ours = self.iteration_clocks(variant, edge) if library is Library.NUMBA_CUDA else None
        return NOT_COUNTED if ours is None else ours.longest

    def iteration_clocks(self, variant: Variant, edge: int = SMALL) -> Clocks | None:
        """Return all clocks of an iteration by our kernels; None if one of its launches was not counted.

        Examples
        --------
        >>> from course_pkg import bench
        >>> from course_pkg.cg.variants import VARIANTS
        >>> Iterations(bench.recorded("cg")).iteration_clocks(VARIANTS["cg_two_kernel"]).longest_unit
        'memory'
        """
        cases = [f"cg_{kernel}_{edge}" for kernel in getattr(variant, "launches", ())]
        return clocks_in_turn(self.found, cases, self.copy)

    def moved(self, edge: int, *kernels: str) -> tuple[float, float, float, float]:
        """Return bytes per point of kernels: those that must be read and written, then those counted as such."""
        costs = [large_cases()[f"cg_{kernel}_{edge}"].cost for kernel in kernels]
        found = [self.clocks(f"cg_{kernel}_{edge}") for kernel in kernels]
        sums = (
            sum(cost.bytes_read for cost in costs),
            sum(cost.bytes_written for cost in costs),
            sum(c.bytes_read for c in found),
            sum(c.bytes_written for c in found),
        )
        return tuple(n / edge**3 for n in sums)


def bytes_per_point(variant: Method) -> float:
    """Return the bytes per point that an iteration moves in double precision.

    Examples
    --------
    >>> from course_pkg.cg.variants import VARIANTS
    >>> bytes_per_point(VARIANTS["cg_baseline"])
    112
    """
    return 8 * sum(variant.plan.passes)


def flops_of_dots() -> int:
    """Return the flops per point of the two dots, whose kernels are counted on a grid of their own.

    Examples
    --------
    >>> flops_of_dots()
    4
    """
    return sum(container.flops for container in CG.containers if container.kind == "reduction")
