"""Ways of timing that mislead, and pairs of measurements: a wrong time and the right one.

The functions of :mod:`course_pkg.bench.mistime` make the pairs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from course_pkg.bench.measure import Run
from course_pkg.bench.measurement import Measurement
from course_pkg.core import Cost, Implementation, Library
from course_pkg.core.units import three_digits

WRONG, RIGHT = "wrong", "right"
NO_DIFFERENCE = 0.03  # a smaller relative difference of two bandwidths is within the scatter of runs
BUSY_S = 0.5  # seconds of work after which a GPU's clocks are assumed to have risen


@dataclass(frozen=True)
class Pitfall:
    """A wrong way to time a function, and how to fix it.

    Attributes
    ----------
    name : str
        The name of the operation in its measurements.
    title : str
        The title in a table or a figure.
    wrong, right : str
        What is timed in the wrong way and in the right way, each as a part of a sentence.
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
        """Check the call and warm it up; return a ``Run``, of which samples can be taken one by one."""
        described = {"cost": self.cost, "check": self.check, "parameters": self.parameters}
        return Run(self.fn, self.args, name=name, **described, **options)

    def measure(self, name: str | Implementation, *, samples: int = 20, **options) -> Measurement:
        """Measure the call by :func:`~course_pkg.bench.measure`."""
        run = self.run(name, **options)
        run.sample(samples)
        return run.finish()

    def wrong(self, pitfall: str, **options) -> Measurement:
        """Measure the call, and label the result as the wrong measurement of a pitfall."""
        return self.measure(Implementation(PITFALLS[pitfall].name, WRONG, self.library), **options)

    def right(self, pitfall: str, **options) -> Measurement:
        """Measure the call, and label the result as the right measurement of a pitfall."""
        return self.measure(Implementation(PITFALLS[pitfall].name, RIGHT, self.library), **options)


@dataclass(frozen=True)
class Pair:
    """A wrong measurement and the right one.

    Examples
    --------
    >>> work = Work(np.copyto, (np.empty(8), np.ones(8)), Cost(64, 64), "NumPy")
    >>> from course_pkg.bench import mistime
    >>> pair = mistime.one_call(work, samples=3)
    >>> pair.pitfall.title, pair.wrong.cost == pair.right.cost
    ('one short call', True)
    """

    wrong: Measurement
    right: Measurement

    @property
    def pitfall(self) -> Pitfall:
        """The pitfall that the pair shows."""
        return PITFALLS[self.wrong.operation]

    @property
    def overstated(self) -> float:
        """The wrong bandwidth / the right one: above 1 if the wrong measurement overstates the bandwidth."""
        return self.wrong.t_eff_gb_s / self.right.t_eff_gb_s

    def row(self) -> dict:
        """Return the row of a table for this pair."""
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
        """Both measurements, the wrong one first."""
        return self.wrong, self.right


def pairs(measurements: Iterable[Measurement]) -> list[Pair]:
    """Return the pairs among measurements, in the order of ``PITFALLS``; a measurement without a partner is left out.

    Examples
    --------
    >>> work = Work(np.copyto, (np.empty(8), np.ones(8)), Cost(64, 64), "NumPy")
    >>> from course_pkg.bench import mistime
    >>> [pair.pitfall.name for pair in pairs(mistime.one_call(work, samples=2).measurements)]
    ['one_call']
    """
    measurements, found = list(measurements), []
    for name in PITFALLS:
        ways = {m.variant: m for m in measurements if m.operation == name}
        if {WRONG, RIGHT} <= set(ways):
            found.append(Pair(ways[WRONG], ways[RIGHT]))
    return found
