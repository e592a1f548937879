"""Steps of lecture 7 with vectors: the next one of a basis, the update of a block, and a step of a smoother."""

import numpy as np

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
from course_pkg.practice.step import Step, Trial, WhatIf

UNIQUE = "global_load.unique_bytes"
S = 2  # vectors of the block that is updated


def _chebyshev_step(shape, rng):
    before, now = fields(2, shape, rng)
    c, h = 4.0, 4.0
    product = apply(now)
    scaled = (product - c * now) / h
    needed = {READ: 8 * (stencil_reads(shape) + now.size), UNIQUE: 2 * now.nbytes, WRITTEN: 2 * now.nbytes}
    mistakes = {
        "after lacks the factor 2, which only the first step does without.": {
            "product": product,
            "after": scaled - before,
        },
        "The vector before was not subtracted: that is the first step of the recurrence.": {
            "product": product,
            "after": 2 * scaled,
        },
        "product is already shifted by c. The round needs A S_j itself.": {
            "product": product - c * now,
            "after": 2 * scaled - before,
        },
    }
    arguments = {
        "before": before,
        "now": now,
        "c": c,
        "h": h,
        "product": unwritten(shape),
        "after": unwritten(shape),
    }
    right = {"product": product, "after": 2 * scaled - before}
    return Trial(arguments, right, blocks_for(shape, BLOCK), BLOCK, needed, mistakes=mistakes)


def _advance_block(n, rng):
    old, fresh = fields(2 * S, n, rng), fields(2 * S, n, rng)
    x, r = fields(2, n, rng)
    beta, alpha = rng.integers(1, 5, (S, S)) / 4, rng.integers(1, 5, S) / 4

    def moved(block):
        return {"x": x + alpha @ block[:S], "r": r - alpha @ block[S:]}

    def added(coefficients):
        return fresh + np.concatenate([coefficients.T @ old[:S], coefficients.T @ old[S:]])

    new, transposed = added(beta), added(beta.T)
    mistakes = {
        "x and r moved along the fresh vectors. The directions are what stands in fresh afterwards.": {
            "fresh": new,
            **moved(fresh),
        },
        "The entries of beta are those of its transpose: beta[i, j] says how much of old vector i "
        "goes into new vector j.": {
            "fresh": transposed,
            **moved(transposed),
        },
    }
    mistakes["fresh is as it was: the new rows belong there."] = {"fresh": fresh, **moved(new)}
    needed = {READ: 8 * n * (4 * S + 2 + 2 * (S * S + S)), WRITTEN: 8 * n * (2 * S + 2)}
    arguments = {"old": old, "fresh": fresh, "beta": beta, "alpha": alpha, "x": x, "r": r}
    right = {"fresh": new, **moved(new)}
    return Trial(arguments, right, blocks_for(n, LINE), LINE, needed, mistakes=mistakes)


def _smoother_step(shape, rng):
    r, z = fields(2, shape, rng)
    d = 2.0 ** rng.integers(2, 5, shape)
    residual = r - (d * z - around(z))
    needed = {READ: 8 * (stencil_reads(shape) + 2 * z.size), UNIQUE: 3 * z.nbytes, WRITTEN: z.nbytes}
    mistakes = {
        "new lacks z: a step corrects what is there.": {"new": 0.5 * residual / d},
        "The step is as long as Jacobi's own: omega is missing.": {"new": z + residual / d},
        "This is omega times Jacobi's new z. Only the change r - A z, over d, is weighted.": {
            "new": 0.5 * (r + around(z)) / d
        },
        "The change was not divided by the diagonal, d.": {"new": z + 0.5 * residual},
        "A z was formed with 4 on the diagonal. It has d there.": {"new": z + 0.5 * (r - apply(z)) / d},
        "The neighbours were subtracted from A z with the wrong sign: off the diagonal, A has -1.": {
            "new": z + 0.5 * (r - (d * z + around(z))) / d
        },
    }
    arguments = {"r": r, "d": d, "omega": 0.5, "z": z, "new": unwritten(shape)}
    right = {"new": z + 0.5 * residual / d}
    return Trial(arguments, right, blocks_for(shape, BLOCK), BLOCK, needed, mistakes=mistakes)


