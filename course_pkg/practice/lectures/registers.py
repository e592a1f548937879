"""The steps of lecture 4: offsets, queues, pairs, bytes in flight, and threads that talk by registers."""

import math

import numpy as np

from course_pkg.core import machine, occupancy
from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.first_kernels.alone import numbers
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf

WEIGHTS = (
    1.0,
    -4.0,
    6.0,
    -4.0,
    1.0,
)  # the fourth difference: small whole numbers, so that every sum is exact
CHUNK, WARP = 3, 32


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


def _pairs(n, rng):
    x, y = numbers(n, rng), numbers(n, rng)
    warps, alone = math.ceil((n // 2) / WARP), n % 2
    needed = {"global_load.requests": 2 * (warps + alone), "global_store.requests": warps + alone}
    arguments = {"a": np.float64(3), "x": x, "y": y.copy()}
    return Trial(arguments, {"y": 3 * x + y}, blocks_for(math.ceil(n / 2), WARP), WARP, needed)


def _little(case, rng):
    t_eff_gb_s, latency_ns, sms, bytes_per_thread = case
    threads = t_eff_gb_s / 2 * latency_ns / sms / bytes_per_thread
    return Trial(
        dict(
            zip(
                ("t_eff_gb_s", "latency_ns", "multiprocessors", "bytes_per_thread"),
                case,
                strict=True,
            )
        ),
        {RESULT: WARP * math.ceil(threads / WARP)},
    )


def _warps(case, rng):
    threads, registers = case
    found = occupancy(machine("h200"), threads, registers_per_thread=registers)
    return Trial({"threads": threads, "registers": registers}, {RESULT: found.warps_per_sm})


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
    for row in a:  # the largest number is there twice, and by shuffles lane 0 hears of the later one first
        lane = 1 + rng.integers(7)
        row[[8 + lane, 17 + rng.integers(lane)]] = 60
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
        name="one_offset",
        title="One offset for three indices",
        ask="The vector u holds a grid row by row: find the offset of point (i, j, k), and that of its northern "
        "neighbour, at j - 1.",
        trial=_offset,
        sizes=((2, 3, 4), (3, 5, 2), (1, 4, 7)),
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
    Step(
        name="paired_axpy",
        title="Two numbers per access",
        ask="Let each thread compute two neighbours of y = a x + y, by load_pair and store_pair.",
        trial=_pairs,
        sizes=(64, 65, 2, 158),
        limits={"global_load.requests": 1, "global_store.requests": 1},
        tell="each request moved 16 bytes per lane, and half as many requests did the work",
        hints=(
            "Thread 0 takes elements 0 and 1, thread 1 takes 2 and 3. Where does thread t begin?",
            "load_pair(x, i) gives two numbers at once, x[i] and x[i + 1]. i has to be even.",
            "`x0, x1 = load_pair(x, i)`, the same for y, then `store_pair(y, i, a * x0 + y0, a * x1 + y1)`",
        ),
        what_if=(
            WhatIf(
                "Compare the counts with those of one number per thread.",
                "The requests are halved. Why are the sectors not?",
                "A sector holds 32 bytes whoever asks for it: the same bytes of x and y are moved. Fewer instructions "
                "ask for them, and each thread has twice as many bytes in flight.",
            ),
        ),
    ),
    Step(
        name="threads_in_flight",
        title="Enough bytes in flight",
        ask="Return how many threads each multiprocessor needs, in whole warps, so that a copy reaches t_eff_gb_s. "
        "t_eff_gb_s counts bytes read and written; each thread waits for bytes_per_thread bytes that it reads.",
        trial=_little,
        sizes=((4096, 600, 128, 8), (4096, 600, 128, 16), (1000, 500, 100, 8), (3300, 700, 132, 4)),
        tell="bandwidth times latency, shared out to multiprocessors and threads",
        hints=(
            "Only what a thread loads makes it wait. What part of a copy's bytes is read?",
            "GB/s times ns are bytes: 10⁹ and 10⁻⁹ cancel. Divide by multiprocessors, then by bytes per thread.",
            "`threads = t_eff_gb_s / 2 * latency_ns / multiprocessors / bytes_per_thread`, then "
            "`32 * math.ceil(threads / 32)`",
        ),
        what_if=(
            WhatIf(
                "Double bytes_per_thread.",
                "Why does half the number of threads do?",
                "Little's law counts bytes in flight: it does not ask how many threads asked for them. Pairs, or two "
                "independent loads per thread, are worth as much as twice the threads.",
            ),
        ),
    ),
    Step(
        name="warps_that_fit",
        title="From registers to resident warps",
        ask="Return how many warps are resident on a multiprocessor if each thread takes `registers` registers. A warp "
        "gets them in units of 256, from the 16,384 of its quarter; only whole blocks live there, at most 32.",
        trial=_warps,
        sizes=((256, 40), (128, 33), (1024, 40), (32, 16), (256, 255), (96, 60)),
        needs="threads_in_flight",
        tell="registers, warps and blocks each set a limit, and the smallest counts",
        hints=(
            "There are three limits: registers feed some warps, and a multiprocessor holds 64 warps and 32 blocks.",
            "Round 32 · registers up to a multiple of 256. A quarter feeds 16,384 // that many warps.",
            "`fed = 4 * (16_384 // unit)`, `blocks = min(fed // warps, 64 // warps, 32)`",
        ),
        what_if=(
            WhatIf(
                "Ask for 255 registers, then for 32.",
                "Why is an occupancy of 100 % not the aim?",
                "Occupancy helps because warps that wait are replaced by others. With more registers each thread can "
                "have more loads in flight, and a kernel that must spill pays for each value twice.",
            ),
        ),
    ),
    Step(
        name="strided_sum",
        title="A share, then shuffles",
        ask="Let each thread add up its share of a, each warp its 32 threads by shuffles, and let thread 0 write the "
        "sum of its block to out[block].",
        trial=_sum,
        sizes=(300, 128, 50, 1),
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
