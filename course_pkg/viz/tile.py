"""A block's tile in shared memory: the cells of its threads, its halo, its padding, and facts beside it."""

from dataclasses import dataclass

from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from course_pkg.core import CourseError
from course_pkg.core.access import WARP
from course_pkg.core.checks import require_count
from course_pkg.core.units import format_bytes
from course_pkg.viz import strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import INK, MEMORY, MUTED, RULE

WIDTH, HEIGHT = strip.WIDTH, 252.0  # points: 8.6 by 3.5 inches
LEFT, RIGHT, TOP, BOTTOM = 32.0, 344.0, 196.0, 38.0  # points: the edges of the room for the tile
TABLE, TABLE_RIGHT = 370.0, 612.0
ROW = 23.0  # of the table
LARGEST, SMALLEST = 22.0, 2.2  # points: limits of the side of a cell
HALO = to_rgba(MEMORY, 0.36)
MOST_FACTS = 7


@dataclass(frozen=True)
class Tile:
    """The cells of a tile, by what they are for.

    Attributes
    ----------
    nx, ny : int
        Threads of the block along x and y.
    halo, padding : int
        Width of the halo on each side, and columns that are added at the end of each row.
    """

    nx: int
    ny: int
    halo: int
    padding: int

    @property
    def columns(self) -> int:
        """Number of cells in a row, padding included."""
        return self.nx + 2 * self.halo + self.padding

    @property
    def rows(self) -> int:
        return self.ny + 2 * self.halo

    @property
    def cells(self) -> dict[str, int]:
        """Number of cells of each kind; together they are the tile."""
        return {
            "own": self.nx * self.ny,
            "halo": 2 * self.halo * (self.nx + self.ny),
            "corner": 4 * self.halo**2,
            "padding": self.padding * self.rows,
        }

    @property
    def warp(self) -> list[tuple[int, int]]:
        """Column and row of the cells that the first warp's threads own, in the order of its lanes."""
        return [
            (lane % self.nx + self.halo, lane // self.nx + self.halo)
            for lane in range(min(WARP, self.nx * self.ny))
        ]

    @property
    def boxes(self) -> list[tuple[str, int, int, int, int]]:
        """(kind, first column, first row, columns, rows) of each rectangle of the tile."""
        h, nx, ny = self.halo, self.nx, self.ny
        found = [("own", h, h, nx, ny)]
        if h:
            found += [("halo", h, y, nx, h) for y in (0, h + ny)]
            found += [("halo", x, h, h, ny) for x in (0, h + nx)]
            found += [("corner", x, y, h, h) for y in (0, h + ny) for x in (0, h + nx)]
        if self.padding:
            found.append(("padding", nx + 2 * h, 0, self.padding, self.rows))
        return found


def tile_picture(block, *, halo=0, padding=0, itemsize=8, facts=()) -> Picture:
    """Draw a block's tile in shared memory, and a short table beside it.

    The corners of the halo are hatched: they take room, but no point has a neighbour there along x or y.

    Parameters
    ----------
    block : (int, int)
        Threads along x and y.
    halo : int
        Cells on each side that the block reads, and that belong to other blocks.
    padding : int
        Columns added to each row.
    itemsize : int
        Bytes of a cell.
    facts : sequence of (str, str)
        At most 7 rows of the table: what, and how much of it.

    Raises
    ------
    CourseError
        If a number is not a count, if the tile has too many cells to draw, or if the table is too long.

    Examples
    --------
    >>> tile_picture((32, 8), halo=1).alt
    '32 × 8 threads keep 34 × 10 cells of 8 B: 2.66 KiB. ...'
    """
    tile = _checked(block, halo, padding, itemsize, facts)
    size = tile.columns * tile.rows * itemsize
    headline = (
        f"{tile.nx} × {tile.ny} threads keep {tile.columns} × {tile.rows} cells of {itemsize} B: "
        f"{format_bytes(size)}"
    )

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
        ax.text(7, HEIGHT - 8, headline, size=15.5, weight="bold", va="top")
        _draw(ax, tile)
        _table(ax, facts)

    alt = f"{headline}. {_described(tile)} {'; '.join(f'{what}: {much}' for what, much in facts)}"
    return draw(plot, alt, size=(WIDTH / 72, HEIGHT / 72))


def _checked(block, halo, padding, itemsize, facts):
    try:
        nx, ny = block
    except (TypeError, ValueError):
        raise CourseError(f"block is {block!r}: give the threads along x and y, such as (32, 8).") from None
    require_count(threads_x=nx, threads_y=ny, halo=halo, padding=padding, itemsize=itemsize)
    if not (nx and ny and itemsize):
        raise CourseError(
            f"A block of {nx} × {ny} threads with cells of {itemsize} B has nothing to draw: use at least 1 of each."
        )
    tile = Tile(nx, ny, halo, padding)
    if _side(tile) < SMALLEST:
        raise CourseError(
            f"A tile of {tile.columns} × {tile.rows} cells cannot be told apart on a slide: draw a smaller block, at "
            f"most {int((RIGHT - LEFT) / SMALLEST)} × {int((TOP - BOTTOM) / SMALLEST)} cells with its halo."
        )
    if len(facts) > MOST_FACTS:
        raise CourseError(
            f"The table beside a tile has room for {MOST_FACTS} facts, not for {len(facts)}: leave some out."
        )
    return tile


def _side(tile):
    """Return the side of a cell, in points."""
    return min(LARGEST, (RIGHT - LEFT) / tile.columns, (TOP - BOTTOM) / tile.rows)


def _described(tile):
    cells = tile.cells
    parts = [f"{cells['own']} cells of the threads are coloured"]
    if tile.halo:
        parts.append(f"{cells['halo']} cells of the halo are lighter")
        parts.append(f"{cells['corner']} corners are hatched, because no thread reads them")
    if tile.padding:
        parts.append(f"{cells['padding']} cells of padding are hollow")
    return f"{', '.join(parts)}; the {len(tile.warp)} threads of the first warp are outlined."


STYLES = {
    "own": {"facecolor": MEMORY, "edgecolor": "none"},
    "halo": {"facecolor": HALO, "edgecolor": "none"},
    "corner": {"facecolor": strip.UNUSED, "edgecolor": "white", "hatch": "////", "linewidth": 0},
    "padding": {"facecolor": "none", "edgecolor": "none"},
}


def _draw(ax, tile):
    side = _side(tile)
    left = (LEFT + RIGHT - tile.columns * side) / 2
    top = (TOP + BOTTOM + tile.rows * side) / 2

    def at(column, row):
        return left + column * side, top - row * side

    for kind, column, row, columns, rows in tile.boxes:
        x, y = at(column, row + rows)
        strip.bar(ax, x, y, columns * side, rows * side, f"{kind}-{column}-{row}", **STYLES[kind])
        grid = RULE if kind == "padding" else "white"
        _lines(ax, _grid(column, row, columns, rows, at), f"grid-{kind}-{column}-{row}", grid, side / 12)
        if kind == "padding":  # it is hollow, so only its frame shows where it ends
            edge = [
                (at(column, row), at(column + columns, row)),
                (at(column, rows), at(column + columns, rows)),
            ]
            edge.append((at(column + columns, row), at(column + columns, rows)))
            _lines(ax, edge, "padding-frame", MUTED, 0.9)
    _lines(ax, _outline(set(tile.warp), at), "warp", INK, 2.4)
    _measures(ax, tile, at)
    _legend(ax, tile)


def _grid(column, row, columns, rows, at):
    """Return the lines between the cells of a rectangle."""
    upright = [(at(x, row), at(x, row + rows)) for x in range(column + 1, column + columns)]
    level = [(at(column, y), at(column + columns, y)) for y in range(row + 1, row + rows)]
    return upright + level


def _outline(cells, at):
    """Return the outer edges of a set of cells: those that belong to only one of its cells."""
    edges = []
    for x, y in sorted(cells):
        if (x - 1, y) not in cells:
            edges.append((at(x, y), at(x, y + 1)))
        if (x + 1, y) not in cells:
            edges.append((at(x + 1, y), at(x + 1, y + 1)))
        if (x, y - 1) not in cells:
            edges.append((at(x, y), at(x + 1, y)))
        if (x, y + 1) not in cells:
            edges.append((at(x, y + 1), at(x + 1, y + 1)))
    return edges


def _lines(ax, pairs, gid, colour, width):
    """Draw straight lines as one path, which keeps the file small."""
    if pairs:
        path = Path([point for pair in pairs for point in pair], [Path.MOVETO, Path.LINETO] * len(pairs))
        lines = PathPatch(path, facecolor="none", edgecolor=colour, linewidth=width, capstyle="projecting")
        lines.set_gid(gid)
        ax.add_artist(lines)


def _measures(ax, tile, at):
    """Write threads, halo and padding along the tile's upper and left edge."""
    h, (left, top) = tile.halo, at(0, 0)
    spans = [(h, h + tile.nx, tile.nx)] + [(0, h, h)] * (h > 0)
    upper = spans + [(tile.columns - tile.padding, tile.columns, tile.padding)] * (tile.padding > 0)
    for first, last, n in upper:
        a, b = at(first, 0)[0] + 0.8, at(last, 0)[0] - 0.8
        _lines(ax, [((a, top + 5), (b, top + 5))], f"measure-x-{first}", MUTED, 1.3)
        ax.text((a + b) / 2, top + 9, str(n), size=12, ha="center", va="baseline")
    for first, last, n in [(h, h + tile.ny, tile.ny)] + [(0, h, h)] * (h > 0):
        a, b = at(0, first)[1] - 0.8, at(0, last)[1] + 0.8
        _lines(ax, [((left - 5, a), (left - 5, b))], f"measure-y-{first}", MUTED, 1.3)
        ax.text(left - 9, (a + b) / 2, str(n), size=12, ha="right", va="center_baseline")


def _legend(ax, tile):
    """Write what the colours mean and how many cells have each, from the left edge rightwards."""
    names = {"own": "own", "halo": "halo", "corner": "corner, never read", "padding": "padding"}
    styles = STYLES | {"padding": {"facecolor": "none", "edgecolor": MUTED, "linewidth": 0.9}}
    entries = [(styles[kind], f"{names[kind]}: {n:,}") for kind, n in tile.cells.items() if n]
    entries.append(({"facecolor": "none", "edgecolor": INK, "linewidth": 2.4}, "first warp"))
    x = 8.0
    for style, text in entries:
        strip.bar(ax, x, 8.5, 10, 10, f"legend-{text}", **style)
        ax.text(x + 15, 13.5, text, size=11.5, va="center_baseline")
        x += 15 + strip.breadth(text, 11.5) + 20


def _table(ax, facts):
    y = (TOP + BOTTOM + ROW * len(facts)) / 2
    for i, (what, much) in enumerate(facts):
        middle = y - (i + 0.5) * ROW
        if i:
            ax.plot([TABLE, TABLE_RIGHT], [y - i * ROW] * 2, color=RULE, lw=0.9)
        room = TABLE_RIGHT - TABLE - strip.breadth(str(much), 12.5, weight="bold") - 10
        ax.text(TABLE, middle, strip.shortened(str(what), 12, room), size=12, va="center_baseline")
        ax.text(TABLE_RIGHT, middle, str(much), size=12.5, weight="bold", ha="right", va="center_baseline")
