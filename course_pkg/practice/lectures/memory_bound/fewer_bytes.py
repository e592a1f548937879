"""Steps on kernels that give the same result with fewer bytes: fused, recomputed, packed, rearranged."""

from math import ceil

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.step import Step, Trial, WhatIf

WARP = 32
LOADS, STORES = "global_load.sectors", "global_store.sectors"
READS = "global_load.thread_accesses"


def _numbers(shape, rng):
    """Return small whole numbers: they are exact and short to read."""
    return rng.integers(1, 9, shape).astype(np.float64)


def _sectors(n):
    """Return how many sectors of 32 bytes hold n doubles."""
    return ceil(n / 4)


def _one_pass(n, rng):
    a, b, c = _numbers((3, n), rng)
    needed = {LOADS: 3 * _sectors(n), STORES: _sectors(n)}
    return Trial(
        {"a": a, "b": b, "c": c, "out": unwritten(n)},
        {"out": (a * b + c) ** 2},
        blocks_for(n, WARP),
        WARP,
        needed,
    )


def _recompute(n, rng):
    u, h = _numbers(n, rng), 0.5
    c = 1 + (np.arange(n) * h) ** 2
    needed = {LOADS: _sectors(n), STORES: _sectors(n), "flops.total": 4 * n}
    return Trial(
        {"u": u, "c": c, "h": h, "out": unwritten(n)}, {"out": u * c}, blocks_for(n, WARP), WARP, needed
    )


def _mask_bits(n, rng):
    u, kept = _numbers(n, rng), rng.integers(0, 2, n).astype(bool)
    blocks = blocks_for(n, WARP)
    bits = np.zeros(blocks * WARP, np.uint8)
    bits[:n] = kept
    words = np.packbits(bits, bitorder="little").view(np.dtype("<u4")).astype(np.int64)
    needed = {LOADS: _sectors(n) + blocks, STORES: _sectors(n)}
    return Trial(
        {"u": u, "words": words, "out": unwritten(n)}, {"out": np.where(kept, u, 0)}, blocks, WARP, needed
    )


def _split(n, rng):
    records = _numbers(4 * n, rng)
    needed = {LOADS: _sectors(4 * n), STORES: _sectors(4 * n)}
    return Trial(
        {"records": records, "fields": unwritten((4, n))},
        {"fields": records.reshape(n, 4).T.copy()},
        blocks_for(4 * n, WARP),
        WARP,
        needed,
    )


def _two_steps(n, rng):
    u = 9 * _numbers(n, rng)
    once = (np.roll(u, 1) + u + np.roll(u, -1)) / 3
    twice = (np.roll(once, 1) + once + np.roll(once, -1)) / 3
    needed = {READS: 5 * n, STORES: _sectors(n)}
    return Trial({"u": u, "out": unwritten(n)}, {"out": twice}, blocks_for(n, WARP), WARP, needed)


def _halve(n, rng):
    a = _numbers(2 * n, rng)
    needed = {LOADS: _sectors(2 * n), STORES: _sectors(n)}
    return Trial(
        {"a": a, "out": unwritten(n)}, {"out": (a[::2] + a[1::2]) / 2}, blocks_for(n, WARP), WARP, needed
    )


