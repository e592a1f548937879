"""The limits of the code that a sandbox runs, and the errors with which a request to the sandbox can fail."""

import re
from dataclasses import dataclass

from course_pkg.core.errors import CourseError

NOT_PLAIN = "your code returned something that is not a number, text, list, dictionary or array"
# The worker's messages about values that are not plain. Other texts are not trusted: learners control the worker.
_WHAT = (
    r"(?:an? [^\W\d]\w{0,60}|an array of dtype [\w<>|]{1,20}(?:\[\w{1,4}\])?"
    r"|an? \w+ of more than \d+ (?:entries|bits|MiB)"
    r"|something nested more than \d+ deep|something larger than \d+ MiB, or too many numbers outside of arrays"
    r"|a dictionary whose keys are not plain numbers, texts or tuples of them"
    r"|a text with half of a surrogate pair|an array in GPU memory, which copy_to_host\(\) brings back)"
)
_NOT_PLAIN = re.compile(
    rf"\w{{1,80}} (?:is {_WHAT}: make it a number or an array|returned {_WHAT}: return numbers or arrays"
    rf"|left {_WHAT} in its arguments: put only numbers or arrays there)"
)


@dataclass(frozen=True)
class Limits:
    """The limits of a learner's code; times in seconds, sizes in bytes.

    Attributes
    ----------
    call_s, total_s : float
        Time of one request, and of all requests together. Processor time and time in which the code sleeps count. Time
        in which the code waits for a core does not count, because the code is not at fault.
    cpu_s : int
        Processor time of a process.
    memory_bytes : int
        Address space of each process; also the memory of all processes together, shared memory included.
    processes : int
        Number of processes and threads together.
    file_bytes, tmp_bytes : int
        Size of each file, and of all files together.
    output_bytes : int
        How much of a request's printed output is kept.
    message_bytes : int
        Size of the arguments, or of the results, of one request.
    """

    call_s: float = 10.0
    total_s: float = 60.0
    cpu_s: int = 60
    memory_bytes: int = 2 << 30
    processes: int = 64
    file_bytes: int = 16 << 20
    tmp_bytes: int = 64 << 20
    output_bytes: int = 1 << 20
    message_bytes: int = 256 << 20


class LearnerError(CourseError):
    """A learner's code raised an error, SystemExit and KeyboardInterrupt included.

    Attributes
    ----------
    kind : str
        Name of the exception's class; ``NotPlain`` for a result that is not a number, text or array.
    message : str
    line : int or None
        Line in the cell.
    """

    def __init__(self, kind: str, message: str, line: int | None = None):
        place = f" (line {line})" if line is not None else ""
        super().__init__(f"{kind}{place}: {message}" if message else f"{kind}{place}")
        self.kind, self.message, self.line = kind, message, line

    @classmethod
    def told(cls, error) -> "LearnerError":
        """Make an error from a sandbox's report; its text cannot be taken for a sentence of the judge."""
        error = error if type(error) is dict else {}
        line = error.get("line")
        line = line if type(line) is int and 0 < line < 10**6 else None
        kind = clean(error.get("kind"), 100)
        kind = kind if kind.isidentifier() else "an error"
        message = clean(error.get("message"), 2000).strip()
        if kind == "NotPlain" and not _NOT_PLAIN.fullmatch(message):
            message = NOT_PLAIN
        return cls(kind, message, line)


@dataclass(frozen=True)
class Loss:
    """Why a sandbox has ended.

    Attributes
    ----------
    reason : str
        A sentence for learners.
    endless : bool
        Whether its code used too much time.
    in_all : bool
        Whether all requests together used too much time; then the last request is not necessarily the cause.
    """

    reason: str
    endless: bool = False
    in_all: bool = False


class SandboxLost(CourseError):
    """The sandbox has ended; ``loss`` says why."""

    def __init__(self, loss: Loss):
        super().__init__(loss.reason)
        self.loss = loss

    @property
    def reason(self) -> str:
        """Why the sandbox has ended, in a sentence for learners."""
        return self.loss.reason


def clean(text, most: int) -> str:
    """Return a text from the sandbox without characters that control a terminal."""
    text = text[:most] if type(text) is str else ""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
