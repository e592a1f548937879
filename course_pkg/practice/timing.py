"""Time a right answer if there is a GPU, and compare the time with the bytes that the answer moves."""

import numpy as np

from course_pkg.bench import device as devices
from course_pkg.bench.measure import measure
from course_pkg.core import CourseError
from course_pkg.core.units import format_time
from course_pkg.practice.answer import Answer
from course_pkg.practice.step import Step
from course_pkg.simt import Kernel


def note(step: Step, answer: Answer) -> str:
    """Return a sentence with the time on this machine's GPU; empty if there is no GPU or the step is not timed."""
    if step.timed is None or isinstance(answer.given, Kernel) or devices.gpu().kind != "gpu":
        return ""
    from course_pkg import cuda

    try:
        trial = step.trial(step.timed, np.random.default_rng(0))
        held = [cuda.to_device(a) if name in trial.arrays else a for name, a in trial.arguments.items()]
        launch = answer.given[trial.grid, trial.block, 0, trial.dynamic_shared]
        found = measure(launch, *held, cost=trial.must_move, name=step.title, samples=7)
    except (CourseError, MemoryError) as error:
        return f"Not timed on this machine's {devices.gpu().name}: {error}"
    return f"On this machine's {devices.gpu().name}: {format_time(found.median_s)}, {found.t_eff_gb_s:,.0f} GB/s."
