"""A failed check, and the line of a learner's kernel that is its likely cause."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PROFILES: ContextVar[list] = ContextVar("profiles")  # the profiles that no_hazards has seen inside explained


class Failed(AssertionError):
    """A check that failed.

    Parameters
    ----------
    message : str
        What is wrong, with values.
    about : str
        What was checked, in the teacher's words.
    verdict : str
        What is wrong: one of a fixed set of sentences, none of which an answer can influence.
    hazard : Hazard, optional
        The hazard that the message is about.

    Examples
    --------
    >>> str(Failed("found 3, expected 4"))
    'found 3, expected 4'
    """

    def __init__(self, message: str, about: str = "", verdict: str = "", hazard=None):
        super().__init__(message)
        self.about, self.verdict, self.hazard = about, verdict, hazard

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows in place of a traceback."""
        return [f"✗ {self}"]


class InputChanged(Failed):
    """A function has changed one of its inputs.

    Parameters
    ----------
    function : str
    argument : int
        The number of the argument; the first is 1.
    after : str
        The argument behind which the count begins, if it is not the function's bracket.

    Examples
    --------
    >>> InputChanged("scan", 2).argument
    2
    >>> str(InputChanged("scan", 2))
    'scan changes its argument 2, which is an input: work on a copy of it.'
    """

    def __init__(self, function: str, argument: int, after: str = ""):
        counted = f"{argument} after {after}" if after else argument
        cure = "work on a copy of it."
        super().__init__(
            f"{function} changes its argument {counted}, which is an input: {cure}",
            verdict=f"An input is changed: {cure}",
        )
        self.function, self.argument = function, argument


@contextmanager
def explained(kernel, *arrays: str, atomics: bool = True) -> Iterator[None]:
    """If a test fails within a ``with`` block, name the NumPy habit that is the likely cause, if there is one.

    An error of the interpreter becomes a failed check, so that a notebook shows its sentence without a traceback.

    Parameters
    ----------
    kernel : kernel
        The learner's kernel.
    *arrays : str
        Names of the kernel's parameters that are arrays.
    atomics : bool
        False if the exercise forbids or limits atomic operations of each thread: then the sentence does not advise one.

    Raises
    ------
    Failed
        The message is the sentence on the habit, or the error's message followed by that sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import simt
    >>> kernel = simt.Kernel.from_source("def kernel(a, out):\\n    out[:] = a", "kernel", {})
    >>> with explained(kernel, "a", "out"):
    ...     kernel[1, 1](np.ones(3), np.zeros(3))
    Traceback (most recent call last):
    course_pkg.grading.explain.Failed: Line 2, `out[:] = a`: `out[:]` means the whole array, ...
    """
    from course_pkg.grading import habits, quotes, suspects, updates  # not visible in the sandbox
    from course_pkg.simt.errors import HazardError, SimtError, Unsupported
    from course_pkg.simt.front.source import program_of

    seen = PROFILES.set([])
    try:
        yield
    except RecursionError:
        raise Failed("A function calls itself without end: which case ends it?") from None
    except Exception as error:
        program = getattr(kernel, "program", None)
        if program is None and (function := getattr(kernel, "py_func", kernel)) is kernel:
            name = getattr(function, "__name__", "This")
            raise Failed(f"{name} is no kernel: write @cuda.jit on the line above its def.") from None
        program = program or program_of(function)
        if said := habits.first(program, frozenset(arrays)):
            raise Failed(said) from None
        hazard = getattr(error, "hazard", None)
        if hazard is not None and (said := updates.take_turns(program, hazard, atomics)):
            raise Failed(f"Line {hazard.line}, {quotes.quoted(program, hazard.line)}: {said}.") from None
        told = quotes.placed(program, error)
        profile = next(reversed(PROFILES.get()), None)
        if isinstance(error, (Failed, HazardError)) and (
            said := suspects.likely(program, profile, reductions=False)
        ):
            raise Failed(f"{told} {said}") from None
        if isinstance(error, Unsupported):
            told = suspects.alias(program) or told
        if isinstance(error, (Failed, SimtError)):
            verdict = getattr(error, "verdict", "")
            raise Failed(told, getattr(error, "about", ""), verdict, hazard) from None
        raise
    finally:
        PROFILES.reset(seen)
