"""The steps of lecture 4 in which the threads of a warp exchange registers: a sum, and the largest number of a row."""

import math

import numpy as np

from course_pkg.core.access import WARP
from course_pkg.core.checks import unwritten
from course_pkg.practice.lectures.first_kernels.alone import numbers
from course_pkg.practice.step import Step, Trial, WhatIf


def _sum(n, rng):
    a, blocks, threads = numbers(n, rng), 2, 64
    share = np.zeros((math.ceil(n / (blocks * threads)), blocks, threads))
    share.reshape(-1)[:n] = a
    warps = blocks * threads // WARP
    needed = {
        "global_load.thread_accesses": n,
        "global_store.thread_accesses": blocks,
        "shared_load.requests": warps,
        "shared_store.requests": warps,
    }
    arguments = {"a": a, "out": unwritten(blocks)}
    return Trial(arguments, {"out": share.sum(axis=(0, 2))}, blocks, threads, needed)


def _argmax(rows, rng):
    a = rng.integers(0, 60, (rows, WARP)).astype(np.float64)
    lane = 1 + rng.integers(7, size=rows)
    for places in (8 + lane, 17 + rng.integers(lane)):
        # so the largest number occurs twice; by shuffles lane 0 gets the later one first
        a[np.arange(rows), places] = 60
    needed = {
        "global_load.requests": rows,
        "global_store.requests": rows,
        "shared_store.requests": 0,
        "shared_load.requests": 0,
    }
    out = unwritten(rows, "int64")
    return Trial({"a": a, "out": out}, {"out": a.argmax(axis=1)}, rows, WARP, needed)


STEPS = (
    Step(
        name="strided_sum",
        title="A share, then shuffles",
        ask="Let each thread add up its share of a, each warp its 32 threads by shuffles, and let thread 0 write the "
        "sum of its block to out[block].",
        trial=_sum,
        sizes=(300, 128, 50, 1),
        timed=1 << 23,
        limits={
            "global_load.thread_accesses": 1,
            "global_store.thread_accesses": 1,
            "shared_load.requests": 1,
            "shared_store.requests": 1,
        },
        tell="each number was loaded once, and each warp went to shared memory once",
        hints=(
            "What can a thread do alone, before it talks to anybody?",
            "cuda.shfl_down_sync(0xFFFFFFFF, total, d) is the total of the lane that stands d lanes further.",
            "`total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)` for the distances 16, 8, 4, 2 and 1",
        ),
        what_if=(
            WhatIf(
                "Launch one thread for each number instead of a few blocks that stride.",
                "Why is that slower on a large vector?",
                "Then the talk of a block, its shuffles and its barrier, serves 64 numbers. With few blocks it serves "
                "the share of 64 threads, which each added up alone.",
            ),
        ),
    ),
    Step(
        name="warp_argmax",
        title="Where is the largest number?",
        ask="Let the 32 lanes of a warp find the index of the largest number of their row; of equal ones, the lower.",
        trial=_argmax,
        sizes=(1, 3, 6),
        timed=1 << 19,
        needs="strided_sum",
        limits={
            "global_load.requests": 1,
            "global_store.requests": 1,
            "shared_store.requests": 1,
            "shared_load.requests": 1,
        },
        tell="values and their indices travelled together, from register to register",
        hints=(
            "A lane needs two things from the other one: the number and its index.",
            "Shuffle both. Take them if the number is larger, or if it is equal and its index is lower.",
            "`if other > best or (other == best and place < where):`, then `best, where = other, place`",
        ),
        what_if=(
            WhatIf(
                "Look for a barrier in this kernel.",
                "Why is none needed?",
                "A shuffle is itself a meeting: the lanes named in its mask hand over their values at the same time. "
                "And no memory is shared in which one lane could overtake another.",
            ),
        ),
    ),
)
