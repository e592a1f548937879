"""A step of a laboratory: what a learner is asked to write, the inputs of its trials, and the texts shown with it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.core import Cost, CourseError
from course_pkg.core.checks import unwritten

RESULT = "result"  # stands for the value that a function returns, in Trial.expected


@dataclass(frozen=True)
class Trial:
    """One launch of a learner's kernel, or one call of a learner's function, with the expected results.

    Attributes
    ----------
    arguments : dict of str to ndarray or number
        In the order of the parameters.
    expected : dict of str to ndarray or number
        Values that the arguments of these names should have after the run, computed by NumPy; ``"result"`` is the
        value that a function should return. All other arguments must not change.
    grid, block : int or tuple of int, optional
        Size of the launch. Without them the learner's answer is a host function, which may launch kernels itself.
    needed : dict of str to float
        The least possible value of some counters of the profile, by name: ``{"global_load.sectors": 8}``.
    dynamic_shared : int
        Bytes of dynamic shared memory per block.
    mistakes : dict of str to dict
        Each key is a sentence that names a likely mistake; each value holds the wrong results of this mistake, in the
        form of ``expected``. If an answer gives exactly these results, the verdict ends with the sentence.
    ranks : int, optional
        Number of ranks, if the answer is a function that runs on several ranks, in turn in one process. Its arguments
        are a communicator and then ``arguments``; if one of them is a tuple, each rank gets its own entry. The results
        of all ranks are joined into one.
    heard : callable, optional
        With ``ranks``: takes what the ranks did (:class:`~course_pkg.practice.on_ranks.Heard`), and returns a sentence
        on what is wrong with it, or an empty string. It is called only if the results are right.

    Examples
    --------
    >>> from course_pkg.core.checks import unwritten
    >>> a = np.arange(4.0)
    >>> trial = Trial({"a": a, "out": unwritten(4)}, {"out": a + 10}, grid=1, block=4)
    >>> trial.is_launch, trial.must_move.bytes
    (True, 64)
    """

    arguments: dict[str, Any]
    expected: dict[str, Any]
    grid: int | tuple | None = None
    block: int | tuple | None = None
    needed: dict[str, float] = field(default_factory=dict)
    dynamic_shared: int = 0
    mistakes: dict[str, dict[str, Any]] = field(default_factory=dict)
    ranks: int | None = None
    heard: Callable[[Any], str] | None = None

    @property
    def is_launch(self) -> bool:
        """True if the trial launches a kernel; False if it calls a function."""
        return self.block is not None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arguments that are arrays."""
        return {name: a for name, a in self.arguments.items() if isinstance(a, np.ndarray)}

    @property
    def must_move(self) -> Cost:
        """What a launch must move: each array that holds numbers is read once, each that gets results written once."""
        arrays = self.arrays
        results = {name: arrays[name] for name in self.expected if name in arrays}
        fresh = {name for name, a in results.items() if np.array_equal(a, unwritten(a.shape, a.dtype), True)}
        read = sum(a.nbytes for name, a in arrays.items() if name not in fresh)
        written = sum(a.nbytes for a in results.values())
        return Cost(read, written, known_bytes=read + written)


@dataclass(frozen=True)
class WhatIf:
    """A change to try, a question about its effect, and the answer, which is shown on request.

    Attributes
    ----------
    change : str
        What to change, in one sentence.
    why : str
        The question.
    answer : str

    Examples
    --------
    >>> WhatIf("Write `out[0] = a[i]`.", "Which value is in out[0] afterwards?", "Nobody knows: it is a race.").why
    'Which value is in out[0] afterwards?'
    """

    change: str
    why: str
    answer: str


@dataclass(frozen=True)
class Shown:
    """Takes the place of a step where a lecture shows a kernel: no hints and no limits.

    Examples
    --------
    >>> Shown().tell
    'every element is right'
    """

    tell: str = "every element is right"
    rtol: float = 1e-12
    limits: dict[str, float] = field(default_factory=dict)
    also: None = None
    hints: tuple[str, ...] = ()
    what_if: tuple[WhatIf, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step of a laboratory, with the trials and texts that belong to it.

    Attributes
    ----------
    name : str
        Unique in the course; the learner's cell ends with ``practice.check(name, answer)``.
    title, ask : str
        Title of the step, and what it asks, in one sentence.
    trial : callable
        Takes a size and a generator of random numbers, and returns a :class:`Trial`.
    sizes : sequence
        Sizes that ``trial`` is called with. The picture shows the first. The others are tried without a picture, so
        that an answer fails if it is right for one size only.
    hints : sequence of str
        Two or three hints, from vague to precise.
    what_if : sequence of WhatIf
    needs : str, optional
        Name of the step that should be done before this one.
    limits : dict of str to float
        For each counter, how many times its least possible value is allowed: ``{"global_load.sectors": 1.0}``. Other
        counters are free. Local and constant memory are forbidden unless named here, because they could hide traffic.
    tell : str
        The clause that follows "Right:" in the verdict on a right answer.
    rtol : float
        Relative tolerance of floating-point results.
    also : callable, optional
        A further demand of this step: takes the profile and the trial; returns None if the demand is met, and
        otherwise a sentence.
    timed : optional
        A size at which a right kernel is timed if there is a GPU, too large for the caches to hold its arrays; its time
        is compared with what the trial must move (:attr:`Trial.must_move`).
    untimed : str
        Why a right kernel is not timed, where ``timed`` is not given.

    Raises
    ------
    CourseError
        If a part is missing; the message says what the author has to add.

    Examples
    --------
    >>> def doubled(n, rng):
    ...     a = rng.random(n)
    ...     return Trial({"a": a, "out": np.full(n, np.nan)}, {"out": 2 * a}, grid=1, block=n)
    >>> step = Step("double", "Twice", "Double each element.", doubled, (4, 7), hints=("Who does what?", "2 * a[i]"))
    >>> [len(trial.arguments["a"]) for trial in step.trials()]
    [4, 7]
    """

    name: str
    title: str
    ask: str
    trial: Callable[[Any, np.random.Generator], Trial]
    sizes: tuple
    hints: tuple[str, ...]
    what_if: tuple[WhatIf, ...] = ()
    needs: str | None = None
    limits: dict[str, float] = field(default_factory=dict)
    tell: str = "every element is right"
    rtol: float = 1e-12
    also: Callable[[Any, Trial], str | None] | None = None
    timed: Any = None
    untimed: str = ""

    def __post_init__(self):
        if not 2 <= len(self.hints) <= 3:
            raise CourseError(
                f"Step {self.name} has {len(self.hints)} hints: give two or three, the last precise."
            )
        if len(self.sizes) < 2:
            raise CourseError(f"Step {self.name} is tried at one size only: give a second one in sizes.")
        if isinstance(self.hints, str) or isinstance(self.what_if, WhatIf):
            raise CourseError(f"Step {self.name}: hints and what_if are tuples; is a comma missing?")
        if self.untimed and self.timed is not None:
            raise CourseError(
                f"Step {self.name} is timed, and says why it is not: leave out timed or untimed."
            )

    def trials(self, seed: int = 0) -> list[Trial]:
        """Return one trial for each size, with new arrays; the same seed gives the same trials."""
        return [self.trial(size, np.random.default_rng([seed, n])) for n, size in enumerate(self.sizes)]
