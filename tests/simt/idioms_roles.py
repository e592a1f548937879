"""Idioms of threads with different roles: each waits for the others in a loop of its own.

The functions beginning with `_` make what several of them share: a tile that is filled and emptied.
"""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def each_role_has_its_loop(a, out):
    """Warp 0 fills a tile and warp 1 empties it, each in a loop in its own side of a branch."""
    tile = cuda.shared.array(32, np.float64)
    full = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    lane = t % 32
    if t == 0:
        full[0] = 0
    cuda.syncthreads()  # it is empty at first
    if t < 32:
        for k in range(a.shape[0]):
            if lane == 0:
                while cuda.atomic.add(full, 0, 0) != 0:
                    pass
            cuda.syncwarp()  # it is empty
            tile[lane] = a[k, lane]
            cuda.syncwarp()  # the warp has written
            if lane == 0:
                cuda.threadfence_block()  # before it is full
                cuda.atomic.exch(full, 0, k + 1)
    else:
        for k in range(a.shape[0]):
            if lane == 0:
                while cuda.atomic.add(full, 0, 0) != k + 1:
                    pass
            cuda.syncwarp()  # it is full
            out[k, lane] = 2.0 * tile[31 - lane]
            cuda.syncwarp()  # the warp has read
            if lane == 0:
                cuda.threadfence_block()  # before it is empty
                cuda.atomic.exch(full, 0, 0)


def a_role_that_returns(a, out):
    """The first warp returns when it has filled the tile for the last time; all lanes wait, by cas."""
    tile = cuda.shared.array(32, np.float64)
    full = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    lane = t % 32
    if t == 0:
        full[0] = 0
    cuda.syncthreads()
    if t < 32:
        for k in range(a.shape[0]):
            while cuda.atomic.cas(full, 0, 0, 0) != 0:
                cuda.nanosleep(20)
            cuda.syncwarp()  # the flag was read by all
            tile[lane] = a[k, lane]
            cuda.threadfence_block()
            cuda.syncwarp()  # the warp has written
            if lane == 0:
                cuda.atomic.exch(full, 0, 1)
            cuda.syncwarp()
        return
    for k in range(a.shape[0]):
        while cuda.atomic.cas(full, 0, 1, 1) != 1:
            cuda.nanosleep(20)
        cuda.syncwarp()
        out[k, lane] = 2.0 * tile[31 - lane]
        cuda.threadfence_block()
        cuda.syncwarp()  # the warp has read
        if lane == 0:
            cuda.atomic.exch(full, 0, 0)
        cuda.syncwarp()


