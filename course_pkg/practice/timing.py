"""Time a right answer if there is a GPU, and compare the time with the bytes that the answer moves."""

import math

import numpy as np

from course_pkg.bench import device as devices
from course_pkg.bench.measure import measure
from course_pkg.core import CourseError
from course_pkg.core.units import format_time
from course_pkg.practice.answer import Answer
from course_pkg.practice.step import Step, Trial
from course_pkg.simt import Kernel

ENOUGH_THREADS = 128  # in a block: a launch of at least so many has few blocks
AT_ONCE = 32  # the most blocks that a multiprocessor holds, of any GPU


def note(step: Step, answer: Answer) -> str:
    """Return a sentence with the time on this machine's GPU, or why there is none; empty if there is no GPU."""
    if isinstance(answer.given, Kernel) or devices.gpu().kind != "gpu":
        return ""
    if step.timed is None:
        return step.untimed and f"Not timed: {step.untimed}"
    from course_pkg import cuda

    try:
        trial = step.trial(step.timed, np.random.default_rng(0))
        held = [cuda.to_device(a) if name in trial.arrays else a for name, a in trial.arguments.items()]
        launch = answer.given[trial.grid, trial.block, 0, trial.dynamic_shared]
        found = measure(launch, *held, cost=trial.must_move, name=step.title, samples=7)
    except (CourseError, MemoryError) as error:
        return f"Not timed on this machine's {devices.gpu().name}: {error}"
    time = f"On this machine's {devices.gpu().name}: {format_time(found.median_s)}, {found.t_eff_gb_s:,.0f} GB/s."
    return f"{time} {few_or_small(trial, found.median_s, found.device.units)}".rstrip()


def few_or_small(trial: Trial, time_s: float, multiprocessors: int) -> str:
    """Return a sentence on a launch whose blocks are so few or so small that they, and not memory, may set its time.

    A step has small blocks where the picture of larger ones could not be read. A GPU starts only so many blocks per ns,
    and few small ones do not fill it. The sentence is empty for many blocks of 128 threads or more.

    Examples
    --------
    >>> trial = Trial({}, {}, grid=1 << 21, block=8)
    >>> few_or_small(trial, 1.26e-3, 132)
    'Small blocks, for the picture: 2,097,152 of 8 threads, 1.7 per ns; larger ones would be fewer.'
    >>> few_or_small(Trial({}, {}, grid=1, block=32), 1e-3, 132)
    'One block works, of 32 threads: 131 of the 132 multiprocessors have nothing to do.'
    """
    blocks, threads = (
        math.prod(np.atleast_1d(trial.grid).tolist()),
        math.prod(np.atleast_1d(trial.block).tolist()),
    )
    if blocks < multiprocessors:
        who = "One block works" if blocks == 1 else f"{blocks} blocks work"
        idle = multiprocessors - blocks
        return f"{who}, of {threads} threads: {idle} of the {multiprocessors} multiprocessors have nothing to do."
    if threads >= ENOUGH_THREADS:
        return ""
    launch = f"Small blocks, for the picture: {blocks:,} of {threads} threads"
    if blocks > AT_ONCE * multiprocessors:
        return f"{launch}, {blocks / time_s / 1e9:.2g} per ns; larger ones would be fewer."
    return f"{launch}, {blocks * threads / multiprocessors:,.0f} threads per multiprocessor."
