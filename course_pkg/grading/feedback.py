"""Turn the error that stopped a test into one line for the learner.

For a visible test, the line says what was found. For a hidden test, it says what is tested, in the words of the
exercise, and gives a verdict from a fixed set of sentences. It contains no value, no line number, no name and no
message of an error, because an answer could hide the inputs of the hidden test in any of these.
"""

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import course_pkg
from course_pkg.core.errors import CourseError
from course_pkg.grading import check
from course_pkg.grading.exercise import HIDDEN
from course_pkg.grading.terms import LearnerError, SandboxLost
from course_pkg.simt import HazardError, SimtError, Unsupported
from course_pkg.simt.errors import Endless, Raised
from course_pkg.simt.front.instead import PLAIN

LONGEST = 400
OURS = Path(course_pkg.__file__).parent

GONE = "The answer cell is not in the notebook."
TEXT = "The answer cell is no longer a code cell."
UNREADABLE = "The answer cell is not valid Python."
NO_KERNEL = "The answer cell defines no kernel with the name that is tested."
UNDEFINED = "The answer cell does not define what is tested."
NOT_WRITTEN = "It is not written yet."
WRONG = "The result is wrong."
RAISES = "Your code raises an error."
REFUSED = "The kernel cannot be run, or it raises an error."
ENDLESS = "Your code does not finish in time."
ENDED = "Your code ended its process, or did something that the sandbox does not allow."
NOT_PLAIN = "Your code returned something that is not a number, text, list, dictionary or array."
MEMORY = "Your code needs more memory than the judge has."
STUCK = "The test cannot use what your code returned."
FAILED = "The judge itself failed here; this is not your fault: tell your teacher."


@dataclass(frozen=True)
class Missing:
    """Why a name that a test uses is missing: ``said`` is for visible tests, ``verdict`` for hidden ones."""

    said: str
    verdict: str


class Words:
    """The words of an exercise: the string constants in its cells, and f-strings that combine them.

    Parameters
    ----------
    sources : iterable of str
        The cells of the solution.
    """

    def __init__(self, sources):
        self._sources = list(sources)

    @cached_property
    def _known(self) -> tuple[set, list]:
        texts, patterns = set(), []
        for source in self._sources:
            try:
                tree = ast.parse(source)
            except SyntaxError:  # a line for IPython
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    texts.add(node.value)
                elif isinstance(node, ast.JoinedStr):
                    patterns.append(node)
        hole = "(?:" + "|".join(re.escape(t) for t in sorted(texts, key=len, reverse=True) if t) + ")"
        parts = [
            "".join(re.escape(v.value) if isinstance(v, ast.Constant) else hole for v in node.values)
            for node in patterns
        ]
        return texts, parts

    def hold(self, text: str) -> bool:
        """Return whether a text is one of the exercise's strings, or an f-string of the exercise filled with them."""
        texts, patterns = self._known
        return text in texts or any(re.fullmatch(pattern, text) for pattern in patterns)


def is_hidden(source: str) -> bool:
    """Return whether a cell holds hidden tests."""
    return HIDDEN in source


def about(source: str) -> str:
    """Return the first comment of a hidden test, which says what it tests."""
    first = next((line for line in source.splitlines() if line.startswith("#")), "")
    return "" if first.startswith("###") else first.lstrip("# ").strip()


def of(error: BaseException, source: str, missing: dict[str, Missing], words: Words) -> str:
    """Return the line for an error in a test cell.

    Parameters
    ----------
    error : exception
    source : str
        The test cell, as its teacher wrote it.
    missing : dict
        For each name that an answer should define but does not, why it is missing.
    words : Words
        The words of the exercise.
    """
    if not is_hidden(source):
        return one_line(_said(error, missing))
    return one_line(f"{about(source) or 'A hidden test.'} {verdict(error, missing, words)}")


