"""Steps of lecture 7 with sums: two dot products, the moments of a block, and a Gram matrix, each in one sweep."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.fusion.grids import ATOMICS, LINE, READ, WRITTEN, fields
from course_pkg.practice.step import Step, Trial, WhatIf

LIMITS = {READ: 1, WRITTEN: 1, ATOMICS: 1}


def _by_blocks(products):
    """Return the products of each block in a row of its own, zero where a block has no point."""
    n = products[0].size
    whole = np.zeros((len(products), LINE * blocks_for(n, LINE)))
    for row, product in zip(whole, products, strict=True):
        row[:n] = product
    return whole.reshape(len(products), -1, LINE)


def parts_of(products):
    """Return the sum of each row over the points of each block: one column for each block."""
    return _by_blocks(products).sum(axis=2)


def _launch(arguments, products, numbers, mistakes):
    """Return the trial of a kernel that writes partial sums and loads ``numbers`` numbers for each point."""
    by_blocks, n = _by_blocks(products), products[0].size
    parts = by_blocks.sum(axis=2)
    needed = {READ: 8 * numbers * n, WRITTEN: parts.nbytes, ATOMICS: 0}
    arguments = {**arguments, "parts": unwritten(parts.shape)}
    wrong = {says: {"parts": parts_of(terms)} for says, terms in mistakes.items()}
    alone = "Each part is the product of lane 0 alone: nobody has added up the warp's others."
    wrong[alone] = {"parts": by_blocks[:, :, 0]}
    return Trial(arguments, {"parts": parts}, blocks_for(n, LINE), LINE, needed, mistakes=wrong)


def _both_dots(n, rng):
    u, w, r = fields(3, n, rng)
    mistakes = {
        "The two rows of parts are exchanged: row 0 belongs to ⟨u, r⟩, row 1 to ⟨u, w⟩.": (u * w, u * r),
        "Row 1 holds ⟨r, w⟩: both sums have u as a factor.": (u * r, r * w),
    }
    return _launch({"u": u, "w": w, "r": r}, (u * r, u * w), 3, mistakes)


def _block_moments(size, rng):
    s, n = size
    block, r = fields(2 * s, n, rng), fields(1, n, rng)[0]
    Q, last = block[:s], block[-1]
    mistakes = {
        "Each vector met its own product. All of them meet the last product, row 2 s - 1.": (
            *(Q * r),
            *(Q * block[s:]),
        ),
        "Each vector met the last vector, row s - 1, instead of its product, row 2 s - 1.": (
            *(Q * r),
            *(Q * Q[-1]),
        ),
    }
    return _launch({"block": block, "r": r}, (*(Q * r), *(Q * last)), s + 2, mistakes)


def _gram_once(n, rng):
    (z0, z1), (a0, a1), (r,) = (fields(k, n, rng) for k in (2, 2, 1))
    right = (z0 * a0, z0 * a1, z1 * a1, z0 * r, z1 * r)
    mistakes = {
        "Entry 1 is z0·z1, without A: the Gram matrix is formed with the products.": (
            right[0],
            z0 * z1,
            *right[2:],
        ),
        "All entries lack A: those of the Gram matrix are vector times product.": (
            z0 * z0,
            z0 * z1,
            z1 * z1,
            *right[3:],
        ),
    }
    return _launch({"Z": np.array([z0, z1]), "AZ": np.array([a0, a1]), "r": r}, right, 5, mistakes)


STEPS = (
    Step(
        name="both_dots",
        title="Two dots, one sweep",
        ask="Let each warp leave its parts of ⟨u, r⟩ and ⟨u, w⟩, and load every number once.",
        trial=_both_dots,
        sizes=(40, 9, 96),
        timed=1 << 23,
        limits=LIMITS,
        tell="three vectors were loaded once; two kernels would have loaded u twice",
        hints=(
            "Both sums need the same u. Where can a thread keep it between the two products?",
            "A thread without a point adds 0 to both sums. warp_sum gives a sum to lane 0, and all "
            "lanes have to call it.",
            "`if i < u.size:` and in it `mine = u[i]`, `first, second = mine * r[i], mine * w[i]`; outside "
            "`first, second = warp_sum(first), warp_sum(second)`",
        ),
        what_if=(
            WhatIf(
                "Launch one kernel for ⟨u, r⟩ and another one for ⟨u, w⟩.",
                "How many vectors are loaded then, and how often does the host wait for a sum?",
                "Four instead of three, because u is loaded twice. The host waits twice: each sum is a reduction of "
                "its own.",
            ),
        ),
    ),
    Step(
        name="block_moments",
        title="The moments of a block",
        ask="Let each warp leave its parts of all 2 s moments: rows 0 to s - 1 of parts are for Q_k·r, the others for "
        "Q_k·A Q_(s - 1).",
        trial=_block_moments,
        sizes=((2, 40), (1, 7), (3, 64), (5, 33)),
        timed=(4, 1 << 21),
        needs="both_dots",
        limits=LIMITS,
        tell="s vectors, one product and r were loaded once, for 2 s moments",
        hints=(
            "r and the last product are in registers already. What has to be loaded in each trip of the loop?",
            "A trip loads the thread's number of Q_k once, and uses it for two products and two warp sums.",
            "In the loop: `if i < r.size: q = block[k, i]`; `first, second = warp_sum(q * residual), "
            "warp_sum(q * last)`; "
            "lane 0 stores them in parts[k, cuda.blockIdx.x] and parts[s + k, cuda.blockIdx.x]",
        ),
        what_if=(
            WhatIf(
                "Replace Q_k·A Q_(s - 1) by Q_0·A Q_k, for every k.",
                "In exact arithmetic, which moments do these sums give, and which are missing?",
                "Q_0·A Q_k is the moment k + 1: all up to s come twice or once, and those from s + 1 to 2 s - 1 are "
                "missing. The last product has the highest power, so it reaches all of them.",
            ),
            WhatIf(
                "Double s.",
                "How many more numbers does a thread load, and how many more reductions does a round have?",
                "s more numbers: the block has twice as many vectors. There is still one reduction, now of twice as "
                "many numbers, and it serves twice as many iterations.",
            ),
        ),
    ),
    Step(
        name="gram_once",
        title="A Gram matrix in one sweep",
        ask="Let each warp leave its parts of five sums: z0·Az0, z0·Az1, z1·Az1, z0·r and z1·r, with five loads per "
        "point.",
        trial=_gram_once,
        sizes=(40, 5, 96),
        timed=1 << 22,
        needs="block_moments",
        limits=LIMITS,
        tell="five numbers per point gave five sums; the entry below the diagonal was not computed again",
        hints=(
            "How many of the four entries of a symmetric 2 × 2 matrix have to be computed?",
            "Load the five numbers of a point into variables, multiply them in five pairs, then add up over the warp.",
            "`z0, z1 = Z[0, i], Z[1, i]`, `a0, a1, mine = AZ[0, i], AZ[1, i], r[i]`, and "
            "`products = (z0 * a0, z0 * a1, z1 * a1, z0 * mine, z1 * mine)`",
        ),
        what_if=(
            WhatIf(
                "Take 2 s = 16 vectors instead of two.",
                "How many sums are there, and how many numbers does a thread load for them?",
                "16 · 17 / 2 = 136 entries of the matrix and 16 sums with r, from 16 + 16 + 1 = 33 numbers. The work "
                "grows by the square, the bytes do not.",
            ),
            WhatIf(
                "Compute the entries of the matrix by a recurrence from those of the round before, as the method by "
                "moments does.",
                "It would save loads. Why does the stable method not do it?",
                "A recurrence carries the rounding errors of all rounds along. The sums of the vectors that are really "
                "there tell what is true of them now.",
            ),
        ),
    ),
)
