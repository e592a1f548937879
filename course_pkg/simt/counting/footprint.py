"""Footprints: which elements of a memory the blocks of a wave have touched, each element once for each block.

Blocks that do the same in one direction of the grid share a footprint: a kernel that multiplies matrices reads the
same row in each block of a row of blocks. So a footprint is kept for a *box* of blocks, whose extent is 1 in such a
direction.
"""

from dataclasses import dataclass, field
from math import prod

import numpy as np

NOBODY = np.iinfo(np.int64).max
FLAGS = 1 << 26  # most flags that are counted at once
FRESH = 1 << 21  # elements that wait before they are sorted


@dataclass
class Footprint:
    """The elements that the blocks of a wave have touched.

    A footprint holds pieces ``(each, elements)``: the elements, sorted by block, and how many of them each block
    touched. Sorted pieces are merged only with pieces of at least half their size. So no element is sorted often, even
    if there are many accesses.
    """

    _fresh: dict[tuple, list] = field(default_factory=dict)  # elements as they were touched, by box
    _waiting: dict[tuple, int] = field(default_factory=dict)  # number of fresh elements
    _sorted: dict[tuple, list] = field(default_factory=dict)  # each element once for each block

    def add(self, box: tuple, each: np.ndarray, elements: np.ndarray) -> None:
        """Note what the blocks of a box touch.

        Parameters
        ----------
        box : tuple of int, (z, y, x)
            Extents of the box.
        each : ndarray of int64, shape (blocks of the box,)
        elements : ndarray of int64
        """
        self._fresh.setdefault(box, []).append((each, elements))
        waiting = self._waiting.get(box, 0) + elements.size
        self._waiting[box] = waiting
        if waiting > FRESH:
            self._sort(box)

    def _sort(self, box) -> None:
        done = self._sorted.setdefault(box, [])
        done.append(once_a_block(self._fresh.pop(box)))
        self._waiting[box] = 0
        while len(done) > 1 and done[-2][1].size <= 2 * done[-1][1].size:
            done[-2:] = [once_a_block(done[-2:])]

    def by_box(self) -> dict[tuple, list]:
        """Return the pieces, by the box of blocks that they belong to."""
        boxes = dict.fromkeys([*self._sorted, *self._fresh])
        return {box: [*self._sorted.get(box, ()), *self._fresh.get(box, ())] for box in boxes}

    def __bool__(self):
        return bool(self._sorted or self._fresh)


def count(footprints: list[Footprint], blocks: int) -> int:
    """Count the elements that the blocks of a wave touched; an element counts once for each block that touched it.

    Parameters
    ----------
    footprints : list of Footprint
    blocks : int
        Number of blocks in the wave.

    Examples
    --------
    >>> footprint = Footprint()
    >>> footprint.add((1, 1, 1), np.array([3]), np.array([5, 7, 5]))  # all four blocks do the same
    >>> count([footprint], blocks=4)
    8
    """
    found: dict[tuple, list] = {}
    for footprint in footprints:
        for box, pieces in footprint.by_box().items():
            found.setdefault(box, []).extend(pieces)
    if not found:
        return 0
    common = tuple(np.max(list(found), axis=0).tolist())
    if len(found) > 1:
        pieces = [_spread(once_a_block(some), box, common) for box, some in found.items()]
    else:
        pieces = found[common]
    return _count(pieces) * (blocks // prod(common))


def _spread(piece, box: tuple, common: tuple):
    """Return the piece of a box for a larger box, in which several blocks touch the same elements."""
    each, elements = piece
    if box == common:
        return piece
    of_block = np.broadcast_to(np.arange(prod(box)).reshape(box), common).reshape(-1)
    many, begins = each[of_block], (np.cumsum(each) - each)[of_block]
    shift = begins - (np.cumsum(many) - many)
    return many, elements[np.arange(int(many.sum())) + np.repeat(shift, many)]


def _count(pieces: list) -> int:
    blocks = len(pieces[0][0])
    low, high = np.full(blocks, NOBODY), np.full(blocks, -1)
    for each, elements in pieces:
        some = each > 0
        starts = (np.cumsum(each) - each)[some]
        if starts.size:
            low[some] = np.minimum(low[some], np.minimum.reduceat(elements, starts))
            high[some] = np.maximum(high[some], np.maximum.reduceat(elements, starts))
    window = int((high - low).max()) + 1
    if window <= 0:
        return 0
    if blocks * window > FLAGS:
        return once_a_block(pieces)[1].size
    # each block touches a small part of the array: use one flag for each element of that part
    flags = np.zeros(blocks * window, bool)
    place = np.arange(blocks) * window - low
    for each, elements in pieces:
        flags[elements + np.repeat(place, each)] = True
    return int(np.count_nonzero(flags))


def once_a_block(pieces: list) -> tuple[np.ndarray, np.ndarray]:
    """Return the same elements as one piece, in which each element occurs once for each block.

    Examples
    --------
    >>> each, elements = once_a_block([(np.array([2, 1]), np.array([4, 4, 4])), (np.array([0, 1]), np.array([2]))])
    >>> each, elements
    (array([1, 2]), array([4, 2, 4]))
    """
    blocks = len(pieces[0][0])
    span = 1 + max((int(elements.max()) for _, elements in pieces if elements.size), default=0)
    keys = np.concatenate([elements + np.repeat(np.arange(blocks) * span, each) for each, elements in pieces])
    keys.sort(
        kind="stable"
    )  # a stable sort merges sorted runs, as in most pieces: twenty times as fast for these
    fresh = np.ones(keys.size, bool)
    fresh[1:] = keys[1:] != keys[:-1]
    keys = keys[fresh]
    return np.bincount(keys // span, minlength=blocks), keys % span