def one_line(text: str) -> str:
    """Return a text as one line of at most ``LONGEST`` printable characters."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def sentence(text: str) -> str:
    """Return a text that begins with a capital letter and ends with a full stop."""
    return stopped(text[:1].upper() + text[1:])


def stopped(text: str) -> str:
    """Return a text that ends with a full stop."""
    return text + ("" if text.endswith((".", "?", "!")) else ".")


def of_learner(error: LearnerError) -> str:
    """Return a sentence on the error that a learner's code raised."""
    if error.kind == "NotPlain":
        return stopped(error.message)  # it begins with the name of a function
    if error.kind == "NotImplementedError":
        return f"It is not written yet: NotImplementedError is raised{_at(error.line)}."
    said = f": {error.message}" if error.message else ""
    return f"Your code raises {error.kind}{_at(error.line)}{said.rstrip('.')}."


def missing(error: CourseError) -> Missing:
    """Return why the names of an answer cell are missing: the error that stopped the cell."""
    said = sentence(error.reason) if isinstance(error, SandboxLost) else of_learner(error)
    return Missing(one_line(said), verdict(error, {}, Words(())))


def is_ours(error: BaseException) -> bool:
    """Return whether an error is a defect of the interpreter or of the judge, and not of the answer."""
    if isinstance(error, (CourseError, AssertionError, MemoryError, RecursionError)):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = Path(trace.tb_frame.f_code.co_filename) if trace is not None else Path()
    return OURS in file.parents and file.name != "check.py"  # check.py may fail on what an answer returns


def _said(error, missing) -> str:
    """Return a sentence on what stopped a visible test."""
    if isinstance(error, NameError) and error.name in missing:
        return missing[error.name].said
    if isinstance(error, SandboxLost):
        return sentence(error.reason)
    if isinstance(error, LearnerError):
        return of_learner(error)
    if isinstance(error, SimtError):
        return in_the_judges_words(error)  # the message is about the kernel's source
    if isinstance(error, MemoryError):
        return MEMORY
    if isinstance(error, AssertionError):
        return str(error) or "The test failed."
    if is_ours(error):
        return f"The judge itself failed here ({type(error).__name__}); this is not your fault: tell your teacher."
    return f"The test cannot use what your code returned ({type(error).__name__}: {error})."


def verdict(error, missing, words: Words) -> str:
    """Return what stopped a test, without values: a sentence of this module, of ``check`` or of the exercise."""
    if isinstance(error, check.Failed):
        known = error.about if words.hold(error.about) else ""
        if error.verdict[:1] in (" ", ":"):
            return (known or "The result") + error.verdict
        return error.verdict or known or WRONG
    if isinstance(error, NameError) and error.name in missing:
        return missing[error.name].verdict
    if isinstance(error, SandboxLost):
        return ENDLESS if error.loss.endless else ENDED
    if isinstance(error, LearnerError):
        return {"NotPlain": NOT_PLAIN, "NotImplementedError": NOT_WRITTEN}.get(error.kind, RAISES)
    if isinstance(error, HazardError):
        return check.of_hazard(error.hazard)
    if isinstance(error, SimtError):
        not_written = isinstance(error, Raised) and error.name == NotImplementedError.__name__
        return NOT_WRITTEN if not_written else ENDLESS if isinstance(error, Endless) else REFUSED
    if isinstance(error, MemoryError):
        return MEMORY
    if isinstance(error, AssertionError):
        return sentence(str(error)) if words.hold(str(error)) and str(error) else WRONG
    return FAILED if is_ours(error) else STUCK


def in_the_judges_words(error: SimtError) -> str:
    """Return the interpreter's message; if it recommends another simulator, recommend plainer code instead."""
    if not isinstance(error, Unsupported) or error.refusal is None:
        return str(error)
    return error.advising("" if error.refusal.way else f"For the judge, {PLAIN}.")


def _at(line) -> str:
    return f" on line {line}" if isinstance(line, int) and line > 0 else ""
