"""A measurement: the raw times of one callable on one device, and quantities that are computed from them."""

from dataclasses import dataclass, field

import numpy as np

from course_pkg.bench.device import Device
from course_pkg.core import Cost, CourseError, Implementation, Variant
from course_pkg.core.units import format_time, or_unknown

EXCEEDS, WARM, FLUSHED = "exceeds", "warm", "flushed"
CACHE_STATES = {
    EXCEEDS: "the arrays exceed the last-level cache",
    WARM: "the arrays may lie in the last-level cache",
    FLUSHED: "the last-level cache was flushed before each sample",
}


@dataclass(frozen=True)
class Measurement:
    """Raw times of one callable on one device.

    Attributes
    ----------
    what : Implementation
        Operation, variant and library. A plain string is used as the name of the variant.
    samples_s : tuple of float
        Seconds per call, one number for each sample, in order.
    warmup_s : tuple of float
        Seconds of the warm-up calls (compilation, first touch), which are not samples.
    calls_per_sample : int
        Number of calls whose mean is one sample, so that a sample is long compared with the clock's resolution.
    cache_state : str
        ``"exceeds"``, ``"warm"`` or ``"flushed"``.
    cost : Cost or None
        What one call moves and computes; None if it is not known.
    device : Device
        The device on which it ran.
    parameters : dict
        Size, dtype, and everything else that distinguishes this measurement from others of the same implementation.
    date : str
        Day of the measurement (UTC), ``YYYY-MM-DD``.
    observed : dict
        Further observations, such as ``peak_bytes``, which do not distinguish measurements.

    Examples
    --------
    >>> from course_pkg.bench import measure
    >>> m = measure(np.copyto, np.empty(8), np.ones(8), name="copy", cost=Cost(64, 64), samples=3)
    >>> m.label, len(m.samples_s), m.min_s <= m.median_s
    ('copy', 3, True)
    """

    what: Implementation
    samples_s: tuple[float, ...]
    warmup_s: tuple[float, ...]
    calls_per_sample: int
    cache_state: str
    cost: Cost | None
    device: Device
    parameters: dict
    date: str
    observed: dict = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "what", Implementation.of(self.what))

    @property
    def operation(self) -> str:
        """The operation, such as ``"laplacian"``; empty for a function that is only known by a name."""
        return self.what.operation

    @property
    def variant(self) -> str:
        """Name of the variant, such as ``"tiled"``, or the name that the user chose."""
        return self.what.variant

    @property
    def library(self) -> str:
        """Name of the library, such as ``"Numba CUDA"``; empty for a user's own function."""
        return self.what.library

    @property
    def label(self) -> str:
        """Name in tables and plots."""
        return self.what.label

    @property
    def median_s(self) -> float:
        """Median of the samples in seconds: the time that is reported."""
        return float(np.median(self.samples_s))

    @property
    def min_s(self) -> float:
        """Smallest sample in seconds: the run that nothing disturbed."""
        return float(np.min(self.samples_s))

    def quantile_s(self, q: float) -> float:
        """Return the q-quantile of the samples in seconds."""
        return float(np.quantile(self.samples_s, q))

    @property
    def spread(self) -> float:
        """Interquartile range / median."""
        return (self.quantile_s(0.75) - self.quantile_s(0.25)) / self.median_s

    @property
    def t_eff_gb_s(self) -> float | None:
        """T_eff = A_eff / median time, in GB/s; None if the cost is unknown."""
        return self.cost and self.cost.t_eff_gb_s(self.median_s)

    @property
    def throughput_gb_s(self) -> float | None:
        """All bytes that the variant moves / median time, in GB/s; None if the cost is unknown."""
        return self.cost and self.cost.throughput_gb_s(self.median_s)

    @property
    def gflop_s(self) -> float | None:
        """Flops of the variant / median time, in GFLOP/s; None if the cost is unknown."""
        return self.cost and self.cost.gflop_s(self.median_s)

    def known_cost(self, wanted: str = "bandwidth") -> Cost:
        """Return the cost, or raise if it is unknown; ``wanted`` is what would be computed from it.

        Raises
        ------
        CourseError
            If the cost is unknown.
        """
        if self.cost is None:
            raise CourseError(
                f"The bytes that {self.label} moves are unknown, so it has no {wanted}: give it a Cost."
            )
        return self.cost

    def bound_s(self, copy: "Measurement", moved_bytes: int | None = None) -> float:
        """Return the seconds in which a copy would move the bytes of this variant: its bytes / a copy's bandwidth.

        Parameters
        ----------
        copy : Measurement
        moved_bytes : int, optional
            What is counted, if it is not all that the variant moves: such as what any variant must move.

        Raises
        ------
        CourseError
            If a cost that is needed is unknown.
        """
        if moved_bytes is None:
            moved_bytes = self.known_cost("bound").bytes
        copy.known_cost("bound")
        return moved_bytes / (copy.throughput_gb_s * 1e9)

    def over_bound(self, copy: "Measurement", moved_bytes: int | None = None) -> float:
        """Return time / bound: the median time divided by :meth:`bound_s`; 1 if it is as fast as memory allows."""
        return self.median_s / self.bound_s(copy, moved_bytes)

    def of_copy(self, copy: "Measurement", moved_bytes: int | None = None) -> float:
        """Return bound / time: :meth:`bound_s` divided by the median time, which is the share of a copy's bandwidth."""
        return self.bound_s(copy, moved_bytes) / self.median_s

    def __str__(self):
        return (
            f"{self.label}: {format_time(self.median_s)} (median of {len(self.samples_s)}, spread {self.spread:.1%}), "
            f"T_eff {or_unknown(self.t_eff_gb_s)} GB/s on {self.device.name}; {CACHE_STATES[self.cache_state]}"
        )


def matching(measurements, what: "str | Implementation | Variant", **parameters) -> list[Measurement]:
    """Return the measurements of an implementation whose parameters include these, in their original order.

    Parameters
    ----------
    what : str or Implementation or Variant
        If only one library has a variant, the variant stands for its implementation.
    **parameters
        With the value None, measurements without that parameter are selected.

    Examples
    --------
    >>> from course_pkg.bench import measure
    >>> a = np.ones(8)
    >>> runs = [measure(np.copyto, a[:n], a[:n], name="copy", parameters={"n": n}, samples=2) for n in (4, 8)]
    >>> [m.parameters for m in matching(runs, "copy", n=8)]
    [{'n': 8}]
    """
    wanted = Implementation.of(what)
    return [
        m
        for m in measurements
        if m.what == wanted and all(m.parameters.get(k) == v for k, v in parameters.items())
    ]
