"""The steps of lecture 4 on flat offsets and on queues in registers: each number of a column is loaded once."""

import math

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.first_kernels.alone import numbers
from course_pkg.practice.step import Step, Trial, WhatIf

# the fourth difference: small whole numbers, so that every sum is exact
WEIGHTS = (1.0, -4.0, 6.0, -4.0, 1.0)
CHUNK = 3


def _offset(shape, rng):
    nz, ny, nx = shape
    u = numbers(shape, rng)
    right = u.copy()
    right[:, 1:] -= u[:, :-1]
    needed = {"global_load.thread_accesses": u.size + nz * (ny - 1) * nx}
    extents = {name: np.uint32(n) for name, n in (("nx", nx), ("ny", ny), ("nz", nz))}
    arguments = {"u": u.reshape(-1), **extents, "out": unwritten(u.size)}
    return Trial(
        arguments, {"out": right.reshape(-1)}, blocks_for((nz, ny, nx), (4, 2, 2)), (4, 2, 2), needed
    )


def _fourth_difference(u):
    return sum(w * u[d : len(u) - 4 + d] for d, w in enumerate(WEIGHTS))


def _queue(shape, rng):
    u = numbers(shape, rng)
    right = _fourth_difference(u)
    needed = {"global_load.thread_accesses": u.size, "global_store.thread_accesses": right.size}
    blocks = blocks_for(shape[1], 8)
    return Trial({"u": u, "out": unwritten(right.shape)}, {"out": right}, blocks, 8, needed)


def _chunks(shape, rng):
    u = numbers(shape, rng)
    right = _fourth_difference(u)
    chunks = math.ceil(len(right) / CHUNK)
    needed = {
        "global_load.thread_accesses": (len(right) + 4 * chunks) * shape[1],
        "global_store.thread_accesses": right.size,
    }
    arguments = {"u": u, "planes": CHUNK, "out": unwritten(right.shape)}
    return Trial(arguments, {"out": right}, (blocks_for(shape[1], 8), chunks), (8, 1), needed)


STEPS = (
    Step(
        name="one_offset",
        title="One offset for three indices",
        ask="The vector u holds a grid row by row: find the offset of point (i, j, k), and that of its northern "
        "neighbour, at j - 1.",
        trial=_offset,
        sizes=((2, 3, 4), (3, 5, 2), (1, 4, 7)),
        timed=(128, 256, 512),
        limits={"global_load.thread_accesses": 1},
        tell="one product chain found the point, and one subtraction its neighbour",
        hints=(
            "How many numbers lie in memory before plane k, how many before row j of it, how many before point i?",
            "A plane has ny · nx numbers, a row nx. One row to the north is nx numbers back.",
            "`c = np.uint32((k * ny + j) * nx + i)`, and `u[np.uint32(c - nx)]`",
        ),
        what_if=(
            WhatIf(
                "Remove both np.uint32: the result stays right.",
                "Why does the lecture's flat kernel keep them?",
                "Numba widens products of 32 bits to 64, and signed indices may count from the end. A GPU adds and "
                "multiplies 32 bits at a time: each wider or signed index costs instructions.",
            ),
            WhatIf(
                "Remove `if j > 0:`.",
                "Why does an unsigned offset then point far away, and not to the last row?",
                "An unsigned number below 0 wraps to about four thousand million; a signed one would be a negative "
                "index, which in Python counts from the end.",
            ),
        ),
    ),
    Step(
        name="plane_queue",
        title="A queue in registers",
        ask="Let each thread walk along k and load each number of its column once: "
        "out[k] = u[k] - 4 u[k+1] + 6 u[k+2] - 4 u[k+3] + u[k+4].",
        trial=_queue,
        sizes=((7, 8), (5, 3), (9, 20)),
        timed=(64, 1 << 18),
        needs="one_offset",
        limits={"global_load.thread_accesses": 1, "global_store.thread_accesses": 1},
        tell="four numbers stayed in registers, and each trip loaded one",
        hints=(
            "Of the five numbers of out[k + 1], how many has the thread already loaded for out[k]?",
            "In each trip, load the fifth number, compute, then let every name take the value of the next one.",
            "`e = u[k + 4, i]`, then the sum, then `a, b, c, d = b, c, d, e`",
        ),
        what_if=(
            WhatIf(
                "Let each thread walk along i instead, through one row.",
                "It loads as little. Why does the lecture march along z?",
                "Neighbouring lanes would then be rows apart, and each request would touch one sector per lane. "
                "Along z the lanes of a warp stay side by side.",
            ),
        ),
    ),
    Step(
        name="march_in_chunks",
        title="March in chunks",
        ask="Let the blocks of number cuda.blockIdx.y compute `planes` planes of out each, by the same formula.",
        trial=_chunks,
        sizes=((10, 8), (11, 5), (6, 9)),
        timed=(64, 1 << 18),
        needs="plane_queue",
        limits={"global_load.thread_accesses": 1, "global_store.thread_accesses": 1},
        tell="each chunk loaded its own planes and four more",
        hints=(
            "Chunk 0 computes planes 0, 1, 2 of out; where does chunk 1 begin? The last chunk may be shorter.",
            "The queue of a chunk begins with the planes first to first + 3 of u.",
            "`first = cuda.blockIdx.y * planes`, `last = min(first + planes, out.shape[0])`",
        ),
        what_if=(
            WhatIf(
                "Think of planes = 1 and of planes = out.shape[0].",
                "Why is neither the best?",
                "With one plane per chunk each thread loads five numbers for one result. With one chunk nothing is "
                "loaded twice, but there are few threads, and so few bytes are in flight.",
            ),
        ),
    ),
)
