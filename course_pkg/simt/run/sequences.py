"""The sequences besides arrays, tuples and ranges that a ``for`` can run over, and which of them loops share.

Numba passes through ``enumerate(…)`` and its like only once, as Python does: a second loop over the same one goes on
where the first one stopped. If the source shows that only one loop runs over it, the loop is a ``for`` like any other.
"""

import ast
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from course_pkg.simt.front.typing import INT64
from course_pkg.simt.memory.regions import Array, Arrays, Choice
from course_pkg.simt.run.values import Range, Sequence, Value


@dataclass(slots=True, eq=False)
class Iterator(Sequence):
    """``iter(sequence)``; ``at`` is the number of the next item in each lane, which ``next`` and loops change."""

    parts = "sequence", "at"

    sequence: Any
    at: Value
    again: bool = False  # whether it was given to ``iter`` again
    item: Any = None  # what a loop over ``zip`` or ``enumerate`` of iterators has taken for its next trip
    torn: bool = (
        False  # whether a name now stands for this iterator in some lanes and for another one in others
    )


@dataclass(slots=True, eq=False)
class Passing(Sequence):
    """A sequence that Numba passes through only once: a second loop over the same one goes on where the first stopped.

    Attributes
    ----------
    place : Iterator or None
        How far it has come, if more than one loop may run over it.
    """

    place: Iterator | None = field(default=None, init=False)


@dataclass(slots=True, eq=False)
class Enumerated(Passing):
    """``enumerate(sequence, start)``; the sequence may be an iterator."""

    parts = "sequence", "start"

    sequence: Any
    start: Value


@dataclass(slots=True, eq=False)
class Zipped(Passing):
    """``zip(first, second, …)``; if one of the sequences is an iterator, all are."""

    parts = ("sequences",)

    sequences: tuple


@dataclass(slots=True, eq=False)
class Flat(Passing):
    """The elements, in row-major order, of an array that is not contiguous."""

    parts = "array", "size"

    array: Arrays
    size: Value


@dataclass(slots=True, eq=False)
class Elements(Passing):
    """``numpy.nditer(array)``: arrays without dimensions, each of which is an element of the array."""

    parts = "array", "size"

    array: Array
    size: Value


@dataclass(slots=True, eq=False)
class Indices(Passing):
    """The indices of all elements of an array of this shape, in row-major order."""

    parts = "shape", "size"

    shape: tuple
    size: Value


SEQUENCES = (Range, Flat, Elements, Indices, Array, Choice, tuple, Enumerated, Zipped)


def begun(run, sequence) -> Iterator:
    """Return a new iterator over a sequence."""
    return Iterator(sequence, run.fresh(np.zeros((1,) * 6, np.int64), INT64))


def place_in(run, sequence: Passing) -> Iterator:
    """Return the iterator that shows how far loops over a sequence have come."""
    if sequence.place is None:
        sequence.place = begun(run, sequence)
    return sequence.place


def draws(sequence) -> bool:
    """Return whether a sequence takes its items from iterators, which others may share."""
    if isinstance(sequence, Zipped):
        return any(isinstance(one, Iterator) for one in sequence.sequences)
    return isinstance(sequence, Enumerated) and isinstance(sequence.sequence, Iterator)


@cache
def goes_on(tree: ast.FunctionDef, node: ast.expr) -> bool:
    """Return whether another loop may have run, or may run later, over the same iterator as a loop over ``node``.

    None does if ``node`` makes the iterator, or is the only use of a variable that gets a new one before each loop.
    """
    if not isinstance(node, ast.Name):
        return not _makes(node)
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == node.id]
    given = {id(n.targets[0]) for n in ast.walk(tree) if isinstance(n, ast.Assign) and _makes(n)}
    stores = [n for n in names if isinstance(n.ctx, ast.Store)]
    if not stores or len(names) > len(stores) + 1 or not all(id(n) in given for n in stores):
        return True
    for loop in (n for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))):
        within = {id(n) for statement in loop.body for n in ast.walk(statement)}
        if id(node) in within and not all(id(n) in within for n in names):
            return True
    return False


def _makes(node) -> bool:
    """Return whether an expression makes a new iterator, or an assignment gives a new one to its only target."""
    if isinstance(node, ast.Assign):
        return len(node.targets) == 1 and _makes(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "flat"
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", None)) in MAKERS


def is_flat(tree, node) -> bool:
    """Return whether a name stands for the ``flat`` of an array."""
    made = (n for n in ast.walk(tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Attribute))
    targets = (t for n in made if n.value.attr == "flat" for t in n.targets)
    return isinstance(node, ast.Name) and any(getattr(t, "id", None) == node.id for t in targets)


MAKERS = ("enumerate", "zip", "ndindex", "ndenumerate", "nditer")
