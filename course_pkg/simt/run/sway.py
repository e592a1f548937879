"""Sway: if a float in doubt decides what a thread does, the results are as doubtful as the float itself.

Atomics may read an integer while other threads change it. Such an integer is a lock, a flag or a counter, and a branch
on it is its purpose (:mod:`course_pkg.simt.memory.doubts`). A floating-point number is data. Threads may repeat a
compare-and-swap of it until no other thread intervenes. But a thread that branches on such a number could copy it bit
by bit through its branches. So each value that is assigned, stored or returned in such a branch is followed as if it
had been computed from the number.

A *scope* holds the floats in doubt that have decided a branch, for as long as the decision affects what is executed.
After an ``if``, that is until its end. If the branch makes lanes leave a loop, a trip of a loop, or a function, it is
until the end of the loop or the function.
"""

from contextlib import contextmanager
from copy import copy
from dataclasses import replace

import numpy as np

from course_pkg.simt.memory.publications import WORLDS
from course_pkg.simt.memory.regions import Array, Choice
from course_pkg.simt.run.hindsight import with_many
from course_pkg.simt.run.named import rebuilt
from course_pkg.simt.run.values import Value


@contextmanager
def scope(run):
    """Open a scope for a construct whose condition decides which lanes run its parts; yield its dictionary."""
    run.scopes.append({})
    try:
        yield run.scopes[-1]
    finally:
        run.scopes.pop()


def leave(run, left: dict) -> None:
    """Note that lanes leave a loop, a trip of it, or a function, whose scope is ``left``.

    Whether a lane runs the rest of it now depends on all that made these lanes leave. So ``left`` takes over the doubts
    of all open scopes.
    """
    for inner in run.scopes:
        left.update(inner)


def swayed(run, value):
    """Return a value to which all doubts are added that have decided whether the present code runs."""
    if not any(run.scopes):
        return value
    return swayed_by(run, value, {event: strand for one in run.scopes for event, strand in one.items()})


def swayed_by(run, value, strands: dict):
    """Return a value to which these doubts are added. To an array they are added as to what has chosen it."""
    if isinstance(value, tuple):
        return rebuilt(value, (swayed_by(run, part, strands) for part in value))
    if isinstance(value, Array):
        return Choice(((value, run.wave.everyone),), value.shape, value.key, strands)
    if isinstance(value, Choice):
        return replace(value, swayed=value.swayed | strands)
    if not isinstance(value, Value):
        return value
    value = copy(value)
    worlds = np.repeat(value.data[None], WORLDS, axis=0)
    new = {event: replace(strand, data=worlds, looks=False) for event, strand in strands.items()}
    value.otherwise = new | with_many(value.otherwise or {}, new)
    return value
