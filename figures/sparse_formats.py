"""The same sparse matrix as a table, in slices, and in slices of sorted rows: what is stored, and what is padding."""

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from scipy.sparse import csr_array

from course_pkg.permutation.reference import by_row_length
from course_pkg.viz import Picture, draw
from course_pkg.viz.style import INK, MEMORY, WASTED

LENGTHS = (2, 5, 1, 3, 2, 4, 1, 2)  # nonzeros of each row
CHUNK = 4  # rows of a slice; in the package it is 32, a warp
SIDE, TOP = 0.36, 3.55


def pictures() -> dict[str, Picture]:
    panels = _panels()
    told = "; ".join(f"{name}: {stored} stored" for name, _, _, stored in panels)
    alt = (
        f"A matrix of {len(LENGTHS)} rows with {sum(LENGTHS)} nonzeros in three formats. {told}. In each, a column is "
        "read by neighbouring threads at once; sorting the rows by length leaves the least padding."
    )
    return {"sparse_formats": draw(lambda figure: _plot(figure, panels), alt, size=(9.6, 4.1))}


def _panels():
    """Return name, order of the rows, widths of the slices, and values stored, for each format."""
    n, lengths = len(LENGTHS), np.array(LENGTHS)
    pattern = csr_array((np.arange(lengths.max()) < lengths[:, None]).astype(float))
    kept, by_length = np.arange(n), by_row_length(pattern)
    found = []
    for name, order, chunk in (
        ("ELL", kept, n),
        ("SELL-4-1", kept, CHUNK),
        ("SELL-4-8", by_length, CHUNK),
    ):
        widths = [int(lengths[order][i : i + chunk].max()) for i in range(0, n, chunk)]
        found.append((name, order, widths, chunk * sum(widths)))
    return found


def _plot(figure, panels):
    ax = figure.add_axes((0, 0, 1, 1))
    figure.set_layout_engine("none")
    ax.set(xlim=(0, 9.6), ylim=(0.25, 4.35))
    ax.axis("off")
    for panel, (name, order, widths, stored) in enumerate(panels):
        x = 0.95 + 3.15 * panel
        ax.text(x - 0.55, 4.12, name, fontsize=16, weight="bold", va="center")
        ax.text(x - 0.55, 0.55, f"{stored} stored for {sum(LENGTHS)}", fontsize=14, va="center")
        chunk = len(order) // len(widths)
        for place, row in enumerate(order):
            y = TOP - place * SIDE - 0.12 * (place // chunk)
            ax.text(x - 0.16, y + SIDE / 2, f"row {row}", fontsize=12.5, ha="right", va="center", color=INK)
            for j in range(widths[place // chunk]):
                used = j < LENGTHS[row]
                style = (
                    {"facecolor": MEMORY, "edgecolor": "white"}
                    if used
                    else {"facecolor": to_rgba(WASTED, 0.6), "edgecolor": "white", "hatch": "////"}
                )
                ax.add_patch(Rectangle((x + j * SIDE, y), SIDE, SIDE, linewidth=1.2, **style))
        for piece in range(len(widths)):  # what the threads of a slice read at once
            y = TOP - ((piece + 1) * chunk - 1) * SIDE - 0.12 * piece
            style = {"facecolor": "none", "edgecolor": INK, "linewidth": 2.4, "zorder": 3}
            ax.add_patch(Rectangle((x, y), SIDE, chunk * SIDE, **style))
