"""Time a callable, after checking that its result is right."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from course_pkg.bench.device import Device
from course_pkg.bench.timers import DeviceTimer, HeldTimer, HostTimer, WaitingTimer
from course_pkg.core import Cost, CourseError, Implementation, Variant
from course_pkg.core.checks import on_device, require_count
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
        Operation, variant and library; a name of one's own, a text, is taken for the variant.
    samples_s : tuple of float
        Seconds a call, one for each sample, in order.
    warmup_s : tuple of float
        Seconds of the warm-up calls (compilation, first touch), kept apart.
    calls_per_sample : int
        Calls that one sample averages, so that it is long against the clock's resolution.
    cache_state : str
        ``"exceeds"``, ``"warm"`` or ``"flushed"``.
    cost : Cost or None
        What one call moves and computes; None where nobody knows.
    device : Device
        Where it ran.
    parameters : dict
        Size, dtype, and what else tells this measurement from the others.
    date : str
        Day of the measurement (UTC), ``YYYY-MM-DD``.
    observed : dict
        What else was seen in the run, such as ``peak_bytes``; it does not tell one measurement from another.

    Examples
    --------
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
        """What was done, such as ``"laplacian"``; empty for a function with a name of its own."""
        return self.what.operation

    @property
    def variant(self) -> str:
        """In which way, such as ``"tiled"``; the given name where somebody gave one."""
        return self.what.variant

    @property
    def library(self) -> str:
        """By whom, such as ``"Numba CUDA"``; empty for a function of one's own."""
        return self.what.library

    @property
    def label(self) -> str:
        """How it is called in tables and plots."""
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
        """Interquartile range over the median."""
        return (self.quantile_s(0.75) - self.quantile_s(0.25)) / self.median_s

    @property
    def t_eff_gb_s(self) -> float | None:
        """T_eff = A_eff / median time, in GB/s; None where the cost is unknown, as are the next two."""
        return self.cost and self.cost.t_eff_gb_s(self.median_s)

    @property
    def throughput_gb_s(self) -> float | None:
        """All bytes that the variant moves, over the median time, in GB/s."""
        return self.cost and self.cost.throughput_gb_s(self.median_s)

    @property
    def gflop_s(self) -> float | None:
        """Flops of the variant over the median time, in GFLOP/s."""
        return self.cost and self.cost.gflop_s(self.median_s)

    def bound_s(self, copy: "Measurement") -> float:
        """Return the seconds that as many bytes take a copy: all that this variant moves over a copy's bandwidth.

        Raises
        ------
        CourseError
            If either cost is unknown.
        """
        for m in (self, copy):
            if m.cost is None:
                raise CourseError(f"Nobody knows what {m.label} moves, so it has no bound: give it a Cost.")
        return self.cost.bytes / (copy.throughput_gb_s * 1e9)

    def over_bound(self, copy: "Measurement") -> float:
        """Return the median time over :meth:`bound_s`: 1 for a variant that is as fast as memory allows."""
        return self.median_s / self.bound_s(copy)

    def __str__(self):
        return (
            f"{self.label}: {format_time(self.median_s)} (median of {len(self.samples_s)}, spread {self.spread:.1%}), "
            f"T_eff {or_unknown(self.t_eff_gb_s)} GB/s on {self.device.name}; {CACHE_STATES[self.cache_state]}"
        )


