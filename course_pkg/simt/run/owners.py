"""Whose atomic has found a number, where one value depends on numbers that several threads have found.

Threads may keep in shared memory what they have found by one statement, so that others test two of these numbers in
one condition, or add them up. Each of these numbers has an owner, the thread that has found it. So the worlds of the
two are kept apart (:mod:`.hindsight`), as if two statements had found them.
"""

import numpy as np

from course_pkg.simt.memory.handover import ANYBODY

ANY_THREAD = np.full((1,) * 6, ANYBODY)
NO_THREAD = np.full((1,) * 6, -2)  # marks that no thread is involved; differs from ANYBODY
MOST_OWNERS = 64  # of one event, that are told apart in a value


class Share(int):
    """An event, for a further owner in each lane: it equals neither the event nor its other shares."""

    def __new__(cls, event: int, number: int):
        self = super().__new__(cls, event)
        self.number = number
        return self

    def __eq__(self, other):
        return isinstance(other, Share) and int(self) == int(other) and self.number == other.number

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((int(self), self.number))


def apart(operands: tuple) -> list[dict]:
    """Return the strands of values that are to be combined. In each lane, a key stands for one owner in all of them.

    If an event has too many owners, or if its owners are the same ones in some lanes only, it is one key, and nobody in
    particular is its owner.
    """
    strands = [one.otherwise or {} for one in operands]
    owners: dict[int, list] = {}
    for one in strands:
        for event, strand in one.items():
            if strand.looks:
                owners.setdefault(int(event), []).append(strand.by)
    for event, several in owners.items():
        if any(by is not several[0] for by in several):
            strands = _told_apart(event, strands) or [
                _as_one(event, one, value) for one, value in zip(strands, operands, strict=True)
            ]
    return strands


def _told_apart(base: int, strands: list) -> list | None:
    """Give the strands of an event keys by their owners; return None if their owners cannot be told apart."""
    owners: list = []
    named = []
    for one in strands:
        own: dict = {}
        for event, strand in one.items():
            key = event
            if int(event) == base:
                number = _number_of(strand.by, owners, own, base)
                if number is None:
                    return None
                key = _key(base, number)
            own[key] = strand
        named.append(own)
    return named


def _key(base: int, number: int) -> int:
    return Share(base, number) if number else base


def _number_of(by, owners: list, taken: dict, base: int) -> int | None:
    """Return which of the known owners a strand has, in all lanes; a new one if it has another one in all lanes."""
    for number, known in enumerate(owners):
        free = (known == NO_THREAD) | (by == NO_THREAD)
        same = known == by
        if (same | free).all() and _key(base, number) not in taken:
            owners[number] = np.where(by == NO_THREAD, known, by)
            return number
        if (same & ~free).any() or (known == ANYBODY).any() or (by == ANYBODY).any():
            return None
    if len(owners) == MOST_OWNERS:
        return None
    owners.append(by)
    return len(owners) - 1


def _as_one(base: int, strands: dict, value) -> dict:
    """Return strands in which an event has one key; its worlds change what any of the owners has found."""
    shares = [strand for event, strand in strands.items() if int(event) == base]
    if len(shares) < 2:
        return {base if int(event) == base else event: strand for event, strand in strands.items()}
    data, by = shares[0].data, shares[0].by
    for one in shares[1:]:
        data, by = np.where(data == value.data, one.data, data), common(by, one.by)
    left = {event: strand for event, strand in strands.items() if int(event) != base}
    return {**left, base: type(shares[0])(data, by, shares[0].looks, shares[0].source)}


def common(by, other):
    """Return who owns what depends on numbers of two owners: ``ANYBODY`` in lanes where these differ."""
    if by is other:
        return by
    both = np.where(by == other, by, ANYBODY)
    return np.where(by == NO_THREAD, other, np.where(other == NO_THREAD, by, both))
