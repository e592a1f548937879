"""What a thread publishes by an atomic, and what another thread knows once it has learnt of it.

A *clock* records what a thread knows: for each thread, warp or block, the time up to which its work is known.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(eq=False)
class Publication:
    """An atomic that changed an element and so published what its thread had fenced.

    Attributes
    ----------
    thread : int
    before : number
        The value of the element before the atomic. If the element held nothing before, the value after the atomic.
    flipped : int
        The bits that the atomic changed, if it is a bitwise operation; 0 otherwise.
    clocks : tuple of dict
        What a thread knows once it has learnt of this publication.
    known : int
        How many of the element's earlier publications the thread knew.
    after_all : bool
        Whether the thread knew all earlier publications of the element, its own included.
    """

    thread: int
    before: Any
    flipped: int
    clocks: tuple
    known: int
    after_all: bool


@dataclass(eq=False)
class Element:
    """An integer that atomics have changed, in a kernel with fences.

    Attributes
    ----------
    name : tuple
    published : list of Publication
    run : int
        All publications from this number on are by the thread that published last.
    joined : tuple
        ``(n, clock)``: the joined clocks of the first ``n`` publications.
    """

    name: tuple
    published: list[Publication] = field(default_factory=list)
    run: int = 0
    joined: tuple[int, dict] = (0, {})

    def publish(self, publication: Publication) -> None:
        """Append a publication."""
        if self.published and self.published[-1].thread != publication.thread:
            self.run = len(self.published)
        self.published.append(publication)

    def only_of(self, thread: int, known: int) -> bool:
        """Tell whether all publications from number ``known`` on are by ``thread``."""
        return known >= len(self.published) or (self.run <= known and self.published[-1].thread == thread)

    def clock(self, until: int) -> dict:
        """Return the joined clocks of the first ``until`` publications."""
        done, clock = self.joined
        if done > until:
            done, clock = 0, {}
        if done < until:
            clock = dict(clock)
            for publication in self.published[done:until]:
                for other in publication.clocks:
                    join(clock, other)
            self.joined = until, clock
        return clock


@dataclass(eq=False)
class Sight:
    """What a thread may learn from one of its atomics: publications number ``known`` to ``until - 1`` of the element.

    Attributes
    ----------
    element : Element
    known : int
        Number of publications that the thread knew before.
    until : int
        Number of publications before the atomic.
    after : int
        Number of publications after the atomic, which may have published something itself.
    """

    element: Element
    known: int
    until: int
    after: int

    def clock(self) -> dict:
        """Return what the thread knows if it has learnt of all these publications."""
        return {**self.element.clock(self.until), ("element", *self.element.name): self.after}


def last_of_another(published: list, until: int, thread: int) -> Publication:
    """Return the last publication by another thread among the first ``until``; if there is none, simply the last."""
    at = until - 1
    while at and published[at].thread == thread:
        at -= 1
    return published[at if published[at].thread != thread else until - 1]


def join(clock: dict, other: dict) -> None:
    """Add to a clock everything that another one knows."""
    for key, value in other.items():
        mine = clock.get(key)
        if isinstance(value, np.ndarray) and mine is not None:
            value = np.maximum(mine, value)
        elif mine is not None and mine > value:
            value = mine
        clock[key] = value
