"""The summary at the end of a lecture: each prediction beside the measured value, and how good the guesses were."""

import html
import textwrap
from math import exp, fsum, log
from pathlib import Path

from course_pkg.viz import strip
from course_pkg.viz.guesses import Guesses
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.predictions import CLOSE, chosen, estimated, missed, quantity
from course_pkg.viz.style import COMPUTE, GAIN, INK, MUTED, RULE

WIDTH = strip.WIDTH  # points
TITLE, ROW, LINE, RULER_ROW = 30.0, 46.0, 13.5, 11.0
QUESTION, QUESTION_WIDTH, QUESTION_LETTERS = 52.0, 262.0, 40
ANSWER, ANSWER_WIDTH = 322.0, WIDTH - 322 - 4
SIZE, RULER = 11.5, 130.0
FARTHEST = 10.0  # the ruler of an estimate ends at a tenth and at ten times the measured value


def intuition(lecture: str, store: Path | None = None) -> "Intuition":
    """Return the summary of a lecture's predictions: what was guessed, what was measured, and a total.

    Parameters
    ----------
    lecture : str
        Its number, with which the keys of its questions begin, such as ``"02"``.
    store : Path, optional
        The file in which the guesses were kept, if it is not the usual one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from course_pkg.viz import Prediction
    >>> store = Path(mkdtemp()) / "guesses.json"
    >>> Prediction("02-copy", "How fast is a copy?", ["slow", "fast"], store=store).reveal("fast", right="fast")
    <IPython.core.display.HTML object>
    >>> intuition("02", store=store).total
    'You have guessed nothing yet. ...'
    """
    return Intuition(Guesses(store).of_lecture(lecture))


class Intuition:
    """The predictions of a lecture, as a picture and as a sentence.

    Parameters
    ----------
    asked : list of dict
        What :class:`course_pkg.viz.guesses.Guesses` keeps of each question. A question without an answer is left out.

    Attributes
    ----------
    total : str
        How good the guesses were, or how to make some.
    picture : Picture or None
        Each question with guess and answer; None without guesses.

    Examples
    --------
    >>> one = {"question": "How fast?", "guess": 300, "right": 1230.0, "unit": "GB/s", "measured": "1,230 GB/s"}
    >>> Intuition([one]).total
    'You guessed at 1 of 1 question. Your number was 4.1 times too low.'
    """

    def __init__(self, asked):
        rows = [_Row(entry) for entry in asked if "measured" in entry]
        self.total = _total(rows)
        self.picture = _picture(rows, self.total) if any(row.said for row in rows) else None

    def __repr__(self):
        return f"<Intuition: {self.total}>"

    def _repr_html_(self):
        picture = self.picture._repr_html_() if self.picture else ""
        return f'{picture}<p class="course-revealed">{html.escape(self.total)}</p>'


class _Row:
    """A question that has been answered: the guess, the right answer, and whether they agree."""

    def __init__(self, entry):
        guess, right = entry.get("guess"), entry.get("right")
        self.question, self.choices = entry.get("question", ""), entry.get("choices", 0)
        self.numeric = isinstance(right, (int, float))
        fits = isinstance(guess, (int, float)) and guess > 0 if self.numeric else isinstance(guess, str)
        self.factor = self.agrees = None
        self.said, self.mark = "", "–"
        self.answer = f"{entry.get('how', 'Measured')}: {entry['measured']}."
        if self.numeric:
            self.answer = f"{entry.get('how', 'Measured')}: {quantity(right, entry.get('unit', ''))}."
        elif right is not None:
            self.answer = f"Right is: {right}."
        if not fits:
            return
        if self.numeric:
            self.factor, self.missed = guess / right, missed(guess, right)
            self.said = estimated(guess, right, entry.get("unit", ""))
            away = max(self.factor, 1 / self.factor)
            self.mark = "✓" if away <= CLOSE else f"×{away:.2g}" if away < 100 else "≫"
        else:
            self.said = chosen(guess, None)
            if right is not None:
                self.agrees = guess == right
                self.mark = "✓" if self.agrees else "✗"

    @property
    def good(self) -> bool | None:
        """Whether a choice is right or a number is off by less than a factor of 2; None if that is not known."""
        return self.agrees if self.factor is None else 0.5 < self.factor < 2

    def described(self) -> str:
        """Return the row as sentences."""
        verdict = {True: "That is right.", False: "That is wrong.", None: ""}[self.agrees]
        return " ".join(filter(None, (self.question, self.said or "No guess.", verdict, self.answer)))


