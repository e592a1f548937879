"""The verdict on an attempt: one sentence, chosen to help most."""

from dataclasses import dataclass

import numpy as np

from course_pkg.grading import check, quotes
from course_pkg.practice import hazards
from course_pkg.practice.answer import Answer
from course_pkg.practice.attempt import Outcome, Strange
from course_pkg.practice.step import RESULT, Step, Trial
from course_pkg.simt.report.touches import touches
from course_pkg.viz.threads_scene import element_name

NOT_BEGUN, WRONG, GOOD = "not begun", "wrong", "good"


@dataclass(frozen=True)
class Verdict:
    """The judgement on an attempt.

    Attributes
    ----------
    state : str
        ``"not begun"``, ``"wrong"`` or ``"good"``.
    sentence : str
    counted : bool
        Whether the counts of the attempt mean something: its results are right, and it has no hazard. A kernel that
        leaves out half of its work also moves few bytes, but that does not make it good.
    """

    state: str
    sentence: str
    counted: bool = False


def not_begun(step: Step, lines: list[int], of: int) -> Verdict:
    """Return the verdict on an unfinished answer: ``lines`` still contain ``...``; at the start, ``of`` lines did."""
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {_listed(lines)}"
    begun = "Not begun" if len(lines) >= of else "Not finished"
    return Verdict(NOT_BEGUN, f"{begun}: replace the ... in {where}. {step.ask}")


def judge(step: Step, answer: Answer, trials: list[Trial], outcomes: list[Outcome]) -> Verdict:
    """Return the verdict on the outcomes of an answer's trials.

    The arrays in ``trials`` are those from before the run.
    """
    for number, outcome in enumerate(outcomes):
        trial = trials[number]
        fault = (
            _stopped(answer, outcome)
            or hazards.told(answer, trial, outcome)
            or _wrong(step, trial, outcome)
            or _changed(trial, outcome)
            or outcome.complaint
        )
        if fault:
            return Verdict(WRONG, fault if number == 0 else f"{_elsewhere(trial)}: {_lower(fault)}")
    for number, outcome in enumerate(outcomes):
        fault = _too_much(step, trials[number], outcome)
        if fault:
            return Verdict(WRONG, fault, counted=True)
    return Verdict(GOOD, f"Right: {step.tell}.", counted=True)


def _elsewhere(trial: Trial) -> str:
    """Return the beginning of a sentence: the answer is right on the inputs of the picture, but fails at this size."""
    if trial.ranks:
        return f"Right on the ranks drawn here, but with {trial.ranks} rank{'s' * (trial.ranks > 1)}"
    shapes = [a.shape for a in trial.arrays.values()]
    if not shapes:
        values = ", ".join(f"{name} = {value}" for name, value in trial.arguments.items())
        return f"Right on the inputs drawn here, but with {values}"
    largest = max(shapes, key=lambda shape: int(np.prod(shape)))
    size = " × ".join(map(str, largest))
    return f"Right on the inputs drawn here, but with {size} elements"


def _lower(sentence: str) -> str:
    return (
        sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence
    )


def _stopped(answer: Answer, outcome: Outcome) -> str:
    """Return the interpreter's error as a sentence with the learner's line."""
    if not outcome.error:
        return ""
    if outcome.place is None:
        return outcome.error
    function, line = outcome.place
    if function != answer.program.name:
        return f"In {function}, which it calls, line {line}: {outcome.error}"
    return f"Line {line}, {quotes.quoted(answer.program, line)}: {outcome.error}"


def _wrong(step: Step, trial: Trial, outcome: Outcome) -> str:
    """Compare results with what is expected; return a sentence, empty if all of them are right."""
    for name, expected in trial.expected.items():
        found = outcome.after.get(name)
        fault = _no_numbers(found, expected) if name == RESULT else ""
        if fault:
            return fault
        what = "the result" if name == RESULT else name
        try:
            check.close(found, expected, what, rtol=step.rtol, atol=step.rtol)
        except check.Failed as failed:
            if not isinstance(expected, np.ndarray) or np.shape(found) != expected.shape:
                return f"{_capital(str(failed))} {_mistake(step, trial, outcome)}".rstrip()
            first = _first_wrong(trial, step, name, found, expected, outcome)
            also = _mistake(step, trial, outcome) or _changed(trial, outcome)
            if also in first:
                also = ""
            return _read_wrongly(step, trial, outcome) or f"{first} {also}".rstrip()
    return ""


def _mistake(step: Step, trial: Trial, outcome: Outcome) -> str:
    """Return the sentence on the likely mistake that gives exactly these results; empty if no mistake does."""
    for sentence, results in trial.mistakes.items():
        pairs = [(np.asarray(outcome.after.get(name)), value) for name, value in results.items()]
        if all(
            found.shape == np.shape(value) and not wrong_elements(found, value, step.rtol).any()
            for found, value in pairs
        ):
            return sentence
    return ""


def _no_numbers(found, expected) -> str:
    if isinstance(found, Strange):
        return f"It returns a {found.kind}: return numbers, or a NumPy array."
    if found is None:
        return "It returns nothing: is a return missing?"
    if isinstance(found, list) and isinstance(expected, np.ndarray):
        return "It returns a list, which holds Python objects: return a NumPy array."
    return ""


