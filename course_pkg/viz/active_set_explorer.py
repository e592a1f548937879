"""The active-set explorer of lecture 8: which unknowns are 0 in each iteration, the residual, F, and the bytes of Q.

This package does not depend on any topic, so the caller passes the data to show. A *run* is any object with these
attributes: ``x`` and ``states``, with one row per iteration, of which the first is the start (states are 0: zero,
1: free, 2: zero, but not zero in the solution); ``growing``, ``kkt`` and ``objective``, with one number per iteration;
``bytes_of_q``, a dictionary of such lists by name; and ``shape``.
"""

from math import ceil, floor, log10

import numpy as np
from matplotlib.colors import ListedColormap

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.axes import RAISED
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import COMPUTE, INK, MEMORY, MUTED, PINK, RULE
from course_pkg.viz.widgets import Controls, explorer

SIZE = (8.6, 4.6)  # inches
LEAST = 0.1  # a residual of 0 is drawn at this share of the smallest residual that is not 0
FRAMES = 6  # iterations that the slider offers by default, besides the start
SMALL = 11.5  # letter size on the small axes
WORDS = ("0, as in the solution", "free", "0, but not in the solution")
COLORS = (RULE, MEMORY, COMPUTE)
LINES = (INK, MEMORY, PINK)  # colours of the lines that show bytes
# left, bottom, width and height of the axes, as shares of the figure
UNKNOWNS, RESIDUAL, OBJECTIVE, BYTES = (
    (0.085, 0.13, 0.38, 0.595),
    (0.575, 0.725, 0.41, 0.175),
    (0.575, 0.45, 0.41, 0.175),
    (0.575, 0.13, 0.41, 0.19),
)


class ActiveSetExplorer(Controls):
    """A widget that shows, for a chosen problem and iteration, which unknowns are 0 and how many bytes of Q were read.

    Pictures are drawn beforehand, so the widget also works on a slide: see :func:`~course_pkg.viz.widgets.explorer`.

    Parameters
    ----------
    runs : dict of str to run
        Runs by the name of the problem, or of problem and method.
    iterations : sequence of int, optional
        The iterations that the slider offers; by default at most seven, from the start to the last one. A run that
        ended earlier shows its last iteration.
    start : dict, optional
        The ``problem`` and the ``iteration`` that are shown first; the first ones by default.

    Raises
    ------
    CourseError
        If there is no run, or if no run has one of the iterations.

    Examples
    --------
    >>> from course_pkg.qp.history import history
    >>> from course_pkg.qp.problem import problem
    >>> box = ActiveSetExplorer({"string": history(problem("obstacle_1d", 64), 20)}, iterations=[0, 20])
    >>> [control.description for control in box.children[0].children]
    ['problem', 'iteration']
    """

    def __init__(self, runs, *, iterations=None, start=None):
        made = explorer(
            lambda problem, iteration: run_picture(runs[problem], problem, iteration),
            start=start,
            problem=runs,
            iteration=_checked(runs, iterations),
        )
        super().__init__(made.children)


def _checked(runs, iterations) -> list[int]:
    """Return the iterations that the slider offers."""
    if not runs:
        raise CourseError("There is nothing to explore: pass at least one run, by its name.")
    last = max(len(run.kkt) for run in runs.values()) - 1
    if iterations is None:
        return sorted({0, *np.geomspace(1, last, FRAMES).round().astype(int).tolist()} if last else {0})
    for iteration in iterations:
        if iteration not in range(last + 1):
            raise CourseError(f"There is no iteration {iteration}: the longest run has {last}.")
    return list(iterations)


def run_picture(run, name: str, iteration: int) -> Picture:
    """Draw one iteration of a run.

    Parameters
    ----------
    run : run
    name : str
        Name of the problem.
    iteration : int
        0 is the start; a run that ended earlier shows its last iteration.

    Examples
    --------
    >>> from course_pkg.qp.history import history
    >>> from course_pkg.qp.problem import problem
    >>> run_picture(history(problem("obstacle_1d", 64), 20), "string", 20).alt
    'string, iteration 20 of 20. 64 unknowns: 64 free; 0 are 0, as in the solution; ...'
    """
    last = len(run.kkt) - 1
    at = min(iteration, last)
    headline = f"{name}, iteration {at}" + (", its last" if last < iteration else "")

    def plot(figure):
        figure.set_layout_engine(None)  # the axes have fixed places: many pictures are drawn beforehand
        figure.suptitle(headline, size=15.5, weight="bold", x=0.01, ha="left", y=0.985)
        _unknowns(figure, run, at)
        residual, objective, of_q = (figure.add_axes(place) for place in (RESIDUAL, OBJECTIVE, BYTES))
        _curve(residual, run.kkt, at, "KKT residual", log=True)
        _curve(objective, run.objective, at, "F")
        _bytes(of_q, run, at)

    return draw(plot, _described(run, name, at, last), size=SIZE)


def _counts(run, at) -> list[int]:
    return [int((run.states[at] == state).sum()) for state in range(3)]


