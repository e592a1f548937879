"""From what stopped a test to one line for the learner; for a hidden test one without any value of the test."""

import builtins
import re
from pathlib import Path

import course_pkg
from course_pkg.core.errors import CourseError
from course_pkg.grading import check
from course_pkg.grading.exercise import HIDDEN
from course_pkg.grading.sandbox import LearnerError, SandboxLost
from course_pkg.simt import HazardError, SimtError

LONGEST = 400
OURS = Path(course_pkg.__file__).parent


def is_hidden(source: str) -> bool:
    """Return whether a cell holds hidden tests."""
    return HIDDEN in source


def about(source: str) -> str:
    """Return what a hidden test says it tests: its first comment."""
    first = next((line for line in source.splitlines() if line.startswith("#")), "")
    return "" if first.startswith("###") else first.lstrip("# ").strip()


def of(error: BaseException, source: str, missing: dict[str, str]) -> str:
    """Return the line for an error in a test cell.

    Parameters
    ----------
    error : exception
    source : str
        The test cell, as its teacher wrote it.
    missing : dict
        Why a name that the answers should define is not there.
    """
    hidden = is_hidden(source)
    said = _said(error, source, missing, hidden)
    if hidden:
        said = " ".join(part for part in (about(source), said) if part) or "A hidden test failed."
    return one_line(said)


def one_line(text: str) -> str:
    """Return a text as one line of printable characters, not too long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def sentence(text: str) -> str:
    """Return a text with a capital at its head and an end."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def of_learner(error: LearnerError, *, hidden: bool) -> str:
    """Return what a learner's code raised; hidden inputs could stand in its message and in the name of its class."""
    kind = error.kind
    if kind == "NotPlain":
        what = "something that is no number, text, list, dictionary or array"
        return sentence(f"your code gave {what}" if hidden else error.message)
    if kind == "NotImplementedError":
        return "It is not written yet: NotImplementedError is raised" + _at(error.line) + "."
    if hidden and not _is_builtin(kind):
        kind = "an exception"
    said = f": {error.message}" if error.message and not hidden else ""
    return f"Your code raises {kind}{_at(error.line)}{said.rstrip('.')}."


def is_ours(error: BaseException) -> bool:
    """Return whether an error is a defect of the interpreter or of the judge, and not of the answer."""
    if isinstance(error, (CourseError, AssertionError, MemoryError, RecursionError)):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = Path(trace.tb_frame.f_code.co_filename) if trace is not None else Path()
    return OURS in file.parents and file.name != "check.py"  # which is handed whatever an answer gives


def _said(error, source, missing, hidden) -> str:
    if isinstance(error, check.Failed):
        return error.hint if hidden else str(error)
    if isinstance(error, NameError) and error.name in missing:
        return missing[error.name]
    if isinstance(error, SandboxLost):
        return sentence(error.reason)
    if isinstance(error, LearnerError):
        return of_learner(error, hidden=hidden)
    if isinstance(error, HazardError):
        return check.hazard_hint(error.hazard) if hidden else str(error)
    if isinstance(error, SimtError):
        return str(error)  # it speaks of the kernel's source
    if isinstance(error, MemoryError):
        return "Your code needs more memory than the judge has."
    if isinstance(error, AssertionError):
        return _assertion(str(error), source, hidden)
    what = "" if hidden else f": {error}"
    if is_ours(error):
        return f"The judge itself failed here ({type(error).__name__}); this is not your fault: tell your teacher."
    return f"The test cannot go on with what your code gave ({type(error).__name__}{what})."


def _assertion(message: str, source: str, hidden: bool) -> str:
    """A message written out in the source holds no values; one that was computed may."""
    if not hidden:
        return message or "The test failed."
    return sentence(message) if message and repr(message)[1:-1] in source else ""


def _at(line) -> str:
    return f" on line {line}" if isinstance(line, int) and line > 0 else ""


def _is_builtin(kind: str) -> bool:
    found = getattr(builtins, kind, None) if re.fullmatch(r"\w+", kind) else None
    return isinstance(found, type) and issubclass(found, BaseException)
