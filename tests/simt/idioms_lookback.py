"""Scans in one pass: each block scans its part by shuffles in a loop, and one lane looks back through flags."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda

FULL = 0xFFFFFFFF
BLOCKS = 6


def scan_that_looks_back(a, flag, own, all_before, out):
    """Flags: 1 after the sum of the block's part has been published, 2 after the sum of all up to it has been."""
    t, b, i = cuda.threadIdx.x, cuda.blockIdx.x, cuda.grid(1)
    tile = cuda.shared.array(1, np.float64)
    x = a[i]
    for d in (1, 2, 4, 8, 16):
        y = cuda.shfl_up_sync(FULL, x, d)
        if t >= d:
            x += y
    if t == 31:
        before = 0.0
        if b > 0:
            own[b] = x
            cuda.threadfence()  # of the part
            cuda.atomic.exch(flag, b, 1)
            j = b - 1
            while True:
                found = cuda.atomic.add(flag, j, 0)
                if found == 2:
                    cuda.threadfence()
                    before += all_before[j]
                    break
                if found == 1:
                    cuda.threadfence()
                    before += own[j]
                    j -= 1
        all_before[b] = before + x
        cuda.threadfence()  # of the prefix
        cuda.atomic.exch(flag, b, 2)
        tile[0] = before
    cuda.syncthreads()  # the block knows what comes before
    out[i] = x + tile[0]


def scan_whose_first_lane_looks_back(a, flag, own, all_before, out):
    t, b, i = cuda.threadIdx.x, cuda.blockIdx.x, cuda.grid(1)
    x = a[i]
    d = 1
    while d < 32:
        y = cuda.shfl_up_sync(FULL, x, d)
        if t >= d:
            x += y
        d *= 2
    total = cuda.shfl_sync(FULL, x, 31)
    before = 0.0
    if t == 0:
        own[b] = total
        cuda.threadfence()  # of the part
        cuda.atomic.exch(flag, b, 1)
        j = b - 1
        while j >= 0:
            found = cuda.atomic.add(flag, j, 0)
            if found == 2:
                cuda.threadfence()
                before += all_before[j]
                j = -1
            elif found == 1:
                cuda.threadfence()
                before += own[j]
                j -= 1
        all_before[b] = before + total
        cuda.threadfence()  # of the prefix
        cuda.atomic.exch(flag, b, 2)
    before = cuda.shfl_sync(FULL, before, 0)
    out[i] = x + before


def two_shuffles_of_a_statement(a, flag, own, all_before, out):
    t, b, i = cuda.threadIdx.x, cuda.blockIdx.x, cuda.grid(1)
    x = a[i]
    for d in (1, 2, 4):
        x += cuda.shfl_xor_sync(FULL, x, d) - cuda.shfl_xor_sync(FULL, x, 8) + cuda.shfl_xor_sync(FULL, x, 8)
    x += cuda.shfl_xor_sync(FULL, x, 8)
    x += cuda.shfl_xor_sync(FULL, x, 16)
    if t == 9:
        if b > 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            x += all_before[b - 1]
        all_before[b] = x
        cuda.threadfence()  # of the prefix
        cuda.atomic.exch(flag, b, 1)
    out[i] = x


def _arguments():
    return {
        "a": numbers(32 * BLOCKS),
        "flag": zeros(BLOCKS),
        "own": np.zeros(BLOCKS),
        "all_before": np.zeros(BLOCKS),
        "out": np.zeros(32 * BLOCKS),
    }


def _scan(a):
    return {"out": a["a"].cumsum(), "all_before": a["a"].reshape(BLOCKS, 32).sum(1).cumsum()}


PART = ("cuda.threadfence()  # of the part\n", "pass\n")
PREFIX = ("cuda.threadfence()  # of the prefix\n", "pass\n")
IDIOMS = [
    Idiom(scan_that_looks_back, BLOCKS, 32, _arguments, _scan,
          (PART, PREFIX, ("if found == 2:", "if found >= 1:"))),
    Idiom(scan_whose_first_lane_looks_back, BLOCKS, 32, _arguments, _scan,
          (PART, PREFIX, ("if found == 2:", "if found >= 1:"))),
    Idiom(two_shuffles_of_a_statement, BLOCKS, 32, _arguments,
          lambda a: {"all_before": a["a"].reshape(BLOCKS, 32).sum(1).cumsum()},
          (PREFIX, ("b - 1, 0) == 0:", "b - 1, 0) > 3:"))),
]  # fmt: skip
