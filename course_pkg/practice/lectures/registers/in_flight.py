"""The steps of lecture 4 on bytes in flight: pairs of numbers, Little's law, and warps that fit their registers."""

import math

import numpy as np

from course_pkg.core import machine, occupancy
from course_pkg.core.access import WARP
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.first_kernels.alone import numbers
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf


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


STEPS = (
    Step(
        name="paired_axpy",
        title="Two numbers per access",
        ask="Let each thread compute two neighbours of y = a x + y, by load_pair and store_pair.",
        trial=_pairs,
        sizes=(64, 65, 2, 158),
        timed=1 << 24,
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
)
