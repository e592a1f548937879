"""Memory latencies, computed from recorded chains of loads.

A chain of loads is timed with two numbers of steps. The latency is the difference of the times divided by the
difference of the steps. So the costs of the launch and of the first lap cancel.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from course_pkg.bench import Measurement
from course_pkg.core import CourseError, Implementation, Library

CHASE = Implementation("chase", "", Library.NUMBA_CUDA)
CHASE_SHARED = Implementation("chase", "shared", Library.NUMBA_CUDA)
SHARED, L1, L2, MEMORY = "shared memory", "L1", "L2", "memory"
# Bytes of the ring whose latency stands for a cache. It fits in this cache on every data-centre GPU since 2017. The
# ring for L2 has more links than a chain has steps. So no line is read twice in a launch, and L1 never serves a load.
# The longest ring stands for memory.
FOOTPRINTS = {L1: 2**15, L2: 2**22}


@dataclass(frozen=True)
class Latency:
    """The time between a load and its answer.

    Attributes
    ----------
    footprint_bytes : int
        Bytes of the ring.
    seconds : float
        Seconds per step: for the multiply-add that computes an address, and for the load.
    sm_hz : float or None
        Clock rate of the multiprocessors during the measurement, in Hz; None if the driver did not report it.

    Examples
    --------
    >>> Latency(2**15, 20e-9, 2e9).cycles
    40.0
    """

    footprint_bytes: int
    seconds: float
    sm_hz: float | None = None

    @property
    def ns(self) -> float:
        """Nanoseconds per step."""
        return self.seconds * 1e9

    @property
    def cycles(self) -> float | None:
        """Cycles of a multiprocessor per step."""
        return self.sm_hz and self.seconds * self.sm_hz

    @property
    def in_ns(self) -> str:
        """The time per step, for people."""
        return f"{self.ns:.{0 if self.ns >= 100 else 1}f} ns"

    @property
    def in_cycles(self) -> str:
        """The cycles per step, for people; empty if the clock rate is not known."""
        return "" if self.cycles is None else f"{self.cycles:,.0f} cycles"

    def __str__(self):
        return self.in_ns + f" ({self.in_cycles})" * bool(self.in_cycles)


def latencies(measurements: Iterable[Measurement], what: Implementation = CHASE) -> list[Latency]:
    """Return the latency of each footprint, the smallest first.

    Parameters
    ----------
    measurements : iterable of Measurement
        The measurements of ``course bench latency``: each ring with two numbers of steps.
    what : Implementation
        ``CHASE`` for rings in global memory, ``CHASE_SHARED`` for one in shared memory.

    Raises
    ------
    CourseError
        If a ring was timed with one number of steps only.

    Examples
    --------
    >>> from course_pkg.bench import Device
    >>> def timed(steps, seconds):
    ...     parameters = {"n": 64, "dtype": "uint32", "stride": 32, "steps": steps}
    ...     where, clock = Device("gpu", "A GPU", 1, 0, 0), {"sm_mhz": 2000}
    ...     return Measurement(CHASE, (seconds,), (), 1, "warm", None, where, parameters, "2026-01-01", clock)
    >>> [str(latency) for latency in latencies([timed(100, 3e-6), timed(300, 7e-6)])]
    ['20.0 ns (40 cycles)']
    """
    rings: dict[int, list[Measurement]] = {}
    for m in measurements:
        if m.what == what:
            rings.setdefault(m.parameters["n"], []).append(m)
    return [_latency(n, sorted(ms, key=_steps)) for n, ms in sorted(rings.items())]


def by_level(measurements: Iterable[Measurement]) -> dict[str, Latency]:
    """Return the latencies of shared memory, L1, L2 and memory by name; those that were not measured are missing.

    Examples
    --------
    >>> by_level([])
    {}
    """
    measurements = list(measurements)
    everywhere = {latency.footprint_bytes: latency for latency in latencies(measurements)}
    shared = latencies(measurements, CHASE_SHARED)
    found = {SHARED: shared[-1]} if shared else {}
    found |= {name: everywhere[size] for name, size in FOOTPRINTS.items() if size in everywhere}
    return found | ({MEMORY: everywhere[max(everywhere)]} if everywhere else {})


def _latency(n, ms) -> Latency:
    short, long = ms[0], ms[-1]
    if _steps(short) == _steps(long):
        raise CourseError(
            f"A ring of {n} elements was timed with {_steps(long)} steps only, and a latency is a difference: run "
            "`course bench latency` again."
        )
    per_step = (long.median_s - short.median_s) / (_steps(long) - _steps(short))
    mhz = long.observed.get("sm_mhz")
    return Latency(4 * n, per_step, mhz and mhz * 1e6)


def _steps(m) -> int:
    return m.parameters["steps"]
