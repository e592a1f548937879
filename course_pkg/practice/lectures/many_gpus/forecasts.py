"""Steps on how long a run will take: the time of a message, as a line in its bytes, and the parallel efficiency."""

from math import ceil, log2

import numpy as np

from course_pkg.practice.step import RESULT, Step, Trial, WhatIf


def _message_line(size, rng):
    nbytes = np.array([8.0 * 4**k for k in range(size)])
    latency, byte = rng.uniform(2e-6, 2e-5), 1 / rng.uniform(1e9, 2e11)
    seconds = (latency + byte * nbytes) * rng.uniform(0.98, 1.02, size)
    right = np.polyfit(nbytes, seconds, 1)[::-1]
    mistakes = {
        "The two are exchanged: the latency comes first.": right[::-1],
        "The second number is a bandwidth: asked is its inverse, the seconds of a byte.": np.array(
            [right[0], 1 / right[1]]
        ),
        "The line goes through 0: a message of no bytes would take no time.": np.array(
            [0.0, nbytes @ seconds / (nbytes @ nbytes)]
        ),
    }
    return Trial(
        {"nbytes": nbytes, "seconds": seconds},
        {RESULT: 1e6 * right},
        mistakes={
            "These are seconds: return microseconds.": {RESULT: right},
            **{says: {RESULT: 1e6 * value} for says, value in mistakes.items()},
        },
    )


def _efficiency(size, rng):
    ranks, sums = size
    kernels_us, latency_us = float(rng.integers(100, 500)), float(rng.integers(2, 20))

    def value(rounds, sums=sums):
        return kernels_us / (ranks * (kernels_us / ranks + sums * rounds * latency_us))

    rounds = ceil(log2(ranks))
    mistakes = {
        "This is the speed-up: the efficiency is its share of the ranks.": ranks * value(rounds),
        "These are percent: asked is a number between 0 and 1.": 100 * value(rounds),
        "The times are exchanged: the time on one rank stands above the line.": 1 / value(rounds),
        "A sum takes as many rounds as the ranks can be halved, rounded up.": value(log2(ranks)),
        "Each sum was given one latency, however many ranks there are.": value(1),
        "One sum was counted: an iteration has `sums` of them.": value(rounds, 1),
        "The kernels' time was not divided: each rank has its share of the points.": kernels_us
        / (ranks * (kernels_us + sums * rounds * latency_us)),
    }
    right = value(rounds)
    return Trial(
        {"kernels_us": kernels_us, "ranks": ranks, "sums": sums, "latency_us": latency_us},
        {RESULT: np.float64(right)},
        mistakes={says: {RESULT: np.float64(v)} for says, v in mistakes.items() if abs(v - right) > 1e-9},
    )


STEPS = (
    Step(
        name="message_line",
        title="Latency and the time of a byte",
        ask="Fit a straight line to the seconds of messages, and return the latency and a byte's time, in µs.",
        trial=_message_line,
        sizes=(7, 5, 9),
        rtol=1e-6,
        tell="two numbers tell the time of every message",
        hints=(
            "seconds = latency + byte · nbytes: where does the line meet zero bytes, and how steep is it?",
            "np.polyfit(x, y, 1) returns the slope first, then the height at 0. A second has a million microseconds.",
            "`byte, latency = np.polyfit(nbytes, seconds, 1)`, `return 1e6 * np.array([latency, byte])`",
        ),
        what_if=(
            WhatIf(
                "Leave out the longest messages, one after the other.",
                "Which of the two numbers becomes uncertain?",
                "The time of a byte: short messages take their latency, whatever they bring.",
            ),
        ),
    ),
    Step(
        name="efficiency",
        title="What efficiency is left",
        ask="Return the efficiency of strong scaling: kernels are divided among the ranks, sums take latencies.",
        trial=_efficiency,
        sizes=((8, 2), (12, 2), (64, 1), (2, 2)),
        rtol=1e-9,
        tell="kernels shrink, waits grow, and this is what is left",
        hints=(
            "How long is an iteration on one rank, where there is nobody to wait for, and how long on all?",
            "A sum takes np.ceil(np.log2(ranks)) latencies. Efficiency is the time on one rank over ranks times the "
            "time on all.",
            "`many_us = kernels_us / ranks + sums * np.ceil(np.log2(ranks)) * latency_us`, "
            "`return kernels_us / (ranks * many_us)`",
        ),
        what_if=(
            WhatIf(
                "Divide sums by 4, as with an s-step method with s = 4, and multiply kernels_us by 1.5.",
                "From how many ranks on is the time on all ranks shorter, and what does the efficiency say on one?",
                "It depends on the latency: try it. On one rank both have an efficiency of 1, though one takes longer: "
                "an efficiency compares a method with itself.",
            ),
        ),
    ),
)
