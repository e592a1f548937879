"""The fusion planner: cut a program into kernels, and see what this plan costs or why it cannot run.

A plan is any object with ``containers``, ``edges``, ``groups``, ``again`` and ``badges`` (see :func:`graph_picture`),
and with ``legal`` and ``why``. The caller passes a function that returns a plan's cost, since this package does not
depend on any topic.
"""

import textwrap

import ipywidgets as W

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.graph import Graph
from course_pkg.viz.nodes import legend
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import INK, MUTED, RULE
from course_pkg.viz.widgets import Controls, explorer

WIDTH = strip.WIDTH  # points
TITLE, LEGEND, ROW, ROWS, COLUMNS = 26.0, 26.0, 22.0, 3, 3
TABLE = 6 + ROWS * ROW
REASON_SIZE, REASON_ROW, REASON_LETTERS = 12.5, 16.0, 90  # letters of the longest line that fits
MOST_LINES = 4


def plan_picture(plan, name: str, machine, facts) -> Picture:
    """Draw a plan with its cost on a machine or, if it cannot run, with the reason.

    Parameters
    ----------
    plan : object
        See above.
    name : str
        A few words for the headline.
    machine : Machine
    facts : callable
        ``facts(plan, machine)`` returns at most 9 rows of (str, str); it is not asked about a plan that cannot run.

    Raises
    ------
    CourseError
        If there are more facts than fit beneath a plan.

    Examples
    --------
    >>> from course_pkg.cg import facts, fusion
    >>> from course_pkg.core import machine
    >>> plan_picture(fusion.CHOICES["one kernel"], "one kernel", machine("h200"), facts.facts).alt
    'one kernel: refused. ...'
    """
    kernels = strip.count(len(plan.groups), "kernel")
    headline = f"{name}: {kernels}" if plan.legal else f"{name}: refused"
    rows = [(str(what), str(much)) for what, much in facts(plan, machine)] if plan.legal else []
    if len(rows) > COLUMNS * ROWS:
        raise CourseError(
            f"Beneath a plan is room for {COLUMNS * ROWS} facts, not for {len(rows)}: leave some out."
        )
    graph = Graph(plan.containers, plan.edges, plan.groups, plan.again, plan.badges)
    height = TITLE + graph.height + LEGEND + TABLE
    memory = "measured" if machine.measured_bandwidth_gb_s else "datasheet"
    where = f"{machine.name}: {machine.t_peak_gb_s:,.0f} GB/s, {memory}"

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        ax.text(7, height - 8, headline, size=15.5, weight="bold", va="top")
        graph.draw(ax, TABLE + LEGEND)
        legend(ax, TABLE + 13, framed=True, again=bool(graph.again))
        if plan.legal:
            ax.text(WIDTH - 7, height - 10, where, size=12, color=MUTED, ha="right", va="top")
            _table(ax, rows)
        else:
            _reason(ax, plan.why)

    costs = f"On {where}: {'; '.join(f'{what}: {much}' for what, much in rows)}" if plan.legal else plan.why
    return draw(plot, f"{headline}. {graph.described()} {costs}", size=(WIDTH / 72, height / 72))