def _unknowns(figure, run, at):
    """Draw x, coloured by state: as points over their index, or as an image if the unknowns form an image."""
    ax, states, counts = figure.add_axes(UNKNOWNS), run.states[at], _counts(run, at)
    for state in (1, 0, 2):
        words = f"{WORDS[state]}: {counts[state]:,}"
        if state == 2 and counts[state]:
            words += f"; ∇F < 0 at {run.growing[at]:,}"
        ax.plot([], [], "s", color=COLORS[state], mec=MUTED if state == 0 else COLORS[state], label=words)
    ax.legend(
        fontsize=SMALL,
        loc="lower left",
        bbox_to_anchor=(-0.16, 1.0),
        handletextpad=0.1,
        borderaxespad=0.2,
        labelspacing=0.25,
    )
    ax.grid(False)
    if len(run.shape) == 2:
        rows, columns = run.shape
        ax.imshow(
            states.reshape(run.shape), cmap=ListedColormap(COLORS), vmin=0, vmax=2, interpolation="nearest"
        )
        ax.set_xticks([0, columns - 1])
        ax.set_yticks([0, rows - 1])
        ax.set(xlabel="unknowns, as a picture")
    else:
        # state 2 is drawn last and larger, so that even a single point can be seen
        for state, size in ((0, 3.5), (1, 3.5), (2, 5)):
            here = np.flatnonzero(states == state)
            edge = MUTED if state == 0 else COLORS[state]
            ax.plot(
                here, run.x[at][here], "o", color=COLORS[state], ms=size, mec=edge, mew=0.6, clip_on=False
            )
        ax.set(xlabel="unknown i", ylabel="x")
        ax.set_xlim(0, run.shape[0] - 1)
        ax.set_ylim(0, max(1e-12, 1.05 * run.x[at].max()))
        ax.ticklabel_format(axis="y", scilimits=(-2, 3))
    ax.tick_params(labelsize=SMALL)


def _curve(ax, values, at, what, *, log=False):
    """Plot a quantity over all iterations, and mark the iteration that is shown."""
    if log:
        values = np.maximum(values, LEAST * _least(values))  # a logarithmic axis cannot show 0
    ax.plot(values, color=INK, lw=1.8)
    _mark(ax, at, values[at], INK)
    _over_iterations(ax, len(values), what)
    ax.tick_params(labelbottom=False)
    if log:
        ax.set_yscale("log")
        powers = sorted({floor(log10(min(values))), ceil(log10(max(values)))})
        ax.set_yticks(
            [10.0**power for power in powers], [f"10{str(power).translate(RAISED)}" for power in powers]
        )
        ax.yaxis.minorticks_off()
    else:
        ends = [values[0], values[-1]]
        ax.set_yticks(ends, [_number(end) for end in ends])


def _number(value) -> str:
    """Format a number for an axis, with the same minus sign as on the other axes."""
    return (f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}").replace("-", "−")


def _least(values) -> float:
    """Return the least positive value; 1 if there is none."""
    return min((v for v in values if v > 0), default=1.0)


def _bytes(ax, run, at):
    """Draw the bytes of Q that an update reads, in thousands."""
    words = [("kB of Q", INK)]
    for (name, values), color in zip(run.bytes_of_q.items(), LINES, strict=False):
        ax.plot(np.asarray(values) / 1000, color=color, lw=1.8)
        _mark(ax, at, values[at] / 1000, color)
        words.append((f"{name}: {values[at] / 1000:,.0f}", color))
    _over_iterations(ax, len(run.kkt), "")
    _words_above(ax, words)
    ax.set_ylim(0, 1.1 * max(max(values) for values in run.bytes_of_q.values()) / 1000)
    ax.set_xlabel("iteration", size=SMALL + 1)


def _words_above(ax, words):
    """Write words above the axes, each in the colour of its line; a word that does not fit begins a new row."""
    room = ax.get_position().width * SIZE[0] * 72
    rows, x = [[]], 0.0
    for text, color in words:
        length = strip.breadth(text, SMALL, weight="bold")
        if rows[-1] and x + length > room:
            rows, x = [*rows, []], 0.0
        rows[-1].append((x, text, color))
        x += length + 12
    for i, row in enumerate(rows):
        for x, text, color in row:
            ax.annotate(
                text, (0, 1), xycoords="axes fraction", xytext=(x, 5 + 15 * (len(rows) - 1 - i)), size=SMALL,
                textcoords="offset points", color=color, weight="bold", annotation_clip=False,
            )  # fmt: skip


def _over_iterations(ax, many, what):
    ax.set_xscale("symlog", linthresh=1)
    ax.set_xlim(0, max(1, many - 1))
    ticks = [0, *(t for t in (1, 10, 100, 1000) if t < many)]
    ax.set_xticks(ticks, [f"{t:,}" for t in ticks])
    if ticks[-1] > 0.5 * many:
        ax.get_xticklabels()[-1].set_ha("right")  # or it would cross the border of the picture
    ax.xaxis.minorticks_off()
    ax.set_title(what, size=SMALL + 1, pad=3)
    ax.tick_params(labelsize=SMALL)


def _mark(ax, at, value, color):
    ax.plot([at], [value], "o", color=color, ms=7, clip_on=False)


def _described(run, name, at, last) -> str:
    zero, free, absorbed = _counts(run, at)
    moved = "; ".join(f"{what}: {values[at]:,.0f} bytes" for what, values in run.bytes_of_q.items())
    return (
        f"{name}, iteration {at} of {last}. {run.states.shape[1]:,} unknowns: {free:,} free; {zero:,} are {WORDS[0]}; "
        f"{absorbed:,} are {WORDS[2]}; of all zeros, {run.growing[at]:,} have a negative gradient. KKT residual "
        f"{run.kkt[at]:.2e}, F {run.objective[at]:.6g}. Q in this iteration: {moved}."
    )
