"""The stability explorer: what a study shows, one scale for a size, a breakdown, all choices, and mistakes."""

from types import SimpleNamespace

import ipywidgets as W
import pytest
from access_cases import marks
from matplotlib.axes import Axes
from visible import shown

from course_pkg.core import CourseError
from course_pkg.viz import StabilityExplorer
from course_pkg.viz.stability_explorer import study_picture

INF = float("inf")
CG = SimpleNamespace(iterations=(0, 1, 2, 3), true=(1.0, 0.1, 1e-4, 1e-9), reductions=8, bytes=8_000_000)


def study(s=2, true=(1.0, 1e-3, 2e-7), w=(1e2, 1e5, 1e9), converged=False):
    """Return what the caller passes, with made-up numbers."""
    return SimpleNamespace(
        s=s, unknowns=1728, target=1e-8, converged=converged, reductions=4, bytes=6_000_000, cg=CG,
        iterations=tuple(s * k for k in range(len(true))), updated=(1.0, 1e-3, 2e-9)[: len(true)], true=true,
        basis_condition=(1e1, 1e4, 1e6)[: len(true)], w_condition=w,
    )  # fmt: skip


STUDIES = {
    "one": {2: study(), 4: study(4, w=(1e2, 1e5, INF))},
    "other": {2: study(converged=True), 4: study(4, (1.0, 1e-13), (1e2, 1e3), converged=True)},
}


def test_a_picture_says_what_it_shows():
    assert study_picture(STUDIES, "one", 2).alt == (
        "1,728 unknowns, basis: one, s = 2: not converged after 4 iterations, conjugate gradient after 3. Relative "
        "residual at the end: updated 2.0e-09, true 2.0e-07; asked for 1e-08. Condition of the basis: at most 1e+06. "
        "Condition of W: at most 1e+09. Reductions: 4 of 8 of conjugate gradient; 6.0 of 8.0 MB moved."
    )


def test_a_breakdown_is_told_and_marked(monkeypatch):
    crosses, plot = [], Axes.plot

    def noted(ax, x, y, **style):
        crosses.extend([(list(x), style["color"])] if style.get("label") is None and len(x) else [])
        return plot(ax, x, y, **style)

    monkeypatch.setattr(Axes, "plot", noted)
    alt = study_picture(STUDIES, "one", 4).alt
    assert "s = 4: broke down after 8 iterations" in alt
    assert "W is not positive definite at last." in alt
    assert crosses == [([8], "#C973A2")], (
        "W has a cross where it is not positive definite, the basis has none"
    )
    assert "s = 4: converged after 4" in study_picture(STUDIES, "other", 4).alt


def test_all_studies_of_a_size_have_one_scale(monkeypatch):
    limits = []
    for name in ("set_xlim", "set_ylim"):
        kept = getattr(Axes, name)

        def noted(ax, *of, _kept=kept, **more):
            limits.extend([of] * (not more))
            return _kept(ax, *of, **more)

        monkeypatch.setattr(Axes, name, noted)
    for basis in STUDIES:
        for s in (2, 4):
            study_picture(STUDIES, basis, s)
    first, *others = (limits[k : k + 5] for k in range(0, len(limits), 5))
    assert all(other == first for other in others)
    assert first[0] == (pytest.approx(-0.02 * 9.2), pytest.approx(9.2))
    assert first[3][0] < 1, "the mark of a condition of 1 stands clear of the axis"


def test_each_study_has_its_own_lines_and_the_same_study_the_same_bytes():
    one, again, other = (study_picture(STUDIES, *which) for which in (("one", 2), ("one", 2), ("other", 4)))
    assert one.svg == again.svg != other.svg
    assert marks(one)
    assert 20 * len(one._repr_html_()) < 1.5e6, "twenty on a slide"


def test_the_explorer_draws_every_study():
    box = StabilityExplorer({12: STUDIES, 20: STUDIES})
    row, stack = box.children
    assert isinstance(box, W.VBox)
    assert [c.description for c in row.children] == ["n", "basis", "s"]
    assert [[label for label, _ in c.options] for c in row.children] == [
        ["12", "20"],
        ["one", "other"],
        ["2", "4"],
    ]
    assert shown(box).startswith("1,728 unknowns, basis: one, s = 2: ")
    assert shown(StabilityExplorer({12: STUDIES}, start={"basis": "other", "s": 4})).startswith(
        "1,728 unknowns, basis: other, s = 4: "
    )
    assert len(stack.children) == 2
    right = [int(c.layout.margin.split()[1].removesuffix("px")) for c in row.children]
    assert min(right) >= 10, "or the value of a slider is read as a part of the next label"


@pytest.mark.parametrize(
    ("studies", "said"),
    [
        ({}, "nothing to explore: pass at least one study"),
        ({12: {}}, "nothing to explore"),
        ({12: {"one": {}}}, "nothing to explore"),
        ({12: STUDIES, 20: {"one": STUDIES["one"]}}, "n = 20 has the bases one: give all n one, other"),
        (
            {12: {"one": STUDIES["one"], "other": {2: study()}}},
            "other at n = 12 has s = 2: give all bases 2, 4",
        ),
    ],
)
def test_mistakes_are_named(studies, said):
    with pytest.raises(CourseError, match=said):
        StabilityExplorer(studies)
