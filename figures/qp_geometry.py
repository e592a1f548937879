"""Quadratic programs in two unknowns, what a step minimises, and where a pair of x_i and its gradient may lie."""

import numpy as np

from course_pkg.viz import Picture, draw
from course_pkg.viz.style import COMPUTE, GAIN, INK, MEMORY, MUTED, RULE

Q = ((2.0, 1.0), (1.0, 1.5))  # no negative entry: Q⁻ = 0
INSIDE, OUTSIDE = (-2.6, -2.1), (0.3, -1.5)  # h; the least F lies inside x ≥ 0, or beyond x₁ = 0
START, STEPS = (1.9, 1.75), 60
CURVED, BENT, SLOPE = 2.0, 3.0, -2.0  # of one unknown: Q, Q⁺ with a shift of 1, and h


def pictures() -> dict[str, Picture]:
    ends = [tuple(round(v, 2) for v in path(h)[-1]) for h in (INSIDE, OUTSIDE)]
    first = descents()
    return {
        "qp_plane": draw(
            _planes,
            "F over two unknowns that are not negative, as rings around its lowest point, and the path of the update. "
            f"Left: the lowest point lies inside, and the path ends there, at {ends[0]}. Right: the lowest point has a "
            f"negative x₁, and the path ends on the boundary, at {ends[1]}, where F falls only towards negative x₁.",
            size=(7.6, 3.3),
        ),
        "qp_auxiliary": draw(
            _auxiliary,
            "F of one unknown, and three parabolas above it. Each touches F at the present x, and its lowest point is "
            "the next x: " + ", ".join(f"{x:.2f}" for x in first) + ". So F falls at each step.",
            size=(5.6, 3.2),
        ),
        "qp_corner": draw(
            _corner,
            "A plane of x_i and its gradient. Right answers lie on the corner: the axis of x_i to the right, and that "
            "of the gradient upwards. A test of the product x_i times gradient also accepts the gradient's axis "
            "downwards, where x_i is 0 and ought to grow.",
            size=(5.4, 4.3),
        ),
    }


def path(h):
    """Return the points of the update, from START on."""
    points = [START]
    for _ in range(STEPS):
        x = points[-1]
        ratios = [
            max(-h[i], 0) / (max(h[i], 0) + Q[i][0] * x[0] + Q[i][1] * x[1]) for i in range(2)
        ]  # Q⁻ is 0, and so is the shift
        points.append((x[0] * ratios[0], x[1] * ratios[1]))
    return points


def descents(x=0.18, steps=3):
    """Return some x of one unknown: each is where the parabola at the one before is lowest."""
    found = [x]
    for _ in range(steps):
        x = x - (CURVED * x + SLOPE) / BENT
        found.append(x)
    return found


def _planes(figure):
    for ax, h, title in zip(
        figure.subplots(1, 2),
        (INSIDE, OUTSIDE),
        ("lowest inside: ∇F = 0", "lowest beyond x₁ = 0"),
        strict=True,
    ):
        x, y = np.meshgrid(np.linspace(-0.9, 2.2, 160), np.linspace(-0.35, 2.2, 160))
        F = 0.5 * (Q[0][0] * x * x + 2 * Q[0][1] * x * y + Q[1][1] * y * y) + h[0] * x + h[1] * y
        ax.axvspan(-0.9, 0, color=RULE, alpha=0.7, lw=0)
        ax.axhspan(-0.35, 0, color=RULE, alpha=0.7, lw=0)
        levels = F.min() + np.array([0.03, 0.15, 0.45, 0.95, 1.7, 2.7, 4.0, 5.6])
        ax.contour(x, y, F, levels=levels, colors=[MEMORY], linewidths=1.1, linestyles="solid")
        points = np.round(path(h), 6)
        ax.plot(*points.T, "o-", color=GAIN, ms=6, lw=2.2, zorder=4)
        ax.plot(*points[-1], "*", color=INK, ms=17, zorder=6, clip_on=False)
        ax.axhline(0, color=MUTED, lw=1.5)
        ax.axvline(0, color=MUTED, lw=1.5)
        ax.set_title(title, fontsize=14)
        ax.set(
            xlim=(-0.9, 2.2), ylim=(-0.35, 2.2), xlabel="x₁", ylabel="x₂", xticks=[0, 1, 2], yticks=[0, 1, 2]
        )
        ax.grid(visible=False)


def _auxiliary(figure):
    ax = figure.subplots()
    y = np.linspace(-0.15, 1.75, 120)
    points = descents()
    for x, following, colour in zip(points, points[1:], (COMPUTE, MEMORY, GAIN), strict=False):
        above = _f(x) + (CURVED * x + SLOPE) * (y - x) + 0.5 * BENT * (y - x) ** 2
        ax.plot(y, above, color=colour, lw=2)
        ax.plot([x, following], [_f(x), _f(following)], "o", color=colour, ms=8, zorder=5)
        low = _f(x) - 0.5 * (CURVED * x + SLOPE) ** 2 / BENT
        ax.plot([following, following], [_f(following), low], color=colour, lw=1.5, ls=":")
    ax.plot(y, _f(y), color=INK, lw=3.2)
    ax.text(1.52, _f(1.52) - 0.04, "F", color=INK, weight="bold", size=16, va="top")
    ax.text(
        points[0] - 0.03,
        _f(points[0]) - 0.04,
        "x",
        color=COMPUTE,
        weight="bold",
        size=15,
        ha="right",
        va="top",
    )
    ax.text(points[1], _f(points[1]) - 0.12, "next x", color=COMPUTE, weight="bold", size=14, ha="right")
    ax.text(0.78, -0.42, "a parabola at x,\nabove F", color=COMPUTE, weight="bold", size=13, ha="center")
    ax.set(xlim=(-0.15, 1.75), ylim=(-1.25, 0.35), xticks=[], yticks=[])
    ax.grid(visible=False)


def _f(x):
    return 0.5 * CURVED * x * x + SLOPE * x


def _corner(figure):
    ax = figure.subplots()
    thick = {"lw": 9, "solid_capstyle": "round"}
    ax.plot([0, 0], [0, -1], color=COMPUTE, zorder=2, **thick)
    ax.plot([0, 0, 1.6], [1, 0, 0], color=GAIN, zorder=3, **thick)
    ax.axhline(0, color=MUTED, lw=1)
    ax.axvline(0, color=MUTED, lw=1)
    word = {"size": 14.5, "weight": "bold", "va": "center"}
    ax.text(0.1, 0.72, "xᵢ = 0, F would rise:\nsolved", color=GAIN, **word)
    ax.text(0.62, 0.24, "xᵢ > 0, F is flat:\nsolved", color=GAIN, **word)
    ax.text(0.1, -0.58, "xᵢ = 0, F would fall:\nnot solved, though\nthe product is 0", color=COMPUTE, **word)
    ax.set(xlim=(-0.18, 1.75), ylim=(-1.08, 1.08), xticks=[0], yticks=[0])
    ax.set_xlabel("xᵢ", size=17)
    ax.set_ylabel("gradient ∇Fᵢ", size=17)
    ax.grid(visible=False)
