"""One look for every figure: palette, fonts, sizes.

The palette is Okabe and Ito's, which colour-blind readers can tell apart. Memory, compute and bound have the same
colour in every figure and on every slide. A bound is drawn in ink, dashed, and nothing else is dashed.
"""

from pathlib import Path

import matplotlib as mpl
from matplotlib.font_manager import fontManager

MEMORY = "#0072B2"
MEMORY_WRITE = "#56B4E9"
COMPUTE = "#D55E00"
BOUND = "#1b1f24"
WASTED = "#9aa3ad"
GAIN = "#009E73"
INK = "#1b1f24"
MUTED = "#5b6570"
RULE = "#d9dce1"
SERIES = (MEMORY, COMPUTE, GAIN, "#CC79A7", MEMORY_WRITE, "#E69F00")

RC = {
    "figure.figsize": (8.6, 4.0),
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlesize": 15,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 14,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": mpl.cycler(color=SERIES),
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "xtick.labelsize": 12.5,
    "ytick.labelsize": 12.5,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "font.size": 13,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # ships with matplotlib: the same figure on every machine
    "legend.frameon": False,
    "legend.fontsize": 12.5,
    "lines.linewidth": 2.4,
    "lines.markersize": 7,
    "svg.fonttype": "path",
    "svg.hashsalt": "at the speed of memory",  # the same figure gives the same bytes
}


def _use_bundled_fonts() -> None:
    """Let "DejaVu Sans" be Matplotlib's own file: a system's copy may be another version, with other glyphs."""
    bundled = Path(mpl.get_data_path(), "fonts", "ttf")
    fontManager.ttflist = [
        f for f in fontManager.ttflist if not f.name.startswith("DejaVu") or Path(f.fname).parent == bundled
    ]
    known = {Path(f.fname) for f in fontManager.ttflist}
    for path in sorted(bundled.glob("DejaVu*.ttf")):
        if path not in known:
            fontManager.addfont(path)


_use_bundled_fonts()
