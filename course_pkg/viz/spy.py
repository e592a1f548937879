"""Where the nonzeros of a sparse matrix lie, as squares that are darker the more nonzeros they hold."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from course_pkg.viz.style import INK, MEMORY

CELLS = 64  # squares along each side
SHADES = LinearSegmentedColormap.from_list("shades", ["#ffffff", MEMORY, INK])


def draw_spy(ax, A, xlabel: str = "column") -> None:
    """Draw the nonzeros of a matrix in compressed rows on axes, from its upper left corner."""
    rows, columns = A.shape
    row = np.repeat(np.arange(rows), np.diff(A.indptr))
    counts, _, _ = np.histogram2d(row, A.indices, bins=CELLS, range=[(0, rows), (0, columns)])
    # the square root keeps a square with few nonzeros visible beside one with many
    ax.imshow(np.sqrt(counts), cmap=SHADES, interpolation="nearest", extent=(0, columns, rows, 0))
    ax.set(xlabel=xlabel, ylabel="row")
    ax.set_xticks([0, columns], ["0", f"{columns:,}"])
    ax.set_yticks([0, rows], ["0", f"{rows:,}"])
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(True)
