"""The steps of lecture 5 with dot products: sums on the way to memory, A p computed again, and a flag that stops."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.fusion.grids import (
    ATOMICS,
    BLOCK,
    LINE,
    READ,
    WRITTEN,
    apply,
    fields,
    stencil_reads,
)
from course_pkg.practice.step import Step, Trial, WhatIf


def _sums(values, block):
    """Return the sum of each block of a two-dimensional launch."""
    ny, nx = values.shape
    across, down = blocks_for(values.shape, block)
    whole = np.zeros((down * block[1], across * block[0]))
    whole[:ny, :nx] = values
    return whole.reshape(down, block[1], across, block[0]).sum(axis=(1, 3))


def _stencil_dot(shape, rng):
    (p,) = fields(1, shape, rng)
    s, grid = apply(p), blocks_for(shape, BLOCK)
    partial = _sums(p * s, BLOCK)
    needed = {READ: 8 * stencil_reads(shape), WRITTEN: s.nbytes + partial.nbytes, ATOMICS: 0}
    arguments = {"p": p, "s": unwritten(shape), "partial": np.zeros_like(partial)}
    return Trial(arguments, {"s": s, "partial": partial}, grid, BLOCK, needed)


def _update_x_r_dot(n, rng):
    p, s, x, r = fields(4, n, rng)
    blocks, new = blocks_for(n, LINE), r - 0.25 * s
    partial = _sums(np.square(new)[None], (LINE, 1))[0]
    needed = {READ: 4 * x.nbytes, WRITTEN: 2 * x.nbytes + partial.nbytes, ATOMICS: 0}
    arguments = {"p": p, "s": s, "alpha": 0.25, "x": x, "r": r, "partial": unwritten(blocks)}
    return Trial(arguments, {"x": x + 0.25 * p, "r": new, "partial": partial}, blocks, LINE, needed)


def _advance(shape, rng):
    p, x, r = fields(3, shape, rng)
    new = r - 0.25 * apply(p)
    partial = _sums(np.square(new), BLOCK).reshape(-1)
    needed = {
        READ: 8 * stencil_reads(shape) + 2 * x.nbytes,
        "global_load.unique_bytes": 3 * x.nbytes,
        WRITTEN: 2 * x.nbytes + partial.nbytes,
        ATOMICS: 0,
    }
    arguments = {"p": p, "alpha": 0.25, "x": x, "r": r, "partial": unwritten(partial.size)}
    right = {"x": x + 0.25 * p, "r": new, "partial": partial}
    return Trial(arguments, right, blocks_for(shape, BLOCK), BLOCK, needed)


def _stop_flag(size, rng):
    blocks, enough, stopped = size
    partial, state = fields(1, blocks, rng)[0], np.array([64.0, 0.5, stopped])
    total, right = partial.sum(), state.copy()
    if not stopped:
        right[:] = total, total / 64, total <= enough
    stores = 0 if stopped else 2 + (total <= enough)
    needed = {WRITTEN: 8 * stores, ATOMICS: 0}
    return Trial({"partial": partial, "enough": enough, "state": state}, {"state": right}, 1, LINE, needed)


STEPS = (
    Step(
        name="stencil_dot",
        title="A dot on its way to memory",
        ask="Let each block leave its part of ⟨p, s⟩ in partial, without reading p or s for it and without atomics.",
        trial=_stencil_dot,
        sizes=((6, 12), (4, 8), (9, 17)),
        timed=(1 << 11, 1 << 12),
        needs="map_stencil",
        limits={READ: 1, WRITTEN: 1, ATOMICS: 1},
        tell="the sum used what was in registers, and cost one store per block",
        hints=(
            "Both factors are in variables of this thread. What does a thread without a point add to the sum?",
            "block_total holds a barrier: all threads of the block have to call it. It gives the sum to one of them.",
            "`product = centre * total` in the guard. Below it: `part = block_total(product)`, and for thread (0, 0) "
            "`partial[cuda.blockIdx.y, cuda.blockIdx.x] = part`",
        ),
        what_if=(
            WhatIf(
                "Use `cuda.atomic.add(partial, (0, 0), product)` in each thread, on a GPU, twice.",
                "Why may the last digit differ, although each product is the same?",
                "A sum of rounded numbers depends on its order, and atomics come in the order in which threads arrive. "
                "The places of partial are added in a fixed order.",
            ),
        ),
    ),
    Step(
        name="update_x_r_dot",
        title="Steps 5, 6 and 8",
        ask="Advance x and r, and let each block leave its part of the new ⟨r, r⟩: four loads, two stores per point.",
        trial=_update_x_r_dot,
        sizes=(40, 9, 96),
        timed=1 << 23,
        needs="stencil_dot",
        limits={READ: 1, WRITTEN: 1, ATOMICS: 1},
        tell="the new r was summed before it left its register",
        hints=(
            "The new r is needed twice: in memory, and in the sum. How often does the thread have to compute it?",
            "Give the new r a name. Store it, and square it.",
            "`new = r[i] - alpha * s[i]`, `r[i] = new`, `square = new * new`",
        ),
        what_if=(
            WhatIf(
                "Let this kernel compute α itself, from the partial sums of ⟨p, s⟩ that the kernel before it left.",
                "Why is that allowed, while the kernel that *makes* these sums could not compute α?",
                "Between two launches all blocks of the first have ended, so all parts are there. Within one launch a "
                "block may not have begun yet.",
            ),
        ),
    ),
    Step(
        name="advance",
        title="A p, thrown away and made again",
        ask="Do the step before without s: compute A p again from p. x and r are each loaded and stored once.",
        trial=_advance,
        sizes=((6, 12), (4, 8), (9, 17)),
        timed=(1 << 11, 1 << 12),
        needs="update_x_r_dot",
        limits={READ: 1, "global_load.unique_bytes": 1, WRITTEN: 1, ATOMICS: 1},
        tell="s is gone: neither its store nor its load is left, for one multiplication and four subtractions",
        hints=(
            "Collect (A p) of this point in a variable first. Only then touch r.",
            "In the loop: subtract each neighbour that exists. Below it: x, then the new r, its store and its square.",
            "`total -= p[j + dj, i + di]` in the loop; then `x[j, i] += alpha * centre`, "
            "`new = r[j, i] - alpha * total`, `r[j, i] = new`, `square = new * new`",
        ),
        what_if=(
            WhatIf(
                "Compare the flops of this kernel with those of the step before.",
                "Why does more work take less time?",
                "The arithmetic units wait for memory in both. This kernel moves one field less, and the kernel before "
                "it one store less: two passes of ten.",
            ),
            WhatIf(
                "Update x only in every second iteration, with both directions at once.",
                "The two kernels move 64 bytes per point. Why does this come to 60 per iteration, and not to 56?",
                "In two iterations x is read and written once less, 16 bytes. But the direction of the iteration "
                "before has to be read again, 8 bytes: 8 bytes in two iterations, 4 in one.",
            ),
        ),
    ),
    Step(
        name="stop_flag",
        title="A GPU that stops by itself",
        ask=(
            "Add up the parts with one warp, in a fixed order. If state[2] is 0, let thread 0 store ⟨r, r⟩ and β, and "
            "set state[2] to 1 if ⟨r, r⟩ is at most enough. If it is not 0, write nothing."
        ),
        trial=_stop_flag,
        sizes=((40, 1.0, 0.0), (40, 1.0, 1.0), (7, 1000.0, 0.0), (100, 1000.0, 1.0)),
        timed=(1 << 23, 1.0, 0.0),
        needs="update_x_r_dot",
        limits={WRITTEN: 1, ATOMICS: 1},
        tell="the flag is set when the tolerance is met, and after that nothing is written",
        hints=(
            "There may be more parts than threads, or fewer: lane t takes part t, t + 32, …",
            "The flag is read before anything is written. A launch that finds it set leaves everything as it is.",
            "`for b in range(t, partial.size, 32): mine += partial[b]`; `if t == 0 and state[2] == 0:`; "
            "`if total <= enough: state[2] = 1`",
        ),
        what_if=(
            WhatIf(
                "Let the host read ⟨r, r⟩ after every iteration and decide, with no flag.",
                "Why is an iteration slower then, although the GPU does less?",
                "The host can launch the next kernel only when it knows the answer. Until the number has travelled to "
                "the host and the launch back, the GPU has nothing to do.",
            ),
            WhatIf(
                "Launch 20 iterations more after the flag is set.",
                "Why is x still the one that met the tolerance?",
                "Every kernel reads the flag first and returns. The launches cost a little time and change nothing.",
            ),
        ),
    ),
)
