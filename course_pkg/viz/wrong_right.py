"""Wrong bandwidths, each with an arrow to the right one."""

from course_pkg.core import short_name
from course_pkg.core.units import three_digits
from course_pkg.viz.axes import note_below, plain_log, require_points
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE, MEMORY, MUTED

APART = 1.7  # two marks with a smaller ratio get no arrow: it would hide them
ARROW = {"arrowstyle": "-|>", "color": MUTED, "lw": 1.6, "shrinkA": 6, "shrinkB": 5}


def wrong_right(series, *, bounds=None, title="", note="") -> Picture:
    """Draw a row for each pitfall: the bandwidth that the wrong way of timing gives, and the right one.

    Parameters
    ----------
    series : dict of str to list of Pair
        A panel for each device, by its name; a row for each :class:`~course_pkg.bench.pitfalls.Pair`.
    bounds : dict of str to float, optional
        The bandwidth in the datasheet of each device, in GB/s; a larger one is impossible.

    Examples
    --------
    >>> from course_pkg.bench import mistime, pitfalls
    >>> from course_pkg.core import Cost
    >>> work = pitfalls.Work(np.copyto, (np.empty(8), np.ones(8)), Cost(64, 64), "NumPy")
    >>> wrong_right({"this CPU": [mistime.one_call(work, samples=3)]}).alt
    'this CPU: one short call, ... GB/s wrong and ... right.'
    """
    require_points(series)
    bounds = bounds or {}
    names = list(dict.fromkeys(pair.pitfall.title for pairs in series.values() for pair in pairs))

    def plot(figure):
        axes = figure.subplots(1, len(series), squeeze=False, sharey=True)[0]
        for ax, (device, pairs) in zip(axes, series.items(), strict=True):
            _panel(ax, pairs, names, bounds.get(device))
            ax.set_title(short_name(device) if len(series) > 1 else title, fontsize=13)
        axes[0].set_yticks(range(len(names)), names)
        axes[0].set_ylim(len(names) - 0.5, -0.6)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)
        note_below(figure, note)

    listed = "; ".join(f"{device}: " + ", ".join(map(_words, pairs)) for device, pairs in series.items())
    return draw(plot, f"{title} {listed}. {note}", size=(11.0, 1.6 + 0.36 * len(names)))


def _words(pair) -> str:
    wrong, right = (three_digits(m.t_eff_gb_s) for m in (pair.wrong, pair.right))
    return f"{pair.pitfall.title}, {wrong} GB/s wrong and {right} right"


def _panel(ax, pairs, names, bound) -> None:
    rows = [names.index(pair.pitfall.title) for pair in pairs]
    wrong, right = ([getattr(pair, way).t_eff_gb_s for pair in pairs] for way in ("wrong", "right"))
    for y, start, end in zip(rows, wrong, right, strict=True):
        if max(start / end, end / start) > APART:
            ax.annotate("", (end, y), (start, y), arrowprops=ARROW)
    ax.plot(wrong, rows, "X", color=COMPUTE, ms=9, label="wrong")
    ax.plot(right, rows, "o", color=MEMORY, ms=8, label="right")
    if bound:
        ax.axvline(bound, color=BOUND, lw=2, ls="--", label="datasheet")
    ax.set_xscale("log")
    ax.margins(x=0.08)
    plain_log(ax.xaxis)
    ax.set_xlabel("stated bandwidth, GB/s")