def matching(measurements, what: "str | Implementation | Variant", **parameters) -> list[Measurement]:
    """Return the measurements of an implementation whose parameters include these, in their order.

    Parameters
    ----------
    what : str or Implementation or Variant
        A variant that one library alone has may be given for its implementation.
    **parameters
        One with the value None selects measurements without that parameter.

    Examples
    --------
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


def measure(
    fn: Callable,
    *args,
    cost: Cost | None = None,
    check: Callable[[], None] | None = None,
    name: "str | Implementation | Variant | None" = None,
    parameters: dict | None = None,
    samples: int = 20,
    warmup: int = 2,
    min_sample_s: float = 1e-3,
    flush: bool = False,
    hold: bool = False,
    wait: Callable[[], None] | None = None,
    observe: Callable[[], dict] | None = None,
    footprint: int | None = None,
) -> Measurement:
    """Time ``fn(*args)``: call, check the result, warm up, then take samples.

    Parameters
    ----------
    fn : callable
        Runs asynchronously on the GPU when any of ``args`` lives there; it is then timed by device events on the
        default stream, behind one more call that is not counted, so that the time of launching from Python stays
        out as long as a call takes longer than its launch. Else it is timed by the host's clock.
    cost : Cost, optional
        What one call moves and computes; unknown when it is left out.
    name : str or Implementation or Variant
        What is measured; the function's own name when it is left out.
    check : callable
        Called once after the first call; raises (``numpy.testing``) when the result is wrong. Nothing is timed
        then: a fast wrong answer has no speed.
    samples, warmup : int
        Samples kept, and calls before them that are timed apart.
    min_sample_s : float
        A sample averages as many calls as it takes to last this long.
    parameters : dict
        Size, dtype, and what else tells this measurement from others of the same name; kept as it is.
    flush : bool
        Write through a buffer of twice the last-level cache before each sample, which is then one call.
    hold : bool
        Keep the GPU busy with copies until Python has launched all calls of a sample, so that the time of launching
        stays out of calls that are shorter than a launch, too.
    wait : callable
        For a library with queues of its own: waits until all that was asked for is done. Samples are then timed by
        the host's clock, with one wait at their end: choose ``min_sample_s`` long against it.
    observe : callable
        Called at the end; returns what else is to be kept, such as the registers of a thread.
    footprint : int
        Bytes that a call works on, where ``args`` do not hold them all: they tell whether a cache may hold them.

    Raises
    ------
    CourseError
        If ``samples``, ``warmup`` or ``min_sample_s`` make no sense.
    AssertionError
        Whatever ``check`` raises: nothing is timed then.

    Examples
    --------
    >>> out = np.zeros(8)
    >>> def check():
    ...     np.testing.assert_array_equal(out, 1)
    >>> measure(np.copyto, out, np.ones(8), check=check, samples=3).cache_state
    'warm'
    """
    run = Run(
        fn,
        args,
        cost=cost,
        check=check,
        name=name,
        parameters=parameters,
        warmup=warmup,
        min_sample_s=min_sample_s,
        flush=flush,
        hold=hold,
        wait=wait,
        observe=observe,
        footprint=footprint,
    )
    run.sample(samples)
    return run.finish()


class Run:
    """One callable, checked and warmed up, of which samples can be taken at any time.

    Takes the arguments of :func:`measure`. :func:`~course_pkg.bench.compare` samples several runs in turn.
    """

    def __init__(
        self,
        fn,
        args,
        *,
        cost=None,
        check=None,
        name=None,
        parameters=None,
        warmup=2,
        min_sample_s=1e-3,
        flush=False,
        hold=False,
        wait=None,
        observe=None,
        footprint=None,
    ):
        if not (np.isfinite(min_sample_s) and min_sample_s >= 0):
            raise CourseError(
                f"min_sample_s is {min_sample_s!r}: it must be a finite number of seconds, at least 0."
            )
        require_count(warmup=warmup)
        if wait is not None and (flush or hold):
            raise CourseError(
                "wait is for another library's queue, which flush and hold do not reach: leave them out."
            )
        if flush and hold:
            raise CourseError(
                "A sample is flushed or held, not both: hold fills the cache that flush empties."
            )
        self.fn, self.args, self.cost = fn, args, cost
        self.what = Implementation.of(name or getattr(fn, "__name__", str(fn)))
        self.parameters = dict(parameters or {})
        self.observe = observe
        self.footprint = _footprint(args) if footprint is None else footprint
        on_gpu = wait is None and any(on_device(a) for a in args)
        hold = hold and on_gpu
        self.timer = (
            WaitingTimer(wait) if wait else HeldTimer() if hold else DeviceTimer() if on_gpu else HostTimer()
        )
        self.warmup_s = [self.timer.once(fn, args)]
        if check is not None:
            check()
        self.warmup_s += [self.timer.once(fn, args) for _ in range(warmup)]
        self.calls = 1 if flush else max(1, int(np.ceil(min_sample_s / max(min(self.warmup_s), 1e-7))))
        self.flush = self.timer.flusher() if flush else None
        if hold:
            self.calls = self.timer.calls_for(fn, args, min_sample_s)
        self.samples_s = []

    def sample(self, samples: int = 1) -> None:
        """Take samples."""
        if samples < 1:
            raise CourseError(
                f"samples is {samples}: at least one is needed, and 20 give a median worth quoting."
            )
        collecting = gc.isenabled()
        gc.disable()  # a collection inside a sample would be timed with it
        try:
            for _ in range(samples):
                if self.flush is not None:
                    self.flush()
                self.samples_s.append(self.timer.many(self.fn, self.args, self.calls))
        finally:
            if collecting:
                gc.enable()

    def finish(self) -> Measurement:
        """Return what was measured."""
        exceeds = self.footprint > 2 * self.timer.device.llc_bytes
        return Measurement(
            what=self.what,
            samples_s=tuple(self.samples_s),
            warmup_s=tuple(self.warmup_s),
            calls_per_sample=self.calls,
            cache_state=FLUSHED if self.flush else EXCEEDS if exceeds else WARM,
            cost=self.cost,
            device=self.timer.device,
            parameters=self.parameters,
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            observed=self.observe() if self.observe else {},
        )


def _footprint(args) -> int:
    return sum(int(np.prod(a.shape)) * np.dtype(a.dtype).itemsize for a in args if hasattr(a, "shape"))
