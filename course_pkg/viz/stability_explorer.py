"""The stability explorer of lecture 7: how s-step methods converge, how their bases fare, and what they cost.

This package does not depend on any topic, so the caller passes the data to show. A *study* is one solve by one method:
any object with ``method``, ``s``, ``unknowns``, ``target``, ``converged``, ``reductions``, ``bytes``, the lists
``iterations``, ``updated`` and ``true`` (relative residuals), the lists ``basis_condition`` and ``w_condition``
(infinite where a matrix is not positive definite), and ``cg``, a study of conjugate gradient on the same system, with a
sweep over memory for each of its operations.
"""

from math import floor, isfinite, log10

from matplotlib.ticker import NullLocator

from course_pkg.core import CourseError
from course_pkg.viz.axes import RAISED
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import BOUND, COMPUTE, GAIN, MEMORY, MUTED, PINK
from course_pkg.viz.widgets import Controls, explorer

SIZE = (8.6, 4.5)  # inches
SMALL = 11.5
LEFT, ABOVE, BELOW = (0.105, 0.15, 0.42, 0.69), (0.66, 0.5, 0.32, 0.34), (0.66, 0.15, 0.32, 0.17)
FLOOR = 1e-17  # no smaller residual is drawn
HIGHEST = 1e19  # the axis of condition numbers ends here
NOTHING_LEFT = 1e16  # a condition number that leaves no correct digit of a double
FARTHER = 1.15  # an axis is longer than what is drawn by this factor


class StabilityExplorer(Controls):
    """A widget that shows residuals, conditions, reductions and bytes of a solve for a chosen size, basis and s.

    Pictures are drawn beforehand, so the widget also works on a slide: see :func:`~course_pkg.viz.widgets.explorer`.
    All pictures of a size have the same axes.

    Parameters
    ----------
    studies : dict of dict of dict of study
        By size, basis and s: ``studies[20]["monomial"][4]``. All sizes have the same bases, all bases the same s.
    start : dict, optional
        The ``n``, ``basis`` and ``s`` that are shown first; the first ones by default.

    Raises
    ------
    CourseError
        If there is no study, or sizes differ in their bases, or bases in their s.

    Examples
    --------
    >>> from course_pkg.sstep.stability import studies
    >>> box = StabilityExplorer(studies((6,), ("monomial", "Chebyshev"), (2, 4)))
    >>> [control.description for control in box.children[0].children]
    ['n', 'basis', 's']
    """

    def __init__(self, studies, *, start=None):
        bases, steps = _checked(studies)
        made = explorer(
            lambda n, basis, s: study_picture(studies[n], basis, s),
            start=start,
            n=studies,
            basis=bases,
            s=steps,
        )
        super().__init__(made.children)


def _checked(studies):
    """Return the bases and the s that all sizes have."""
    if not studies or not all(studies.values()) or not all(all(of.values()) for of in studies.values()):
        raise CourseError("There is nothing to explore: pass at least one study, as studies[n][basis][s].")
    first = next(iter(studies.values()))
    bases, steps = list(first), list(next(iter(first.values())))
    for n, by_basis in studies.items():
        if list(by_basis) != bases:
            raise CourseError(f"n = {n} has the bases {_listed(by_basis)}: give all n {_listed(bases)}.")
        for basis, by_s in by_basis.items():
            if list(by_s) != steps:
                raise CourseError(
                    f"{basis} at n = {n} has s = {_listed(by_s)}: give all bases {_listed(steps)}."
                )
    return bases, steps


def _listed(values) -> str:
    return ", ".join(map(str, values))


def study_picture(by_basis, basis: str, s: int) -> Picture:
    """Draw one study, on axes that are long enough for all studies of its size.

    Parameters
    ----------
    by_basis : dict of str to dict of int to study
        All studies of one size.
    basis : str
    s : int

    Examples
    --------
    >>> from course_pkg.sstep.stability import studies
    >>> study_picture(studies((6,), ("Chebyshev",), (4,))[6], "Chebyshev", 4).alt
    '216 unknowns, basis: Chebyshev, s = 4: converged after 12 iterations, conjugate gradient after 10. ...'
    """
    study = by_basis[basis][s]
    every = [one for by_s in by_basis.values() for one in by_s.values()]
    headline = f"{study.unknowns:,} unknowns, basis: {basis}, s = {s}: {_ending(study)}"

    def plot(figure):
        figure.text(0.01, 0.945, headline, size=15, weight="bold")
        longest = FARTHER * max(max(one.iterations[-1], one.cg.iterations[-1]) for one in every)
        _residuals(figure.add_axes(LEFT), study, longest, min(one.target for one in every))
        _conditions(figure.add_axes(ABOVE), study, longest)
        _spent(figure.add_axes(BELOW), study)

    return draw(plot, _described(headline, study), size=SIZE, layout=None)


def _ending(study) -> str:
    if study.converged:
        return "converged"
    return "broke down" if not _last_is_definite(study) else "not converged"