STEPS = (
    Step(
        name="chebyshev_step",
        title="The next vector, on the way",
        ask="In the sweep that multiplies by A, compute the next vector of the Chebyshev basis: "
        "after = 2 (A now - c now) / h - before. Store A now in product.",
        trial=_chebyshev_step,
        sizes=((6, 12), (4, 8), (9, 17)),
        timed=(1 << 11, 1 << 12),
        limits={READ: 1, UNIQUE: 1, WRITTEN: 1},
        tell="two vectors came from memory and two went there; the recurrence cost one of each",
        hints=(
            "What of the recurrence has this thread in registers already, when the stencil is done?",
            "centre is now[j, i], and total is A now at this point. One number more has to be loaded.",
            "`product[j, i] = total` and `after[j, i] = 2 * (total - c * centre) / h - before[j, i]`",
        ),
        what_if=(
            WhatIf(
                "Compute the recurrence in a kernel of its own, after the product.",
                "Which vectors does it load and store, and how many of these did the fused kernel save?",
                "It loads product, now and before, and stores after. The fused kernel has saved two "
                "of the loads: product "
                "and now are in registers.",
            ),
            WhatIf(
                "Choose h ten times too small.",
                "Why does the basis then grow from vector to vector?",
                "Eigenvalues of A then lie outside of the interval. There, Chebyshev polynomials grow faster than all "
                "others of their degree that stay between -1 and 1 inside.",
            ),
        ),
    ),
    Step(
        name="advance_block",
        title="A block, x and r in one sweep",
        ask="For s = 2, make each new row from the fresh one and the two old ones, store it, and let x "
        "and r move along "
        "it while it is in a register.",
        trial=_advance_block,
        sizes=(12, 40, 64),
        timed=1 << 21,
        limits={READ: 1, WRITTEN: 1},
        tell="each new row was stored once, and nobody read it again",
        hints=(
            "A new number is needed twice: in memory, and in the sum for x or r. Give it a name.",
            "first and second are the two old numbers of this half. New vector j takes beta[0, j] of "
            "one and beta[1, j] "
            "of the other.",
            "`new = fresh[row, i] + beta[0, j] * first + beta[1, j] * second`, `fresh[row, i] = new`, "
            "`moved += alpha[j] * new`",
        ),
        what_if=(
            WhatIf(
                "Do it by calls of a library: one product of matrices for each half, one product "
                "with alpha for x, one for "
                "r.",
                "Which vectors are loaded once more?",
                "All 2 s new ones: each call begins when the one before has written everything to memory.",
            ),
            WhatIf(
                "Write new rows into old, and exchange the names of the blocks afterwards.",
                "Is that right as well, and is it cheaper?",
                "It is right if both numbers of old are loaded before the first store, as they are "
                "here. It moves the same "
                "bytes: a block is read, a block is read, a block is written.",
            ),
        ),
    ),
    Step(
        name="smoother_step",
        title="A smoother is a product",
        ask="Do one weighted step of Jacobi's method for A z = r: new = z + omega (r - A z) / d. A has d "
        "on its diagonal, and "
        "-1 for each neighbour.",
        trial=_smoother_step,
        sizes=((6, 12), (4, 8), (9, 17)),
        timed=(1 << 11, 1 << 12),
        limits={READ: 1, UNIQUE: 1, WRITTEN: 1},
        tell="the preconditioner is a stencil and a map: three vectors in, one out, and no sum at all",
        hints=(
            "First A z at this point: the diagonal times the centre, less the neighbours that exist.",
            "d[j, i] is needed for A z and for the division. Load it once.",
            "`total = diagonal * centre`, in the loop `total -= z[j + dj, i + di]`, then "
            "`new[j, i] = centre + omega * (r[j, i] - total) / diagonal`",
        ),
        what_if=(
            WhatIf(
                "Write the result into z itself.",
                "Whose result is then wrong, and when?",
                "That of a neighbour that reads z after it was overwritten. Whether it does is "
                "decided by which threads run "
                "first: a race.",
            ),
            WhatIf(
                "Begin with z = 0.",
                "What is left of the step, and why need A not be multiplied at all?",
                "new = omega r / d: A times 0 is 0. A V-cycle begins so on every level, and saves a product.",
            ),
        ),
    ),
)