def _total(rows) -> str:
    """Say how good the guesses were; choices are compared with blind ones, as some questions offer only two."""
    guessed = [row for row in rows if row.said]
    if not guessed:
        return (
            "You have guessed nothing yet. Open this notebook in JupyterLab, answer each prediction before you run the "
            "cells after it, then run this cell again: it shows how good your intuition was."
        )
    parts = [f"You guessed at {len(guessed)} of {strip.count(len(rows), 'question')}."]
    judged = [row for row in guessed if row.agrees is not None]
    if judged:
        blind = fsum(1 / row.choices for row in judged if row.choices)
        right = sum(row.agrees for row in judged)
        parts.append(
            f"You chose the right answer {right} of {strip.count(len(judged), 'time')}; "
            f"blind choices are right {blind:.1f} times on average."
        )
    numbers = [row for row in guessed if row.factor is not None]
    if len(numbers) == 1:
        parts.append(f"Your number was {numbers[0].missed}.")
    elif numbers:
        typical = exp(fsum(abs(log(row.factor)) for row in numbers) / len(numbers))
        parts.append(f"Your {len(numbers)} numbers missed by a factor of {typical:.1f} on average.")
    return " ".join(parts)


def _picture(rows, total) -> Picture:
    height = TITLE + ROW * len(rows) + 4

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        ax.text(7, height - 8, "Your intuition, and what was measured", size=15.5, weight="bold", va="top")
        for i, row in enumerate(rows):
            _draw(ax, row, height - TITLE - ROW * i)

    described = " ".join(row.described() for row in rows)
    return draw(plot, f"{total} {described}", size=(WIDTH / 72, height / 72))


def _draw(ax, row, top) -> None:
    ax.plot([7, WIDTH - 7], [top] * 2, color=RULE, lw=0.9)
    colour = {True: GAIN, False: COMPUTE, None: MUTED}[row.good]
    ax.text(
        25, top - ROW / 2, row.mark, size=14, weight="bold", color=colour, ha="center", va="center_baseline"
    )
    lines = textwrap.wrap(row.question, QUESTION_LETTERS, max_lines=3, placeholder=" …")
    _lines(ax, QUESTION, top, lines, QUESTION_WIDTH)
    _lines(ax, ANSWER, top, [row.said or "No guess.", row.answer], ANSWER_WIDTH, ruler=row.factor)


def _lines(ax, x, top, lines, width, ruler=None):
    """Write lines in the middle of a row; above a ruler, if there is one."""
    middle = top - ROW / 2 + (RULER_ROW / 2 if ruler else 0)
    for i, text in enumerate(lines):
        y = middle + ((len(lines) - 1) / 2 - i) * LINE
        text = strip.shortened(text, SIZE, width)
        ax.text(x, y, text, size=SIZE, va="center_baseline", parse_math=False)
    if ruler:
        _ruler(ax, x, top - ROW + 7, ruler)


def _ruler(ax, x, y, factor) -> None:
    """Draw a ruler with the measured value in the middle, and mark how far below or above it the guess lies."""
    half = RULER / 2
    at = x + half + half * max(-1, min(1, log(factor) / log(FARTHEST)))
    ax.plot([x, x + RULER], [y, y], color=MUTED, lw=1)
    for tick, style in (
        (0, {"color": MUTED, "lw": 1}),
        (half, {"color": INK, "lw": 2}),
        (RULER, {"color": MUTED, "lw": 1}),
    ):
        ax.plot([x + tick] * 2, [y - 4, y + 4], **style)
    ax.plot([at], [y], "o", color=GAIN if 0.5 < factor < 2 else COMPUTE, ms=7, gid="guess")
    ax.text(x + RULER + 8, y, "a tenth to ten times of it", size=9.5, color=MUTED, va="center_baseline")
