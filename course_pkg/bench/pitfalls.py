"""Times that are wrong, each beside the right one: the same call, and two ways to time it.

Each function times one :class:`Work`, or two that should tell the same, first in a way that misleads and then in one
that does not, and returns a :class:`Pair`. The caller chooses what is timed, since this package knows no topic.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from course_pkg.bench import device as devices
from course_pkg.bench.measure import Run
from course_pkg.bench.measurement import Measurement
from course_pkg.core import Cost, Implementation, Library
from course_pkg.core.units import three_digits

WRONG, RIGHT = "wrong", "right"
NO_DIFFERENCE = 0.03  # of a bandwidth: less is within what runs scatter
BUSY_S = 0.5  # of work, before a GPU's clocks are taken to have risen


@dataclass(frozen=True)
class Pitfall:
    """A wrong way to time a function, and how to fix it.

    Attributes
    ----------
    name : str
        The operation of its measurements.
    title : str
        For a table or a figure.
    wrong, right : str
        What was timed, each in half a sentence.
    """

    name: str
    title: str
    wrong: str
    right: str


PITFALLS = {
    pitfall.name: pitfall
    for pitfall in (
        Pitfall("no_wait", "without a wait", "the host's clock, and no wait", "events on the GPU"),
        Pitfall("first_call", "the first call", "compilation is in it", "calls after it"),
        Pitfall("host_clock", "the host's clock", "a call and a wait, by the host", "many calls, queued first"),
        Pitfall("one_launch", "events, one launch", "events around one launch", "many calls, queued first"),
        Pitfall("in_cache", "arrays in a cache", "arrays that fit in a cache", "arrays that exceed it"),
        Pitfall("with_copies", "with its copies", "to the GPU and back, too", "the kernel alone"),
        Pitfall("pageable", "copies to a GPU", "from any host memory", "from pinned host memory"),
        Pitfall("idle_clock", "an idle GPU", "just after a rest", f"after {BUSY_S:g} s of work"),
        Pitfall("one_call", "one short call", "the clock around one call", "around many calls"),
        Pitfall("allocates", "a new array", "the result is a new array", "the result has its place"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Work:
    """A function call that is timed.

    Attributes
    ----------
    fn : callable
        Called as ``fn(*args)``.
    args : tuple
    cost : Cost
        The bytes that one call must move, from which the bandwidth is computed.
    library : str
        The library of the function, see :class:`~course_pkg.core.Library`.
    parameters : dict
        The size of the problem.
    check : callable, optional
        Raises an error if the result is wrong; called after the first call.

    Examples
    --------
    >>> work = Work(np.copyto, (np.empty(8), np.ones(8)), Cost(64, 64), "NumPy")
    >>> work.measure("copy", samples=2).label
    'copy'
    """

    fn: Callable
    args: tuple
    cost: Cost
    library: Library | str
    parameters: dict = field(default_factory=dict)
    check: Callable[[], None] | None = None

    def run(self, name: str | Implementation, **options) -> Run:
        """Return it checked and warmed up, so that samples can be taken one by one."""
        described = {"cost": self.cost, "check": self.check, "parameters": self.parameters}
        return Run(self.fn, self.args, name=name, **described, **options)

    def measure(self, name: str | Implementation, *, samples: int = 20, **options) -> Measurement:
        """Measure it as :func:`~course_pkg.bench.measure` does."""
        run = self.run(name, **options)
        run.sample(samples)
        return run.finish()

    def wrong(self, pitfall: str, **options) -> Measurement:
        """Measure it under the name of a pitfall."""
        return self.measure(Implementation(PITFALLS[pitfall].name, WRONG, self.library), **options)

    def right(self, pitfall: str, **options) -> Measurement:
        """Measure it as what the pitfall should have told."""
        return self.measure(Implementation(PITFALLS[pitfall].name, RIGHT, self.library), **options)


@dataclass(frozen=True)
class Pair:
    """A wrong measurement and the right one.

    Examples
    --------
    >>> work = Work(np.copyto, (np.empty(8), np.ones(8)), Cost(64, 64), "NumPy")
    >>> pair = one_call(work, samples=3)
    >>> pair.pitfall.title, pair.wrong.cost == pair.right.cost
    ('one short call', True)
    """

    wrong: Measurement
    right: Measurement

    @property
    def pitfall(self) -> Pitfall:
        """What went wrong."""
        return PITFALLS[self.wrong.operation]

    @property
    def overstated(self) -> float:
        """The bandwidth that the wrong way states over that of the right one: above 1 where it flatters."""
        return self.wrong.t_eff_gb_s / self.right.t_eff_gb_s

    def row(self) -> dict:
        """Return what a table shows of it."""
        return {
            "pitfall": self.pitfall.title,
            "wrong: what was timed": self.pitfall.wrong,
            "wrong GB/s": three_digits(self.wrong.t_eff_gb_s),
            "right GB/s": three_digits(self.right.t_eff_gb_s),
            "right: what was timed": self.pitfall.right,
            "stated": self._stated(),
        }

    def _stated(self) -> str:
        factor = self.overstated
        if abs(factor - 1) < NO_DIFFERENCE:
            return "the same, here"
        high, times = factor > 1, max(factor, 1 / factor)
        return f"{f'{times:,.0f}' if times >= 10 else f'{times:.2f}'}× too {'high' if high else 'low'}"

    @property
    def measurements(self) -> tuple[Measurement, Measurement]:
        """Both, the wrong one first."""
        return self.wrong, self.right


def pairs(measurements: Iterable[Measurement]) -> list[Pair]:
    """Return the pairs among measurements, in the order of ``PITFALLS``; one without its other half is left out.

    Examples
    --------
    >>> work = Work(np.copyto, (np.empty(8), np.ones(8)), Cost(64, 64), "NumPy")
    >>> [pair.pitfall.name for pair in pairs(one_call(work, samples=2).measurements)]
    ['one_call']
    """
    measurements, found = list(measurements), []
    for name in PITFALLS:
        ways = {m.variant: m for m in measurements if m.operation == name}
        if {WRONG, RIGHT} <= set(ways):
            found.append(Pair(ways[WRONG], ways[RIGHT]))
    return found


def _timed(right: Measurement, samples_s, warmup_s=(), observed=None) -> Measurement:
    """Return a right measurement as if it had been timed wrongly."""
    return replace(
        right,
        what=replace(right.what, variant=WRONG),
        samples_s=tuple(samples_s),
        warmup_s=tuple(warmup_s),
        calls_per_sample=1,
        observed=observed or {},
    )


def no_wait(work: Work, *, samples: int = 10) -> Pair:
    """Time an asynchronous call on the host's clock, which stops when the work is queued, and by events."""
    from course_pkg import cuda

    right, taken = work.right("no_wait", samples=samples), []
    for _ in range(samples):
        cuda.synchronize()  # of the sample before: launches that pile up would wait for each other
        start = time.perf_counter()
        work.fn(*work.args)
        taken.append(time.perf_counter() - start)
    cuda.synchronize()
    return Pair(_timed(right, taken), right)


