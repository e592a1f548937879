"""One look for every figure: palette, fonts, sizes.

The palette is Okabe and Ito's, which colour-blind readers can tell apart; its light colours are darker here, so that
each has a contrast of at least 3 : 1 with white. Memory, compute and bound have the same colour in every figure and on
every slide. A bound is drawn in ink, dashed, and nothing else is dashed.
"""

from pathlib import Path

import matplotlib as mpl
from matplotlib.font_manager import fontManager

from course_pkg.core.sources import THIS_MACHINE

MEMORY = "#0072B2"
MEMORY_WRITE = "#3D9BD9"
COMPUTE = "#D55E00"
BOUND = "#1b1f24"
WASTED = "#87909B"
GAIN = "#009E73"
COMPUTE_TEXT, GAIN_TEXT = (
    "#AD4B00",
    "#00754F",
)  # for words, and for grounds of white words: 4.5 : 1 with white
INK = "#1b1f24"
MUTED = "#5b6570"
RULE = "#d9dce1"
LINE = "rgba(128,128,128,.45)"  # between rows of a page that may be light or dark
PINK, GOLD = "#C973A2", "#B58400"
SERIES = (MEMORY, COMPUTE, GAIN, PINK, MEMORY_WRITE, GOLD)
# Series that are devices, in every figure; none has the colour of memory, of compute or of the bound.
DEVICES = {"H100": PINK, "H200": GOLD, THIS_MACHINE: GAIN}
# The fonts of slides and pages, as in theme/palette.css; figures use the same. Lengths of text are computed with
# DEJAVU, which is wider than all of these, so that a text that fits here fits on every machine.
_FIRST = ("-apple-system", '"Segoe UI"', "Roboto", '"Helvetica Neue"', '"Noto Sans"')
SANS = ", ".join((*_FIRST, '"Liberation Sans"', "Arial", "system-ui", "sans-serif"))
_FIRST = ("ui-monospace", '"SF Mono"', "SFMono-Regular", '"Cascadia Code"', "Menlo", "Consolas")
MONO = ", ".join((*_FIRST, '"DejaVu Sans Mono"', "monospace"))
DEJAVU = "DejaVu Sans"

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
    "xtick.labelsize": 13,
    "ytick.labelsize": 13,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "font.size": 13,
    "font.family": "sans-serif",
    "font.sans-serif": [DEJAVU],  # ships with Matplotlib: the same figure on every machine
    "font.monospace": [f"{DEJAVU} Mono"],
    "legend.frameon": False,
    "legend.fontsize": 13,
    "lines.linewidth": 2.4,
    "lines.markersize": 7,
    "svg.fonttype": "none",  # letters, not outlines: the page sets them in its own font
    "svg.hashsalt": "at the speed of memory",  # the same figure gives the same bytes
}


def pale(colour: str) -> str:
    """Return a colour mixed with the same amount of white, as a ground on which words in ink are legible.

    They stay legible where a dark page inverts both. On `MEMORY_WRITE`, `WASTED` and `PINK` themselves, no colour of
    words has a contrast of 4.5 : 1 in both themes.
    """
    return "#" + "".join(f"{(int(colour[i : i + 2], 16) + 255) // 2:02X}" for i in (1, 3, 5))


def _use_bundled_fonts() -> None:
    """Make "DejaVu Sans" mean Matplotlib's own file: the system may have another version, with other glyphs."""
    bundled = Path(mpl.get_data_path(), "fonts", "ttf")
    fontManager.ttflist = [
        f for f in fontManager.ttflist if not f.name.startswith("DejaVu") or Path(f.fname).parent == bundled
    ]
    known = {Path(f.fname) for f in fontManager.ttflist}
    for path in sorted(bundled.glob("DejaVu*.ttf")):
        if path not in known:
            fontManager.addfont(path)


_use_bundled_fonts()
