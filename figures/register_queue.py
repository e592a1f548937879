"""Marching along z: a thread keeps the planes around its point in registers and passes them on at each step."""

from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon

from course_pkg.viz import Picture, draw
from course_pkg.viz.style import INK, MEMORY, MUTED, RULE

NEAR = tuple(0.36 * c + 0.64 for c in to_rgb(MEMORY))  # read through the cache; it hides the line behind it
NAMES = ("ahead", "above", "centre", "below")
STEPS = 3
CELLS = 5  # of a plane that is drawn, along x and along y
SLANT, RISE, CELL = 0.17, 0.115, 0.40  # a plane seen from the side


def pictures() -> dict[str, Picture]:
    return {
        "register_queue": draw(
            _plot,
            "Left, a thread's column of the grid: at step k it holds the points of planes k − 1, k and k + 1 in the "
            "registers below, centre and above, the point of plane k + 2 is on its way into ahead, and the four "
            "neighbours in plane k come from the cache. Right, the registers over three steps: each passes its point "
            "to the next one, above to centre and centre to below, so that one point a step is loaded from the column.",
            size=(9.6, 4.9),
        )
    }


def _plot(figure):
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 9.6), ylim=(0, 4.9))
    ax.axis("off")
    ax.text(0.3, 4.62, "A column of the grid, at step k", fontsize=15, weight="bold", va="center")
    ax.text(5.15, 4.62, "The registers of its thread", fontsize=15, weight="bold", va="center")
    _planes(ax, 1.1, 0.62, 0.93)
    _queue(ax)


def _planes(ax, x, y, apart):
    names = ("k − 1", "k", "k + 1", "k + 2")
    registers = ("below", "centre", "above", "ahead")
    middle = CELLS // 2
    for plane, (name, register) in enumerate(zip(names, registers, strict=True)):
        low = y + plane * apart
        for i in range(CELLS):
            for j in range(CELLS):
                own = i == j == middle
                near = plane == 1 and abs(i - middle) + abs(j - middle) == 1
                fill = MEMORY if own and register != "ahead" else NEAR if near else "white"
                edge = MEMORY if own and register == "ahead" else RULE
                corners = [_corner(x, low, i + a, j + b) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
                ax.add_patch(
                    Polygon(
                        corners, facecolor=fill, edgecolor=edge, lw=2.4 if edge == MEMORY else 0.9,
                        zorder=plane + 0.5 * (edge == MEMORY),
                    )
                )  # fmt: skip
        left, right = _corner(x, low, 0, CELLS / 2), _corner(x, low, CELLS, CELLS / 2)
        ax.text(left[0] - 0.36, left[1], name, fontsize=14, ha="right", va="center")
        ax.text(right[0] + 0.36, right[1], register, fontsize=14, weight="bold", va="center")
    for plane in range(3):  # the column between two planes
        a = _corner(x, y + plane * apart, middle + 0.5, middle + 0.5)
        b = _corner(x, y + (plane + 1) * apart, middle + 0.5, middle + 0.5)
        ax.plot([a[0], b[0]], [a[1] + 0.1, b[1] - 0.1], color=INK, lw=1.3, zorder=plane + 0.6)
    up = {"arrowstyle": "-|>,head_length=5,head_width=3", "color": MUTED, "lw": 1.6}
    ax.add_patch(FancyArrowPatch((0.42, y + 0.1), (0.42, y + 3 * apart + 0.45), shrinkA=0, shrinkB=0, **up))
    ax.text(0.42, y - 0.08, "z", fontsize=14, color=MUTED, ha="center", va="center")
    ax.text(x + 1.5, 0.3, "four neighbours in plane k: from the cache", fontsize=14, ha="center", va="center")


def _corner(x, y, i, j):
    return x + i * CELL + j * SLANT, y + j * RISE


def _queue(ax):
    """Draw the registers as rows and the steps as columns; a point moves down a row at each step."""
    x, y, wide, tall = 6.15, 1.12, 1.2, 0.86
    for row, register in enumerate(NAMES):
        middle = y + (len(NAMES) - 1 - row) * tall
        ax.text(x - 0.62, middle, register, fontsize=14, weight="bold", ha="right", va="center")
        for step in range(STEPS):
            _register(ax, x + step * wide, middle, _point(step + 2 - row), loaded=register == "ahead")
            if step + 1 < STEPS and row + 1 < len(NAMES):
                start = x + step * wide + 0.24, middle - 0.26
                end = x + (step + 1) * wide - 0.24, middle - tall + 0.27
                arrow = {"arrowstyle": "-|>,head_length=5,head_width=3", "color": INK, "lw": 1.6}
                ax.add_patch(FancyArrowPatch(start, end, shrinkA=0, shrinkB=0, **arrow))
    for step in range(STEPS):
        top = y + (len(NAMES) - 1) * tall
        ax.text(
            x + step * wide, 0.56, f"step {_point(step)}", fontsize=14, color=MUTED, ha="center", va="center"
        )
        arrow = {"arrowstyle": "-|>,head_length=5,head_width=3", "color": MEMORY, "lw": 2.4}
        ax.add_patch(FancyArrowPatch((x + step * wide, top + 0.56), (x + step * wide, top + 0.27), **arrow))
    ax.text(x - 0.62, y + 3 * tall + 0.42, "load", fontsize=14, color=INK, ha="right", va="center")


def _register(ax, x, y, text, *, loaded):
    look = (
        {"facecolor": "white", "edgecolor": MEMORY, "linewidth": 2.4}
        if loaded
        else {"facecolor": MEMORY, "edgecolor": "none"}
    )
    ax.add_patch(
        FancyBboxPatch((x - 0.45, y - 0.24), 0.9, 0.48, boxstyle="round,pad=0,rounding_size=0.07", **look)
    )
    ax.text(
        x,
        y,
        f"u[{text}]",
        fontsize=14,
        family="monospace",
        color=INK if loaded else "white",
        ha="center",
        va="center",
    )


def _point(offset):
    return "k" if not offset else f"k{'+' if offset > 0 else '-'}{abs(offset)}"
