"""A block's tile and its halo: where it lies in the grid, and which threads load which cells."""

from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch, Rectangle

from course_pkg.viz import Picture, draw
from course_pkg.viz.style import INK, MEMORY, MUTED, RULE, WASTED

NX, NY = 6, 4  # threads of the block that is drawn; a real one is larger
HALO = to_rgba(MEMORY, 0.36)
CORNER = {"facecolor": to_rgba(WASTED, 0.6), "edgecolor": "white", "hatch": "////", "linewidth": 0}
CELL = {"edgecolor": "white", "linewidth": 1.2}


def pictures() -> dict[str, Picture]:
    return {
        "tile_and_halo": draw(
            _plot,
            f"Left, a plane of the grid, cut into the tiles of blocks: the tile of one block of {NX} by {NY} threads, "
            "and around it a halo one cell wide, the outermost cells of the four neighbours' tiles; nobody reads "
            "its corners. Right, the same tile in shared memory: each thread loads its own cell, and the threads at an "
            f"edge load the halo cell beside them too, {2 * (NX + NY)} cells in all.",
            size=(9.6, 4.9),
        )
    }


def _plot(figure):
    ax = figure.add_axes((0, 0, 1, 1))
    figure.set_layout_engine("none")
    ax.set(xlim=(0, 9.6), ylim=(0, 4.9))
    ax.axis("off")
    _grid(ax, 0.3, 0.8, 0.235)
    _tile(ax, 6.2, 1.52, 0.4)
    ax.text(0.3, 4.62, "A plane of the grid", fontsize=15, weight="bold", va="center")
    ax.text(5.3, 4.62, "The tile in shared memory", fontsize=15, weight="bold", va="center")


def _grid(ax, x, y, side):
    """Draw three by three tiles; those at the rim are cut off where the plane goes on."""
    columns, rows = 18, 14
    first, low = 6, 5  # of the tile in the middle
    for i in range(columns):
        for j in range(rows):
            _cell(ax, x, y, side, i, j, facecolor=_ground(i - first, j - low), edgecolor=RULE, linewidth=0.7)
    for i, j in _corners():
        _cell(ax, x, y, side, first + i, low + j, **CORNER)
    for i in range(0, columns + 1, NX):
        ax.plot([x + i * side] * 2, [y, y + rows * side], color=MUTED, lw=1.6)
    for j in range(low % NY, rows + 1, NY):
        ax.plot([x, x + columns * side], [y + j * side] * 2, color=MUTED, lw=1.6)
    for bx in (-1, 0, 1):
        for by, shift in ((1, 0.3), (0, 0), (-1, -0.3)):
            # a neighbour's name stands beside the halo, not in it
            middle = (
                x + (first + (bx + 0.5) * NX + 0.5 * bx) * side,
                y + (low + (by + 0.5) * NY + shift) * side,
            )
            ink = "white" if bx == by == 0 else INK
            ground = {"boxstyle": "square,pad=0.15", "edgecolor": "none"}
            ground["facecolor"] = MEMORY if bx == by == 0 else "white"
            name = "this block" if bx == by == 0 else f"block ({1 + bx}, {1 - by})"
            ax.text(*middle, name, fontsize=12, color=ink, ha="center", va="center", bbox=ground)
    box = Rectangle(
        (x + (first - 1) * side, y + (low - 1) * side), (NX + 2) * side, (NY + 2) * side,
        facecolor="none", edgecolor=INK, linewidth=2.4,
    )  # fmt: skip
    ax.add_patch(box)
    ax.text(x, 0.36, "around it its halo; hatched: corners, read by nobody", fontsize=12, va="center")


def _ground(i, j):
    if 0 <= i < NX and 0 <= j < NY:
        return MEMORY
    if (-1 <= i <= NX and 0 <= j < NY) or (0 <= i < NX and -1 <= j <= NY):
        return HALO
    return "none"


def _corners():
    return [(i, j) for i in (-1, NX) for j in (-1, NY)]


def _tile(ax, x, y, side):
    """Draw the tile cell by cell, and an arrow from each thread at an edge to the halo cell that it loads."""
    for i in range(NX):
        for j in range(NY):
            _cell(ax, x, y, side, i, j, facecolor=MEMORY, **CELL)
    arrows = [((i, edge), (0, step)) for i in range(NX) for edge, step in ((0, -1), (NY - 1, 1))]
    arrows += [((edge, j), (step, 0)) for j in range(NY) for edge, step in ((0, -1), (NX - 1, 1))]
    for (i, j), (di, dj) in arrows:
        _cell(ax, x, y, side, i + di, j + dj, facecolor=HALO, **CELL)
    for i, j in _corners():
        _cell(ax, x, y, side, i, j, **CORNER)
    for (i, j), (di, dj) in arrows:
        start = x + (i + 0.5 + 0.2 * di) * side, y + (j + 0.5 + 0.2 * dj) * side
        face = start[0] + 0.3 * di * side, start[1] + 0.3 * dj * side
        end = start[0] + 0.95 * di * side, start[1] + 0.95 * dj * side
        # light on the thread's own cell, dark on the halo's
        ax.plot([start[0], face[0]], [start[1], face[1]], color="white", lw=2.2, solid_capstyle="butt")
        style = {"arrowstyle": "-|>,head_length=4,head_width=2.6", "shrinkA": 0, "shrinkB": 0}
        ax.add_patch(FancyArrowPatch(face, end, color=INK, lw=1.8, **style))
    right, top = x + NX * side, y + NY * side
    label = {"fontsize": 12, "color": INK}
    ax.text((x + right) / 2, 0.36, "all load their own cell, too", ha="center", va="center", **label)
    ax.text((x + right) / 2, top + 1.5 * side, "first row loads north", ha="center", va="center", **label)
    ax.text((x + right) / 2, y - 1.5 * side, "last row loads south", ha="center", va="center", **label)
    ax.text(
        x - 1.95 * side,
        (y + top) / 2,
        "first column\nloads west",
        ha="center",
        va="center",
        rotation=90,
        **label,
    )
    ax.text(
        right + 1.75 * side,
        (y + top) / 2,
        "last column\nloads east",
        ha="center",
        va="center",
        rotation=90,
        **label,
    )


def _cell(ax, x, y, side, i, j, **style):
    ax.add_patch(Rectangle((x + i * side, y + j * side), side, side, **style))
