"""Four iterations in time, on one GPU and on eight: the work becomes shorter, the waits for a sum do not."""

from course_pkg.cg.variants import VARIANTS as CG
from course_pkg.sstep.variants import VARIANTS
from course_pkg.viz import Picture, draw, strip
from course_pkg.viz.style import COMPUTE, MEMORY, MUTED

WIDTH, HEIGHT = 860.0, 332.0
LEFT, ROW, TALL = 216.0, 40.0, 25.0
WAIT, UNIT = 10.0, 0.96  # points: of a sum, the same for all; of a byte per point
S, GPUS = 4, 8
TWO_KERNELS, ONE_SUM, MOMENTS = CG["cg_two_kernel"], VARIANTS["pfcg"], VARIANTS["pcg_sstep_moments"]
# name, and the bytes per point between two sums, in four iterations
METHODS = {
    TWO_KERNELS.titled(): (24, 40) * S,
    ONE_SUM.titled(): (152,) * S,
    MOMENTS.titled(s=S): (94 * S,),
}


def pictures() -> dict[str, Picture]:
    told = "; ".join(f"{len(stretches)} for {name}" for name, stretches in METHODS.items())
    lengths = [
        " and ".join(", ".join(str(round(_length(w, gpus))) for w in METHODS.values()).rsplit(", ", 1))
        for gpus in (1, GPUS)
    ]
    return {
        "sums_in_time": draw(
            _plot,
            f"Four iterations in time, as stretches of work and waits for a sum. Waits: {told}. On one GPU the three "
            f"rows are {lengths[0]} long, on {GPUS} GPUs {lengths[1]}. Work is as long as its bytes; all waits are "
            "equally long, which no machine promises.",
            size=(WIDTH / 72, HEIGHT / 72),
        )
    }


def _length(stretches, gpus):
    """Return how long four iterations are."""
    return UNIT * sum(stretches) / gpus + WAIT * len(stretches)


def _check():
    costs = TWO_KERNELS.cost((100,) * 3), ONE_SUM.cost(10**6), MOMENTS.cost(10**6, s=S)
    for cost, (name, stretches) in zip(costs, METHODS.items(), strict=True):
        assert abs(S * cost.bytes / 10**6 - sum(stretches)) < 1, name


def _plot(figure):
    _check()
    ax = strip.sheet(figure)
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    for panel, (gpus, title) in enumerate(
        ((1, "one GPU"), (GPUS, f"{GPUS} GPUs: an eighth of the work for each"))
    ):
        top = HEIGHT - 20 - panel * 146
        ax.text(8, top, title, size=16, weight="bold", va="center_baseline")
        for row, (name, stretches) in enumerate(METHODS.items()):
            y = top - 30 - row * ROW
            ax.text(LEFT - 14, y, name, size=15, ha="right", va="center_baseline")
            _row(ax, y, stretches, gpus, f"{panel}-{row}")
    _key(ax, MEMORY, "work: as long as its bytes", LEFT)
    _key(ax, COMPUTE, "all wait for a sum", LEFT + 250)
    ax.annotate(
        "", (WIDTH - 12, 18), (WIDTH - 130, 18), arrowprops={"arrowstyle": "->", "color": MUTED, "lw": 1.6}
    )
    ax.text(WIDTH - 140, 18, "time", size=14, ha="right", va="center_baseline")


def _row(ax, y, stretches, gpus, gid):
    x = LEFT
    for i, stretch in enumerate(stretches):
        wide = UNIT * stretch / gpus
        strip.bar(ax, x, y - TALL / 2, wide, TALL, f"work-{gid}-{i}", facecolor=MEMORY, edgecolor="none")
        strip.bar(
            ax,
            x + wide + 1,
            y - TALL / 2,
            WAIT - 2,
            TALL,
            f"wait-{gid}-{i}",
            facecolor=COMPUTE,
            edgecolor="none",
        )
        x += wide + WAIT


def _key(ax, colour, text, x):
    strip.bar(ax, x, 10, 16, 16, f"key-{text}", facecolor=colour, edgecolor="none")
    ax.text(x + 24, 18, text, size=14, va="center_baseline")
