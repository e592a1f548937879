"""Run an answer in the interpreter on the inputs of its step; keep what it wrote, what was counted and any error."""

import ast
import contextlib
import copy
import io
import sys
import time
import traceback
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from course_pkg import simt
from course_pkg.core import CourseError
from course_pkg.practice import apart, on_ranks
from course_pkg.practice.answer import Answer
from course_pkg.practice.step import RESULT, Step, Trial
from course_pkg.simt import Kernel, KernelProfile, Launch, api
from course_pkg.simt.errors import HazardError, NoIndex, Raised, SimtError, Unsupported

STEPS = 5_000  # statements, each for all threads: about a second; puzzles need a few hundred
MOST_PRINTED = 20_000
SENTENCES = {
    apart.ENDLESS: "It ran on and on, and was stopped: look for a loop that never ends.",
    apart.MEMORY: "It asked for more memory than a notebook should take, and was stopped.",
    apart.CRASHED: "It ended Python itself and gave no result; the notebook is unharmed.",
}
NOT_JUDGED = (
    "Not judged: within {0.waited_s:.0f} s, other programs left it {0.used_s:.1f} s of a processor. Run the cell again "
    "when they have ended; if that changes nothing, look for a loop that never ends."
)
LEAST_S = 2.0  # for an answer, however long the first launch of a session takes on a busy machine


@dataclass
class Outcome:
    """The outcome of one trial of an answer.

    Attributes
    ----------
    after : dict
        The arguments after the run, and under ``"result"`` what a function returned.
    profiles : list of KernelProfile
        One per launch.
    held : list of dict
        For each launch, a copy of its arrays after the launch, by the names of the kernel's parameters.
    error : str
        A sentence that says what stopped the trial, without the place; empty if nothing stopped it.
    place : (str, int) or None
        The function and the line that stopped the trial, if that is known.
    printed : str
        What the answer printed, up to ``MOST_PRINTED`` characters.
    done : list of list
        What each rank did, if the answer is a function that runs on several ranks.
    complaint : str
        A sentence on messages or sums that the trial does not accept; empty if there is nothing to say.
    """

    after: dict[str, Any] = field(default_factory=dict)
    profiles: list[KernelProfile] = field(default_factory=list)
    held: list[dict[str, np.ndarray]] = field(default_factory=list)
    error: str = ""
    place: tuple[str, int] | None = None
    printed: str = ""
    done: list[list[on_ranks.Done]] = field(default_factory=list)
    complaint: str = ""


@dataclass(frozen=True)
class Strange:
    """Stands for a value that is neither a number nor an array; ``kind`` is the name of its type."""

    kind: str


def attempt(step: Step, answer: Answer, trials: list[Trial], began_s: float | None = None) -> list[Outcome]:
    """Try an answer in a separate process; never raise what the answer raises, and never wait for it without end.

    ``began_s`` is when its check began, by ``time.monotonic``: what was loaded since then counts, too.

    Returns
    -------
    list of Outcome
        One per trial, up to the first trial that was stopped.
    """
    outcomes: list[Outcome] = []
    until = (time.monotonic() if began_s is None else began_s) + apart.WALL_S
    try:
        warm_up()
        wall_s = max(LEAST_S, until - time.monotonic())
        for outcome in apart.run(lambda: _all(answer, trials), wall_s=wall_s):
            outcomes.append(outcome)
            if outcome.error:
                break
    except apart.Lost as lost:
        said = NOT_JUDGED.format(lost) if lost.reason == apart.BUSY else SENTENCES[lost.reason]
        outcomes.append(Outcome(error=said))
    if len(outcomes) < len(trials) and not (outcomes and outcomes[-1].error):
        outcomes.append(Outcome(error=SENTENCES[apart.CRASHED]))
    return outcomes


@cache
def warm_up() -> None:
    """Launch a kernel once, so that forked copies need not load modules: that takes the first launch half a second."""
    names = {"cuda": api}
    text = "def warm_up(out):\n    out[cuda.grid(1)] = cuda.threadIdx.x + 1.0\n"
    simt.profile(Kernel.from_source(text, "warm_up", names)[1, 32], np.zeros(32))


def _all(answer: Answer, trials: list[Trial]) -> Iterator[Outcome]:
    kernel = answer.kernel
    kernel.prints = False  # a print for debugging must not change the counts
    with simt.limits(steps=STEPS):
        for number, trial in enumerate(trials):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                stopped = _print(answer, trial) if trial.is_launch and not number else None
                outcome = _launched(kernel, trial) if trial.is_launch else _called(answer, trial)
                if stopped and not outcome.error and not _told_again(stopped, outcome):
                    print(f"The print was stopped: {stopped}")
            outcome.printed = printed.getvalue()[:MOST_PRINTED]
            yield outcome


def _print(answer: Answer, trial: Trial) -> Exception | None:
    """Launch the kernel only to print, if it contains a print; return the error that stopped it, if any."""
    kernel = answer.kernel
    if any(isinstance(n, ast.Name) and n.id == "print" for n in ast.walk(kernel.program.tree)):
        launch = Launch(kernel, trial.grid, trial.block, 0, trial.dynamic_shared)
        try:
            launch(*copy.deepcopy(tuple(trial.arguments.values())))
        except (CourseError, RecursionError) as error:
            return error
    return None


