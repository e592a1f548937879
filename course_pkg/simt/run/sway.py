"""Sway: what a thread does because of a float in doubt is as much in doubt as the float itself.

Integers that atomics read while other threads change them are locks, flags or counters: a branch on such an integer is
what it is for (:mod:`course_pkg.simt.memory.doubts`). A floating-point number is data. Threads may compare it and swap
it until no other thread comes between, but a thread that takes a branch because of it could move it bit by bit. So
each value that gets its name in such a branch is followed as if it had been computed from the number.

A *scope* holds the doubts that have decided a branch, as long as they decide what is executed: to the end of an ``if``,
of a loop, or of a function that a lane has left.
"""

from contextlib import contextmanager
from copy import copy

import numpy as np

from course_pkg.simt.memory.handover import WORLDS
from course_pkg.simt.run.hindsight import Strand
from course_pkg.simt.run.values import Value


@contextmanager
def scope(run):
    """Open a scope for a construct that decides which lanes run it; give the dictionary of its doubts."""
    run.scopes.append({})
    try:
        yield run.scopes[-1]
    finally:
        run.scopes.pop()


def leave(run, left: dict) -> None:
    """Note that lanes leave a loop or a function, whose scope is ``left``: what follows in it is run without them."""
    for inner in run.scopes:
        left.update(inner)


def swayed(run, value):
    """Return a value with all doubts that have decided whether it is computed here."""
    if not any(run.scopes):
        return value
    if isinstance(value, tuple):
        return tuple(swayed(run, part) for part in value)
    if not isinstance(value, Value):
        return value
    events = {event: by for one in run.scopes for event, by in one.items()}
    value = copy(value)
    worlds = np.repeat(value.data[None], WORLDS, axis=0)
    value.otherwise = {event: Strand(worlds, by) for event, by in events.items()} | (value.otherwise or {})
    return value
