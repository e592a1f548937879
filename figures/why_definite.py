"""Why conjugate gradients want a symmetric positive definite matrix: its energy is a bowl, and each step ends lower."""

import numpy as np

from course_pkg.viz import Picture, draw
from course_pkg.viz.style import COMPUTE, GAIN, INK, MEMORY, MUTED, RULE

A = np.array([[1.0, 0.75], [0.75, 3.0]])
B = np.array([1.0, 0.5])
START = np.array([-2.6, 1.9])


def pictures() -> dict[str, Picture]:
    return {
        "why_definite": draw(
            _plot,
            "Left: the energy of a positive definite matrix with two unknowns as rings around its lowest point; "
            f"conjugate gradients reach that point in {len(path(True)) - 1} steps, steepest descent is still on its "
            f"way after {len(path(False)) - 1}. Right: the energy along one direction p: a valley where ⟨p, Ap⟩ is "
            "positive, a hill without a lowest point where it is negative.",
            size=(9.6, 3.7),
        )
    }


def path(conjugate, steps=6):
    """Return the points of conjugate gradients, for which two steps are enough, or of steepest descent."""
    points, x = [START], START
    r = B - A @ x
    p = r
    for _ in range(2 if conjugate else steps):
        alpha = (r @ r) / (p @ A @ p)
        x, before, r = x + alpha * p, r @ r, r - alpha * (A @ p)
        p = r + (r @ r) / before * p if conjugate else r
        points.append(x)
    return np.array(points)


def _plot(figure):
    rings, along = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _rings(rings)
    _along(along)


def _rings(ax):
    x, y = np.meshgrid(np.linspace(-3.1, 2.5, 200), np.linspace(-1.4, 2.4, 200))
    points = np.stack([x, y])
    energy = 0.5 * np.einsum("iab,ij,jab->ab", points, A, points) - np.einsum("i,iab->ab", B, points)
    lowest = -0.5 * B @ np.linalg.solve(A, B)
    levels = lowest + np.array([0.05, 0.3, 0.9, 1.9, 3.3, 5.1, 7.4])
    ax.contour(x, y, energy, levels=levels, colors=[MEMORY], linewidths=1.1, linestyles="solid")
    for conjugate, colour, text, place in (
        (False, MUTED, "steepest descent", (-1.5, -1.05)),
        (True, GAIN, "conjugate gradients", (-1.35, 2.05)),
    ):
        ax.plot(
            *path(conjugate).T, "o-", color=colour, ms=6, zorder=3 + conjugate, lw=2.6 if conjugate else 2
        )
        ax.text(
            *place,
            text,
            color=colour,
            weight="bold",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    ax.plot(*np.linalg.solve(A, B), "*", color=INK, ms=15, zorder=6)
    ax.set_title("positive definite: a bowl", fontsize=14)
    _bare(ax)
    ax.set_aspect("equal")


def _along(ax):
    t = np.linspace(-1.2, 1.2, 100)
    ax.plot(t, t**2 - 0.6 * t, color=GAIN)
    ax.plot(t, -(t**2) - 0.6 * t - 0.9, color=COMPUTE)
    ax.plot([0.3], [-0.09], "*", color=INK, ms=15)
    ax.text(
        0.0,
        1.25,
        "−Δ:  ⟨p, Ap⟩ > 0\nα is where it is lowest",
        color=GAIN,
        weight="bold",
        ha="center",
        va="bottom",
    )
    ax.text(
        0.0, -2.35, "Δ:  ⟨p, Ap⟩ < 0\nno lowest point", color=COMPUTE, weight="bold", ha="center", va="top"
    )
    ax.set_ylim(-3.3, 2.3)
    ax.set_title("energy along one direction p", fontsize=14)
    _bare(ax)


def _bare(ax):
    ax.grid(visible=False)
    ax.set(xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set_visible(True)
        side.set_color(RULE)