def _read_wrongly(step: Step, trial: Trial, outcome: Outcome) -> str:
    """Say which input no thread read, or several did, if each element is needed exactly once."""
    inputs = {name: a for name, a in trial.arrays.items() if name not in trial.expected}
    each_once = sum(a.size for a in inputs.values())
    counted = "global_load.thread_accesses"
    if counted not in step.limits or trial.needed.get(counted) != each_once or len(outcome.profiles) != 1:
        return ""
    found = [t for t in touches(outcome.profiles[0]) if (t.space, t.kind) == ("global", "load")]
    for name, array in inputs.items():
        mine = [t.element for t in found if t.array == name]
        times = np.bincount(np.concatenate([*mine, np.empty(0, int)]).astype(int), minlength=array.size)
        if times.any() and (times > 1).any():
            first = int(np.argmax(times > 1))
            where = element_name(name, array.shape, first)
            said = f"{where} is read {times[first]} times, and once is enough"
            return f"{said}: how many threads has the grid, and which elements belong to this one?"
        if times.any() and not times.all():
            where = element_name(name, array.shape, int(np.argmin(times)))
            return f"{where} is read by nobody: which thread should take it?"
    return ""


def _first_wrong(trial: Trial, step: Step, name: str, found, expected, outcome: Outcome) -> str:
    """Say which element is wrong, or that no thread wrote it, and what may be the reason."""
    wrong = wrong_elements(found, expected, step.rtol).reshape(-1)
    unwritten = unwritten_elements(found, expected).reshape(-1)
    first = int(np.argmax(unwritten if unwritten.any() else wrong))
    where = "the result" if name == RESULT else element_name(name, expected.shape, first)
    many = f"{int(wrong.sum())} of {wrong.size} elements are"
    if unwritten.any() and name != RESULT:
        if by := _stored_at(outcome, name, first):
            return (
                f"{where} was written and is still no number: {name} holds none before, so {by} has nothing to add to. "
                f"Write {name}[…] = …, once; what is to be added up, add up in a variable of the thread before."
            )
        many = f"{int(unwritten.sum())} of {wrong.size} elements of {name} were written by nobody, the first is {where}"
        if unwritten.all():
            changed = _changed(trial, outcome)
            also = f" {changed}" if changed else ""
            return f"Nobody has written {name}: which thread is to write {where}?{also}"
        if expected.ndim == 2:
            return f"{many}; {_directions(trial)}."
        return f"{many}: which thread is to write it?"
    value, right = np.asarray(found).reshape(-1)[first], expected.reshape(-1)[first]
    if expected.ndim == 2 and expected.shape[0] == expected.shape[1] and np.allclose(found, expected.T):
        return f"{name} is the transpose of what is asked: {_directions(trial)}."
    many = f"{many} wrong; {where}" if wrong.size > 1 else where
    at = element_name(", at ", expected.shape, first) if name == RESULT and wrong.size > 1 else ""
    if expected.dtype.kind == "b":
        return f"{many} is {bool(value)} and should be {bool(right)}{at}."
    digits = 6 if f"{value:.6g}" != f"{right:.6g}" else 14
    return f"{many} is {value:.{digits}g} and should be {right:.{digits}g}{at}."


def _directions(trial: Trial) -> str:
    """Say which index counts rows and which counts columns, by the names x and y if blocks have two dimensions."""
    if np.size(trial.block) > 1:
        return "x counts columns, the last index, and y counts rows, the first"
    return "the first index counts rows, the last one columns"


def _stored_at(outcome: Outcome, name: str, element: int) -> str | None:
    """Return how the last launch wrote to an element: by ``+=`` or by an atomic; None if it did not."""
    found = touches(outcome.profiles[-1]) if outcome.profiles else []
    kinds = {t.kind for t in found if t.array == name and element in t.element}
    return "+=" if "store" in kinds else "cuda.atomic.add" if "atomic" in kinds else None


def wrong_elements(found, expected, rtol: float) -> np.ndarray:
    """Return which elements of a result are wrong."""
    return ~np.isclose(found, expected, rtol=rtol, atol=rtol, equal_nan=True)


def unwritten_elements(found, expected) -> np.ndarray:
    """Return which elements wrongly still have the value of :func:`~course_pkg.core.checks.unwritten`."""
    found = np.asarray(found)
    if found.dtype.kind == "b":  # cannot hold that value: any number other than 0 becomes True
        return np.zeros(found.shape, bool)
    if found.dtype.kind in "fc":
        return np.isnan(found) & ~np.isnan(expected)
    return (found == found.dtype.type(85)) & (expected != 85)


def _changed(trial: Trial, outcome: Outcome) -> str:
    for name, array in trial.arrays.items():
        if name not in trial.expected and not np.array_equal(outcome.after[name], array, equal_nan=True):
            return f"{name} was changed, and is only to be read: write the results elsewhere."
    return ""


def _too_much(step: Step, trial: Trial, outcome: Outcome) -> str:
    """Compare counts with the step's limits; return a sentence, empty if all limits are met."""
    for profile in outcome.profiles:
        if step.also and (said := step.also(profile, trial)):
            return f"The result is right, but {said}"
        if step.limits and trial.needed:
            try:
                check.at_most(profile, step.limits, compulsory=trial.needed)
            except check.Failed as failed:
                return f"The result is right, but {failed}"
    return ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _listed(numbers) -> str:
    return " and ".join(filter(None, [", ".join(map(str, numbers[:-1])), str(numbers[-1])]))
