"""Stencil kernels as rungs of a ladder: recorded times of one device, their clocks, and what both witnesses count."""

from functools import cached_property

from course_pkg import simt, viz
from course_pkg.bench import Measurement, Recorded
from course_pkg.core import Library, Variant
from course_pkg.vector.variants import VARIANTS as STREAMS
from course_pkg.witness import record
from course_pkg.witness.clocks import INSTRUCTIONS, READ, TIME, WRITTEN, Clocks, clocks
from course_pkg.witness.compare import by_name

EDGE, SMALL = 512, 64  # of the cubes that are measured, and that are counted


class Ladder:
    """What is recorded of the stencil's kernels on one device.

    Parameters
    ----------
    found : Recorded
        The device's measurements of the topic ``stencil``.

    Examples
    --------
    >>> from course_pkg import bench
    >>> from course_pkg.stencil.variants import VARIANTS
    >>> rungs = Ladder(bench.recorded("stencil"))
    >>> rungs.measured(VARIANTS["laplacian_flat"]).parameters["shape"]
    [512, 512, 512]
    """

    def __init__(self, found: Recorded):
        self.found = found

    @property
    def origin(self) -> str:
        """One line for a caption: where times and shares come from."""
        return f"{self.found.origin} Shares of the time: Nsight Compute, {self.traffic.device.name}."

    @cached_property
    def counters(self) -> record.RecordedCounters:
        """What Nsight Compute counted of the cases on 64³ points."""
        return record.recorded(device=self.found.device.slug)

    @cached_property
    def traffic(self) -> record.RecordedCounters:
        """What Nsight Compute counted on grids that no cache holds."""
        return record.recorded(record.TRAFFIC, self.found.device.slug)

    def measured(
        self, variant: Variant, library: Library = Library.NUMBA_CUDA, edge: int = EDGE, **parameters
    ) -> Measurement:
        """Return the measurement on ``edge``³ points: doubles, its launcher's blocks, unless said otherwise."""
        usual = {"dtype": "float64", "threads_per_block": None, "max_registers": None, "shape": [edge] * 3}
        return self.found.one(variant.by(library), **{**usual, **parameters})

    def copy(self, edge: int = EDGE) -> Measurement:
        """Return the measurement of the driver's copy of the grid: the bound."""
        return self.measured(STREAMS["copy"], Library.CUPY, edge)

    def of_copy(self, m: Measurement) -> float:
        """Return a kernel's T_eff over that of the copy of a grid of the same size."""
        return m.t_eff_gb_s / self.copy(m.parameters["shape"][0]).t_eff_gb_s

    def clocks(self, variant: Variant) -> Clocks:
        """Return the clocks of a variant on 512³ doubles."""
        counted = self.traffic.counters[f"{variant.function_name}_{EDGE}"]
        return clocks(counted, self.copy().t_eff_gb_s)

    def moved(self, variant: Variant, edge: int = EDGE) -> tuple[int, int, float]:
        """Return the bytes read from memory and written to it, and the seconds that the kernel took meanwhile."""
        counted = self.traffic.counters[f"{variant.function_name}_{edge}"]
        return counted[READ], counted[WRITTEN], counted[TIME] / 1e9

    def seen(self, variant: Variant) -> dict[str, float | None]:
        """Return what the hardware counted on 64³ points, by the profile's names, and instructions and bytes read."""
        counted = self.counters.counters[f"{variant.function_name}_{SMALL}"]
        return by_name(counted) | {"instructions": counted[INSTRUCTIONS], "bytes read": counted[READ]}

    def draw(self, variants: dict[str, Variant]) -> viz.Picture:
        """Draw the times of variants, each under its name, and their clocks beside the copy."""
        rows = {name: (self.measured(v).median_s, self.clocks(v).shares) for name, v in variants.items()}
        return viz.clock_bars(rows, bound_s=self.copy().median_s, note=f"{EDGE}³ doubles. {self.origin}")


def profile(variant: Variant) -> simt.KernelProfile:
    """Return the interpreter's profile of the launch that the hardware's counters of 64³ points belong to."""
    from course_pkg.stencil.cases import cases  # kernels: only on request

    case = next(case for case in cases if case.name == f"{variant.function_name}_{SMALL}")
    return simt.profile(case.configured, *case.args())
