"""Steps on functions that judge programs: the bytes that must move, an honest bandwidth, what is left to gain."""

import numpy as np

from course_pkg.practice.step import RESULT, Step, Trial, WhatIf

PASSES = {"unknown": 2, "known": 1, "scratch": 0}


def _must_move(size, rng):
    fields, n, itemsize = size
    arguments = {"fields": fields, "n": n, "itemsize": itemsize}
    return Trial(arguments, {RESULT: sum(PASSES[kind] for kind in fields.values()) * n * itemsize})


def _bandwidth(n, rng):
    # the first call compiles, and one sample in five is disturbed: so the mean is far off, and the median is not
    samples_s = 1e-3 * (1 + 0.01 * rng.random(n))
    samples_s[rng.permutation(np.arange(1, n))[: n // 5]] *= 3
    samples_s[0] = 0.4
    return Trial({"samples_s": samples_s, "bytes_moved": 2e9}, {RESULT: 2e9 / np.median(samples_s[1:]) / 1e9})


def _gain(size, rng):
    a_eff_bytes, t_it_s, t_peak_gb_s = size
    ratio = t_peak_gb_s * 1e9 * t_it_s / a_eff_bytes
    arguments = {"a_eff_bytes": a_eff_bytes, "t_it_s": t_it_s, "t_peak_gb_s": t_peak_gb_s}
    return Trial(arguments, {RESULT: ratio if ratio >= 1 else float("nan")})


STEPS = (
    Step(
        name="must_move",
        title="Count what must move",
        ask="Return A_eff in bytes of fields that are unknown, known or scratch, each with n points of itemsize bytes.",
        trial=_must_move,
        sizes=(
            ({"T": "unknown", "Cp": "known", "qx": "scratch"}, 100, 8),
            ({"p": "unknown", "v": "unknown", "c": "known", "a": "known", "w": "scratch"}, 7, 4),
            ({"u": "unknown"}, 10, 8),
        ),
        tell="two passes per unknown field, one per known field, none for scratch",
        hints=(
            "Which arrays would even a perfect program have to touch in every step, and how often?",
            "An unknown field is read and written, a known one is read; what follows from others need not be stored.",
            '`{"unknown": 2, "known": 1, "scratch": 0}[kind]` passes for each kind in fields.values()',
        ),
        what_if=(
            WhatIf(
                "The flux qx is wanted in a file, at the end of a run of 1,000 steps.",
                "Does A_eff of a step grow?",
                "No. It must be written once per run, not once per step: a thousandth of a pass.",
            ),
        ),
    ),
    Step(
        name="bandwidth",
        title="An honest number",
        ask="Return GB/s from the seconds of several runs, of which the first compiled and some were disturbed.",
        trial=_bandwidth,
        sizes=(11, 20, 6),
        needs="must_move",
        tell="the first call is left out, and the median ignores disturbed runs",
        hints=(
            "Which sample has to be left out, and which average does not follow outliers?",
            "Slice off the first sample, and take np.median of the others.",
            "`bytes_moved / np.median(samples_s[1:]) / 1e9`",
        ),
        what_if=(
            WhatIf(
                "Take np.mean instead.",
                "Why is the result too small, and never too large?",
                "What disturbs a run adds time and never takes any away: errors of a timing have one sign.",
            ),
            WhatIf(
                "Take np.min.",
                "When is that the better choice?",
                "To compare with a bound: the least disturbed run is nearest to what the machine can do. It is not "
                "what a "
                "user will see, so say which one you report.",
            ),
        ),
    ),
    Step(
        name="gain",
        title="What is left to gain, and when nobody can say",
        ask="Return by which factor the step could become faster, and nan where T_eff exceeds T_peak.",
        trial=_gain,
        sizes=((24e9, 0.02, 2400.0), (4e6, 1e-6, 2400.0), (3e9, 3e-3, 1000.0), (6e9, 3e-3, 4000.0)),
        needs="bandwidth",
        tell="the bound judges programs that keep its assumptions, and says nothing about others",
        hints=(
            "First T_eff in GB/s. What does it mean if that is above what memory can do?",
            "The time cannot fall below A_eff / T_peak. Above T_peak an assumption does not hold: the data came from "
            "a cache, or two steps were done in one sweep.",
            '`t_eff = a_eff_bytes / t_it_s / 1e9`, then `t_peak_gb_s / t_eff`, or `float("nan")`',
        ),
        what_if=(
            WhatIf(
                "The result is 1.02.",
                "Is the program as fast as it can be?",
                "As fast as a program can be that moves A_eff bytes in every step. One that does two steps per sweep "
                "moves "
                "half as many, as step 5 has shown.",
            ),
        ),
    ),
)