def a_ring_of_two(a, out):
    """The second role stands in an `if` of its own, behind that of the first one."""
    ring = cuda.shared.array((2, 32), np.float64)
    full = cuda.shared.array(2, np.int32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    if t < 2:
        full[t] = 0
    cuda.syncthreads()
    if warp == 0:
        for k in range(a.shape[0]):
            slot = k % 2
            if lane == 0:
                while cuda.atomic.add(full, slot, 0) == 1:
                    pass
            cuda.syncwarp()  # it is empty
            ring[slot, lane] = a[k, lane]
            cuda.syncwarp()  # the warp has written
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.exch(full, slot, 1)
    if warp == 1:
        for k in range(a.shape[0]):
            slot = k % 2
            if lane == 0:
                tries = 0
                while True:
                    tries += 1
                    if cuda.atomic.add(full, slot, 0) == 1:
                        break
            cuda.syncwarp()  # it is full
            out[k, lane] = 2.0 * ring[slot, 31 - lane]
            cuda.syncwarp()  # the warp has read
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.exch(full, slot, 0)


@cuda.jit(device=True)
def wait_for(flags, at, number):
    while cuda.atomic.add(flags, at, 0) != number:
        cuda.nanosleep(10)


def three_roles(a, out):
    """One warp loads, one computes and one stores; all threads meet at the end."""
    loaded = cuda.shared.array(32, np.float64)
    computed = cuda.shared.array(32, np.float64)
    full = cuda.shared.array(2, np.int32)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    if t < 2:
        full[t] = 0
    cuda.syncthreads()
    if warp == 0:
        for k in range(a.shape[0]):
            wait_for(full, 0, 0)
            cuda.syncwarp()  # the load may begin
            loaded[lane] = a[k, lane]
            cuda.syncwarp()  # the warp has loaded
            if lane == 0:
                cuda.threadfence_block()  # after the load
                cuda.atomic.exch(full, 0, 1)
            cuda.syncwarp()
    elif warp == 1:
        for _ in range(a.shape[0]):
            wait_for(full, 0, 1)
            wait_for(full, 1, 0)
            cuda.syncwarp()
            computed[lane] = 2.0 * loaded[31 - lane]
            cuda.syncwarp()  # the warp has computed
            if lane == 0:
                cuda.threadfence_block()  # after the computation
                cuda.atomic.exch(full, 0, 0)
                cuda.atomic.exch(full, 1, 1)
            cuda.syncwarp()
    else:
        for k in range(a.shape[0]):
            wait_for(full, 1, 1)
            cuda.syncwarp()
            out[k, lane] = computed[lane]
            cuda.syncwarp()  # the warp has stored
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.exch(full, 1, 0)
            cuda.syncwarp()
    cuda.syncthreads()


def a_block_that_waits_for_a_later_one(a, tile, flag, out):
    """Block 0 empties what block 1 fills, in global memory; each has barriers of its own."""
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        for k in range(a.shape[0]):
            if t == 0:
                while cuda.atomic.add(flag, 0, 0) != k + 1:
                    pass
            cuda.syncthreads()  # it is full
            out[k, t] = 2.0 * tile[31 - t]
            cuda.syncthreads()  # the block has read
            if t == 0:
                cuda.threadfence()
                cuda.atomic.exch(flag, 0, -(k + 1))
    else:
        for k in range(a.shape[0]):
            if t == 0:
                while cuda.atomic.add(flag, 0, 0) != -k:
                    pass
            cuda.syncthreads()  # it is empty
            tile[t] = a[k, t]
            cuda.threadfence()  # before it is full
            cuda.syncthreads()  # the block has written
            if t == 0:
                cuda.atomic.exch(flag, 0, k + 1)


def tickets_for_a_ring(a, out):
    """Warp 0 fills a ring of two tiles, and three warps take tickets for them."""
    ring = cuda.shared.array((2, 32), np.float64)
    full = cuda.shared.array(2, np.int32)
    head = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    lane = t % 32
    if t < 2:
        full[t] = 0
    if t == 0:
        head[0] = 0
    cuda.syncthreads()  # nothing is taken yet
    if t < 32:
        for k in range(a.shape[0]):
            if lane == 0:
                while cuda.atomic.add(full, k % 2, 0) != 0:
                    pass
            cuda.syncwarp()
            ring[k % 2, lane] = a[k, lane]
            cuda.syncwarp()  # the warp has written
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.exch(full, k % 2, k + 1)
    else:
        while True:
            mine = 0
            if lane == 0:
                mine = cuda.atomic.add(head, 0, 1)
            mine = cuda.shfl_sync(0xFFFFFFFF, mine, 0)
            if mine >= a.shape[0]:
                break
            if lane == 0:
                while cuda.atomic.add(full, mine % 2, 0) != mine + 1:
                    pass
            cuda.syncwarp()  # it is full
            out[mine, lane] = 2.0 * ring[mine % 2, 31 - lane]
            cuda.syncwarp()  # the warp has read
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.exch(full, mine % 2, 0)


def two_halves_of_one_warp(a, out):
    """Lanes 0 to 15 fill a tile and the other lanes of the same warp empty it; then all of them meet."""
    tile = cuda.shared.array(16, np.float64)
    full = cuda.shared.array(1, np.int32)
    lane = cuda.threadIdx.x
    if lane == 0:
        full[0] = 0
    cuda.syncwarp()
    trips = 0
    if lane < 16:
        for k in range(a.shape[0]):
            if lane == 0:
                while cuda.atomic.add(full, 0, 0) != 0:
                    pass
            cuda.syncwarp(0xFFFF)  # it is empty
            tile[lane] = a[k, lane]
            cuda.syncwarp(0xFFFF)  # all have written
            if lane == 0:
                cuda.threadfence_block()
                cuda.atomic.exch(full, 0, 1)
            trips += 1
    else:
        for k in range(a.shape[0]):
            if lane == 16:
                while cuda.atomic.add(full, 0, 0) != 1:
                    pass
            cuda.syncwarp(0xFFFF0000)  # it is full
            out[k, lane - 16] = 2.0 * tile[31 - lane]
            cuda.syncwarp(0xFFFF0000)  # all have read
            if lane == 16:
                cuda.threadfence_block()
                cuda.atomic.exch(full, 0, 0)
            trips += 2
    cuda.syncwarp()
    others = cuda.shfl_xor_sync(0xFFFFFFFF, trips, 16)
    if lane < 16:
        out[a.shape[0], lane] = others


def _tiles(rows=6):
    return {"a": numbers(rows, 32), "out": numbers(rows, 32)}


def _turned(arguments):
    return {"out": 2.0 * arguments["a"][:, ::-1]}


WRITTEN = ("            cuda.syncwarp()  # the warp has written\n", "")
READ = ("            cuda.syncwarp()  # the warp has read\n", "")

IDIOMS = [
    Idiom(each_role_has_its_loop, 1, 64, _tiles, _turned, (
        WRITTEN,
        READ,
        ("            cuda.syncwarp()  # it is full\n", ""),
        ("            cuda.syncwarp()  # it is empty\n", ""),
        ("                cuda.threadfence_block()  # before it is full\n", ""),
        ("                cuda.threadfence_block()  # before it is empty\n", ""),
    )),
    Idiom(a_role_that_returns, 1, 64, _tiles, _turned, (
        WRITTEN,
        ("        cuda.syncwarp()  # the warp has read\n", ""),
    )),
    Idiom(a_ring_of_two, 1, 64, _tiles, _turned, (
        WRITTEN,
        READ,
        ("            cuda.syncwarp()  # it is full\n", ""),
    )),
    Idiom(three_roles, 1, 96, _tiles, _turned, (
        ("            cuda.syncwarp()  # the warp has loaded\n", ""),
        ("            cuda.syncwarp()  # the warp has computed\n", ""),
        ("            cuda.syncwarp()  # the warp has stored\n", ""),
        ("                cuda.threadfence_block()  # after the load\n", ""),
        ("                cuda.threadfence_block()  # after the computation\n", ""),
    )),
    Idiom(
        a_block_that_waits_for_a_later_one,
        2,
        32,
        lambda: {"a": numbers(6, 32), "tile": numbers(32), "flag": zeros(1), "out": numbers(6, 32)},
        _turned,
        (
            ("            cuda.threadfence()  # before it is full\n", ""),
            ("            cuda.syncthreads()  # the block has written\n", ""),
            ("            cuda.syncthreads()  # the block has read\n", ""),
            ("            cuda.syncthreads()  # it is empty\n", ""),
        ),
    ),
    Idiom(tickets_for_a_ring, 1, 128, _tiles, _turned, (
        WRITTEN,
        ("            cuda.syncwarp()  # the warp has read\n", ""),
        ("            cuda.syncwarp()  # it is full\n", ""),
    )),
    Idiom(
        two_halves_of_one_warp,
        1,
        32,
        lambda: {"a": numbers(6, 16), "out": numbers(7, 16)},
        lambda a: {"out": np.vstack([2.0 * a["a"][:, ::-1], np.full((1, 16), 12)])},
        (
            ("            cuda.syncwarp(0xFFFF)  # all have written\n", ""),
            ("            cuda.syncwarp(0xFFFF0000)  # all have read\n", ""),
            ("            cuda.syncwarp(0xFFFF)  # it is empty\n", ""),
        ),
    ),
]  # fmt: skip
