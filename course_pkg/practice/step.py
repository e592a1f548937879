"""A step of a laboratory: what a learner writes, on which inputs it is tried, and what is said about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.core import CourseError

RESULT = "result"  # what a function returns, among the expected values


@dataclass(frozen=True)
class Trial:
    """One launch of a learner's kernel, or one call of a learner's function, with what it should give.

    Attributes
    ----------
    arguments : dict of str to ndarray or number
        In the order of the parameters.
    expected : dict of str to ndarray or number
        What the arguments of these names should hold afterwards, computed by NumPy; ``"result"`` is what a function
        should return. All other arguments must stay as they are.
    grid, block : int or tuple of int, optional
        The launch. Without them the learner's answer is a function of the host, which may launch kernels itself.
    needed : dict of str to float
        The least that each counter of the profile can be, by its name: ``{"global_load.sectors": 8}``.
    dynamic_shared : int
        Bytes.
    mistakes : dict of str to dict
        Wrong results that a likely mistake gives, as in ``expected``, by a sentence that names the mistake. A verdict
        on one of these results ends with its sentence.

    Examples
    --------
    >>> from course_pkg.core.checks import unwritten
    >>> a = np.arange(4.0)
    >>> trial = Trial({"a": a, "out": unwritten(4)}, {"out": a + 10}, grid=1, block=4)
    >>> trial.is_launch
    True
    """

    arguments: dict[str, Any]
    expected: dict[str, Any]
    grid: int | tuple | None = None
    block: int | tuple | None = None
    needed: dict[str, float] = field(default_factory=dict)
    dynamic_shared: int = 0
    mistakes: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def is_launch(self) -> bool:
        """Whether a kernel is launched, rather than a function called."""
        return self.block is not None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arguments that are arrays."""
        return {name: a for name, a in self.arguments.items() if isinstance(a, np.ndarray)}


@dataclass(frozen=True)
class WhatIf:
    """A change to try, a question why, and its answer, which is shown on request.

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
    """What judging and drawing ask of a step, for a kernel that a lecture shows: no hints, no limits.

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
    """A puzzle or a rung.

    Attributes
    ----------
    name : str
        Unique in the course; the learner's cell ends with ``practice.check(name, answer)``.
    title, ask : str
        What it is called; what is asked, in one sentence.
    trial : callable
        Takes a size and a generator of random numbers, and returns a :class:`Trial`.
    sizes : sequence
        What ``trial`` is called with. The first is drawn; the others are tried without being shown, so that an answer
        that fits one size fails.
    hints : sequence of str
        Two or three, from vague to precise.
    what_if : sequence of WhatIf
    needs : str, optional
        The name of the step to do first.
    limits : dict of str to float
        How many times what is needed each counter may be: ``{"global_load.sectors": 1.0}``. Other counters are free,
        but local and constant memory, which could hide traffic, must be named to be used.
    tell : str
        What is said when the answer is right, after "Right:"; one clause.
    rtol : float
        Relative tolerance of floating-point results.
    also : callable, optional
        A demand of its own: takes the profile and the trial, and returns a sentence, or None where it is met.
    speed : callable, optional
        Returns ``(trial, cost)``: a launch that is worth timing, and its Cost. It is timed where there is a GPU.

    Raises
    ------
    CourseError
        If a part is missing, in the words of what an author has to add.

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
    speed: Callable | None = None

    def __post_init__(self):
        if not 2 <= len(self.hints) <= 3:
            raise CourseError(
                f"Step {self.name} has {len(self.hints)} hints: give two or three, the last precise."
            )
        if len(self.sizes) < 2:
            raise CourseError(f"Step {self.name} is tried at one size only: give a second one in sizes.")
        if isinstance(self.hints, str) or isinstance(self.what_if, WhatIf):
            raise CourseError(f"Step {self.name}: hints and what_if are tuples; is a comma missing?")

    def trials(self, seed: int = 0) -> list[Trial]:
        """Return the trials of all sizes, with arrays of their own, the same for the same seed."""
        return [self.trial(size, np.random.default_rng([seed, n])) for n, size in enumerate(self.sizes)]
