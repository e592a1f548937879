"""The steps of all lectures, found in ``practice/lectures``: each module or folder has those of one lecture."""

import difflib
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from course_pkg.core import CourseError
from course_pkg.practice import lectures as folder
from course_pkg.practice.step import Step


@cache
def lectures() -> dict[str, tuple[Step, ...]]:
    """Return the steps of each lecture, by the lecture's name without its number, in the order of the laboratory.

    Raises
    ------
    CourseError
        If two steps have the same name, or a step needs another one that does not come earlier in the same lecture.
    """
    found: dict[str, tuple[Step, ...]] = {}
    seen: dict[str, str] = {}
    for lecture in sorted(module.name for module in iter_modules(folder.__path__)):
        steps = tuple(import_module(f"{folder.__name__}.{lecture}").STEPS)
        for number, step in enumerate(steps):
            if step.name in seen:
                raise CourseError(
                    f"Two steps are named {step.name}, in {seen[step.name]} and {lecture}: rename one."
                )
            if step.needs and step.needs not in {before.name for before in steps[:number]}:
                raise CourseError(f"Step {step.name} needs {step.needs}, which does not come before it.")
            seen[step.name] = lecture
        found[lecture] = steps
    return found


def step(name: str) -> Step:
    """Return a step by its name.

    Raises
    ------
    CourseError
        If there is no such step; the message suggests the most similar name.
    """
    known = {step.name: step for steps in lectures().values() for step in steps}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(str(name), known, 1, 0.4)
    hint = f"do you mean {near[0]!r}?" if near else "leave the line as the notebook gave it."
    raise CourseError(f"There is no step {name!r}: {hint}")


def lecture_of(name: str) -> str:
    """Return the lecture that a step belongs to."""
    return next(lecture for lecture, steps in lectures().items() if name in {s.name for s in steps})
