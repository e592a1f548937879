"""Notes: what looks like a hazard and does no harm, whatever the arguments of the kernel are.

There are three kinds. Threads skip a barrier only to leave the kernel: a barrier does not wait for threads that have
left. Threads write the same constant to an element, in any order. A thread reads an element of shared or local
memory that nobody has written, and does not use it.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.simt.memory.hazard import Hazard
from course_pkg.simt.memory.places import launch_thread, place_of_thread


@dataclass
class Notes:
    """The notes of a launch, and the reads of unwritten memory of which it is not known yet whether they are used.

    Attributes
    ----------
    found : list of Hazard
    """

    found: list[Hazard] = field(default_factory=list)
    _told: set = field(default_factory=set)
    _unread: dict = field(default_factory=dict)

    def add(self, note: Hazard) -> None:
        """Keep a note, unless one of the same kind, line and array is kept already."""
        name = note.kind, note.function, note.line, note.array
        if name not in self._told:
            self._told.add(name)
            self.found.append(note)

    def skipped(self, run, where, came: int, missed: int, row: int, name: str) -> None:
        """Note that a thread skips a barrier only to leave the kernel; ``row`` is its block's number in the wave."""
        who, absent = (place_of_thread(run.wave, row, thread) for thread in (came, missed))
        message = (
            f"line {where.line}: {who} waits at this {name} and {absent} skips it, but only to leave the kernel, and "
            "nobody waits for a thread that has left."
        )
        self.add(Hazard("skipped_barrier", where.line, None, None, (who, absent), message, where.function))

    def rewritten(self, run, place, number, index, thread: int, first: int) -> None:
        """Note that two threads write the same number to an element, with no order between them."""
        who, whom = (launch_thread(run.wave, one) for one in (thread, first))
        name, where = place.array.name, place.where
        message = (
            f"line {where.line}: {whom} and {who} both write {name}[{', '.join(map(str, index))}], in any order, but "
            f"both write {number}, so that the order does not matter."
        )
        self.add(Hazard("same_value", where.line, name, index, (who, whom), message, where.function))

    def unread(self, hazard: Hazard) -> None:
        """Keep in mind a read of unwritten memory until its value is used, if ever."""
        self._unread.setdefault((hazard.function, hazard.line, hazard.array), hazard)

    def finish(self, hazards: list[Hazard]) -> None:
        """Note which reads of unwritten memory were in vain: those that are not among the hazards."""
        used = {(h.function, h.line, h.array) for h in hazards if h.kind == "uninitialised"}
        for name, hazard in self._unread.items():
            if name not in used:
                said = hazard.message.partition(": ")[2].partition(", which nobody")[0]
                message = f"line {hazard.line}: {said}, which nobody has written, but does not use what it finds there."
                self.add(
                    Hazard(
                        "unused_read", hazard.line, hazard.array, hazard.index, hazard.threads, message,
                        hazard.function,
                    )
                )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Unwritten:
    """Which lanes have read an element that nobody has written, of one access.

    Attributes
    ----------
    lanes : ndarray of bool
        Broadcasts to the wave's shape.
    report : callable
        Takes the number of a lane in the wave and reports it.
    """

    lanes: np.ndarray
    report: Any

    def used_by(self, mask) -> None:
        """Report the first of some lanes that use what they have read, if nobody has written it."""
        used = mask.full & self.lanes
        if used.any():
            self.report(int(used.reshape(-1).argmax()))
