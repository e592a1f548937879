"""``practice.check`` judges a learner's answer and shows the result; ``practice.watch`` shows a kernel of a lecture."""

import copy
import time
from dataclasses import replace

from course_pkg.core import CourseError
from course_pkg.grading import habits, suspects
from course_pkg.practice import answer as answers
from course_pkg.practice import catalogue, hazards, remembered, scene, timing, verdict
from course_pkg.practice.attempt import attempt
from course_pkg.practice.page import Result, counts
from course_pkg.practice.step import Shown, Step, Trial

UNCOUNTED = "Counts are shown once the result is right: those of a wrong answer mean nothing."
_SKELETON_LINES: dict[str, int] = {}  # for each step, the most lines with ... so far in this session


def check(name: str, given) -> Result:
    """Try an answer to a step in the interpreter, whether or not there is a GPU, and say what the answer did.

    The answer runs in a separate process: if it loops without end, crashes or takes too much memory, the notebook is
    not affected.

    Parameters
    ----------
    name : str
        Name of the step.
    given : kernel or function
        The learner's answer. It is not run as long as it contains ``...``.

    Returns
    -------
    Result
        A notebook shows a verdict, a picture of what the threads did, counts, hints and variations.

    Raises
    ------
    CourseError
        If there is no step of this name.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> @cuda.jit
    ... def add_ten(a, out):
    ...     i = cuda.threadIdx.x
    ...     ...
    >>> check("map", add_ten)
    Not begun: replace the ... in line 4. ...
    """
    began_s = time.monotonic()
    return check_step(catalogue.step(name), given, began_s)


def check_step(step: Step, given, began_s: float | None = None) -> Result:
    """Do what :func:`check` does, also for a step that is not in the catalogue."""
    began_s = time.monotonic() if began_s is None else began_s
    trials = step.trials()
    answer = answers.read(step, given, trials[0].is_launch)
    if isinstance(answer, str):
        return Result(step, verdict.Verdict(verdict.WRONG, answer))
    if left := answer.open_lines():
        most = _SKELETON_LINES[step.name] = max(len(left), _SKELETON_LINES.get(step.name, 0))
        return Result(step, verdict.not_begun(step, left, most))
    if trials[0].is_launch and (said := habits.first(answer.program, frozenset(trials[0].arrays))):
        return Result(step, verdict.Verdict(verdict.WRONG, said))
    outcomes = attempt(step, answer, copy.deepcopy(trials), began_s)
    found = verdict.judge(step, answer, trials, outcomes)
    first = outcomes[0]
    if found.state == verdict.WRONG and trials[0].is_launch:
        said = suspects.likely(answer.program, next(iter(first.profiles), None))
        found = replace(found, sentence=f"{found.sentence} {said}") if said else found
    pictures = [scene.picture(step, trials[0], first), scene.strip(step, first) if found.counted else None]
    notes = []
    if found.state == verdict.GOOD:
        notes += [hazards.skipped(answer, outcomes), timing.note(step, answer), remembered.remember(step)]
    counted = bool(first.profiles and trials[0].needed)
    if counted and not found.counted:
        notes.append(UNCOUNTED)
    return Result(
        step,
        found,
        tuple(p for p in pictures if p is not None),
        counts(step, trials[0], first.profiles[-1]) if counted and found.counted else (),
        hazards.listed(answer, trials[0], first),
        tuple(filter(None, notes)),
        first.printed,
    )


def watch(kernel, trial: Trial) -> Result:
    """Run a kernel of a lecture once in the interpreter, and show what its threads did.

    It shows the verdict and the picture as :func:`check` does, but no hints. Nothing is saved.

    Parameters
    ----------
    kernel : kernel
    trial : Trial
        The inputs, and the grid and block of the launch.

    Raises
    ------
    CourseError
        If ``kernel`` is not a kernel.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.core.checks import unwritten
    >>> @cuda.jit
    ... def double(a, out):
    ...     i = cuda.threadIdx.x
    ...     out[i] = 2 * a[i]
    >>> a = np.arange(4.0)
    >>> watch(double, Trial({"a": a, "out": unwritten(4)}, {"out": 2 * a}, grid=1, block=4))
    Right: every element is right.
    """
    shown = Shown()
    answer = answers.read(shown, kernel, launched=True)
    if isinstance(answer, str):
        raise CourseError(answer)
    outcomes = attempt(shown, answer, [copy.deepcopy(trial)])
    found = verdict.judge(shown, answer, [trial], outcomes)
    picture = scene.picture(shown, trial, outcomes[0])
    return Result(shown, found, (picture,) if picture is not None else (), printed=outcomes[0].printed)
