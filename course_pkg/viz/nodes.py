"""The marks of a graph: a shape and a colour for each kind of node, a line for each kind of edge, and their legend."""

from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path

from course_pkg.viz import strip
from course_pkg.viz.style import GAIN, INK, MEMORY, MUTED, SERIES

COLOURS = {"map": GAIN, "stencil": SERIES[3], "reduction": SERIES[5]}
MEMORY_LINE = {"edgecolor": MEMORY, "linewidth": 2.4}
REGISTER_LINE = {"edgecolor": MUTED, "linewidth": 1.1}
SCALAR_LINE = {"edgecolor": INK, "linewidth": 1.6, "linestyle": (0, (1, 1.6))}


def shape(ax, kind, x, y, width, height, gid, *, hatched=False) -> None:
    """Draw a node: a map as a box with round corners, a stencil as a hexagon, a reduction as a funnel."""
    dent, right, top, mid = min(9, height / 4), x + width, y + height, y + height / 2
    shoulder = y + 0.27 * height  # below the second line of words
    corners = {
        "stencil": [
            (x, mid),
            (x + dent, top),
            (right - dent, top),
            (right, mid),
            (right - dent, y),
            (x + dent, y),
        ],
        "reduction": [
            (x, top),
            (right, top),
            (right, shoulder),
            (right - 1.6 * dent, y),
            (x + 1.6 * dent, y),
            (x, shoulder),
        ],
    }
    fill, colour = {"facecolor": _pale(COLOURS[kind], 0.12 if hatched else 0.35)}, COLOURS[kind]
    layers = [fill | {"edgecolor": colour, "linewidth": 2}]
    if hatched:  # pale, so that words on it can be read
        layers = [
            fill | {"edgecolor": _pale(colour, 0.45), "linewidth": 0, "hatch": "///"},
            layers[0] | {"facecolor": "none"},
        ]
    for layer, style in enumerate(layers):
        if kind == "map":
            artist = FancyBboxPatch(
                (x, y), width, height, boxstyle=f"round,pad=0,rounding_size={dent}", **style
            )
        else:
            artist = Polygon(corners[kind], closed=True, joinstyle="round", **style)
        artist.set_gid(f"{gid}-{layer}" if layer else gid)
        artist.set_zorder(3)
        ax.add_artist(artist)


def _pale(colour, share):
    """Mix a colour with white; a transparent colour would let what lies beneath shine through."""
    return tuple(share * c + 1 - share for c in to_rgb(colour))


def legend(ax, y, *, framed, again) -> None:
    """Write what shapes and lines mean, from the left edge rightwards."""
    x = 8.0
    for kind in COLOURS:
        shape(ax, kind, x, y - 6, 17, 12, f"legend-{kind}")
        x = _word(ax, x + 21, y, kind)
    lines = {"memory": MEMORY_LINE, "register": REGISTER_LINE, "scalar": SCALAR_LINE}
    for text, style in lines.items():
        if text != "register" or framed:
            line(ax, [(x, y), (x + 20, y)], f"legend-{text}", **style)
            x = _word(ax, x + 25, y, text)
    if framed:
        ax.add_artist(Circle((x + 6, y), 6.5, facecolor=INK, edgecolor="none"))
        x = _word(ax, x + 16, y, "kernel")
    if again:
        shape(ax, "stencil", x, y - 6, 17, 12, "legend-again", hatched=True)
        _word(ax, x + 22, y, "again")


def _word(ax, x, y, text):
    ax.text(x, y, text, size=11.5, va="center_baseline")
    return x + strip.breadth(text, 11) + 10


def line(ax, points, gid, **style) -> None:
    """Draw a line through points."""
    path = PathPatch(Path(points), facecolor="none", capstyle="butt", joinstyle="round", **style)
    path.set_gid(gid)
    ax.add_artist(path)
