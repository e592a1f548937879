"""``practice.check``: from a learner's answer to what the learner sees; ``practice.watch``: the same for a talk."""

import copy

from course_pkg.core import CourseError
from course_pkg.grading import habits
from course_pkg.practice import answer as answers
from course_pkg.practice import catalogue, hazards, remembered, scene, timing, verdict
from course_pkg.practice.attempt import attempt
from course_pkg.practice.page import Result, counts
from course_pkg.practice.step import Shown, Step, Trial

_SKELETON_LINES: dict[str, int] = {}  # the most lines with ... that a step had in this session


def check(name: str, given) -> Result:
    """Try an answer to a step in the interpreter, with or without a GPU, and say what it did.

    Nothing that the answer does reaches the notebook: it loops, crashes and eats memory in a process of its own.

    Parameters
    ----------
    name : str
        Of the step.
    given : kernel or function
        The learner's answer; while it holds ``...``, it is not run.

    Returns
    -------
    Result
        A notebook shows it: a verdict, the picture of what the threads did, counts, hints and variations.

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
    return check_step(catalogue.step(name), given)


def check_step(step: Step, given) -> Result:
    """Do what :func:`check` does, for a step that need not be in the catalogue."""
    trials = step.trials()
    answer = answers.read(step, given, trials[0].is_launch)
    if isinstance(answer, str):
        return Result(step, verdict.Verdict(verdict.WRONG, answer))
    if left := answer.open_lines():
        most = _SKELETON_LINES[step.name] = max(len(left), _SKELETON_LINES.get(step.name, 0))
        return Result(step, verdict.not_begun(step, left, most))
    if trials[0].is_launch and (said := habits.first(answer.program, frozenset(trials[0].arrays))):
        return Result(step, verdict.Verdict(verdict.WRONG, said))
    outcomes = attempt(step, answer, copy.deepcopy(trials))
    found = verdict.judge(step, answer, trials, outcomes)
    if found.state == verdict.WRONG and trials[0].is_launch and (said := habits.likely(answer.program)):
        found = verdict.Verdict(verdict.WRONG, f"{found.sentence} {said}")
    first = outcomes[0]
    pictures = [scene.picture(step, trials[0], first), scene.strip(step, first)]
    notes = []
    if found.state == verdict.GOOD:
        notes += [timing.note(step, answer), remembered.remember(step)]
    return Result(
        step,
        found,
        tuple(p for p in pictures if p is not None),
        counts(step, trials[0], first.profiles[-1]) if first.profiles and trials[0].needed else (),
        hazards.listed(answer, trials[0], first),
        tuple(filter(None, notes)),
        first.printed,
    )


def watch(kernel, trial: Trial) -> Result:
    """Run a kernel of a lecture once in the interpreter, and show what its threads did.

    It shows verdict and picture as :func:`check` does, without hints; nothing is remembered.

    Parameters
    ----------
    kernel : kernel
    trial : Trial
        A launch.

    Raises
    ------
    CourseError
        If this is no kernel.

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
