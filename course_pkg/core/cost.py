"""The bytes that an algorithm must move and the flops that it must do, as code."""

from dataclasses import dataclass, replace
from math import inf
from numbers import Real

from course_pkg.core.errors import CourseError
from course_pkg.core.machine import Machine


@dataclass(frozen=True)
class Cost:
    """Main-memory traffic and arithmetic of one call of one variant.

    The first three attributes belong to the variant, the last two to the problem: every variant of one step has
    the same ``a_eff_bytes``. Costs of consecutive steps add, and ``n * cost`` is the cost of n steps.

    Attributes
    ----------
    bytes_read, bytes_written : int
        Bytes that this variant moves if the cache is perfect within one sweep over the arrays, but keeps nothing from
        one sweep to the next.
    flops : int
        Additions, subtractions, multiplications, divisions and square roots; a fused multiply-add is two.
    unknown_bytes : int
        D_u: size of the unknown fields, whose new values each iteration computes from the old ones.
    known_bytes : int
        D_k: size of the known fields, which do not change.

    Examples
    --------
    >>> step = Cost(bytes_read=16000, bytes_written=8000, flops=8000, unknown_bytes=8000, known_bytes=8000)
    >>> step.bytes, step.a_eff_bytes, step.redundancy
    (24000, 24000, 1.0)
    >>> step.t_eff_gb_s(time_s=1e-5), (2 * step).flops
    (2.4, 16000)
    """

    bytes_read: int = 0
    bytes_written: int = 0
    flops: int = 0
    unknown_bytes: int = 0
    known_bytes: int = 0

    def __post_init__(self):
        for name, value in vars(self).items():
            if not isinstance(value, Real) or not 0 <= value < inf:
                raise CourseError(
                    f"Cost.{name} is {value}: it must be a number of bytes or flops, finite and not negative."
                )

    @property
    def bytes(self) -> int:
        """Bytes read plus bytes written."""
        return self.bytes_read + self.bytes_written

    @property
    def a_eff_bytes(self) -> int:
        """A_eff = 2 D_u + D_k in bytes; if no fields are given, as for a plain stream, all bytes moved."""
        return 2 * self.unknown_bytes + self.known_bytes or self.bytes

    @property
    def intensity(self) -> float:
        """Flops per byte moved."""
        return self.flops / self.bytes if self.bytes else float("inf") if self.flops else 0.0

    @property
    def redundancy(self) -> float:
        """Bytes moved, divided by A_eff: 1 for a perfect variant."""
        return self.bytes / self.a_eff_bytes if self.bytes else 1.0

    def throughput_gb_s(self, time_s: float) -> float:
        """Return the total memory throughput in GB/s: all bytes that this variant moves, divided by the time."""
        return self.bytes / _positive(time_s) / 1e9

    def t_eff_gb_s(self, time_s: float) -> float:
        """Return the effective memory throughput ``T_eff = A_eff / t_it`` in GB/s."""
        return self.a_eff_bytes / _positive(time_s) / 1e9

    def gflop_s(self, time_s: float) -> float:
        """Return the arithmetic rate in GFLOP/s."""
        return self.flops / _positive(time_s) / 1e9

    def time_floor_s(self, machine: Machine, dtype="float64") -> float:
        """Return the least time in seconds: A_eff / T_peak or flops / peak flop rate, whichever is larger."""
        return max(
            self.a_eff_bytes / (machine.t_peak_gb_s * 1e9),
            self.flops / (machine.peak_gflop_s(dtype) * 1e9),
        )

    def with_fields(self, *, unknown_bytes: int, known_bytes: int = 0) -> "Cost":
        """Return the same cost for an iteration whose fields have the sizes D_u and D_k."""
        return replace(self, unknown_bytes=unknown_bytes, known_bytes=known_bytes)

    def __add__(self, other: "Cost") -> "Cost":
        if not isinstance(other, Cost):
            return NotImplemented
        return Cost(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def __radd__(self, other):
        return self if other == 0 else NotImplemented  # the built-in sum() starts from 0

    def __mul__(self, n: int) -> "Cost":
        if not isinstance(n, int):
            return NotImplemented
        return Cost(*(n * v for v in vars(self).values()))

    __rmul__ = __mul__


def _positive(time_s):
    if not time_s > 0:
        raise CourseError(f"The time is {time_s!r}: it must be a positive number of seconds.")
    return time_s
