"""The passes over memory of some plans as areas: one box for each field that a kernel reads or writes.

A plan is an object with ``kernels``, each with ``reads`` and ``writes`` (names of fields), and a ``program`` with the
number of its ``iterations``. The boxes of all plans are drawn to one scale: bytes, or the time that these bytes take.
"""

from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from course_pkg.core import CourseError
from course_pkg.viz.axes import note_below
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import COMPUTE, INK, MEMORY, MEMORY_WRITE

TALL, FRAME = 0.56, 0.72  # of a box, and of the frame around a kernel; a row is 1


def passes_picture(
    plans, *, per_pass, xlabel, measured=None, written="{:g}".format, title="", note=""
) -> Picture:
    """Draw a row for each plan: its kernels as frames, in them a box for each field read or written.

    If a plan has several iterations, a box is as wide as its share of one of them.

    Parameters
    ----------
    plans : dict of str to plan
        See above; the names stand at the left.
    per_pass : float
        What one pass over one field costs, in the unit of the axis.
    xlabel : str
        What the axis shows, with its unit.
    measured : dict of str to float, optional
        What was measured of a plan, in the same unit: a diamond in its row.
    written : callable
        Turns the number at the end of a row into text: the measured one, or else the sum of the boxes.

    Raises
    ------
    CourseError
        If there is no plan, or something was measured of a plan that is not drawn.

    Examples
    --------
    >>> from course_pkg.cg.fusion import TWO_KERNEL
    >>> passes_picture({"two kernels": TWO_KERNEL}, per_pass=8, xlabel="bytes per point").alt
    'two kernels: 64. Kernel 1 reads r, p and writes p; kernel 2 reads p, x, r and writes x, r.'
    """
    measured = measured or {}
    if not plans:
        raise CourseError("There is nothing to draw: pass at least one plan.")
    if strange := set(measured) - set(plans):
        raise CourseError(f"{', '.join(sorted(strange))}: measured, but no such plan is drawn.")
    rows = {name: _Row(plan, per_pass / plan.program.iterations) for name, plan in plans.items()}
    widest = max([row.end for row in rows.values()] + list(measured.values()))

    def plot(figure):
        ax = figure.subplots()
        for y, (name, row) in zip(range(len(rows) - 1, -1, -1), rows.items(), strict=True):
            row.draw(ax, y)
            found = measured.get(name)
            if found is not None:
                ax.plot([found], [y], "D", color=COMPUTE, ms=9, mec="white", zorder=5)
            text = written(row.end if found is None else found)
            ax.text(
                max(row.end, found or 0) + 0.02 * widest, y, text, weight="bold", va="center", fontsize=14
            )
        ax.set_yticks(range(len(rows) - 1, -1, -1), list(rows))
        ax.tick_params(axis="y", length=0, labelsize=14)
        ax.grid(axis="y", visible=False)
        ax.set(xlim=(0, 1.13 * widest), ylim=(-0.6, len(rows) - 0.4), xlabel=xlabel, title=title)
        marks = [Patch(color=MEMORY, label="read"), Patch(color=MEMORY_WRITE, label="written")]
        marks += [Patch(facecolor="none", edgecolor=INK, linewidth=1.8, label="kernel")]
        if measured:
            marks += [Line2D([], [], marker="D", color=COMPUTE, ls="", ms=9, mec="white", label="measured")]
        figure.legend(handles=marks, loc="outside upper center", ncols=len(marks))
        note_below(figure, note)

    said = [
        f"{name}: {written(row.end)}{f', measured {written(measured[name])}' if name in measured else ''}. {row.said()}"
        for name, row in rows.items()
    ]
    return draw(
        plot, f"{title + ': ' if title else ''}{' '.join(said)} {note}", size=(9.6, 1.5 + 0.62 * len(rows))
    )


class _Row:
    """The boxes of a plan, from left to right."""

    def __init__(self, plan, width):
        self.width, self.kernels = width, [(tuple(k.reads), tuple(k.writes)) for k in plan.kernels]

    @property
    def end(self) -> float:
        return self.width * sum(len(reads) + len(writes) for reads, writes in self.kernels)

    def draw(self, ax, y):
        x = 0.0
        for reads, writes in self.kernels:
            start = x
            for names, colour, ink in ((reads, MEMORY, "white"), (writes, MEMORY_WRITE, INK)):
                for name in names:
                    box = Rectangle(
                        (x, y - TALL / 2), self.width, TALL, facecolor=colour, edgecolor="white", lw=1.2
                    )
                    ax.add_patch(box)
                    ax.text(
                        x + self.width / 2, y, name, color=ink, ha="center", va="center_baseline",
                        fontsize=11 if len(name) > 1 else 13, weight="bold",
                    )  # fmt: skip
                    x += self.width
            frame = Rectangle(
                (start, y - FRAME / 2), x - start, FRAME, facecolor="none", edgecolor=INK, lw=1.8
            )
            ax.add_patch(frame)

    def said(self) -> str:
        each = "; ".join(
            f"kernel {i} reads {', '.join(reads)}{f' and writes {listed}' if (listed := ', '.join(writes)) else ''}"
            for i, (reads, writes) in enumerate(self.kernels, 1)
        )
        return f"{each[0].upper()}{each[1:]}."
