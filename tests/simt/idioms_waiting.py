"""Idioms that wait: for the last block, the whole grid, a flag, a lock."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def sum_of_the_grid_by_the_last_block(a, partial, count, out):
    """After the CUDA sample threadFenceReduction: all threads of the last block add up the partial sums."""
    part = cuda.shared.array(32, np.float64)
    last = cuda.shared.array(1, np.int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    part[t] = a[cuda.grid(1)]
    by = 16
    while by > 0:
        cuda.syncthreads()  # added
        if t < by:
            part[t] += part[t + by]
        by //= 2
    if t == 0:
        partial[b] = part[0]
        cuda.threadfence()
        last[0] = 1 if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1 else 0
    cuda.syncthreads()  # all know
    if last[0] == 1:
        part[t] = partial[t] if t < cuda.gridDim.x else 0.0
        by = 16
        while by > 0:
            cuda.syncthreads()
            if t < by:
                part[t] += part[t + by]
            by //= 2
        if t == 0:
            out[0] = part[0]
            count[0] = 0


def two_barriers_of_the_grid(a, half, quarter, count, turn, out):
    """A barrier whose counter is set back by the last block, which then raises the turn: it can be used again."""
    i, t = cuda.grid(1), cuda.threadIdx.x
    for step in range(2):
        if step == 0:
            half[i] = 2.0 * a[i]
        else:
            quarter[i] = half[half.size - 1 - i] + 1.0
        cuda.syncthreads()  # the block has written
        if t == 0:
            cuda.threadfence()  # before it arrives
            if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
                cuda.atomic.exch(count, 0, 0)
                cuda.threadfence()
                cuda.atomic.add(turn, 0, 1)
            while cuda.atomic.add(turn, 0, 0) == step:
                pass
        cuda.syncthreads()  # thread 0 has seen the turn
    out[i] = quarter[i ^ 32]


def producer_and_consumer(a, out):
    """Warp 0 fills two buffers in turn and warp 1 empties them; a flag for each says whose turn it is."""
    buffer = cuda.shared.array((2, 32), np.float64)
    full = cuda.shared.array(2, np.int32)
    t = cuda.threadIdx.x
    lane = t % 32
    if t < 2:
        full[t] = 0
    cuda.syncthreads()  # both are empty
    for k in range(a.shape[0]):
        slot = k % 2
        if t < 32:
            if lane == 0:
                while cuda.atomic.add(full, slot, 0) != 0:
                    pass
            cuda.syncwarp()  # it is empty
            buffer[slot, lane] = a[k, lane]
            cuda.syncwarp()  # the warp has written
            if lane == 0:
                cuda.threadfence_block()  # before it is full
                cuda.atomic.exch(full, slot, 1)
        else:
            if lane == 0:
                while cuda.atomic.add(full, slot, 0) != 1:
                    pass
            cuda.syncwarp()  # it is full
            out[k, lane] = 2.0 * buffer[slot, 31 - lane]
            cuda.syncwarp()  # the warp has read
            if lane == 0:
                cuda.threadfence_block()  # before it is empty
                cuda.atomic.exch(full, slot, 0)


def ticket_lock(a, ticket, serving, out):
    for _ in range(2):
        mine = cuda.atomic.add(ticket, 0, 1)
        done = False
        while not done:
            if cuda.atomic.add(serving, 0, 0) == mine:
                out[0] = 2.0 * out[0] + a[cuda.grid(1)]
                cuda.threadfence()  # before it lets go
                cuda.atomic.add(serving, 0, 1)
                done = True


def _locked(a):
    out = a["out"][0]
    for x in np.tile(a["a"], 2):
        out = 2.0 * out + x
    return {"out": np.array([out])}


IDIOMS = [
    Idiom(
        sum_of_the_grid_by_the_last_block,
        5,
        32,
        lambda: {"a": numbers(160), "partial": numbers(5), "count": zeros(1), "out": numbers(1)},
        lambda a: {"out": np.array([a["a"].sum()]), "count": zeros(1)},
        (
            ("        cuda.threadfence()\n", ""),
            ("== cuda.gridDim.x - 1", "== cuda.gridDim.x - 1 or cuda.blockIdx.x > 3"),
            ("        cuda.syncthreads()  # added\n", ""),
            ("    cuda.syncthreads()  # all know\n", ""),
        ),
    ),
    Idiom(
        two_barriers_of_the_grid,
        3,
        64,
        lambda: {"a": numbers(192), "half": numbers(192), "quarter": numbers(192), "count": zeros(1), "turn": zeros(1),
                 "out": numbers(192)},
        lambda a: {"out": (2.0 * a["a"][::-1] + 1.0)[np.arange(192) ^ 32], "turn": np.array([2], np.int32)},
        (
            ("            cuda.threadfence()  # before it arrives\n", ""),
            ("        cuda.syncthreads()  # the block has written\n", ""),
            ("        cuda.syncthreads()  # thread 0 has seen the turn\n", ""),
            ("== cuda.gridDim.x - 1", ">= 0"),
        ),
    ),
    Idiom(
        producer_and_consumer,
        1,
        64,
        lambda: {"a": numbers(6, 32), "out": numbers(6, 32)},
        lambda a: {"out": 2.0 * a["a"][:, ::-1]},
        (
            ("            cuda.syncwarp()  # the warp has written\n", ""),
            ("            cuda.syncwarp()  # the warp has read\n", ""),
            ("            cuda.syncwarp()  # it is full\n", ""),
            ("            cuda.syncwarp()  # it is empty\n", ""),
            ("                cuda.threadfence_block()  # before it is full\n", ""),
            ("                cuda.threadfence_block()  # before it is empty\n", ""),
            ("while cuda.atomic.add(full, slot, 0) != 0:", "while cuda.atomic.add(full, slot, 0) > 1:"),
        ),
    ),
    Idiom(
        ticket_lock,
        4,
        1,
        lambda: {"a": numbers(4), "ticket": zeros(1), "serving": zeros(1), "out": numbers(1)},
        _locked,
        (
            ("                cuda.threadfence()  # before it lets go\n", ""),
            ("== mine:", "<= mine:"),
            ("== mine:", ">= 0:"),
        ),
    ),
]  # fmt: skip
