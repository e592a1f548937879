"""The steps of lecture 5 up to the search direction: a map, a map in a stencil, and two fields that take turns."""

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.fusion.grids import (
    BLOCK,
    LINE,
    READ,
    WRITTEN,
    apply,
    around,
    fields,
    stencil_reads,
)
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf


def _update_p(n, rng):
    r, p = fields(2, n, rng)
    needed = {READ: 2 * p.nbytes, WRITTEN: p.nbytes}
    return Trial({"r": r, "beta": 0.5, "p": p}, {"p": r + 0.5 * p}, blocks_for(n, LINE), LINE, needed)


def _map_stencil(shape, rng):
    r, p1 = fields(2, shape, rng)
    new = r + 0.5 * p1
    arguments = {"r": r, "p1": p1, "beta": 0.5, "c": 3.0, "p2": unwritten(shape), "s": unwritten(shape)}
    right = {"p2": new, "s": 8 * new - around(new, 1, 3)}
    needed = {
        READ: 16 * stencil_reads(shape),
        "global_load.unique_bytes": 2 * r.nbytes,
        WRITTEN: 2 * r.nbytes,
    }
    return Trial(arguments, right, blocks_for(shape, BLOCK), BLOCK, needed)


def _alternate(size, rng):
    shape, times = size
    r, p1 = fields(2, shape, rng)
    ps = [unwritten(shape), p1]
    for _ in range(times):
        ps.append(r + 0.5 * ps[-1])
    odd, even = (ps[-1], ps[-2]) if times % 2 else (ps[-2], ps[-1])
    arguments = {"r": r, "p1": p1, "p2": ps[0], "beta": 0.5, "s": unwritten(shape), "times": times}
    right = {"s": apply(ps[-1]), RESULT: ps[-1], "p2": odd, "p1": even}
    needed = {"global_load.unique_bytes": 2 * r.nbytes, WRITTEN: 2 * r.nbytes}
    return Trial(arguments, right, needed=needed)


STEPS = (
    Step(
        name="update_p",
        title="Step 9, in place",
        ask="Replace p by r + β p, with two loads and one store per point.",
        trial=_update_p,
        sizes=(40, 7, 96),
        timed=1 << 23,
        limits={READ: 1, WRITTEN: 1},
        tell="two fields were read and one was written: 24 bytes per point, and no kernel can do with less",
        hints=(
            "A map: thread i works on element i and asks nobody.",
            "The last block has more threads than there are elements left; only those with an element may work.",
            "`if i < p.size:` and in it `p[i] = r[i] + beta * p[i]`",
        ),
        what_if=(
            WhatIf(
                "Imagine that thread 5 is the last one that runs.",
                "Why may this kernel overwrite p, although the fused one of the talk may not?",
                "Only thread i reads p[i], and it reads before it writes. Nobody else can come too late.",
            ),
        ),
    ),
    Step(
        name="map_stencil",
        title="Map and stencil in one kernel",
        ask=(
            "Let each thread compute its new p and its s, with the new p of its neighbours computed again; neighbours "
            "above and below count c times."
        ),
        trial=_map_stencil,
        sizes=((6, 12), (5, 5), (9, 17), (1, 3)),
        timed=(1 << 11, 1 << 12),
        needs="update_p",
        limits={READ: 1, "global_load.unique_bytes": 1, WRITTEN: 1},
        tell="ten reads per point inside, but only two fields come from memory: the caches serve the neighbours",
        hints=(
            "What would a thread read in p2 at its neighbour's place: the new number, or what lay there before?",
            "The neighbour's new p follows from r and p1 at the neighbour's place. Where there is no neighbour, "
            "nothing is subtracted.",
            "`if 0 <= j + dj < ny and 0 <= i + di < nx:` and in it "
            "`total -= weight * (r[j + dj, i + di] + beta * p1[j + dj, i + di])`",
        ),
        what_if=(
            WhatIf(
                "Read p2 at the neighbours instead.",
                "Why does the interpreter complain, even in a run in which all numbers are right?",
                "The neighbour's thread may be in another block, which may not have begun. Nothing promises that it "
                "has written p2, so the next run may be wrong.",
            ),
            WhatIf(
                "Cut the grid between two GPUs. Fused, the halo is r and p.",
                "Why can the halo be that of r alone, if each GPU may do a little more work?",
                "Each GPU keeps p of the halo plane, too, and updates it by r + β p itself: it needs only r.",
            ),
        ),
    ),
    Step(
        name="alternate",
        title="The race, removed without a byte",
        ask="Launch the fused kernel `times` times in a row, so that each launch reads the p of the launch before.",
        trial=_alternate,
        sizes=(((5, 10), 3), ((4, 8), 2), ((3, 9), 1)),
        needs="map_stencil",
        limits={"global_load.unique_bytes": 1, WRITTEN: 1},
        tell="two fields took turns; no launch wrote what it read, and nothing was copied",
        hints=(
            "The kernel's parameters are called old and new. Which of your two fields is old in the second launch?",
            "After a launch, only the names have to change. Python can exchange two names in one line.",
            "`search[grid, (8, 4)](r, p1, beta, p2, s)` and then `p1, p2 = p2, p1`",
        ),
        what_if=(
            WhatIf(
                "Hand over p1 twice, and write `cuda.syncthreads()` before the kernel's stores.",
                "The hazards within a block are gone. Which are left, and why?",
                "Those at the block's rim: the neighbour is in another block, and the barrier lets only the threads of "
                "one block wait for each other.",
            ),
            WhatIf(
                "Copy p2 into p1 after each launch, instead of exchanging the names.",
                "Why does an iteration with a copy gain nothing over map and stencil apart?",
                "A copy reads a field and writes one: two passes more. Fused, map and stencil saved only one.",
            ),
        ),
    ),
)