def first_call(fresh: Callable[[], Callable], work: Work, *, samples: int = 3) -> Pair:
    """Time the first calls of functions that were never called, and calls of one that was.

    Parameters
    ----------
    fresh : callable
        Returns a new function at each call: it does what ``work.fn`` does and is not compiled yet.
    """
    run = work.run(Implementation("first_call", RIGHT, work.library))
    run.sample(10)
    right = run.finish()
    return Pair(_timed(right, [run.timer.once(fresh(), work.args) for _ in range(samples)]), right)


def host_clock(work: Work, *, samples: int = 20) -> Pair:
    """Time a short call on a GPU by the host's clock around the call and a wait, and by many calls queued first."""
    from course_pkg import cuda

    wrong = work.wrong("host_clock", wait=cuda.synchronize, min_sample_s=0, samples=samples)
    return Pair(wrong, work.right("host_clock", hold=True, samples=samples))


def one_launch(work: Work, *, samples: int = 20) -> Pair:
    """Time a short call by events around a single launch on an idle GPU, and around many that were queued first."""
    from course_pkg import cuda

    right, taken = work.right("one_launch", hold=True, samples=samples), []
    start, stop = cuda.event(timing=True), cuda.event(timing=True)
    for _ in range(samples):
        cuda.synchronize()
        start.record()
        work.fn(*work.args)
        stop.record()
        stop.synchronize()
        taken.append(cuda.event_elapsed_time(start, stop) / 1e3)
    return Pair(_timed(right, taken), right)


