"""Halos: the entries that one rank reads and another owns, the ranks that send them, and where they are stored.

A rank's vector holds the n entries that it owns. The halo is a second array. Local entry i is owned entry i if i < n,
and halo entry i - n otherwise. The halo is sorted by global index, so the entries from one rank are consecutive.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.distributed.communicator import Communicator
from course_pkg.distributed.partition import Slab, owner_of


@dataclass(frozen=True, eq=False)
class HaloPlan:
    """What a rank sends and receives before a product.

    Attributes
    ----------
    sends : tuple of (int, slice or ndarray of int64)
        A rank, and the owned entries that it gets, in this order. A slice is sent without a copy; entries chosen by an
        index vector are first gathered into a buffer.
    receives : tuple of (int, slice)
        A rank, and the part of the halo where its entries are stored.
    size : int
        Entries of the halo.

    Examples
    --------
    >>> plan = slab_plan(Slab((4, 3, 3), rank=0, ranks=2))
    >>> plan.sends, plan.receives, plan.size, plan.sent
    (((1, slice(9, 18, None)),), ((1, slice(0, 9, None)),), 9, 9)
    """

    sends: tuple
    receives: tuple
    size: int

    @property
    def sent(self) -> int:
        """Entries that this rank sends."""
        return sum(w.stop - w.start if isinstance(w, slice) else len(w) for _, w in self.sends)

    @property
    def contiguous(self) -> bool:
        """True if all entries can be sent from where they are, without a gather."""
        return all(isinstance(where, slice) for _, where in self.sends)


def slab_plan(slab: Slab) -> HaloPlan:
    """Return the plan of a slab under a stencil that reads one plane on each side.

    The halo holds the plane below, then the plane above. A slab at the boundary of the grid lacks one of them.

    Examples
    --------
    >>> slab_plan(Slab((6, 3, 3), rank=1, ranks=3)).receives
    ((0, slice(0, 9, None)), (2, slice(9, 18, None)))
    """
    plane, points = slab.plane, slab.plane * slab.shape[0]
    owned = {slab.below: slice(0, plane), slab.above: slice(points - plane, points)}
    sends = tuple((peer, where) for peer, where in owned.items() if peer is not None)
    receives = tuple((peer, slice(i * plane, (i + 1) * plane)) for i, (peer, _) in enumerate(sends))
    return HaloPlan(sends, receives, plane * len(sends))


def needed(indices, first: int, last: int) -> np.ndarray:
    """Return the columns of a block of rows that belong to other ranks, sorted, each of them once.

    Parameters
    ----------
    indices : array of int
        Global columns of the block's nonzeros.
    first, last : int
        The rank owns the entries ``first <= i < last``.

    Examples
    --------
    >>> needed([3, 9, 4, 0, 9], first=3, last=6)
    array([0, 9])
    """
    indices = np.asarray(indices, np.int64)
    return np.unique(indices[(indices < first) | (indices >= last)])


def renumbered(indices, first: int, last: int, halo) -> np.ndarray:
    """Return columns in the rank's local numbering: owned entries first, then the halo.

    Parameters
    ----------
    indices : array of int
        Global columns.
    halo : ndarray of int64
        From :func:`needed`.

    Examples
    --------
    >>> renumbered([3, 9, 4, 0, 9], first=3, last=6, halo=np.array([0, 9]))
    array([0, 4, 1, 3, 4], dtype=int32)
    """
    indices = np.asarray(indices, np.int64)
    outside = (indices < first) | (indices >= last)
    place = np.searchsorted(halo, indices)
    found = (
        (place < len(halo)) & (halo[np.minimum(place, len(halo) - 1)] == indices) if len(halo) else ~outside
    )
    if np.any(outside & ~found):
        raise CourseError(
            "A column is neither owned nor in the halo: make the halo by needed(indices, first, last)."
        )
    return np.where(outside, last - first + place, indices - first).astype(np.int32)


def csr_plan(rank: int, offsets, halo, asked: Mapping[int, np.ndarray]) -> HaloPlan:
    """Return the plan of a block of rows.

    Parameters
    ----------
    offsets : ndarray of int64, shape (ranks + 1,)
        Where the entries of each rank begin.
    halo : ndarray of int64
        The entries that this rank needs, from :func:`needed`.
    asked : dict of int to ndarray of int64
        For each other rank, the global indices of the entries that it needs from this one.

    Raises
    ------
    CourseError
        If this rank is asked for an entry that it does not own.

    Examples
    --------
    >>> plan = csr_plan(1, np.array([0, 3, 6, 10]), halo=np.array([0, 9]), asked={2: np.array([3, 5])})
    >>> plan.receives, plan.sends
    (((0, slice(0, 1, None)), (2, slice(1, 2, None))), ((2, array([0, 2])),))
    """
    halo = np.asarray(halo, np.int64)
    first, last = offsets[rank], offsets[rank + 1]
    ends = np.searchsorted(halo, offsets)
    receives = tuple(
        (int(peer), slice(int(ends[peer]), int(ends[peer + 1])))
        for peer in np.unique(owner_of(halo, offsets))
    )
    if any(peer == rank for peer, _ in receives):
        raise CourseError(f"The halo of rank {rank} holds entries that it owns: make it by needed(…).")
    sends = []
    for peer, entries in sorted(asked.items()):
        entries = np.asarray(entries, np.int64)
        if entries.size and not (entries.min() >= first and entries.max() < last):
            raise CourseError(
                f"Rank {peer} asks rank {rank} for entries that it does not own: it has {first} to {last - 1}."
            )
        if entries.size:
            sends.append((int(peer), entries - first))
    return HaloPlan(tuple(sends), receives, len(halo))


def by_owner(halo, offsets) -> dict[int, np.ndarray]:
    """Return the entries of a halo by the rank that owns them.

    Examples
    --------
    >>> by_owner(np.array([0, 1, 9]), np.array([0, 3, 6, 10]))
    {0: array([0, 1]), 2: array([9])}
    """
    owners = owner_of(halo, offsets)
    return {int(peer): np.asarray(halo)[owners == peer] for peer in np.unique(owners)}


class HaloExchange:
    """Carries out a plan. Between ``start`` and ``finish`` the rank can compute everything that needs no halo.

    Parameters
    ----------
    comm : Communicator
    plan : HaloPlan
    dtype : dtype

    Notes
    -----
    The vector must not change between ``start`` and ``finish``. Every exchange overwrites the same halo array.

    Examples
    --------
    >>> from course_pkg.distributed.serial import Serial
    >>> def ends(comm):
    ...     exchange = HaloExchange(comm, slab_plan(Slab((4, 3, 3), comm.rank, comm.ranks)), "float64")
    ...     exchange.start(np.full(18, comm.rank + 1.0))
    ...     return exchange.finish()[:2]
    >>> Serial(2).run(ends)
    [array([2., 2.]), array([1., 1.])]
    """

    def __init__(self, comm: Communicator, plan: HaloPlan, dtype):
        self.comm, self.plan = comm, plan
        self.halo = np.zeros(plan.size, dtype)
        self._pending = None

    def start(self, v) -> None:
        """Begin to send the owned entries of ``v``, this rank's part of a vector, that other ranks need."""
        if self._pending is not None:
            raise CourseError("A halo exchange was started twice: call finish() before the next start(v).")
        sends = [(peer, np.ascontiguousarray(v[where])) for peer, where in self.plan.sends]
        receives = [(peer, self.halo[where]) for peer, where in self.plan.receives]
        self._pending = self.comm.start(sends, receives)

    def finish(self):
        """Wait for the entries from other ranks, and return the halo."""
        if self._pending is None:
            raise CourseError("There is no halo exchange to finish: call start(v) first.")
        pending, self._pending = self._pending, None
        pending.wait()
        return self.halo
