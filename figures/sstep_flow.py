"""A round of an s-step method: products make a block, one sum makes numbers, small systems make coefficients."""

from course_pkg.viz import Picture, draw, strip
from course_pkg.viz.style import COMPUTE, GAIN, INK, MEMORY, MEMORY_WRITE, MUTED

WIDTH, HEIGHT = 860.0, 318.0
S = 3
COLUMN, TALL, GAP = 22.0, 150.0, 6.0
BASE = 84.0  # the foot of the vectors


def pictures() -> dict[str, Picture]:
    return {
        "sstep_flow": draw(
            _plot,
            f"A round with s = {S}. r is multiplied by A {S} times: a block Q of {S} vectors, and AQ. One "
            "reduction over the block gives "
            f"{2 * S} moments. Systems of {S} by {S} give beta and alpha. Q plus the old directions P times beta "
            "are the new directions; x "
            "and r move along them by alpha.",
            size=(WIDTH / 72, HEIGHT / 72),
        )
    }


def _plot(figure):
    ax = strip.sheet(figure)
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    _vector(ax, 14, "r", MEMORY, "r")
    _arrow(ax, 62, 110, f"{S} products\nwith A", INK)
    for i in range(S):
        _vector(ax, 148 + i * (COLUMN + GAP), f"q{i}", MEMORY, ("r", "Ar", "A²r")[i])
        _vector(ax, 244 + i * (COLUMN + GAP), f"aq{i}", MEMORY_WRITE, ("Ar", "A²r", "A³r")[i], light=True)
    _brace(ax, 148, "Q")
    _brace(ax, 244, "A Q")
    _arrow(ax, 338, 376, "one\nsum", COMPUTE)
    middle = BASE + TALL / 2
    for i in range(2 * S):
        strip.bar(
            ax, 386, middle + 44 - 16 * i, 16, 14, f"mu-{i}", facecolor=COMPUTE, edgecolor="none", alpha=0.85
        )
    ax.text(394, BASE - 18, f"{2 * S} moments", size=14.5, ha="center", va="center_baseline")
    _arrow(ax, 418, 462, "", INK)
    for (dx, dy), name in zip(((0, 22), (0, -48)), ("β", "α"), strict=True):
        wide = 50 if name == "β" else 17
        for i in range(S if name == "β" else 1):
            for j in range(S):
                strip.bar(
                    ax,
                    478 + dx + 17 * i,
                    middle + dy + 17 * (S - 1 - j),
                    15,
                    15,
                    f"{name}{i}{j}",
                    facecolor=GAIN,
                    edgecolor="none",
                )
        ax.text(478 + wide + 12, middle + dy + 24, name, size=19, style="italic", va="center_baseline")
    ax.text(508, BASE - 18, f"systems of {S} × {S}", size=14.5, ha="center", va="center_baseline")
    _arrow(ax, 566, 610, "one\nupdate", INK)
    for i in range(S):
        _vector(ax, 640 + i * (COLUMN + GAP), f"p{i}", MEMORY, "")
    _brace(ax, 640, "P = Q + Pβ")
    ax.text(679, BASE - 18, "and A P", size=14, ha="center", va="center_baseline")
    _vector(ax, 762, "x", GAIN, "x")
    _vector(ax, 808, "rnew", MEMORY, "r")
    ax.text(804, BASE + TALL + 38, "+ Pα, − APα", size=14.5, ha="center", va="center_baseline")
    # the next round begins with the new r
    y = 26
    ax.annotate("", (25, BASE - 34), (25, y), arrowprops={"arrowstyle": "->", "color": MUTED, "lw": 1.6})
    ax.plot([25, 819, 819], [y, y, BASE - 34], color=MUTED, lw=1.6)
    ax.text(422, y + 13, "the next round", size=14.5, color=INK, ha="center", va="center_baseline")


def _vector(ax, x, gid, colour, name, light=False):
    strip.bar(ax, x, BASE, COLUMN, TALL, gid, facecolor=colour, edgecolor="none", alpha=0.75 if light else 1)
    ax.text(x + COLUMN / 2, BASE - 18, name, size=14, ha="center", va="center_baseline")


def _brace(ax, x, name):
    wide = S * COLUMN + (S - 1) * GAP
    y = BASE + TALL + 12
    ax.plot([x, x, x + wide, x + wide], [y - 6, y, y, y - 6], color=INK, lw=1.6)
    ax.text(x + wide / 2, y + 26, name, size=17, weight="bold", ha="center", va="center_baseline")


def _arrow(ax, start, end, text, colour):
    middle = BASE + TALL / 2
    ax.annotate(
        "", (end, middle), (start, middle), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.4}
    )
    for i, line in enumerate(reversed(text.split("\n"))):
        ax.text(
            (start + end) / 2 - 2,
            middle + 18 + 18 * i,
            line,
            size=14,
            color=INK,
            ha="center",
            va="center_baseline",
        )