def _table(ax, rows):
    """Write the facts in three columns, from the top of the left one downwards."""
    for i, (what, much) in enumerate(rows):
        left = 7 + (i // ROWS) * (WIDTH - 14 + 22) / COLUMNS
        right = left + (WIDTH - 14 + 22) / COLUMNS - 22
        y = TABLE - (i % ROWS + 0.5) * ROW
        ax.plot([left, right], [y + ROW / 2] * 2, color=RULE, lw=0.9)
        room = right - left - strip.breadth(much, 13, weight="bold") - 8
        ax.text(left, y, strip.shortened(what, 12, room), size=12, va="center_baseline")
        ax.text(right, y, much, size=13, weight="bold", ha="right", va="center_baseline")


def _reason(ax, why):
    """Write why a plan cannot run, in place of the table; the alternative text holds the whole reason."""
    lines = textwrap.wrap(why, REASON_LETTERS, max_lines=MOST_LINES, placeholder=" …")
    strip.cell(
        ax, 5, 3, WIDTH - 10, TABLE - 4, "reason", radius=8, facecolor="none", edgecolor=INK, linewidth=2
    )
    for i, text in enumerate(lines):
        y = TABLE / 2 + 1 + ((len(lines) - 1) / 2 - i) * REASON_ROW
        ax.text(16, y, text, size=REASON_SIZE, va="center_baseline", parse_math=False)


def planner(choices, machines, facts, *, start=None) -> Controls:
    """Return a widget that shows one of several plans on one of several machines.

    Pictures are drawn beforehand, so the widget also works on a slide: see :func:`explorer`.

    Parameters
    ----------
    choices : dict of str to plan
        Plans by name; they may include plans that cannot run.
    machines : sequence of Machine
    facts : callable
        As for :func:`plan_picture`.
    start : str, optional
        The plan that is shown first; the first one by default.

    Examples
    --------
    >>> from course_pkg.cg import facts, fusion
    >>> from course_pkg.core import machine
    >>> box = planner({"two kernels": fusion.CHOICES["A p twice"]}, [machine("h200")], facts.facts)
    >>> len(box.children)
    2
    """
    by_name = _by_name(machines)
    return explorer(
        lambda plan, on: plan_picture(choices[plan], plan, by_name[on], facts),
        start={} if start is None else {"plan": start},
        plan=choices,
        on=by_name,
    )


def free_planner(judge, containers, machines, facts, *, options=()) -> Controls:
    """Return a widget that switches each boundary between containers on or off; it needs JupyterLab and a kernel.

    On a slide it shows only the plan with which it starts: every container in a kernel of its own.

    Parameters
    ----------
    judge : callable
        ``judge(starts, chosen)`` returns the plan in which the containers named in ``starts`` begin a kernel, with
        those of the options that are chosen.
    containers : sequence of str
        Names, in order; the first always begins a kernel.
    machines : sequence of Machine
    facts : callable
        As for :func:`plan_picture`.
    options : sequence of str
        Names of further options that can be switched on.

    Examples
    --------
    >>> from course_pkg.cg import facts, fusion
    >>> from course_pkg.core import machine
    >>> def judge(starts, chosen):
    ...     return fusion.plan(fusion.CG, fusion.cut(fusion.CG, starts))
    >>> box = free_planner(judge, [c.name for c in fusion.CG.containers], [machine("h200")], facts.facts)
    >>> type(box).__name__
    'Controls'
    """
    first, *others = containers
    by_name = _by_name(machines)
    starts = {name: _switch(f"{name} begins a kernel", True) for name in others}
    chosen = {name: _switch(name, False) for name in options}
    machine = W.Dropdown(options=list(by_name), description="on", style={"description_width": "initial"})
    shown = W.HTML(layout=W.Layout(width="100%", margin="0"))

    def show(_=None):
        plan = judge(
            [first, *(name for name, switch in starts.items() if switch.value)],
            [name for name, switch in chosen.items() if switch.value],
        )
        shown.value = plan_picture(plan, "This plan", by_name[machine.value], facts)._repr_html_()

    controls = [*starts.values(), *chosen.values(), machine]
    for control in controls:
        control.observe(show, names="value")
    show()
    return Controls(
        [W.HBox(controls, layout=W.Layout(flex_flow="row wrap", width="100%", margin="0")), shown]
    )


def _switch(text, value):
    return W.Checkbox(
        value=value, description=text, indent=False, layout=W.Layout(width="auto", margin="0 18px 0 0")
    )


def _by_name(machines):
    by_name = {m.name: m for m in machines}
    if not by_name:
        raise CourseError("A planner needs a machine: pass some of catalogue().values().")
    return by_name
