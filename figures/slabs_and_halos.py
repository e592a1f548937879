"""Slabs of planes on four ranks, the planes that are copied to neighbours, and the messages that bring them."""

from matplotlib.colors import to_rgba
from matplotlib.patches import FancyArrowPatch

from course_pkg.distributed.halo import slab_plan
from course_pkg.distributed.partition import Slab
from course_pkg.viz import Picture, draw, strip
from course_pkg.viz.style import COMPUTE, INK, MEMORY, MUTED

WIDTH, HEIGHT = 860.0, 262.0
GRID, RANKS = (14, 5, 5), 4  # 14 planes: slabs of 3 and of 4
LEFT, TOP = 120.0, 228.0
PLANE, TALL = 30.0, 62.0  # of a plane: from one to the next, and how high it is drawn
OWN, HALO = MEMORY, to_rgba(MEMORY, 0.22)


def slabs() -> list[Slab]:
    """Return the slabs that are drawn."""
    return [Slab(GRID, rank, RANKS) for rank in range(RANKS)]


def messages() -> list[tuple[int, int]]:
    """Return sender and receiver of each message of an exchange."""
    return [(slab.rank, peer) for slab in slabs() for peer, _ in slab_plan(slab).sends]


def pictures() -> dict[str, Picture]:
    owned = ", ".join(str(slab.shape[0]) for slab in slabs())
    sent = "; ".join(f"{source} to {destination}" for source, destination in messages())
    return {
        "slabs_and_halos": draw(
            _plot,
            f"Above, a grid of {GRID[0]} planes, divided among {RANKS} ranks: {owned} planes. Below, what each rank "
            f"holds: its own planes, and beside them a copy of each plane that it reads of a neighbour, its halo. "
            f"Messages from rank {sent}.",
            size=(WIDTH / 72, HEIGHT / 72),
        )
    }


def _plot(figure):
    ax = strip.sheet(figure)
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    _names(ax)
    apart = (WIDTH - LEFT - 20 - PLANE * GRID[0]) / RANKS
    edges = {}
    for slab in slabs():
        x = LEFT + slab.first * PLANE + slab.rank * apart + apart / 2 - 4
        _slab(ax, slab, x)
        edges[slab.rank] = (x, x + PLANE * slab.shape[0])
    for source, destination in messages():
        _arrow(ax, edges, source, destination)


def _names(ax):
    whole = LEFT + (WIDTH - LEFT - 20 - PLANE * GRID[0]) / 2
    ax.text(10, TOP + 4, "the grid", size=15.5, weight="bold", va="center_baseline")
    ax.text(10, 115, "each rank", size=15.5, weight="bold", va="center_baseline")
    ax.text(10, 95, "holds", size=15.5, weight="bold", va="center_baseline")
    for plane in range(GRID[0]):
        strip.bar(
            ax,
            whole + plane * PLANE,
            TOP - 14,
            PLANE - 4,
            36,
            f"plane-{plane}",
            facecolor=OWN,
            edgecolor="none",
        )
        ax.text(whole + plane * PLANE + PLANE / 2 - 2, TOP + 4, str(plane), size=15, color="white", ha="center",
                va="center_baseline")  # fmt: skip
        if plane and plane in [slab.first for slab in slabs()]:
            x = whole + plane * PLANE - 2
            ax.plot([x, x], [TOP - 24, TOP + 30], color=INK, lw=2.2)


def _slab(ax, slab, x):
    low = 74.0
    middle = x + PLANE * slab.shape[0] / 2
    for i in range(slab.shape[0]):
        strip.bar(
            ax, x + i * PLANE, low, PLANE - 4, TALL, f"own-{slab.rank}-{i}", facecolor=OWN, edgecolor="none"
        )
        ax.text(x + i * PLANE + PLANE / 2 - 2, low + TALL / 2, str(slab.first + i), size=15, color="white",
                ha="center", va="center_baseline")  # fmt: skip
    for peer, place, plane in (
        (slab.below, x - PLANE, slab.first - 1),
        (slab.above, x + PLANE * slab.shape[0], slab.last),
    ):
        if peer is not None:
            strip.bar(ax, place, low, PLANE - 4, TALL, f"halo-{slab.rank}-{plane}", facecolor=HALO, edgecolor=MEMORY,
                      linewidth=1.2)  # fmt: skip
            ax.text(place + PLANE / 2 - 2, low + TALL / 2, str(plane), size=15, color=INK, ha="center",
                    va="center_baseline")  # fmt: skip
    ax.text(middle - 2, 20, f"rank {slab.rank}", size=15.5, weight="bold", ha="center", va="center_baseline")


def _arrow(ax, edges, source, destination):
    """Draw a message: from the outermost plane of its sender to the halo of its receiver."""
    up = destination > source
    start = edges[source][1] - PLANE / 2 - 2 if up else edges[source][0] + PLANE / 2 - 2
    end = edges[destination][0] - PLANE / 2 - 2 if up else edges[destination][1] + PLANE / 2 - 2
    y, bend = (140.0, -0.4) if up else (70.0, -0.4)
    ax.add_patch(
        FancyArrowPatch(
            (start, y), (end, y), connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>", mutation_scale=15,
            color=COMPUTE, lw=2,
        )
    )  # fmt: skip
    if (source, destination) == (0, 1):
        ax.text(
            (start + end) / 2, y + 34, "a message", size=15, color=MUTED, ha="center", va="center_baseline"
        )