STEPS = (
    Step(
        name="one_pass",
        title="Three loops become one",
        ask="Compute out = (a · b + c)² with as few bytes as possible.",
        trial=_one_pass,
        sizes=(40, 64, 7),
        timed=1 << 23,
        limits={LOADS: 1, STORES: 1},
        tell="4 passes instead of 8, because a and b met c inside a thread",
        hints=(
            "Which numbers does one element of out need, and who else needs a[i] · b[i]?",
            "A value that only this thread needs has no business in an array: keep it under a name of its own.",
            "`u = a[i] * b[i] + c[i]`, then `out[i] = u * u`",
        ),
        what_if=(
            WhatIf(
                "Somebody wants u = a · b + c as well, in an array of its own.",
                "How many passes does that take, and why not 8?",
                "Five: three arrays are read and two are written. Writing u costs a pass, but nobody has to read it "
                "again: the thread that wrote it still holds it in a register.",
            ),
            WhatIf(
                "All arrays become float32.",
                "Why does the bound halve, although there are just as many flops?",
                "There are half as many bytes. The flops never set the time; with 16 bytes per 3 flops they are far "
                "below the balance of any machine in this lecture. The time itself falls by less: four bytes per "
                "thread keep fewer bytes in flight, as lecture 4 shows.",
            ),
        ),
    ),
    Step(
        name="recompute",
        title="Compute it again instead of reading it",
        ask="Let out[i] be u[i] · c[i] without reading c: all its elements are c[i] = 1 + (i · h)².",
        trial=_recompute,
        sizes=(40, 33, 64),
        timed=1 << 23,
        needs="one_pass",
        limits={LOADS: 1, STORES: 1, "flops.total": 1.25},
        tell="four flops per element replaced a third of all bytes",
        hints=(
            "The thread knows its i, and h is a number: what else does c[i] depend on?",
            "Compute x = i · h first, then 1 + x · x.",
            "`x = i * h`, then `out[i] = u[i] * (1 + x * x)`",
        ),
        what_if=(
            WhatIf(
                "c[i] takes 200 flops to compute.",
                "Is it still better not to read it on an H200?",
                "Probably not. This lecture's loop moved 16 bytes per element there; 64 flops per element took "
                "hardly longer than 2, and 256 took more than twice as long. 200 flops lie beyond the knee, and "
                "reading c costs 8 bytes more, half as much again.",
            ),
        ),
    ),
    Step(
        name="mask_bits",
        title="Store fewer bytes",
        ask="Keep u[i] where bit i of the mask is 1, else write 0; bit i is bit i % 32 of words[i // 32].",
        trial=_mask_bits,
        sizes=(40, 64, 5),
        timed=1 << 24,
        needs="one_pass",
        limits={LOADS: 1, STORES: 1},
        tell="32 threads took their bits from one number, which came in one sector",
        hints=(
            "Point at an element of words in the picture: which threads should read it?",
            "Shift the word to the right until your bit is the lowest one, then cut off the others with `& 1`.",
            "`bit = (words[i // 32] >> (i % 32)) & 1`",
        ),
        what_if=(
            WhatIf(
                "Store the mask as an array of doubles, 0.0 or 1.0, and write `out[i] = u[i] * mask[i]`.",
                "The kernel has fewer instructions. Why does it take longer on long arrays?",
                "The mask is then 64 bits per element instead of one, a third pass of full size. Shift, `&` and the "
                "index cost instructions; as long as memory's clock is the longer one, they hide behind the traffic.",
            ),
        ),
    ),
    Step(
        name="split",
        title="From records to fields",
        ask="Split records x y z m x y z m … into fields[0] = all x, … fields[3] = all m, one thread per number.",
        trial=_split,
        sizes=(16, 12, 32),
        timed=1 << 22,
        needs="one_pass",
        limits={LOADS: 1, STORES: 1},
        tell="a warp read 32 neighbours, and wrote 8 neighbours of each field: every sector was full",
        hints=(
            "Let thread i read records[i]. Of which record is that, and which of its four numbers?",
            "A record has four numbers: `i // 4` counts records, `i % 4` counts inside one.",
            "`fields[i % 4, i // 4] = records[i]`",
        ),
        what_if=(
            WhatIf(
                "Let each thread take a whole record: `for f in range(4): fields[f, i] = records[4 * i + f]`.",
                "It makes four times the load sectors. Does memory send four times the bytes, too?",
                "Not if L1 keeps the sectors: the next three loads of the loop find theirs there. But each of them "
                "asks L1 "
                "for one sector per lane, and if other warps push the sectors out, memory sends them again.",
            ),
            WhatIf(
                "A program needs only y.",
                "Which layout is better, and by which factor?",
                "Fields. In records each y shares its sector of 32 bytes with x, z and m, so four times the bytes "
                "are fetched: a stride of 4, as in the talk. That memory is read by 64 bytes adds nothing, because "
                "both records in them are used.",
            ),
        ),
    ),
    Step(
        name="two_steps",
        title="Break an assumption: two steps in one sweep",
        ask="On a ring, a step replaces u[i] by the mean of u[i - 1], u[i], u[i + 1]: let out be u after two steps.",
        trial=_two_steps,
        sizes=(40, 32, 5),
        timed=1 << 24,
        needs="one_pass",
        limits={READS: 1, STORES: 1},
        tell="two steps for the passes of one, because each thread computed its neighbours' middle values itself",
        hints=(
            "After one step the neighbour i + 1 holds the mean of u[i], u[i + 1] and u[i + 2]. And after two?",
            "Write out the nine terms: five elements, with the weights 1, 2, 3, 2, 1. On a ring, element n is "
            "element 0: "
            "use % u.size.",
            "`for d in range(-2, 3): total += (3 - abs(d)) * u[(i + d) % u.size]`, then `out[i] = total / 9`",
        ),
        what_if=(
            WhatIf(
                "T_eff is computed with A_eff of one step per step, as always.",
                "Why may it now exceed T_peak, with all data in memory?",
                "T_eff assumes that each step starts from memory. This kernel reads and writes once for two steps, "
                "so at the "
                "speed of memory it scores twice T_peak: time blocking, the third assumption.",
            ),
            WhatIf(
                "Do ten steps in one kernel, in three dimensions.",
                "What sets an end to this?",
                "Each thread then needs all points up to ten away, thousands of them: reads from caches and flops "
                "grow, and "
                "become the longer clock.",
            ),
        ),
    ),
    Step(
        name="halve",
        title="Open: every second, and no sector twice",
        ask="Let out[i] be the mean of a[2i] and a[2i + 1]; each sector may be asked for once. Any way is right.",
        trial=_halve,
        sizes=(32, 40, 7),
        timed=1 << 23,
        needs="split",
        limits={LOADS: 1.1, STORES: 1.1},
        tell="32 neighbours read 32 neighbours, and the pairs met in shared memory",
        hints=(
            "Which elements do 32 lanes touch in the request for a[2 * i]? And in that for a[2 * i + 1]?",
            "Let the block fetch its 64 numbers in two coalesced requests into the tile; pairs come out of the tile.",
            "`for k in range(t, 64, 32):` with a guard, `tile[k] = a[first + k]`; after cuda.syncthreads(), "
            "`(tile[2 * t] + tile[2 * t + 1]) / 2`",
        ),
        what_if=(
            WhatIf(
                "Write `out[i] = (a[2 * i] + a[2 * i + 1]) / 2`, without the tile.",
                "Twice the sectors: will it take twice as long on long arrays?",
                "Hardly. L1 is asked twice for each sector, but memory sends it once, and memory's clock is the "
                "longer "
                "one here. Count first, then measure what binds: lecture 3 asks that of tiles.",
            ),
        ),
    ),
)
