"""Remember between sessions which steps a learner has solved, in a small file of the learner's."""

import contextlib
import json
from datetime import date
from html import escape
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.core.files import backup, write
from course_pkg.paths import learner_dir
from course_pkg.practice import catalogue
from course_pkg.practice.step import Step
from course_pkg.viz.style import GAIN_TEXT, LINE, MUTED

FILE = "practice.json"
WRITTEN = {"cg": "CG", "gpus": "GPUs", "sstep": "s-step"}  # words of lectures' names


def file() -> Path:
    """Return the path of the file in which the solved steps are saved."""
    return learner_dir() / FILE


def solved() -> dict[str, str]:
    """Return the day on which each solved step was solved first; empty if no readable file exists."""
    try:
        kept = json.loads(file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError):  # RuntimeError: the home folder is not known
        return {}
    return {str(name): str(day) for name, day in kept.items()} if isinstance(kept, dict) else {}


def remember(step: Step) -> str:
    """Save that a step is solved; return a sentence if this fails, or if an unreadable file was renamed before."""
    kept, said = solved(), ""
    if step.name in kept:
        return ""
    try:
        path = file()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not kept and path.read_bytes().strip() not in (b"", b"{}"):
            aside = backup(path)
            said = f"The list of what you solved could not be read; it was kept as {aside.name}, and a new one begins."
        write(path, json.dumps(kept | {step.name: date.today().isoformat()}, indent=1) + "\n")
    except (OSError, RuntimeError, CourseError):
        return (
            "That you solved this cannot be remembered, because the folder of your data cannot be written; "
            "everything else works."
        )
    return said


def forget() -> None:
    """Forget all progress: then no step is solved."""
    with contextlib.suppress(OSError, RuntimeError):
        file().unlink(missing_ok=True)


class Progress:
    """The steps of some lectures, and whether each is solved, open, or should wait for another; a notebook shows lists.

    Parameters
    ----------
    names : sequence of str
        Names of the lectures.
    """

    def __init__(self, names):
        self.lectures = {name: catalogue.lectures()[name] for name in names}
        self.solved = solved()

    def rows(self, lecture: str) -> list[tuple[str, str]]:
        """Return the title and the state of each step of a lecture, as text."""
        return [(step.title, self._state(step, lecture)) for step in self.lectures[lecture]]

    def _state(self, step: Step, lecture: str) -> str:
        if step.name in self.solved:
            return f"solved on {self.solved[step.name]}"
        if step.needs and step.needs not in self.solved:
            needed = next(s.title for s in self.lectures[lecture] if s.name == step.needs)
            return f"later: it builds on “{needed}”"
        return "open"

    def _done(self, lecture: str) -> str:
        steps = self.lectures[lecture]
        return f"{sum(step.name in self.solved for step in steps)} of {len(steps)} solved"

    def __repr__(self):
        lines = []
        for lecture in self.lectures:
            lines.append(f"{_written(lecture)}: {self._done(lecture)}")
            rows = enumerate(self.rows(lecture), 1)
            lines += [f"{number:4}. {title}: {state}" for number, (title, state) in rows]
        return "\n".join(lines)

    def _repr_html_(self):
        return f'<div class="course-progress">{"".join(map(self._list, self.lectures))}</div>'

    def _list(self, lecture: str) -> str:
        items = []
        for step in self.lectures[lecture]:
            mark, colour = (
                ("✓", f"var(--gain-text, {GAIN_TEXT})")
                if step.name in self.solved
                else ("○", f"var(--muted, {MUTED})")
            )
            items.append(
                f'<li style="border-bottom:1px solid {LINE};padding:3px 0"><span style="color:{colour}" '
                f'aria-hidden="true">{mark}</span> {escape(step.title)} '
                f'<span style="opacity:.75">{escape(self._state(step, lecture))}</span></li>'
            )
        title = escape(_written(lecture))
        return (
            f"<p><strong>{title}: {self._done(lecture)}.</strong></p>"
            f'<ol style="padding-left:1.8em">{"".join(items)}</ol>'
        )


def _written(lecture: str) -> str:
    """Return a lecture's name as a title.

    Examples
    --------
    >>> [_written(name) for name in ("first_kernels", "sstep_cg", "many_gpus")]
    ['First kernels', 'S-step CG', 'Many GPUs']
    """
    title = " ".join(WRITTEN.get(word, word) for word in lecture.split("_"))
    return title[0].upper() + title[1:]


def progress(lecture: str | None = None) -> Progress:
    """Return the list of a lecture's steps, which shows the ones that are solved.

    Parameters
    ----------
    lecture : str, optional
        Name of the lecture, with or without its number: ``"first_kernels"``. By default, all lectures are listed.

    Raises
    ------
    CourseError
        If the lecture has no steps.

    Examples
    --------
    >>> progress("first_kernels").rows("first_kernels")[0][0]
    'One thread for each element'
    """
    if lecture is None:
        return Progress(catalogue.lectures())
    name = lecture.lstrip("0123456789_")
    if name not in catalogue.lectures():
        raise CourseError(
            f"The lecture {lecture!r} has no steps; these have: {', '.join(catalogue.lectures())}."
        )
    return Progress([name])
