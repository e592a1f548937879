"""A correct kernel, its launch, its oracle, and the ways to break it."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Mutant:
    """One thing broken, and where the hazard must be found.

    Attributes
    ----------
    name : str
        What is wrong, in words.
    kind : str
        The hazard's kind.
    at : str
        Text of the line, after the change, that must be reported.
    array : str or None
        Name of the array in the kernel; None for barriers.
    change : tuple of str
        A line of the correct kernel and what stands there instead; leading blanks of the new text indent it further.
    other : str or tuple of str
        Text of the line, or lines, with the other access of a race; empty where both are on one line.
    arguments : callable or None
        Changes the correct arguments (a dict) in place: how the launch is broken.
    depends_on_schedule : bool
        Which elements are touched depends on the order of the threads.
    shared_bytes, blocks : optional
        Replace those of the correct launch.
    """

    name: str
    kind: str
    at: str
    array: str | None
    change: tuple[str, str] | None = None
    other: str | tuple[str, ...] = ()
    arguments: Callable[[dict], None] | None = None
    depends_on_schedule: bool = False
    shared_bytes: int | None = None
    blocks: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Algorithm:
    """A correct kernel with its launch and its mutants.

    Attributes
    ----------
    kernel : function
        The kernel, not decorated: its text is what is run.
    blocks, threads : tuple of int
        The launch, (x, y, z) or shorter.
    arguments : callable
        Returns fresh arguments by parameter, the same each time.
    expected : callable
        Maps the arguments to the arrays that the kernel must leave, by parameter.
    mutants : tuple of Mutant
    shared_bytes : int
        Dynamic shared memory of a block.
    """

    kernel: Callable
    blocks: tuple[int, ...]
    threads: tuple[int, ...]
    arguments: Callable[[], dict]
    expected: Callable[[dict], dict]
    mutants: tuple[Mutant, ...] = ()
    shared_bytes: int = 0


@dataclass
class Case:
    """One program to run: an algorithm, fixed or broken by a mutant."""

    algorithm: Algorithm
    mutant: Mutant | None = None
    source: str = field(init=False)

    def __post_init__(self):
        source = textwrap.dedent(inspect.getsource(self.algorithm.kernel))
        change = self.mutant and self.mutant.change
        self.source = _replace(source, *change) if change else source

    @property
    def name(self):
        return self.algorithm.kernel.__name__

    @property
    def blocks(self):
        return (self.mutant and self.mutant.blocks) or self.algorithm.blocks

    @property
    def shared_bytes(self):
        changed = self.mutant and self.mutant.shared_bytes
        return self.algorithm.shared_bytes if changed is None else changed

    def arguments(self):
        """Fresh arguments by parameter."""
        arguments = self.algorithm.arguments()
        if self.mutant and self.mutant.arguments:
            self.mutant.arguments(arguments)
        return arguments

    def line(self, text):
        """Number of the one line that holds this text, from 1."""
        lines = [n for n, line in enumerate(self.source.splitlines(), 1) if line.strip() == text]
        assert len(lines) == 1, f"{self.name}: {len(lines)} lines are {text!r}"
        return lines[0]

    def other_lines(self):
        """The lines with the other access of the mutant's race."""
        other = self.mutant.other
        return {self.line(text) for text in ((other,) if isinstance(other, str) else other)}

    def lines(self):
        """The lines that the mutant marks: the reported one, and those of a race's other access."""
        return {self.line(self.mutant.at), *self.other_lines()}


def _replace(source, old, new):
    lines = source.splitlines()
    places = [n for n, line in enumerate(lines) if line.strip() == old]
    assert len(places) == 1, f"{len(places)} lines are {old!r}"
    indent = lines[places[0]][: -len(lines[places[0]].lstrip())]
    lines[places[0]] = indent + new
    return "\n".join(lines) + "\n"


def xyz(sizes):
    """A launch size with three numbers."""
    return (*sizes, 1, 1, 1)[:3]


def reals(*shape):
    """Whole numbers as float64, so that sums are exact in any order."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 7 + 3) % 23 - 11.0).reshape(shape)