def _last_is_definite(study) -> bool:
    return not study.w_condition or isfinite(study.w_condition[-1])


def _decades(axis, exponents):
    """Label powers of ten with plain text: formulas would take Matplotlib as long as the rest of the picture."""
    labels = [f"10{str(e).translate(RAISED)}" for e in exponents]
    axis.set_ticks([10.0**e for e in exponents], labels)
    axis.set_minor_locator(NullLocator())


def _residuals(ax, study, longest, target):
    ax.plot(study.cg.iterations, study.cg.true, color=MUTED, lw=1.6, label="CG, true")
    ax.plot(study.iterations, study.true, color=COMPUTE, marker="o", label="true: ‖b − Ax‖")
    ax.plot(study.iterations, study.updated, color=MEMORY, marker="o", ms=3.5, lw=1.8, label="updated: ‖r‖")
    ax.axhline(study.target, color=BOUND, lw=1.6, ls="--")
    ax.text(0, study.target / 3, "asked for", size=SMALL, va="top")
    if not _last_is_definite(study):
        x, y = study.iterations[-1], study.true[-1]
        ax.plot([x], [y], marker="X", ms=13, color=BOUND, ls="none", label="_not in the legend")
        ax.annotate("W fails", (x, y), xytext=(11, 7), textcoords="offset points", size=SMALL)
    ax.set_yscale("log")
    ax.set_xlim(-0.02 * longest, longest)
    lowest = max(FLOOR, 1e-4 * target)
    ax.set_ylim(lowest, 1e2)
    _decades(ax.yaxis, range(2, floor(log10(lowest)), -2))
    ax.set(xlabel="iterations of conjugate gradients", ylabel="residual, relative to b")
    ax.legend(fontsize=SMALL, ncols=3, loc="lower right", bbox_to_anchor=(1.02, 1.025), handlelength=1.3,
              columnspacing=1.0, handletextpad=0.4, borderaxespad=0.1)  # fmt: skip


def _conditions(ax, study, longest):
    for values, colour, marker, label in (
        (study.w_condition, PINK, "s", "of W"),
        (study.basis_condition, GAIN, "o", "of the basis"),
    ):
        definite = [(i, c) for i, c in zip(study.iterations, values, strict=False) if isfinite(c)]
        lost = [i for i, c in zip(study.iterations, values, strict=False) if not isfinite(c)]
        points = zip(*definite, strict=True) if definite else ((), ())
        ax.plot(*points, color=colour, marker=marker, ms=4.5, label=label)
        ax.plot(lost, [HIGHEST / 10] * len(lost), color=colour, marker="X", ms=11, ls="none")
    ax.axhline(NOTHING_LEFT, color=BOUND, lw=1.6, ls="--")
    ax.text(0.98 * longest, NOTHING_LEFT / 4, "no digit left", size=SMALL, color=MUTED, ha="right", va="top")
    ax.set_yscale("log")
    ax.set_xlim(-0.02 * longest, longest)
    ax.set_ylim(0.1, HIGHEST)  # a single vector has the condition 1: its mark stands clear of the axis
    _decades(ax.yaxis, (0, 8, 16))
    ax.set(xlabel="iterations", ylabel="condition")
    ax.legend(fontsize=SMALL, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 0.99), borderaxespad=0.1)


def _spent(ax, study):
    """Draw reductions and bytes, each beside those of conjugate gradient."""
    for y, (value, most, text) in enumerate(_pairs(study)):
        ax.barh(y, value / most, color=MEMORY, height=0.62)
        ax.text(max(1, value / most) + 0.05, y, text, size=SMALL, va="center")
    ax.axvline(1, color=MUTED, lw=1.6)
    ax.set_yticks((0, 1), ("bytes", "reductions"))
    ax.set_xlim(0, 2.4)
    ax.set_xticks((0, 0.5, 1), ("0", "0.5", "1"))
    ax.set_xlabel("times CG's, operation by operation", size=SMALL)
    ax.grid(axis="y", visible=False)


def _pairs(study):
    cg = study.cg
    return (
        (study.bytes, cg.bytes, f"{study.bytes / 1e6:,.1f} of {cg.bytes / 1e6:,.1f} MB"),
        (study.reductions, cg.reductions, f"{study.reductions} of {cg.reductions}"),
    )


def _described(headline, study) -> str:
    cg, last = study.cg, study.iterations[-1]
    conditions = " ".join(
        f"Condition of {name}: at most {max(values):.0e}."
        if isfinite(max(values))
        else f"{name[0].upper()}{name[1:]} is not positive definite at last."
        for name, values in (("the basis", study.basis_condition), ("W", study.w_condition))
    )
    (_, _, moved), (_, _, reduced) = _pairs(study)
    return (
        f"{headline} after {last} iterations, conjugate gradient after {cg.iterations[-1]}. Relative residual "
        f"at the end: updated {study.updated[-1]:.1e}, true {study.true[-1]:.1e}; asked for {study.target:.0e}. "
        f"{conditions} Reductions: {reduced} of conjugate gradient; {moved} moved."
    )
