"""What a learner sees after a check: the verdict, the picture, the counts, hints and variations.

It is one piece of HTML without scripts; the browser itself folds and unfolds hints and answers. So it looks the same in
a notebook, on a slide and in an exported page, whether or not a Python kernel is running.
"""

from dataclasses import dataclass
from html import escape

from course_pkg.core.table import with_code
from course_pkg.grading.limits import bounds, counter
from course_pkg.practice.step import Step, Trial
from course_pkg.practice.verdict import GOOD, NOT_BEGUN, Verdict
from course_pkg.simt import KernelProfile
from course_pkg.viz import Picture
from course_pkg.viz.style import COMPUTE_TEXT, GAIN_TEXT, LINE, MUTED

# decks, and notebooks in the dark theme, have lighter colours for a dark background
_FAULT = f"var(--compute-text, {COMPUTE_TEXT})"
_COLOURS = {GOOD: f"var(--gain-text, {GAIN_TEXT})", NOT_BEGUN: f"var(--muted, {MUTED})"}
_MARKS = {GOOD: "✓", NOT_BEGUN: "…"}
_FOLD = (
    'style="display:inline-block;vertical-align:top;margin:6px 14px 0 0;max-width:860px;'
    f'border-left:3px solid {LINE};padding-left:8px"'
)


@dataclass(frozen=True)
class Count:
    """A counter, next to the least value that it can have.

    Attributes
    ----------
    name : str
    found, needed : float
    allowed : float or None
        The most that the step allows, if it limits this counter.
    """

    name: str
    found: float
    needed: float
    allowed: float | None


@dataclass(frozen=True)
class Result:
    """The result of a check; a notebook shows it if it is the value of a cell's last line.

    Attributes
    ----------
    step : Step
    verdict : Verdict
    pictures : sequence of Picture
    counts : sequence of page.Count
        Empty if the counts of this attempt mean nothing.
    hazards : sequence of str
        A sentence on each hazard that was found; the verdict is about the worst one.
    notes : sequence of str
        Further sentences: the time on a GPU, or that the progress could not be saved.
    printed : str
        What the answer printed on the inputs that the picture shows.

    Examples
    --------
    >>> from course_pkg.practice import check
    >>> result = check("map", None)
    >>> result.good, result.verdict.state
    (False, 'wrong')
    """

    step: Step
    verdict: Verdict
    pictures: tuple[Picture, ...] = ()
    counts: tuple[Count, ...] = ()
    hazards: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    printed: str = ""

    @property
    def good(self) -> bool:
        """Whether the step is solved."""
        return self.verdict.state == GOOD

    def __repr__(self):
        return "\n".join(filter(None, [self.verdict.sentence, self.printed]))

    def _repr_html_(self):
        state = self.verdict.state
        colour = _COLOURS.get(state, _FAULT)
        parts = [
            f'<p style="border-left:5px solid {colour};padding:6px 10px;margin:4px 0 8px;font-size:1.05em" '
            f'class="course-verdict" data-state="{escape(state)}"><strong style="color:{colour}" aria-hidden="true">'
            f"{_MARKS.get(state, '✗')}</strong> {with_code(self.verdict.sentence)}</p>",
            self._printed(),
            *(picture._repr_html_() for picture in self.pictures),
            _table(self.counts),
            *(f'<p style="margin:4px 0">{escape(note)}</p>' for note in self.notes),
            self._hazards(),
            "" if self.good else self._hints(),
            self._what_if() if self.good else "",
        ]
        return f'<div class="course-practice" style="max-width:920px">{"".join(parts)}</div>'

    def _printed(self):
        if not self.printed:
            return ""
        style = f"max-height:12em;overflow:auto;margin:4px 0;padding:4px 10px;border:1px solid {LINE}"
        return f'<pre class="course-printed" style="{style}">{escape(self.printed)}</pre>'

    def _hazards(self):
        if len(self.hazards) < 2:
            return ""
        items = "".join(f"<li>{escape(h)}</li>" for h in self.hazards)
        return _fold(f"All {len(self.hazards)} hazards", f"<ul>{items}</ul>")

    def _hints(self):
        last = len(self.step.hints)
        return "".join(
            _fold(f"Hint {n} of {last}", f"<p>{with_code(hint)}</p>")
            for n, hint in enumerate(self.step.hints, 1)
        )

    def _what_if(self):
        asked = [
            f"<p>{with_code(w.change)} <em>{with_code(w.why)}</em></p>"
            f"<div>{_fold('Answer', f'<p>{with_code(w.answer)}</p>')}</div>"
            for w in self.step.what_if
        ]
        return _fold("What if …?", "".join(asked)) if asked else ""


def counts(step: Step, trial: Trial, profile: KernelProfile) -> tuple[Count, ...]:
    """Return the counters whose least values the trial gives, with what the launch counted."""
    limited = {b.name: b for b in bounds(profile, step.limits, trial.needed) if b.name in step.limits}
    found = []
    for name, needed in trial.needed.items():
        bound = limited.get(name)
        made = bound.found if bound else counter(profile, name)
        found.append(Count(name, made, needed, bound.limit * needed if bound else None))
    return tuple(found)


def _table(rows) -> str:
    if not rows:
        return ""
    cell = f'style="text-align:right;padding:3px 12px;border-bottom:1px solid {LINE}"'
    head = "".join(f"<th {cell}>{h}</th>" for h in ("counted", "yours", "least possible", "allowed"))
    body = []
    for row in rows:
        over = row.allowed is not None and row.found > row.allowed
        colour = _FAULT if over else "inherit"
        allowed = "" if row.allowed is None else f"{row.allowed:,.4g}"
        words = row.name.replace("_", " ").replace(".", " ")
        body.append(
            f"<tr><td {cell}>{escape(words)}</td>"
            f"<td {cell}><strong style='color:{colour}'>{row.found:,.6g}</strong></td>"
            f"<td {cell}>{row.needed:,.6g}</td><td {cell}>{allowed}</td></tr>"
        )
    return f'<table style="margin:8px 0"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _fold(title: str, inner: str) -> str:
    return f'<details {_FOLD}><summary style="cursor:pointer">{escape(title)}</summary>{inner}</details>'
