"""What the trials of lecture 5 share: fields of small numbers, the stencil on them, and names of counters."""

import numpy as np

BLOCK, LINE = (8, 4), 32  # one warp: such a block is small enough to draw
READ, WRITTEN = "global_load.bytes_requested", "global_store.bytes_requested"
ATOMICS = "global_atomics.thread_accesses"


def fields(count, shape, rng):
    """Return fields of small whole numbers: they are short to read, and their sums are exact in any order."""
    return rng.integers(1, 9, (count, *np.atleast_1d(shape))).astype(np.float64)


def around(u, along_x=1.0, along_y=1.0):
    """Return the weighted sum of each point's four neighbours; outside the grid u is zero."""
    total = np.zeros_like(u)
    total[:, 1:] += along_x * u[:, :-1]
    total[:, :-1] += along_x * u[:, 1:]
    total[1:] += along_y * u[:-1]
    total[:-1] += along_y * u[1:]
    return total


def apply(u):
    """Return A u in two dimensions."""
    return 4 * u - around(u)


def stencil_reads(shape):
    """Return the number of reads of the five-point stencil: per point, one for the centre and one per neighbour."""
    return int(shape[0] * shape[1] + around(np.ones(shape)).sum())
