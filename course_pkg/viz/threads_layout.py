"""Where the cells of a picture of threads lie: what is read above, threads in the middle, what is written below."""

from dataclasses import dataclass, field
from math import prod

WIDTH = 888.0  # of the sheet, in its own unit
HEIGHT = 22.0  # of a cell
LARGEST, SMALLEST = 26.0, 9.0  # width of a cell
INDEX = 31.0  # width of a thread's cell with an index of several numbers
TITLE, BAND, GAP, PAD = 16.0, 40.0, 26.0, 4.0
ROW = 32  # most cells in a row of a one-dimensional array or block: the size of a warp
TEXT = 14.0  # size of letters: on a slide, where pictures are shown larger, 16 px
LETTER, DIGIT = 8.8, 8.0  # width of a letter of a title, and of a character in a cell
MOST = 1024  # most threads, and most elements of all arrays together


@dataclass
class Placed:
    """Boxes ``(x, y, width, height)``; titles ``(x, y, text, bold)``."""

    threads: dict[int, tuple] = field(default_factory=dict)
    elements: dict[str, list] = field(default_factory=dict)
    blocks: list[tuple] = field(default_factory=list)
    titles: list[tuple] = field(default_factory=list)
    height: float = 0.0
    across: bool = False  # whether arrays lie beside the threads, rather than above and below them

    @property
    def right(self) -> float:
        """The x at which the rightmost cell, frame or title ends."""
        cells = [
            *self.threads.values(),
            *self.blocks,
            *(box for boxes in self.elements.values() for box in boxes),
        ]
        return max(
            [x + width for x, _, width, _ in cells]
            + [x + LETTER * len(text) for x, _, text, _ in self.titles]
        )

    def label(self, scene, thread: int) -> str:
        """Return what stands in a thread's cell: its index in its block."""
        own = thread % prod(scene.block)
        nx, ny, nz = scene.block
        if ny == nz == 1:
            return str(own)
        index = [own % nx, own // nx % ny] + ([own // (nx * ny)] if nz > 1 else [])
        return ",".join(map(str, index))


def fits(scene) -> bool:
    """Return whether a launch is small enough to be drawn cell by cell."""
    cells = sum(len(array.texts) for array in scene.arrays)
    threads = prod(scene.grid) * prod(scene.block)
    widest = max([_columns(array.shape) for array in scene.arrays] + [min(ROW, scene.block[0])])
    return threads <= MOST and cells <= MOST and widest * SMALLEST <= WIDTH - 2 * PAD


def arrange(scene) -> Placed:
    """Place all cells of a scene: in rows, or side by side if they are matrices and there is room."""
    if scene.block[1] > 1 and scene.grid[2] == scene.block[2] == 1:
        placed = _across(scene)
        if placed is not None:
            return placed
    placed, y = Placed(), 6.0
    for place in ("above", "threads", "shared", "below"):
        arrays = [array for array in scene.arrays if array.place == place]
        if place == "threads":
            y = _threads(placed, scene, y) + BAND
        elif arrays:
            y = _band(placed, arrays, y) + BAND
    y -= BAND
    placed.height = y + 4
    return placed


def _across(scene) -> Placed | None:
    """Place arrays read at the left, threads in the middle, arrays written at the right; None if there is no room."""
    placed, right, bottom = Placed(across=True), 0.0, 0.0
    for part in ("above", "threads", "below"):
        x, y = right + (BAND if right else PAD), 6.0
        if part == "threads":
            y = _threads(placed, scene, y, x)
            right = max(left + width for left, _, width, _ in placed.blocks)
        for array in scene.arrays:
            if array.place == part or (array.place, part) == ("shared", "threads"):
                y = _band(placed, [array], y, x) + 12
                width = max(left + width for left, _, width, _ in placed.elements[array.name])
                right = max(right, width, x + LETTER * len(array.title or array.name))
        bottom = max(bottom, y)
    placed.height = bottom + 4
    return placed if right <= WIDTH - PAD else None


def _columns(shape) -> int:
    return min(ROW, shape[0]) if len(shape) == 1 else shape[-1]


def _band(placed: Placed, arrays, y: float, left: float = PAD) -> float:
    """Place arrays side by side, and in a new row where there is no room; return where the band ends."""
    x, bottom = left, y
    for array in arrays:
        size = max(1, len(array.texts))
        columns = max(1, min(_columns(array.shape), size))
        width = _breadth(columns, array.texts)
        span = max(columns * width, LETTER * len(array.title or array.name))
        if x > left and x + span > WIDTH - PAD:
            x, y = left, bottom + 12
        placed.titles.append((x, y + TITLE - 5, array.title or array.name, True))
        placed.elements[array.name] = [
            (x + (e % columns) * width, y + TITLE + (e // columns) * HEIGHT, width - 1.5, HEIGHT - 1.5)
            for e in range(len(array.texts))
        ]
        bottom = max(bottom, y + TITLE + -(-size // columns) * HEIGHT)
        x += span + GAP
    return bottom


def _breadth(columns: int, texts) -> float:
    """Return the width of a cell: wide enough for its text, but no wider than the sheet allows."""
    room = DIGIT * max((len(text) for text in texts), default=1) + 7
    return min(max(room, 22.0), 48.0, (WIDTH - 2 * PAD) / columns)


def _threads(placed: Placed, scene, y: float, left: float = PAD) -> float:
    """Place the blocks, each in a frame; one row of the grid begins a new line."""
    nx, ny, nz = scene.block
    columns, rows = (min(ROW, nx), -(-nx // ROW)) if ny == nz == 1 else (nx, ny * nz)
    width = min(LARGEST if ny == nz == 1 else INDEX, (WIDTH - 4 * PAD) / columns)
    frame_w, frame_h = columns * width + 2 * PAD, rows * HEIGHT + 2 * PAD
    x = left
    gx, gy, gz = scene.grid
    for block in range(gx * gy * gz):
        if block and (x + frame_w > WIDTH - PAD or (gy > 1 and block % gx == 0)):
            x, y = left, y + TITLE + frame_h + 8
        name = str(block) if gy == gz == 1 else f"({block % gx}, {block // gx % gy})"
        placed.titles.append((x, y + TITLE - 5, f"block {name}", False))
        placed.blocks.append((x, y + TITLE, frame_w, frame_h))
        for own in range(nx * ny * nz):
            across = x + PAD + (own % columns) * width
            top = y + TITLE + PAD + (own // columns) * HEIGHT
            placed.threads[block * nx * ny * nz + own] = (across, top, width - 1.5, HEIGHT - 1.5)
        x += frame_w + 8
    return y + TITLE + frame_h
