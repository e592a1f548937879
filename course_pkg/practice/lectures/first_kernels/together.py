"""Steps in which threads work together: shared memory, barriers, sums, atomics, halos."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.grading import check
from course_pkg.practice.lectures.first_kernels import demands
from course_pkg.practice.lectures.first_kernels.alone import numbers
from course_pkg.practice.step import Step, Trial, WhatIf


def _reverse(n, rng):
    a = numbers(n, rng)
    right = a.reshape(-1, 8)[:, ::-1].reshape(-1)
    mistakes = {
        "Each block has turned the elements of block 0: t counts anew in each block.": {
            "out": np.resize(right[:8], n)
        }
    }
    return Trial({"a": a, "out": unwritten(n)}, {"out": right}, n // 8, 8, mistakes=mistakes)


def _block_sum(n, rng):
    a = numbers(n, rng)
    needed = {"global_load.thread_accesses": n, "global_store.thread_accesses": n // 16}
    tiles = a.reshape(-1, 16)
    mistakes = {
        "This is the first element of the block: nothing was folded into it.": {"out": tiles[:, 0]},
        "This is the last element of the block: where in the tile is the number that is left?": {
            "out": tiles[:, -1]
        },
        "After the first fold, half stays 8: does each fold add the element that is half a tile away?": {
            "out": tiles[:, 0] + tiles[:, [8, 4, 2, 1]].sum(axis=1)
        },
        "Each fold added elements that are 8 away; the second one needs those that are 4 away: tile[t + half].": {
            "out": tiles[:, 0] + 4 * tiles[:, 8]
        },
    }
    return Trial(
        {"a": a, "out": unwritten(n // 16)}, {"out": tiles.sum(axis=1)}, n // 16, 16, needed, 0, mistakes
    )


def _dot(n, rng):
    a, b = numbers(n, rng), numbers(n, rng)
    needed = {"global_load.thread_accesses": 2 * n, "global_atomics.thread_accesses": 2}
    of_first = sum(a[first::32] @ b[first::32] for first in (0, 16))  # products of thread 0 of each block
    mistakes = {
        "These are the products of thread 0 of each block: where are those of its other threads?": {
            "out": np.array([of_first])
        },
        "The elements of a and b were added, not multiplied.": {"out": np.array([a.sum() + b.sum()])},
    }
    arrays = {"a": a, "b": b, "out": np.zeros(1)}
    return Trial(arrays, {"out": np.array([a @ b])}, 2, 16, needed, 0, mistakes)


def _histogram(n, rng):
    a = rng.integers(0, 5, n)
    right, in_one = np.bincount(a, minlength=5), np.zeros(5, np.int64)
    in_one[1] = a.sum()
    mistakes = {
        "Each element counts 1, whatever its value is.": {"counts": right * np.arange(5)},
        "Everything went into counts[1]: an atomic takes the index before the value.": {"counts": in_one},
    }
    arguments = {"a": a, "counts": np.zeros(5, np.int64)}
    return Trial(arguments, {"counts": right}, max(2, blocks_for(n, 16)), 16, mistakes=mistakes)


def _by_tiles(a, w, places, step=8):
    """Return a convolution by blocks of 8 threads; tile[k] of block b holds element b * step + places[k] - 2 of a."""
    first = step * np.arange(blocks_for(a.size, 8))
    wide = np.pad(a, (2, first[-1] + max(places) + 1 - a.size))
    tiles = wide[first[:, None] + places]
    sums = np.correlate(tiles.reshape(-1), w, "same").reshape(-1, 12)
    return sums[:, 2:10].reshape(-1)[: a.size]  # further out, a sum has elements of two tiles


def _convolution(n, rng):
    a, w = (
        numbers(n, rng),
        np.array([0.5, 0.25, 0.125, 0.0625, 1.0]),
    )  # weights that differ, with exact sums of products
    blocks = blocks_for(n, 8)
    first, k = np.arange(0, n, 8), np.arange(12)
    inside = int(np.sum(np.minimum(n, first + 10) - np.maximum(0, first - 2)))
    needed = {"global_load.thread_accesses": inside, "global_store.thread_accesses": n}
    wide = np.correlate(np.pad(a, (2, 4)), w)  # two more than there are threads
    right = wide[:n]
    mistakes = {
        "w runs the other way: w[0] belongs to a[i - 2], and w[4] to a[i + 2].": {
            "out": np.correlate(a, w[::-1], "same")
        },
        "Each result is the one that belongs two elements further on: does the tile begin with the halo?": {
            "out": wide[2:]
        },
        "Each block has computed with the elements of block 0: does j count the elements of the blocks before?": {
            "out": np.tile(right[:8], blocks)[:n]
        },
        "k counts from the thread's own number already: cuda.grid(1) + k counts it twice.": {
            "out": _by_tiles(a, w, k % 8 + k)
        },
        "Each thread puts the same element into tile[t] and tile[t + 8]: j must depend on k.": {
            "out": _by_tiles(a, w, k % 8)
        },
        "A block goes on 8 elements after the block before, not 12: the tiles of neighbouring blocks overlap.": {
            "out": _by_tiles(a, w, k, step=12)
        },
        "Beyond the ends stands the nearest element; take 0 there.": {
            "out": np.correlate(np.pad(a, 2, mode="edge"), w)
        },
        "a[0] was left out: 0 is an index like the others.": {
            "out": np.correlate(np.append(0, a[1:]), w, "same")
        },
    }
    arrays = {"a": a, "w": tuple(w.tolist()), "out": unwritten(n)}
    return Trial(arrays, {"out": right}, blocks, 8, needed, 0, mistakes)


def _row_sums(shape, rng):
    a = numbers(shape, rng)
    needed = {"global_load.sectors": check.sectors(a.size), "global_store.requests": shape[0]}
    right = a.sum(axis=1)
    mistakes = {
        "Each thread has added up the whole row, and then the fold has added 16 such sums: share the row.": {
            "out": 16 * right
        },
        "In block r, cuda.grid(1) begins at 16 r: within a row, count threads by t.": {
            "out": a.sum(axis=1, where=np.arange(shape[1]) >= 16 * np.arange(shape[0])[:, None])
        },
        "The loop ends at a.shape[0], the number of rows; a row has a.shape[1] elements.": {
            "out": a[:, : shape[0]].sum(axis=1)
        },
    }
    return Trial({"a": a, "out": unwritten(shape[0])}, {"out": right}, shape[0], 16, needed, 0, mistakes)


STEPS = (
    Step(
        name="reverse",
        title="Shared memory",
        ask="Let each block of 8 threads write its 8 elements in reverse order, by way of the shared tile.",
        trial=_reverse,
        sizes=(16, 8, 40),
        timed=1 << 23,
        needs="blocks",
        also=demands.passes_on,
        tell="each thread passed its element on to another one of its block",
        hints=(
            "First all threads put their elements into the tile. Then each takes another one out of it.",
            "Between putting and taking, all have to wait for each other: cuda.syncthreads().",
            "`tile[t] = a[i]`, `cuda.syncthreads()`, `out[i] = tile[7 - t]`",
        ),
        what_if=(
            WhatIf(
                "Remove cuda.syncthreads().",
                "The result may still be right. Why is it a hazard?",
                "Nothing promises that a thread has put its element there before another takes it.",
            ),
        ),
    ),
    Step(
        name="block_sum",
        title="The sum of a block",
        ask="Let each block write the sum of its 16 elements: fold the tile in half until one number is left.",
        trial=_block_sum,
        sizes=(32, 16, 64),
        timed=1 << 24,
        needs="reverse",
        limits={"global_load.thread_accesses": 1, "global_store.thread_accesses": 1},
        also=demands.folds,
        tell="the threads of each block added up its sixteen elements together",
        hints=(
            "With half = 8, the threads 0 to 7 add the elements 8 to 15 to their own. And then?",
            "Halve with // until nothing is left; before each folding, all wait for the last one.",
            "`while half > 0:`, `cuda.syncthreads()`, `if t < half: tile[t] += tile[t + half]`, `half //= 2`",
        ),
        what_if=(
            WhatIf(
                "Move cuda.syncthreads() into the `if`.",
                "Why is that worse than leaving it out?",
                "Threads outside the `if` never reach the barrier. What the others then do is not defined: they may "
                "wait for ever.",
            ),
        ),
    ),
    Step(
        name="dot",
        title="A dot product",
        ask="Let 2 blocks of 16 threads add a[i] · b[i] over arrays of any length into out[0], which begins at 0.",
        trial=_dot,
        sizes=(50, 32, 7),
        timed=1 << 22,
        needs="block_sum",
        limits={"global_load.thread_accesses": 1, "global_atomics.thread_accesses": 1},
        tell="each thread added its products, each block its threads, and one update a block went to memory",
        hints=(
            "First each thread alone: its products, of every 32nd element, added up in s.",
            "Then the block, as in the puzzle before. Then one thread of each block adds to out[0].",
            "`s += a[i] * b[i]` in the loop; at the end `if t == 0: cuda.atomic.add(out, 0, tile[0])`",
        ),
        what_if=(
            WhatIf(
                "Write `out[0] += tile[0]` instead of the atomic.",
                "Why may one block's sum get lost?",
                "Reading, adding and writing are three things. If both blocks read 0, one overwrites the other.",
            ),
        ),
    ),
    Step(
        name="histogram",
        title="A histogram",
        ask="Count how often each number from 0 to 4 is in a.",
        trial=_histogram,
        sizes=(30, 32, 9, 100),
        timed=1 << 23,
        needs="guard",
        tell="threads that met in one counter took turns",
        hints=(
            "The element says which counter grows: counts[a[i]].",
            "Several threads may meet in one counter. An atomic addition lets them take turns.",
            "`cuda.atomic.add(counts, a[i], 1)`",
        ),
        what_if=(
            WhatIf(
                "Let all elements be equal.",
                "The result stays right. What becomes slow?",
                "All threads meet in one counter, and there they take turns, one after the other.",
            ),
        ),
    ),
    Step(
        name="convolution",
        title="A convolution with a halo",
        ask="Let out[i] be w[0] · a[i - 2] + … + w[4] · a[i + 2]; let each block read no element twice.",
        trial=_convolution,
        sizes=(20, 8, 35),
        timed=1 << 23,
        needs="stencil",
        limits={"global_load.thread_accesses": 1, "global_store.thread_accesses": 1},
        tell="8 threads filled a tile of 12, and then read their neighbours from it",
        hints=(
            "A block needs its 8 elements and 2 more at each side, its halo: 12 for 8 threads.",
            "Let the threads go through the tile in steps of 8. tile[k] is a[8 * block + k - 2], or 0 beyond the ends "
            "of a; so a[i - 2] to a[i + 2] are tile[t] to tile[t + 4].",
            "`tile[k] = a[j] if 0 <= j < a.size else 0.0`; after the barrier, add `w[m] * tile[t + m]`.",
        ),
        what_if=(
            WhatIf(
                "Read from a directly, without the tile.",
                "How many times is each element then read from memory?",
                "Asked for five times. The caches answer most of it: whether a tile pays is for lecture 3 to measure.",
            ),
        ),
    ),
    Step(
        name="row_sums",
        title="As fast as memory allows",
        ask="Let the 16 threads of block r add up row r of the matrix, with as few sectors as possible.",
        trial=_row_sums,
        sizes=((3, 64), (2, 48), (1, 16)),
        needs="block_sum",
        limits={"global_load.sectors": 1, "global_store.requests": 1},
        timed=(1 << 14, 1 << 10),
        tell="no byte was moved twice, and none for nothing",
        hints=(
            "Which elements of a row should 16 neighbours read in one trip?",
            "Thread t takes t, t + 16, t + 32, …; then the block adds up the 16 sums.",
            "`for c in range(t, a.shape[1], 16): s += a[r, c]`",
        ),
        what_if=(
            WhatIf(
                "Give each thread neighbours: `n = a.shape[1] // 16` before the loop, and `range(n * t, n * t + n)`.",
                "Which count grows, though each element is still read once?",
                "The sectors: in a row of 64, each lane's four elements fill a sector, and each of its four trips asks "
                "for it again.",
            ),
        ),
    ),
)
