"""Steps on tiles that threads share with their neighbours: halos, barriers, and what a cache does without a tile."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.first_kernels.alone import numbers
from course_pkg.practice.lectures.shared_memory.order import uses_tile
from course_pkg.practice.step import Step, Trial, WhatIf
from course_pkg.simt import KernelProfile

ONCE = {"global_load.thread_accesses": 1, "global_store.thread_accesses": 1}


def _line(n, rng):
    a, blocks = numbers(n, rng), blocks_for(n, 16)
    wide = np.pad(a, 1)
    loads = n + 2 * (blocks - 1)  # two elements more for each border of blocks
    needed = {"global_load.thread_accesses": loads, "global_store.thread_accesses": n}
    mean = (wide[:-2] + wide[1:-1] + wide[2:]) / 3
    return Trial({"a": a, "out": unwritten(n)}, {"out": mean}, blocks, 16, needed)


def _plane(shape, rng):
    a = numbers(shape, rng)
    (ny, nx), (across, down) = shape, blocks_for(shape, (8, 8))
    wide = np.pad(a, 1)
    total = wide[1:-1, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] + wide[:-2, 1:-1] + wide[2:, 1:-1]
    halo = 2 * ny * (across - 1) + 2 * nx * (down - 1)  # elements on both sides of each border of blocks
    needed = {"global_load.thread_accesses": a.size + halo, "global_store.thread_accesses": a.size}
    return Trial({"a": a, "out": unwritten(shape)}, {"out": total / 5}, (across, down), (8, 8), needed)


def _rounds(size, rng):
    blocks, times = size
    a = 64 * numbers(64 * blocks, rng)
    ring = a.reshape(blocks, 64).copy()
    for _ in range(times):
        ring = (np.roll(ring, 1, axis=1) + np.roll(ring, -1, axis=1)) / 2
    needed = {"global_load.thread_accesses": a.size, "global_store.thread_accesses": a.size}
    arguments = {"a": a, "times": times, "out": unwritten(a.size)}
    return Trial(arguments, {"out": ring.reshape(-1)}, blocks, 64, needed)


def _cross(shape, rng):
    a = numbers(shape, rng)
    new = a.copy()
    new[1:-1, 1:-1] = a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1] - 4 * a[1:-1, 1:-1]
    grid = blocks_for(shape, (8, 8))
    needed = {"global_store.thread_accesses": a.size, "shared_load.requests": 0, "shared_store.requests": 0}
    return Trial({"a": a, "out": unwritten(shape)}, {"out": new}, grid, (8, 8), needed)


def _no_barrier(profile: KernelProfile, trial: Trial) -> str | None:
    """Return a sentence if there is a barrier, although threads exchange nothing."""
    if profile.barriers and not profile.shared_store:
        return "a barrier is left: without a tile, no thread has to wait for another one."
    return None


FIRST = (
    Step(
        name="halo_line",
        title="A tile with two neighbours",
        ask="Blocks of 16 threads average over three points, 0 beyond the ends: add the halo, so that a block loads "
        "each point it needs once.",
        trial=_line,
        sizes=(32, 16, 37, 1),
        timed=1 << 24,
        limits=ONCE,
        tell="each block loaded its points and two more, each of them once",
        hints=(
            "Point at the first thread of a block: which element of the tile does it read that nobody has written?",
            "tile[0] belongs to the point before the block, tile[17] to the point behind it. Both may lie outside a.",
            "`if t == 1: tile[0] = a[i - 1] if i > 0 else 0.0`, the same for `t == 16` and tile[17], then the barrier.",
        ),
        what_if=(
            WhatIf(
                "Let every thread write `tile[t - 1]` and `tile[t + 1]` as well.",
                "The result is right. Which counts grow, and why is it a hazard?",
                "Three loads per point instead of one and a bit. And neighbours write the same element of the tile: "
                "that is a race even where both write the same number.",
            ),
            WhatIf(
                "Leave it to two threads, as it is.",
                "A warp has 32 lanes. What does a line that one lane runs cost?",
                "An instruction for the whole warp, and one request that uses 8 bytes of a sector of 32.",
            ),
        ),
    ),
    Step(
        name="halo_plane",
        title="A tile with four edges",
        ask="Blocks of 8 × 8 threads average over five points, 0 outside: the left edge of the halo is there, write "
        "the other three.",
        trial=_plane,
        sizes=((8, 16), (8, 8), (13, 11), (1, 3)),
        timed=(1 << 11, 1 << 12),
        needs="halo_line",
        limits=ONCE,
        tell="each block loaded every point that it needs once, and no corner",
        hints=(
            "An edge is loaded by the threads that lie beside it: x == 8 for the right one, y == 1 for the upper one.",
            "Mind the matrix's own ends: is there a point [j, i + 1], and does row j exist in this block?",
            "`if x == 8: tile[y, 9] = a[j, i + 1] if i + 1 < nx and j < ny else 0.0`; `if y == 1:` sets tile[0, x]; "
            "`if y == 8:` sets tile[9, x].",
        ),
        what_if=(
            WhatIf(
                "Load the four corners of the tile as well.",
                "The result stays the same. Why does nobody read a corner?",
                "A corner is a diagonal neighbour, and the five points are the point itself and those beside it.",
            ),
            WhatIf(
                "Think of blocks of 32 × 8 threads.",
                "How many halo points does a point of the block then cost?",
                "80 for 256, about 0.31; here it is 32 for 64, that is 0.5. A tile that is large along every direction "
                "has less halo.",
            ),
        ),
    ),
    Step(
        name="rounds",
        title="Two barriers per round",
        ask="The 64 points of a block form a ring: replace each, `times` times, by the mean of its two neighbours.",
        trial=_rounds,
        sizes=((1, 2), (1, 1), (2, 5), (1, 0)),
        timed=(1 << 18, 2),
        limits=ONCE,
        also=uses_tile,
        tell="all rounds ran on the chip: each number was loaded once, however many rounds there were",
        hints=(
            "In each round, all have to read the old values before anybody writes a new one.",
            "Keep the mean in a variable of the thread. The left neighbour of thread 0 is thread 63: (t + 63) % 64.",
            "barrier, `mean = (tile[(t + 63) % 64] + tile[(t + 1) % 64]) / 2`, barrier, `tile[t] = mean`",
        ),
        what_if=(
            WhatIf(
                "Remove the second barrier.",
                "What is overwritten too soon?",
                "The thread's old value: a neighbour may still have to read it for its own mean.",
            ),
            WhatIf(
                "Use two tiles: read from one, write to the other, and swap them in each round.",
                "Why is one barrier per round enough then?",
                "A value that a neighbour may still read is not overwritten until the round after, and the next "
                "barrier lies between.",
            ),
        ),
    ),
)

LAST = (
    Step(
        name="no_tile",
        title="Remove a tile that is not needed",
        ask="Write the kernel without its tile: the difference of five points inside, out = a on the boundary; no "
        "shared memory, no barrier.",
        trial=_cross,
        sizes=((8, 16), (16, 8), (13, 11), (2, 5)),
        timed=(1 << 12, 1 << 12),
        needs="halo_plane",
        limits={"global_store.thread_accesses": 1, "shared_load.requests": 1, "shared_store.requests": 1},
        also=_no_barrier,
        tell="the same result in fewer lines; the cache keeps what the threads share",
        hints=(
            "Each thread reads its five points from a directly.",
            "A point is inside if it has four neighbours: 0 < i < nx - 1, and the same for j.",
            "`if 0 < i < nx - 1 and 0 < j < ny - 1:` the difference; `elif i < nx and j < ny:` a copy.",
        ),
        what_if=(
            WhatIf(
                "Compare the sectors that this kernel asks for with those of the tile.",
                "They grow, but the bytes from memory do not. Who delivers them?",
                "The L1 cache: the threads of a block ask for the same sectors shortly after each other, so that only "
                "the first request goes further.",
            ),
            WhatIf(
                "Leave cuda.syncthreads() in the kernel.",
                "The result does not change. What does it cost?",
                "The warps of a block wait for the slowest of them, and while they wait they start no loads.",
            ),
        ),
    ),
)
