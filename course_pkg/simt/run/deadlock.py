"""The error for threads that wait in loops for each other for ever: who waits in which line, and for what."""

import numpy as np

from course_pkg.simt.errors import Endless
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.memory.places import place_of_thread
from course_pkg.simt.run.budget import endless
from course_pkg.simt.run.waits import MOST, Waits

TOLD = 4  # waiting roles that a message names


def for_ever(run, waiting: list[Waits]) -> Endless:
    """Return the error for threads that wait in loops for each other for ever: who waits where, and for what."""
    first, *others = sorted(waiting, key=lambda one: one.where.line)
    told = [_told(run, first, "here"), *(_told(run, one) for one in others[: TOLD - 1])]
    if len(others) >= TOLD:
        told.append("others wait, too")
    who = ", ".join(told[:-1]) + (", and " if len(told) > 1 else "") + told[-1]
    behind = int(run.wave.block_numbers[-1]) + 1
    if len(waiting) >= MOST:
        rest = f"and the interpreter follows at most {MOST} groups of threads that wait for each other"
    elif behind < int(np.prod(run.wave.grid)):
        rest = f"and the blocks from number {behind} on begin only when these have ended"
    else:
        rest = "and no thread is left that could change this"
    return endless(run, f", as that of the `while` in {line_of(run, first.where)}: {who}, {rest}")


def line_of(run, where: SourceLine) -> str:
    """Return a line of the source in words, with the function if that is not the kernel."""
    return f"line {where.line}" + (f" of {where.function}" if where.function != run.launch.name else "")


def _told(run, waits: Waits, where: str = "") -> str:
    """Return where some threads wait, and for what."""
    first = int(waits.lanes.full.reshape(-1).argmax())
    who = str(place_of_thread(run.wave, *divmod(first, run.wave.threads_per_block)))
    more = waits.lanes.threads - 1
    who += f" and {more} other thread{'s' if more > 1 else ''} wait" if more else " waits"
    where = where or f"in the `while` of {line_of(run, waits.where)}"
    names = " or ".join(sorted(waits.names))
    return f"{who} {where}" + (f" until another thread changes {names}" if names else " for other threads")
