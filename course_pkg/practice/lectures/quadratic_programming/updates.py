"""Steps on the update itself: on the host, by threads, with tiles, by warps, and for many small problems."""

import numpy as np

from course_pkg.core.access import WARP
from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.permutations.orders import sectors_in_order
from course_pkg.practice.lectures.quadratic_programming import likely
from course_pkg.practice.lectures.quadratic_programming.likely import sums
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf
from course_pkg.qp.reference import split

LOADS, STORES, SECTORS = "global_load.thread_accesses", "global_store.thread_accesses", "global_load.sectors"
TILE, WARPS = 8, 2  # threads of a small block; warps of a larger one


def small_problem(n, rng, problems=()):
    """Return Q, h and a positive x of small whole numbers, or of several problems; the diagonal of Q is positive."""
    upper = np.triu(rng.integers(-4, 5, (*problems, n, n)), 1).astype(np.float64)
    Q = upper + upper.swapaxes(-1, -2)
    Q[..., range(n), range(n)] = rng.integers(2, 7, (*problems, n))
    h = rng.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], (*problems, n))
    return Q, h, rng.integers(1, 6, (*problems, n)).astype(np.float64)


def next_x(Q, h, x):
    """Return one update of a positive x, without a shift."""
    (plus, minus), (h_plus, h_minus) = sums(Q, x), split(h)
    return x * (h_minus + minus) / (h_plus + plus)


def _one_update(n, rng):
    Q, h, x = small_problem(n, rng)
    (plus, minus), (h_plus, h_minus) = sums(Q, x), split(h)
    mistakes = {
        "The fraction stands on its head: what is negative in Q and h makes x grow, so it stands above.": {
            RESULT: x * (h_plus + plus) / (h_minus + minus + 1e-300)
        },
        "Q⁻ and h⁻ hold no negative numbers: they are max(-Q, 0) and max(-h, 0).": {
            RESULT: -x * (h_minus + minus) / (h_plus + plus)
        },
        "This is the factor: the new x is the old one, multiplied by it.": {
            RESULT: (h_minus + minus) / (h_plus + plus)
        },
    }
    return Trial({"Q": Q, "h": h, "x": x}, {RESULT: next_x(Q, h, x)}, mistakes=mistakes)


def _by_threads(n, rng, threads):
    Q, h, x = small_problem(n, rng)
    arguments = {"Q": Q, "h": h, "x": x, "out": unwritten(n)}
    mistakes = likely.by_threads(Q, h, x)
    return Trial(arguments, {"out": next_x(Q, h, x)}, blocks_for(n, threads), threads, mistakes=mistakes)


def _each_unknown(n, rng):
    trial = _by_threads(n, rng, WARP)
    trial.needed.update({LOADS: 2 * n * n + 2 * n, STORES: n})
    return trial


def _tile_of_x(n, rng):
    trial = _by_threads(n, rng, TILE)
    trial.mistakes.update(likely.by_tiles(*(trial.arguments[name] for name in ("Q", "h", "x")), TILE))
    # n is a multiple of 4, the numbers in a sector; Q, own x and own h are read once, the whole x once per block
    trial.needed.update({SECTORS: (n * n + blocks_for(n, TILE) * n + 2 * n) / 4, STORES: n})
    return trial


def _warp_per_row(n, rng):
    Q, _, x = small_problem(n, rng)
    plus, minus = sums(Q, x)
    first = np.arange(0, n, WARP)
    last = np.minimum(first + WARP, n) - 1
    row = n * np.arange(n)[:, None]
    of_q = sectors_in_order(row + first, row + last, 8)
    needed = {SECTORS: of_q + n * sectors_in_order(first, last, 8), STORES: 2 * n}
    arguments = {"Q": Q, "x": x, "plus": unwritten(n), "minus": unwritten(n)}
    blocks = blocks_for(n, WARPS)
    return Trial(
        arguments,
        {"plus": plus, "minus": minus},
        blocks,
        WARPS * WARP,
        needed,
        mistakes=likely.by_warps(Q, x),
    )


def _one_block_each(size, rng):
    problems, times = size
    Q, h, x = small_problem(TILE, rng, (problems,))
    right = once = next_x(Q, h, x)
    for _ in range(times - 1):
        right = next_x(Q, h, right)
    mistakes = {"Only one update was made.": {"out": once}} if times > 1 else {}
    needed = {SECTORS: (Q.size + h.size + x.size) / 4, STORES: x.size}
    arguments = {"Q": Q, "h": h, "x": x, "times": times, "out": unwritten(x.shape)}
    return Trial(arguments, {"out": right}, problems, TILE, needed, mistakes=mistakes)


