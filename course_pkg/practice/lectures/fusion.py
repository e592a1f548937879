"""The laboratory of lecture 5: an iteration of conjugate gradients, fused until it is two kernels and no question."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf

BLOCK, LINE = (8, 4), 32  # one warp, so that a block is small enough to draw
READ, WRITTEN = "global_load.bytes_requested", "global_store.bytes_requested"
ATOMICS = "global_atomics.thread_accesses"


def _fields(count, shape, rng):
    """Return fields of small whole numbers, whose sums are exact in any order and short to read."""
    return rng.integers(1, 9, (count, *np.atleast_1d(shape))).astype(np.float64)


def _around(u, along_x=1.0, along_y=1.0):
    """Return the weighted sum of each point's four neighbours; outside the grid u is zero."""
    total = np.zeros_like(u)
    total[:, 1:] += along_x * u[:, :-1]
    total[:, :-1] += along_x * u[:, 1:]
    total[1:] += along_y * u[:-1]
    total[:-1] += along_y * u[1:]
    return total


def _apply(u):
    """Return A u in two dimensions."""
    return 4 * u - _around(u)


def _stencil_reads(shape):
    """Return how often a stencil of five points reads: each neighbour that exists, and the centre."""
    return int(shape[0] * shape[1] + _around(np.ones(shape)).sum())


def _sums(values, block):
    """Return the sum of each block of a two-dimensional launch."""
    ny, nx = values.shape
    across, down = blocks_for(values.shape, block)
    whole = np.zeros((down * block[1], across * block[0]))
    whole[:ny, :nx] = values
    return whole.reshape(down, block[1], across, block[0]).sum(axis=(1, 3))


def _update_p(n, rng):
    r, p = _fields(2, n, rng)
    needed = {READ: 2 * p.nbytes, WRITTEN: p.nbytes}
    return Trial({"r": r, "beta": 0.5, "p": p}, {"p": r + 0.5 * p}, blocks_for(n, LINE), LINE, needed)


def _map_stencil(shape, rng):
    r, p1 = _fields(2, shape, rng)
    new = r + 0.5 * p1
    arguments = {"r": r, "p1": p1, "beta": 0.5, "c": 3.0, "p2": unwritten(shape), "s": unwritten(shape)}
    right = {"p2": new, "s": 8 * new - _around(new, 1, 3)}
    needed = {
        READ: 16 * _stencil_reads(shape),
        "global_load.unique_bytes": 2 * r.nbytes,
        WRITTEN: 2 * r.nbytes,
    }
    return Trial(arguments, right, blocks_for(shape, BLOCK), BLOCK, needed)


def _alternate(size, rng):
    shape, times = size
    r, p1 = _fields(2, shape, rng)
    ps = [unwritten(shape), p1]
    for _ in range(times):
        ps.append(r + 0.5 * ps[-1])
    odd, even = (ps[-1], ps[-2]) if times % 2 else (ps[-2], ps[-1])
    arguments = {"r": r, "p1": p1, "p2": ps[0], "beta": 0.5, "s": unwritten(shape), "times": times}
    right = {"s": _apply(ps[-1]), RESULT: ps[-1], "p2": odd, "p1": even}
    needed = {"global_load.unique_bytes": 2 * r.nbytes, WRITTEN: 2 * r.nbytes}
    return Trial(arguments, right, needed=needed)


def _stencil_dot(shape, rng):
    (p,) = _fields(1, shape, rng)
    s, grid = _apply(p), blocks_for(shape, BLOCK)
    partial = _sums(p * s, BLOCK)
    needed = {READ: 8 * _stencil_reads(shape), WRITTEN: s.nbytes + partial.nbytes, ATOMICS: 0}
    arguments = {"p": p, "s": unwritten(shape), "partial": np.zeros_like(partial)}
    return Trial(arguments, {"s": s, "partial": partial}, grid, BLOCK, needed)


def _update_x_r_dot(n, rng):
    p, s, x, r = _fields(4, n, rng)
    blocks, new = blocks_for(n, LINE), r - 0.25 * s
    partial = _sums(np.square(new)[None], (LINE, 1))[0]
    needed = {READ: 4 * x.nbytes, WRITTEN: 2 * x.nbytes + partial.nbytes, ATOMICS: 0}
    arguments = {"p": p, "s": s, "alpha": 0.25, "x": x, "r": r, "partial": unwritten(blocks)}
    return Trial(arguments, {"x": x + 0.25 * p, "r": new, "partial": partial}, blocks, LINE, needed)


def _advance(shape, rng):
    p, x, r = _fields(3, shape, rng)
    new = r - 0.25 * _apply(p)
    partial = _sums(np.square(new), BLOCK).reshape(-1)
    needed = {
        READ: 8 * _stencil_reads(shape) + 2 * x.nbytes,
        "global_load.unique_bytes": 3 * x.nbytes,
        WRITTEN: 2 * x.nbytes + partial.nbytes,
        ATOMICS: 0,
    }
    arguments = {"p": p, "alpha": 0.25, "x": x, "r": r, "partial": unwritten(partial.size)}
    right = {"x": x + 0.25 * p, "r": new, "partial": partial}
    return Trial(arguments, right, blocks_for(shape, BLOCK), BLOCK, needed)


def _stop_flag(size, rng):
    blocks, enough, stopped = size
    partial, state = _fields(1, blocks, rng)[0], np.array([64.0, 0.5, stopped])
    total, right = partial.sum(), state.copy()
    if not stopped:
        right[:] = total, total / 64, total <= enough
    stores = 0 if stopped else 2 + (total <= enough)
    needed = {WRITTEN: 8 * stores, ATOMICS: 0}
    return Trial({"partial": partial, "enough": enough, "state": state}, {"state": right}, 1, LINE, needed)


STEPS = (
    Step(
        name="update_p",
        title="Step 9, in place",
        ask="Replace p by r + β p, with two loads and one store per point.",
        trial=_update_p,
        sizes=(40, 7, 96),
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
    Step(
        name="stencil_dot",
        title="A dot on its way to memory",
        ask="Let each block leave its part of ⟨p, s⟩ in partial, without reading p or s for it and without atomics.",
        trial=_stencil_dot,
        sizes=((6, 12), (4, 8), (9, 17)),
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
