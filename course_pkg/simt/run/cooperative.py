"""Cooperative groups: a barrier for all threads of a launch."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core.limits import MOST_THREADS
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.host import Device
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.halves import met_at_barrier

THREADS_PER_MULTIPROCESSOR = 2 * MOST_THREADS


@dataclass(frozen=True)
class Grid:
    """The group of all threads of a launch, as ``cuda.cg.this_grid()`` returns it."""


def this_grid(run, frame, node, name, arguments, named, mask) -> Grid:
    """Return the group of all threads.

    Raises
    ------
    SimtError
        If the blocks do not all fit on the GPU at the same time, because then they could not wait for each other.
    """
    wave = run.wave
    most = Device.MULTIPROCESSOR_COUNT * (THREADS_PER_MULTIPROCESSOR // wave.threads_per_block)
    blocks = int(np.prod(wave.grid))
    if blocks > most or (blocks != wave.blocks and not run.dry):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{blocks} blocks of {wave.threads_per_block} threads wait for "
            f"each other at a grid's barrier, and at most {min(most, wave.blocks)} run at once: launch fewer "
            "blocks, and let each thread do more in a loop.",
        )
    return Grid()


def sync_grid(run, frame, node, mask) -> None:
    """Let all threads of the launch wait for each other.

    Raises
    ------
    SimtError
        If a thread does not reach the barrier, for example because it has left the kernel: a GPU would hang.
    """
    if run.dry:
        return
    everyone = run.wave.everyone if run.half is None else run.half.own(run.wave.everyone)
    if mask.threads != everyone.threads:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"only {mask.threads} of {run.wave.threads} threads come to "
            "the barrier of the whole grid, and a GPU would hang: move it out of the branch, and let no thread "
            "leave before.",
        )
    each = np.count_nonzero(run.wave.spread(mask.full), axis=1)
    where = SourceLine(frame.program.name, node.lineno)
    *_, passed, _ = met_at_barrier(run, where, mask, each, each, whole=True)
    run.ledger.barrier(passed, mask)
    run.ledger.flush()
    run.kill("global", "shared")
    if run.races is not None and passed:
        own = (a for a in run.allocations.values() if isinstance(a, Array))
        for region in (*run.launch.regions, *(array.region for array in own)):
            region.shadow = None  # all earlier accesses are ordered before all later ones