UPDATES = (
    Step(
        name="one_update",
        title="An update on the host",
        ask="Return the new x: each x_i times (h⁻ + Q⁻x)_i / (h⁺ + Q⁺x)_i.",
        trial=_one_update,
        sizes=(4, 1, 9),
        tell="every x_i was multiplied by a number that is not negative, so none became negative",
        hints=(
            "Q = Q⁺ - Q⁻, and no entry of either is negative. np.maximum compares entry by entry.",
            "`Q_plus, Q_minus = np.maximum(Q, 0), np.maximum(-Q, 0)`, the same for h, and then "
            "`x * (h_minus + Q_minus @ x) / (h_plus + Q_plus @ x)`",
        ),
        what_if=(
            WhatIf(
                "Begin with an x that has a 0 in one place.",
                "What will stand there after 1,000 updates?",
                "0: whatever it is multiplied by. Whether the solution has a 0 there does not matter.",
            ),
            WhatIf(
                "Let x be the solution, with all x_i > 0.",
                "Why is every factor 1 then?",
                "There the gradient Qx + h is 0, so Q⁺x + h⁺ = Q⁻x + h⁻: above and below are the same.",
            ),
        ),
    ),
    Step(
        name="each_unknown",
        title="A thread for each unknown",
        ask="Let thread i compute out[i], the new x_i, with one walk through row i of Q.",
        trial=_each_unknown,
        sizes=(8, 5, 40),
        timed=1 << 12,
        needs="one_update",
        limits={LOADS: 1, STORES: 1},
        tell="each entry of Q was loaded once, for both sums",
        hints=(
            "Two sums grow in one loop: one for Q⁺x, one for Q⁻x. Each q belongs to one of them.",
            "Above and below hold h already. Of an entry q, max(-q, 0.0) belongs above, and max(q, 0.0) below.",
            "In the loop: `q = Q[i, j]`, `above += max(-q, 0.0) * x[j]`, `below += max(q, 0.0) * x[j]`. Below it: "
            "`out[i] = x[i] * above / below`",
        ),
        what_if=(
            WhatIf(
                "Write Q[j, i] instead of Q[i, j].",
                "Why is the result the same, and why are there fewer sectors?",
                "Q is symmetric. In one trip of the loop, neighbouring threads now read neighbours of one row, and not "
                "entries of different rows.",
            ),
            WhatIf(
                "Write the result to x[i] instead of out[i].",
                "Some threads then use new elements of x. Why does nobody know which?",
                "Threads run in any order. It is a race: what x[j] is when thread i reads it depends on how far thread "
                "j has come.",
            ),
        ),
    ),
    Step(
        name="tile_of_x",
        title="x in tiles",
        ask="Stage x in shared memory, eight elements at a time: each block loads each x_j once.",
        trial=_tile_of_x,
        sizes=(12, 8, 20),
        timed=1 << 12,
        needs="each_unknown",
        limits={SECTORS: 1, STORES: 1},
        tell="x came from memory once per block, and Q once",
        hints=(
            "Thread t fetches element first + t of x, if there is one. When may the others read it?",
            "A barrier before the tile is read, and one after it: otherwise a fast thread overwrites what a slow one "
            "still needs. All threads have to reach both, also those without an unknown.",
            "`if first + t < n: tile[t] = x[first + t]`, `cuda.syncthreads()`, then `tile[k]` in both sums, and "
            "`cuda.syncthreads()` at the end of the trip",
        ),
        what_if=(
            WhatIf(
                "Leave out the second barrier.",
                "The verdict changes. For how many unknowns would nobody have noticed?",
                "For at most eight, which is one tile: then nothing is overwritten.",
            ),
            WhatIf(
                "Stage h in shared memory, too.",
                "Why does this save nothing?",
                "Each h_i is needed by one thread alone, once. Shared memory pays where several threads need a number.",
            ),
        ),
    ),
    Step(
        name="warp_per_row",
        title="A warp for each row",
        ask="Let the lanes of a warp share a row of Q, and leave (Q⁺x)_row in plus and (Q⁻x)_row in minus.",
        trial=_warp_per_row,
        sizes=(8, 40, 33),
        timed=1 << 12,
        needs="each_unknown",
        limits={SECTORS: 1, STORES: 1},
        tell="neighbouring lanes read neighbours, and Q passed once for both products",
        hints=(
            "Lane 0 takes the columns 0, 32, 64, …, lane 1 takes 1, 33, 65, …",
            "After the loop each lane has two shares. The shuffles stand outside of the guard: all lanes take part.",
            "`for j in range(lane, x.size, 32):`, in it `q, x_j = Q[row, j], x[j]` and both sums; then "
            "`up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)`, and the same for down",
        ),
        what_if=(
            WhatIf(
                "Compute Q⁺x in one launch, and Q⁻x in another one.",
                "By how much does the time of a large problem grow?",
                "It doubles: memory decides, and Q passes twice. The second product is free if it uses the q that is "
                "there already.",
            ),
            WhatIf(
                "Count the sectors of x beside those of Q.",
                "They are as many. Why does x not double the time?",
                "Every row needs the same x: it stays in the caches. Q comes from memory.",
            ),
        ),
    ),
)

MANY = (
    Step(
        name="one_block_each",
        title="A block for each small problem",
        ask="Keep Q and x of a problem with eight unknowns in shared memory, and make `times` updates in one launch.",
        trial=_one_block_each,
        sizes=((2, 2), (3, 5), (1, 1)),
        timed=(1 << 18, 2),
        needs="tile_of_x",
        limits={SECTORS: 1, STORES: 1},
        tell="Q was loaded once, for all updates",
        hints=(
            "Every thread reads what all others wrote into q and now. What has to stand between?",
            "Two barriers per update: one before now is read, one after the last thread has read it.",
            "`q[j, i] = Q[p, j, i]`; first in the loop `cuda.syncthreads()`; `above += max(-q[j, i], 0.0) * now[j]` "
            "and `below += max(q[j, i], 0.0) * now[j]`; `cuda.syncthreads()` before now[i] changes",
        ),
        what_if=(
            WhatIf(
                "Read q[i, j] in place of q[j, i], in blocks of 32 unknowns.",
                "The numbers are the same. What costs more?",
                "Shared memory: 32 lanes then read a column of the tile, whose elements lie in the same banks, and "
                "have to wait for each other.",
            ),
            WhatIf(
                "Launch this kernel for one problem alone.",
                "Why is a GPU the wrong place for it?",
                "One block runs on one multiprocessor; the others have nothing to do. Thousands of problems keep all "
                "of them busy.",
            ),
        ),
    ),
)
