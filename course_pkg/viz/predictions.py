"""Questions that are asked before a measurement: a choice between answers, or a number to estimate.

The guess is kept, and shown beside what was measured; ``viz.intuition`` sums up a lecture. On a slide, without a
kernel, one can choose and move the slider all the same.
"""

import html
from math import ceil, log10
from pathlib import Path

import ipywidgets as W
from IPython.display import HTML, display

from course_pkg.core import CourseError
from course_pkg.viz.axes import RAISED
from course_pkg.viz.guesses import Guesses
from course_pkg.viz.widgets import Controls

STEPS_PER_DECADE = 20  # of an estimate's slider: neighbouring values differ by 12%
MAX_STEPS = 80
CLOSE = 1.1  # a guess within this factor is right: a slider cannot do much better
COUNTABLE = 1e7  # from here on, numbers are written with a power of ten
UNDECIDED = "move the slider"


class _Question:
    """What both kinds of question share: the text, the kept guess, and what is shown when the answer is known."""

    def __init__(self, key: str, question: str, store):
        self.key, self.question = key, question
        self._kept = Guesses(store)
        self._control = None

    def _show(self, control, *more):
        """Make the widget, and keep each guess from now on."""
        # no line begins with what is left out
        asked = html.escape(self.question).replace(" …", "\N{NO-BREAK SPACE}…")
        text = f'<p class="course-question"><strong>Predict.</strong> {asked}</p>'
        self._control = control
        self._trouble = W.HTML(_note(self._kept.trouble))
        self.widget = Controls([W.HTML(text), control, *more, self._trouble])
        control.observe(self._keep, names="index")

    def _keep(self, _change):
        self._kept.guess(self.key, self.guess)
        self._trouble.value = _note(self._kept.trouble)

    def _reveal(self, says, **facts):
        """Keep the facts; show what ``says()`` returns now, and again whenever the guess changes."""
        self._kept.reveal(self.key, question=self.question, guess=self.guess, **facts)
        self._trouble.value = _note(self._kept.trouble)
        shown = display(HTML(_revealed(says(), **facts)), display_id=True)
        if shown is not None:  # None outside a notebook
            self._control.observe(lambda _: shown.update(HTML(_revealed(says(), **facts))), names="index")

    def _repr_mimebundle_(self, **options):
        return self.widget._repr_mimebundle_(**options)


class Prediction(_Question):
    """A choice between answers.

    The answers stand in an order that is drawn once for each learner and question, and then stays. The guess is kept in
    ``lectures/.predictions.json``, so that it is still there when the notebook is opened again.

    Parameters
    ----------
    key : str
        Unique name that begins with the lecture's number, such as ``"02-flops"``.
    question : str
    choices : sequence of str
        At least two, all different.
    store : Path, optional
        Another file to keep the guesses in.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> store = Path(mkdtemp()) / "guesses.json"
    >>> asked = Prediction("02-copy", "How fast is a copy?", ["as fast as a triad", "faster"], store=store)
    >>> asked.guess is None  # nobody has guessed yet
    True
    """

    def __init__(self, key: str, question: str, choices, store: Path | None = None):
        choices = list(choices)
        if len(choices) < 2:
            raise CourseError(f"The question {question!r} needs at least two choices.")
        if len(set(choices)) < len(choices):
            raise CourseError(f"The question {question!r} offers the same choice twice.")
        super().__init__(key, question, store)
        self.choices = self._kept.order(key, choices)
        kept = self._kept.about(key).get("guess")
        buttons = W.ToggleButtons(
            options=self.choices,
            value=kept if kept in choices else None,
            style=W.ToggleButtonsStyle(button_width="auto", font_weight="600"),
        )
        self._show(buttons)

    @property
    def guess(self) -> str | None:
        """The choice taken, or None."""
        return self._control.value

    def reveal(self, measured: str, *, right: str | None = None, how: str = "Measured") -> None:
        """Show what was measured, beside the guess; if the guess is changed later, show the new one.

        Parameters
        ----------
        measured : str
        right : str, optional
            Which of the choices is right, as it follows from the measurement. Without it, the guess is shown but not
            judged.
        how : str
            The word before what was measured. For a number of the interpreter it is ``"Counted"``.

        Raises
        ------
        CourseError
            If ``right`` is none of the choices.
        """
        if right is not None and right not in self.choices:
            raise CourseError(
                f"The right answer of {self.key} is {right!r}, which is none of its choices: {', '.join(self.choices)}."
            )
        facts = {"measured": measured, "right": right, "how": how, "choices": len(self.choices)}
        self._reveal(lambda: chosen(self.guess, right), **facts)