def _told_again(stopped: Exception, outcome: Outcome) -> bool:
    """Return whether the print was stopped by a hazard that the verdict reports anyway."""
    told = {_which(h) for profile in outcome.profiles for h in profile.hazards}
    return isinstance(stopped, HazardError) and _which(stopped.hazard) in told


def _which(hazard) -> tuple:
    return hazard.kind, hazard.function, hazard.lines, hazard.array, hazard.index, hazard.threads


def _launched(kernel: Kernel, trial: Trial) -> Outcome:
    outcome = Outcome(trial.arguments)
    try:
        launch = Launch(kernel, trial.grid, trial.block, 0, trial.dynamic_shared)
        outcome.profiles.append(simt.profile(launch, *trial.arguments.values()))
        outcome.held.append(trial.arrays)
    except RecursionError:
        outcome.error = "It calls itself without end; a kernel that needs a function calls another one."
    except MemoryError:
        outcome.error = SENTENCES[apart.MEMORY]
    except CourseError as error:
        _stop(outcome, error)
    return outcome


def _called(answer: Answer, trial: Trial) -> Outcome:
    outcome = Outcome(dict(trial.arguments))
    try:
        function = _with_interpreter(answer.function, outcome)
        if trial.ranks:
            outcome.after[RESULT] = _on_ranks(function, trial, outcome)
        else:
            outcome.after[RESULT] = _plain(function(*trial.arguments.values()))
    except MemoryError:
        outcome.error = SENTENCES[apart.MEMORY]
    except RecursionError:
        outcome.error = "It calls itself without end: which case ends the recursion?"
    except CourseError as error:
        _stop(outcome, error)
    except KeyboardInterrupt:  # from the learner, or from the timer
        raise
    except BaseException as error:  # a SystemExit, too
        outcome.error = _told(answer, error)
    return outcome


def _stop(outcome: Outcome, error: CourseError) -> None:
    """Keep what stopped a trial, and where, in words for learners."""
    outcome.error = str(error)
    if not isinstance(error, SimtError):
        return
    if error.line is not None:
        outcome.place, outcome.error = (error.function, error.line), error.said
    if isinstance(error, Unsupported) and (found := error.refusal):
        outcome.error = f"{found.construct} does not exist in a kernel{': ' * bool(found.way)}{found.way}."
    elif isinstance(error, Raised):
        outcome.error = f"it raises {error.exception}."
    elif isinstance(error, NoIndex) and error.type.startswith("float"):
        outcome.error = f"{error.what}, and an index is an integer: divide with //, or use int()."


def _on_ranks(function: types.FunctionType, trial: Trial, outcome: Outcome):
    """Call a function on all ranks; keep what they did, also if one of them fails."""
    results, heard = on_ranks.call(function, trial.ranks, trial.arguments, outcome.done)
    outcome.complaint = trial.heard(heard) if trial.heard else ""
    return _plain(on_ranks.joined(results))


def _told(answer: Answer, error: BaseException) -> str:
    """Return a sentence on an error that the learner's function raised, with the number of the line."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == answer.function.__code__.co_filename
    ]
    said = str(error) or "it says no more"
    return f"{f'Line {lines[-1]} raises' if lines else 'It raises'} {type(error).__name__}: {said}."


class _Recorded(Kernel):
    """A kernel whose launches are profiled."""

    outcome: Outcome

    def __getitem__(self, configuration) -> "_RecordedLaunch":
        launch = super().__getitem__(configuration)
        return _RecordedLaunch(self, launch.grid, launch.block, 0, launch.dynamic_shared)

    configure = __getitem__


class _RecordedLaunch(Launch):
    def __call__(self, *arguments):
        """Run the kernel and keep its profile."""
        outcome = self.kernel.outcome
        outcome.profiles.append(simt.profile(self, *arguments))
        named = zip(self.kernel.program.parameters, arguments, strict=True)
        hosts = {name: getattr(a, "host", a) for name, a in named}
        outcome.held.append({name: a.copy() for name, a in hosts.items() if isinstance(a, np.ndarray)})


def _with_interpreter(function: types.FunctionType, outcome: Outcome) -> types.FunctionType:
    """Return a copy of a function that launches its kernels in the interpreter and profiles them, even with a GPU."""
    names = dict(function.__globals__)
    for name, thing in names.items():
        python = getattr(thing, "py_func", None)
        if isinstance(python, types.FunctionType) and not _is_device(thing):
            names[name] = _Recorded(python)
            names[name].outcome = outcome
        elif thing is sys.modules.get("numba.cuda") or thing is sys.modules.get("course_pkg.cuda"):
            names[name] = api
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _is_device(kernel) -> bool:
    options = getattr(kernel, "targetoptions", {})
    return bool(getattr(kernel, "device", False) or options.get("device", False))


def _plain(value):
    """Return a result unchanged if it consists of numbers; otherwise replace what is not a number by a ``Strange``."""
    if value is None or isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        if value.nbytes > apart.MESSAGE_BYTES:
            raise MemoryError
        return value
    if isinstance(value, (tuple, list)) and len(value) < 100_000:
        return (
            type(value)(map(_plain, value)) if type(value) in (tuple, list) else Strange(type(value).__name__)
        )
    return Strange(type(value).__name__)
