"""A row permutation and a symmetric permutation of a 3 × 3 system, as frames of a film: rows move, then columns."""

from math import cos, pi, sin

from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch

from course_pkg.viz import Picture, draw
from course_pkg.viz.style import COMPUTE, GAIN, INK, MEMORY

INVERSE = (1, 2, 0)  # 1 → 2, 2 → 3, 3 → 1: the new place of each old row
FRAMES = 9  # 0: as it was; 4: the rows have moved; 8: the columns have moved, too
COLOURS = (MEMORY, COMPUTE, GAIN)  # one per unknown
SIDE, LEFT, TOP = 0.86, 0.75, 3.2  # of a cell; the first cell's corner, in inches
X_AT, Y_AT = LEFT + 4.1 * SIDE, LEFT + 6.3 * SIDE
HALF, WHOLE = FRAMES // 2, FRAMES - 1


def pictures() -> dict[str, Picture]:
    return {
        f"permuted_matrix_{k}": draw(lambda figure, k=k: _plot(figure, k), _alt(k), size=(8.2, 3.75))
        for k in range(FRAMES)
    }


def headline(k: int) -> str:
    """Return what a frame shows, in a few words."""
    if k == 0:
        return "A x = y, as it was"
    if k < HALF:
        return "Rows move, and y with them"
    if k == HALF:
        return "Row permutation: y has a new order, x has not"
    return "Columns move, and x with them" if k < WHOLE else "Symmetric: x and y have the same order again"


def _alt(k):
    order = {0: "1, 2, 3", HALF: "3, 1, 2", WHOLE: "3, 1, 2"}.get(k)
    columns = "3, 1, 2" if k == WHOLE else "1, 2, 3"
    told = f" Rows of A and y: {order}; columns of A and x: {columns}." if order else " They are half-way."
    return f"{headline(k)}: a 3 by 3 matrix times x is y.{told}"


def _plot(figure, k):
    ax = figure.add_axes((0, 0, 1, 1))
    figure.set_layout_engine("none")
    ax.set(xlim=(0, 8.2), ylim=(0, 3.75))
    ax.axis("off")
    ax.text(0.25, 3.5, headline(k), fontsize=17, weight="bold", va="center")
    rows, columns = _places(min(k / HALF, 1)), _places(max(k / HALF - 1, 0))
    lifted_row, lifted_column = _lift(min(k / HALF, 1)), _lift(max(k / HALF - 1, 0))
    for i in range(3):
        up = i == 2  # the card that passes over the others is drawn last, and lifted
        shift = -0.45 * SIDE * lifted_row if up else 0
        for j in range(3):
            place = LEFT + columns[j] * SIDE + shift
            height = TOP - (rows[i] + 1) * SIDE + (0.2 * SIDE * lifted_column if j == 2 else 0)
            _cell(ax, place, height, f"$a_{{{i + 1}{j + 1}}}$", COLOURS[i], 2 + 3 * up + 6 * (j == 2))
        _cell(ax, Y_AT - shift, TOP - (rows[i] + 1) * SIDE, f"$y_{i + 1}$", COLOURS[i], 2 + 3 * up)
        aside = 0.45 * SIDE * lifted_column if up else 0
        _cell(ax, X_AT + aside, TOP - (columns[i] + 1) * SIDE, f"$x_{i + 1}$", COLOURS[i], 2 + 3 * up)
    middle = TOP - 1.5 * SIDE
    ax.text(LEFT + 3.55 * SIDE, middle, "·", fontsize=24, ha="center", va="center")
    ax.text((X_AT + SIDE + Y_AT) / 2, middle, "=", fontsize=22, ha="center", va="center")
    names = {"A": LEFT + 1.5 * SIDE, "x": X_AT + SIDE / 2, "y": Y_AT + SIDE / 2}
    primes = {"A": "P A" if HALF <= k < WHOLE else "P A Pᵀ" if k == WHOLE else "A"}
    primes |= {"y": "P y" if k >= HALF else "y", "x": "P x" if k == WHOLE else "x"}
    moving = k not in (0, HALF, WHOLE)
    for name, at in names.items():
        ax.text(at, 0.2, "" if moving else primes[name], fontsize=17, ha="center", style="italic")


def _places(t):
    """Return where each old row or column is at the time t, from 0 to 1."""
    eased = (1 - cos(pi * t)) / 2
    return [old + (new - old) * eased for old, new in enumerate(INVERSE)]


def _lift(t):
    return sin(pi * t)


def _cell(ax, x, y, text, colour, zorder):
    # opaque: a card that passes over another one covers it
    ground = tuple(1 - 0.28 * (1 - c) for c in to_rgba(colour)[:3])
    box = FancyBboxPatch(
        (x + 0.04, y + 0.04),
        SIDE - 0.08,
        SIDE - 0.08,
        boxstyle="round,pad=0,rounding_size=0.07",
        facecolor=ground,
        edgecolor=colour,
        linewidth=1.8,
        zorder=zorder,
    )
    ax.add_patch(box)
    ax.text(
        x + SIDE / 2,
        y + SIDE / 2,
        text,
        fontsize=19,
        color=INK,
        ha="center",
        va="center",
        zorder=zorder + 0.5,
    )