def in_cache(small: Work, large: Work, *, samples: int = 10) -> Pair:
    """Time the same call on arrays that a cache holds and on arrays that exceed it; the GPU is held for both."""
    wrong = small.wrong("in_cache", hold=True, samples=samples)
    return Pair(wrong, large.right("in_cache", hold=True, samples=samples))


def with_copies(whole: Work, kernel: Work, *, samples: int = 5) -> Pair:
    """Time a kernel with the copies of its data from the host and back, and alone.

    Parameters
    ----------
    whole, kernel : Work
        The kernel with its copies, and without; their costs are the same: what the kernel moves.
    """
    from course_pkg import cuda

    options = {"min_sample_s": 0, "warmup": 1, "samples": samples}
    wrong = whole.wrong("with_copies", wait=cuda.synchronize, **options)
    return Pair(wrong, kernel.right("with_copies", samples=samples))


def pageable(from_pageable: Work, from_pinned: Work, *, samples: int = 5) -> Pair:
    """Time copies to the GPU from ordinary host memory and from pinned memory, which the GPU reads by itself."""
    from course_pkg import cuda

    options = {"wait": cuda.synchronize, "min_sample_s": 0, "warmup": 1, "samples": samples}
    wrong = from_pageable.wrong("pageable", **options)
    return Pair(wrong, from_pinned.right("pageable", **options))


def idle_clock(work: Work, *, rest_s: float = 2.0, samples: int = 3) -> Pair:
    """Time a call after the GPU had nothing to do for a while, and after half a second of work.

    Both carry the GPU's clocks, in MHz, as ``nvidia-smi`` tells them; nothing where it does not.
    """
    from course_pkg import cuda

    run, rested, clocks = work.run(Implementation("idle_clock", RIGHT, work.library), min_sample_s=0), [], {}
    for _ in range(samples):
        cuda.synchronize()
        time.sleep(rest_s)
        clocks = devices.gpu_clocks()
        rested.append(run.timer.many(work.fn, work.args, 1))
    calls = max(1, round(BUSY_S / min(rested)))
    run.timer.many(work.fn, work.args, calls)
    run.sample(samples)
    for _ in range(2 * calls):
        work.fn(*work.args)
    busy = devices.gpu_clocks()  # while it works
    cuda.synchronize()
    right = replace(run.finish(), observed=busy)
    return Pair(_timed(right, rested, observed=clocks), right)


def one_call(work: Work, *, samples: int = 50) -> Pair:
    """Time a short call on a CPU by the clock around each call, and around as many as last a millisecond."""
    wrong = work.wrong("one_call", min_sample_s=0, warmup=0, samples=samples)
    return Pair(wrong, work.right("one_call", samples=samples))


def allocates(new: Work, in_place: Work, *, samples: int = 5) -> Pair:
    """Time the same arithmetic into a new array, whose pages the system must find first, and into one that is there."""
    wrong = new.wrong("allocates", samples=samples)
    return Pair(wrong, in_place.right("allocates", samples=samples))
