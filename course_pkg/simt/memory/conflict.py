"""The message about a race: two threads touch one element in no order. It also says how to fix the kernel."""

import numpy as np

from course_pkg.simt.memory.hazard import NOT_IN_STEP, Hazard
from course_pkg.simt.memory.places import launch_thread
from course_pkg.simt.memory.races import Access


def conflict(run, place, verb: str, other: Access, threads: tuple[int, int]) -> Hazard:
    """Return the hazard of two threads that touch one element in no order, where at least one of them changes it.

    Parameters
    ----------
    verb : str
        What the later of the two threads, in the interpreter's order, does: ``reads``, ``writes`` or ``updates``.
    other : Access
        The earlier access, by the other thread.
    threads : tuple of int
        The numbers of both threads in the launch: first the later thread, then the earlier one.
    """
    thread, first = threads
    who, whom = (launch_thread(run.wave, t) for t in (thread, first))
    index = index_of(run, place.indices, *split(run, thread))
    name, line = place.array.name, place.where.line
    same_block = who.block == whom.block
    per_block = run.wave.threads_per_block
    same_warp = same_block and thread % per_block // 32 == first % per_block // 32
    what = f"{name}[{', '.join(map(str, index))}]"
    both_write = verb == other.verb and other.line == line
    of_warp = same_warp and place.array.space == "shared" and not both_write
    kind = "missing_syncwarp" if of_warp else "race"
    if not same_block:
        cure = "blocks of one launch run in any order: write to another array, or split the kernel in two launches"
    elif kind == "missing_syncwarp":
        cure = f"{NOT_IN_STEP}: a cuda.syncwarp() or a cuda.syncthreads() is missing between them"
    elif both_write and verb == "writes":
        cure = (
            "nothing decides who is last: let one thread alone write it, or each an element of its own, or, in a "
            "loop, put a cuda.syncthreads() between two trips"
        )
    else:
        cure = "no barrier lies between them: a cuda.syncthreads() is missing, or an index is wrong"
    event = f"{whom} {other.verb} {what} and {who} {verb} it"
    told = kind, line, name, index, (who, whom), event, f", but {cure}.", place.where.function, other.line
    return Hazard(*told, verbs=(verb, other.verb))


def split(run, thread: int) -> tuple[int, int]:
    """Turn a thread's number in the launch into its row and column in the wave."""
    block, lane = divmod(thread, run.wave.threads_per_block)
    return int(np.searchsorted(run.wave.block_numbers, block)), lane


def index_of(run, indices, block: int, thread: int) -> tuple[int, ...]:
    """Return the value that the index written in the kernel has for one thread, given as row and column in the wave."""
    at = block * run.wave.threads_per_block + thread
    return tuple(int(np.broadcast_to(i.data, run.wave.shape).reshape(-1)[at]) for i in indices)
