"""Idioms in which each block waits for the one before it; the first one takes the other side of an `if`."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def one_thread_waits_for_its_block(a, flag, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    before = 0.0
    if b > 0:
        if t == 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
        cuda.syncthreads()  # thread 0 has seen the flag
        before = out[b - 1, 63 - t]
    out[b, t] = a[b, t] + before
    cuda.threadfence()
    cuda.syncthreads()  # the block has written
    if t == 0:
        cuda.atomic.exch(flag, b, 1)


def the_first_block_has_a_side_of_its_own(a, flag, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if b == 0:
        before = 0.0
    else:
        if t == 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
        cuda.syncthreads()  # thread 0 has seen the flag
        before = out[b - 1, 63 - t]
    out[b, t] = a[b, t] + before
    cuda.threadfence()
    cuda.syncthreads()  # the block has written
    if t == 0:
        cuda.atomic.exch(flag, b, 1)


def each_thread_waits_or_begins(a, flag, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if b > 0:
        while cuda.atomic.add(flag, b - 1, 0) == 0:
            pass
        before = out[b - 1, 63 - t]
    else:
        before = 0.0
    out[b, t] = a[b, t] + before
    cuda.threadfence()
    cuda.syncthreads()  # the block has written
    if t == 0:
        cuda.atomic.exch(flag, b, 1)


def one_lane_waits_for_its_warp(a, flag, out):
    """A chain of warps: the last warp of a block comes before the first one of the next block."""
    i = cuda.grid(1)
    warp, lane = i // 32, i % 32
    before = 0.0
    if warp > 0:
        if lane == 0:
            while cuda.atomic.add(flag, warp - 1, 0) == 0:
                pass
        cuda.syncwarp()  # lane 0 has seen the flag
        before = out[(warp - 1) // 2, (warp - 1) % 2 * 32 + 31 - lane]
    out[warp // 2, warp % 2 * 32 + lane] = a[warp // 2, warp % 2 * 32 + lane] + before
    cuda.threadfence()
    cuda.syncwarp()  # the warp has written
    if lane == 0:
        cuda.atomic.exch(flag, warp, 1)


def two_lanes_wait_for_their_block(a, flag, out):
    """Thread 0 waits for the block before, thread 1 for the one before that, and one of them is earlier."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    before = 0.0
    if b > 1:
        if t < 2:
            while cuda.atomic.add(flag, b - 1 - t, 0) == 0:
                pass
        cuda.syncthreads()  # threads 0 and 1 have seen the flags
        before = out[b - 1, 63 - t] + out[b - 2, t]
    out[b, t] = a[b, t] + before
    cuda.threadfence()
    cuda.syncthreads()  # the block has written
    if t == 0:
        cuda.atomic.exch(flag, b, 1)


@cuda.jit(device=True)
def wait_for(flag, t):
    """Let one thread wait for its block."""
    if t == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    cuda.syncthreads()


def a_function_waits(a, flag, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    before = 0.0
    if b > 0:
        own = flag[b - 1 :]
        wait_for(own, t)
        before = out[b - 1, 63 - t]
    out[b, t] = a[b, t] + before
    cuda.threadfence()
    cuda.syncthreads()  # the block has written
    if t == 0:
        cuda.atomic.exch(flag, b, 1)


def _of_two(a):
    out = a["a"].copy()
    for b in range(2, len(out)):
        out[b] += out[b - 1, ::-1] + out[b - 2]
    return {"out": out}


def _chained(a):
    out = a["a"].copy()
    for b in range(1, len(out)):
        out[b] += out[b - 1, ::-1]
    return {"out": out}


def _chained_by_warp(a):
    shape = a["a"].shape
    return {"out": _chained({"a": a["a"].reshape(-1, 32)})["out"].reshape(shape)}


def _arguments():
    return {"a": numbers(4, 64), "flag": zeros(8), "out": np.zeros((4, 64))}


BLOCK_WROTE = ("    cuda.syncthreads()  # the block has written\n", "")
TWINS = (("    cuda.threadfence()\n", ""), ("- 1, 0) == 0:", "- 1, 0) > 3:"))
FOR_ITS_BLOCK = ("        cuda.syncthreads()  # thread 0 has seen the flag\n", "")
IDIOMS = [
    Idiom(one_thread_waits_for_its_block, 4, 64, _arguments, _chained,
          (*TWINS, BLOCK_WROTE, FOR_ITS_BLOCK)),
    Idiom(the_first_block_has_a_side_of_its_own, 4, 64, _arguments, _chained,
          (*TWINS, BLOCK_WROTE, FOR_ITS_BLOCK)),
    Idiom(two_lanes_wait_for_their_block, 4, 64, _arguments, _of_two,
          (TWINS[0], BLOCK_WROTE, ("- t, 0) == 0:", "- t, 0) > 3:"),
           ("        cuda.syncthreads()  # threads 0 and 1 have seen the flags\n", ""))),
    Idiom(a_function_waits, 4, 64, _arguments, _chained,
          (TWINS[0], BLOCK_WROTE, ("        wait_for(own, t)\n", "        cuda.syncthreads()\n"))),
    Idiom(each_thread_waits_or_begins, 4, 64, _arguments, _chained, (*TWINS, BLOCK_WROTE)),
    Idiom(one_lane_waits_for_its_warp, 4, 64, _arguments, _chained_by_warp,
          (*TWINS, ("    cuda.syncwarp()  # the warp has written\n", ""),
           ("        cuda.syncwarp()  # lane 0 has seen the flag\n", ""))),
]  # fmt: skip