class Estimate(_Question):
    """A number to guess with a slider on a logarithmic scale; a guess is judged by the factor by which it misses.

    The slider starts left of its scale, where it means that nobody has guessed. The guess is kept in the same file
    as that of a :class:`Prediction`.

    Parameters
    ----------
    key : str
        Unique name that begins with the lecture's number, such as ``"02-stream"``.
    question : str
    low, high : float
        The ends of the scale, positive. Choose them so that neither the ends nor the middle give the answer away.
    unit : str
        The unit of the guess, such as ``"GB/s"``, or ``"times as long"``.
    store : Path, optional
        Another file to keep the guesses in.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> store = Path(mkdtemp()) / "guesses.json"
    >>> asked = Estimate("02-stream", "How fast does your CPU copy?", 1, 10_000, "GB/s", store=store)
    >>> asked.texts[1], asked.texts[-1]
    ('1 GB/s', '10,000 GB/s')
    """

    def __init__(
        self, key: str, question: str, low: float, high: float, unit: str, store: Path | None = None
    ):
        if not 0 < low < high < float("inf"):
            raise CourseError(
                f"The scale of {question!r} must rise from a positive number: it is {low} to {high}."
            )
        super().__init__(key, question, store)
        self.unit, self.values = unit, _scale(low, high)
        self.texts = [UNDECIDED, *(quantity(value, unit) for value in self.values)]
        kept = self._kept.about(key).get("guess")
        slider = W.SelectionSlider(
            options=[(text, i) for i, text in enumerate(self.texts)],
            index=self.values.index(kept) + 1 if kept in self.values else 0,
            layout=W.Layout(width="min(960px, 95%)"),
        )
        lowest = quantity(low, "")  # the unit is said once: "from 1 to 64 GPUs"
        ends = f"Each step to the right multiplies: the scale goes from {lowest} to {self.texts[-1]}."
        self._show(slider, W.HTML(_note(ends)))

    @property
    def guess(self) -> float | None:
        """The number at which the slider stands, or None."""
        return self.values[self._control.index - 1] if self._control.index else None

    def reveal(self, value: float, *, note: str = "", how: str = "Measured") -> None:
        """Show what was measured, the guess and the factor by which it missed; if the guess changes, show the new one.

        Parameters
        ----------
        value : float
            Positive, in the unit of the guess.
        note : str
            What follows the number: an explanation, without a full stop at its end. It follows a comma, or begins a
            sentence of its own if it has a capital.
        how : str
            The word before the number. For a number of the interpreter it is ``"Counted"``.

        Raises
        ------
        CourseError
            If the value is not a positive number.
        """
        if not 0 < value < float("inf"):
            raise CourseError(
                f"{self.key} is judged by a factor: its value must be positive, and it is {value}."
            )
        joint = ". " if note[:1].isupper() else ", "
        measured = quantity(value, self.unit) + (joint + note if note else "")
        facts = {"measured": measured, "right": float(value), "how": how, "unit": self.unit}
        self._reveal(lambda: estimated(self.guess, value, self.unit), **facts)


def chosen(guess: str | None, right: str | None) -> str:
    """Say what was chosen and, if that is known, whether it is right.

    Examples
    --------
    >>> chosen("twice", "the same")
    'You said: twice. Right is: the same.'
    """
    if guess is None:
        return ""
    if right is None:
        return f"You said: {guess}."
    return (
        f"You said: {guess}, and that is right."
        if guess == right
        else f"You said: {guess}. Right is: {right}."
    )


def estimated(guess: float | None, value: float, unit: str) -> str:
    """Say what was estimated, and by what factor it missed.

    Examples
    --------
    >>> estimated(300, 1230, "GB/s")
    'You said 300 GB/s: 4.1 times too low.'
    """
    return "" if guess is None else f"You said {quantity(guess, unit)}: {missed(guess, value)}."


def missed(guess: float, value: float) -> str:
    """Return by what factor a guess misses a value, in words.

    Examples
    --------
    >>> missed(300, 1230), missed(8, 2), missed(100, 104)
    ('4.1 times too low', '4.0 times too high', 'right within a tenth')
    """
    factor = max(guess / value, value / guess)
    if factor <= CLOSE:
        return "right within a tenth"
    times = f"{factor:.1f}" if factor < 9.95 else f"{factor:,.0f}"
    return f"{times} times too {'low' if guess < value else 'high'}"


def quantity(value: float, unit: str) -> str:
    """Format a number with its unit: three digits, or all whole digits; from ten million on, a power of ten.

    Examples
    --------
    >>> quantity(1234, "GB/s"), quantity(2.3e10, ""), quantity(1e15, ""), quantity(22.71, "% faster")
    ('1,234 GB/s', '2.3 · 10¹⁰', '10¹⁵', '22.7% faster')
    """
    if value >= COUNTABLE:
        digits, power = f"{value:.2e}".split("e")
        number = f"{float(digits):g} · 10{str(int(power)).translate(RAISED)}".removeprefix("1 · ")
    else:
        number = f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"
    return f"{number}{unit}" if unit.startswith("%") else f"{number} {unit}".strip()


def _scale(low: float, high: float) -> list[float]:
    """Return numbers from low to high with about equal ratios; those between the ends have two digits."""
    steps = min(MAX_STEPS, ceil(STEPS_PER_DECADE * log10(high / low)))
    inner = (float(f"{low * (high / low) ** (i / steps):.2g}") for i in range(1, steps))
    return [low, *dict.fromkeys(value for value in inner if low < value < high), high]


def _revealed(said: str, *, measured: str, how: str, **_facts) -> str:
    said = f"<span>{html.escape(said)}</span> &emsp; " if said else ""
    return (
        f'<p class="course-revealed">{said}<strong>{html.escape(how)}: {html.escape(measured)}.</strong></p>'
    )


def _note(text: str) -> str:
    return f'<p class="course-note">{html.escape(text)}</p>' if text else ""
