"""A sum over eight ranks in three rounds: in each, every rank swaps its sum with a partner twice as far away."""

from matplotlib.patches import FancyArrowPatch

from course_pkg.viz import Picture, draw, strip
from course_pkg.viz.style import COMPUTE_TEXT, INK, MEMORY, MUTED

WIDTH, HEIGHT = 860.0, 336.0
VALUES = (3, 1, 4, 1, 5, 9, 2, 6)  # what each rank brings
RANKS = len(VALUES)
LEFT, PITCH, TOP, ROUND = 148.0, 90.0, 282.0, 82.0
BOX = 46.0, 28.0


def rounds() -> list[tuple[int, ...]]:
    """Return what each rank holds before the first round and after each."""
    held, distance = [VALUES], 1
    while distance < RANKS:
        held.append(tuple(held[-1][rank] + held[-1][rank ^ distance] for rank in range(RANKS)))
        distance *= 2
    return held


def pictures() -> dict[str, Picture]:
    held = rounds()
    assert set(held[-1]) == {sum(VALUES)}
    return {
        "all_reduce": draw(
            _plot,
            f"{RANKS} ranks bring {', '.join(map(str, VALUES))}. In round 1 each swaps its number with a neighbour and "
            f"adds, in round 2 with a rank two away, in round 3 with a rank four away. After {len(held) - 1} rounds "
            f"all of them hold {held[-1][0]}.",
            size=(WIDTH / 72, HEIGHT / 72),
        )
    }


def _plot(figure):
    ax = strip.sheet(figure)
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    held = rounds()
    for rank in range(RANKS):
        ax.text(
            _x(rank), TOP + 34, f"rank {rank}", size=14.5, ha="center", va="center_baseline", weight="bold"
        )
    for number, values in enumerate(held):
        y = TOP - number * ROUND
        done = number == len(held) - 1
        ax.text(8, y, "at first" if not number else f"after round {number}", size=14.5, va="center_baseline")
        for rank, value in enumerate(values):
            wide, tall = BOX
            strip.cell(ax, _x(rank) - wide / 2, y - tall / 2, wide, tall, f"held-{number}-{rank}", radius=5,
                       facecolor=COMPUTE_TEXT if done else MEMORY, edgecolor="none")  # fmt: skip
            ax.text(_x(rank), y, str(value), size=14.5, color="white", ha="center", va="center_baseline",
                    weight="bold")  # fmt: skip
        if not done:
            _swaps(ax, y, 2**number)


def _swaps(ax, y, distance):
    top, bottom = y - BOX[1] / 2 - 1, y - ROUND + BOX[1] / 2 + 1
    for rank in range(RANKS):
        ax.plot([_x(rank)] * 2, [top, bottom], color=MUTED, lw=1.2)
        ax.add_patch(
            FancyArrowPatch(
                (_x(rank), top), (_x(rank ^ distance), bottom), arrowstyle="-|>", mutation_scale=11, color=INK, lw=1.4,
                shrinkA=0, shrinkB=0,
            )
        )  # fmt: skip


def _x(rank):
    return LEFT + PITCH * (rank + 0.3)
