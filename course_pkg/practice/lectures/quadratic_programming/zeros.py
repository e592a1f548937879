"""Steps on when to stop, which unknowns are free, products by a list of them, and how far to go."""

import numpy as np

from course_pkg.core.access import WARP
from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.lectures.permutations.orders import sectors
from course_pkg.practice.lectures.quadratic_programming.updates import (
    LOADS,
    SECTORS,
    STORES,
    TILE,
    WARPS,
    small_problem,
    sums,
)
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf

LARGE = 1 << 10  # unknowns


def _with_zeros(n, rng):
    """Return Q, h and x; half of the elements of x, rounded down, are 0. n is at least 4.

    A Q that would be large is returned as its blocks, of eight unknowns each, outside which it is 0.
    """
    Q, h, x = small_problem(n, rng) if n < LARGE else small_problem(TILE, rng, (n // TILE,))
    h, x = h.reshape(-1), x.reshape(-1)
    x[rng.permutation(n)[: n // 2]] = 0
    return Q, h, x


def _f_and_residual(n, rng):
    Q, h, x = _with_zeros(n, rng)
    plus, minus = (of.reshape(-1) for of in sums(Q, x.reshape(Q.shape[:-1])))
    at = int(np.flatnonzero(x == 0)[0])
    h[at] = 1 - abs(plus - minus).max() - 2 * n  # x[at] is 0 but ought to grow, and has the largest residual
    gradient = plus - minus + h
    F, least = x @ ((plus - minus) / 2 + h), np.minimum(x, gradient)
    right = np.array([F, np.abs(least).max()])
    mistakes = {
        "The half is missing: the sum counts the product of x_i and x_j twice.": {
            "found": np.array([x @ gradient, right[1]])
        },
        "Only the product has a half: F_i is x_i times (Qx)_i / 2 + h_i.": {
            "found": np.array([x @ gradient / 2, right[1]])
        },
        "This residual is complementarity: it does not see a zero that ought to grow.": {
            "found": np.array([F, np.abs(x * gradient).max()])
        },
        "min(x, gradient) can be negative: its size counts.": {"found": np.array([F, max(least.max(), 0.0)])},
    }
    arguments = {"plus": plus, "minus": minus, "h": h, "x": x, "found": unwritten(2)}
    needed = {LOADS: 4 * n, STORES: 2}
    return Trial(arguments, {"found": right}, 1, WARP, needed, mistakes=mistakes)


def _free_to_change(n, rng):
    Q, h, x = _with_zeros(n, rng)
    zeros = np.flatnonzero(x == 0)
    gradient = Q @ x + h
    gradient[zeros] = rng.integers(1, 5, zeros.size)
    gradient[zeros[0]] = -2.0
    mistakes = {
        "A zero with a negative gradient ought to grow: it is free to change, too.": {RESULT: x > 0},
        "An unknown that is not 0 is free to change, whatever its gradient is.": {RESULT: gradient < 0},
        "A zero with a positive gradient stays 0: F would rise if it grew.": {
            RESULT: (x > 0) | (gradient > 0)
        },
    }
    return Trial({"x": x, "gradient": gradient}, {RESULT: (x > 0) | (gradient < 0)}, mistakes=mistakes)


def _by_list(n, rng):
    Q, _, x = small_problem(n, rng)
    # few, so that many sectors need not be read
    x *= np.isin(np.arange(n), rng.choice(n, n // 5, replace=False))
    active = np.flatnonzero(x).astype(np.int32)
    m = active.size
    plus, minus = (np.where(x > 0, of, 0.0) for of in sums(Q, x))
    k, b = np.divmod(np.arange(m * m), m)
    request = k * m + b // WARP
    needed = {
        SECTORS: sectors(request, active[k] * n + active[b], 8)
        + sectors(request, active[b], 8)
        + sectors(request, b, 4)
        + m,  # each warp reads the number of its row
        STORES: 2 * m,
    }
    in_order = {name: np.zeros(n) for name in ("plus", "minus")}
    for name, of in (("plus", plus), ("minus", minus)):
        in_order[name][:m] = of[active]
    at_places = sums(Q[:, active], x[:m])  # x[b] beside column active[b]
    mistakes = {
        "The sums are right, but lie in the order of the list: row k of the list is row active[k].": in_order,
        "Beside column active[b] stands x[b], the element at that place of the list: it has to be x[active[b]].": {
            name: np.where(x > 0, of, 0.0) for name, of in zip(("plus", "minus"), at_places, strict=True)
        },
    }
    arguments = {"Q": Q, "x": x, "active": active, "plus": np.zeros(n), "minus": np.zeros(n)}
    blocks = blocks_for(m, WARPS)
    return Trial(arguments, {"plus": plus, "minus": minus}, blocks, WARPS * WARP, needed, mistakes=mistakes)


def _best_step(size, rng):
    n, reach = size  # F is least at reach times the longest step; with 0, no element of x falls
    Q, h, x = small_problem(n, rng)
    Q = Q.T @ Q  # so that F has a minimum along each direction
    d = rng.choice([-2.0, -1.0, 1.0, 3.0], n)
    d[:2] = -2.0, 3.0
    d = d if reach else abs(d)
    Qx, Qd = Q @ x, Q @ d
    curvature, falls = d @ Qd, d < 0
    bound = np.min(x[falls] / -d[falls], initial=np.inf)
    free = reach * bound if reach else 0.75
    h += d * (-free * curvature - d @ (Qx + h)) / (d @ d)  # along d, F is least at t = free
    without_h, halved = -(d @ Qx) / curvature, -(d @ (Qx / 2 + h)) / curvature
    mistakes = {
        "The slope is d times the gradient Qx + h; h is missing.": {RESULT: x + min(without_h, bound) * d},
    }
    if reach:
        negative = np.min(x[falls] / d[falls])
        mistakes["The length is negative: x_i reaches 0 at t = x_i / -d_i."] = {RESULT: x + negative * d}
    if halved < bound:
        mistakes["The half belongs to F alone: the gradient is Qx + h."] = {RESULT: x + halved * d}
    if 2 * free < bound:
        said = "t is twice too long: at the lowest point, slope + t curvature is 0."
        mistakes[said] = {RESULT: x + 2 * free * d}
    if reach > 1:
        said = (
            "F would be least there, but an unknown is negative: the step ends where the first one reaches 0."
        )
        mistakes[said] = {RESULT: x + free * d}
    arguments = {"x": x, "d": d, "Qx": Qx, "Qd": Qd, "h": h}
    return Trial(arguments, {RESULT: x + min(free, bound) * d}, mistakes=mistakes)


TESTS = (
    Step(
        name="f_and_residual",
        title="F and the KKT residual",
        ask="With one warp: put F into found[0], and the KKT residual, the largest |min(x_i, ∇F_i)|, into found[1].",
        trial=_f_and_residual,
        sizes=(8, 40, 70),
        timed=1 << 21,
        needs="warp_per_row",
        limits={LOADS: 1, STORES: 1},
        tell="a sum and a maximum were collected in one pass over four vectors",
        hints=(
            "(Qx)_i is plus[i] - minus[i], and the gradient is (Qx)_i + h[i]. F_i has half of (Qx)_i.",
            "A maximum is collected like a sum: each lane has the largest of its own, and a shuffle brings another's.",
            "`total += x_i * (0.5 * product + h[i])` and `worst = max(worst, abs(min(x_i, product + h[i])))`; in the "
            "shuffles `worst = max(worst, cuda.shfl_down_sync(0xFFFFFFFF, worst, distance))`",
        ),
        what_if=(
            WhatIf(
                "Compute the largest |x_i ∇F_i| instead.",
                "What can be wrong with an x for which this is 0?",
                "A zero may have a negative gradient: F would fall if it grew. The product is 0 all the same.",
            ),
            WhatIf(
                "Let the host add up 16,384 numbers F_i after each iteration.",
                "The vector has 131 kB. What costs more than copying it?",
                "The host has to wait for the GPU, and the GPU for the host, in each iteration.",
            ),
        ),
    ),
    Step(
        name="free_to_change",
        title="Who is free to change?",
        ask="On the host: return for each unknown whether it is free to change (True): it is not 0, or ought to grow.",
        trial=_free_to_change,
        sizes=(8, 4, 40),
        needs="one_update",
        tell="no zero that ought to grow was left out; np.flatnonzero makes a list of it",
        hints=(
            "An unknown ought to grow if F falls when it grows.",
            "F falls along x_i if gradient[i] is negative. For vectors, *or* is `|`: `(x > 0) | (gradient < 0)`",
        ),
        what_if=(
            WhatIf(
                "Take all unknowns with x_i > 0, and no others.",
                "Which sentence about the answer is then wrong, although the residual of the listed ones is small?",
                "That it is solved: nobody looked at the gradient of the zeros.",
            ),
            WhatIf(
                "The gradient of a zero takes its whole row of Q.",
                "How often would you compute it?",
                "Not in every iteration, for that would undo what the list saves: from time to time, and before the "
                "answer is called solved.",
            ),
        ),
    ),
    Step(
        name="by_list",
        title="Products by a list",
        ask="Give a warp to each free unknown, and take only columns of free unknowns: leave both sums in the "
        "places of these unknowns.",
        trial=_by_list,
        sizes=(16, 40, 80),
        untimed="of Q it reads single sectors. They fit into an H200's L2 cache, unless Q takes more than 0.5 GB.",
        needs="warp_per_row",
        limits={SECTORS: 1, STORES: 1},
        tell="no row of a zero was read, and of the others only sectors with an active column",
        hints=(
            "Warp k works for unknown active[k]; its lanes take the places lane, lane + 32, … of the list.",
            "Place b of the list stands for column active[b]: of Q, and of x.",
            "`row = active[k]`, `j = active[b]`, `q, x_j = Q[row, j], x[j]`; at the end "
            "`plus[active[k]], minus[active[k]] = up, down`",
        ),
        what_if=(
            WhatIf(
                "Test `if x[j] != 0` in the step warp_per_row instead, and use no list.",
                "Half of x is 0. Why are there still nearly as many requests?",
                "A warp skips a request only if all its 32 lanes skip it. The sectors without an active column are "
                "saved, the waiting is not.",
            ),
            WhatIf(
                "Let one of ten unknowns be active, in random places.",
                "Which share of a row's sectors is read: a tenth?",
                "More: about a third. A sector holds four columns, and is read if any of them is active.",
            ),
        ),
    ),
    Step(
        name="best_step",
        title="How far along the update?",
        ask="On the host: go from x along d to where F is least, but not so far that an unknown becomes negative.",
        trial=_best_step,
        sizes=((5, 1.5), (4, 0), (6, 0.5), (12, 1.1), (9, 0.9)),
        needs="one_update",
        tell="this took no product with Q: Qx and Qd were there",
        hints=(
            "Along d, F is a parabola in t: F(x) + t slope + t²/2 curvature. Where is its lowest point?",
            "slope = d · (Qx + h), curvature = d · Qd. An unknown with d_i < 0 reaches 0 at t = x_i / -d_i. If there "
            "is none, t has no limit.",
            "`slope = d @ (Qx + h)`, `curvature = d @ Qd`, `longest = np.min(x[d < 0] / -d[d < 0], initial=np.inf)`",
        ),
        what_if=(
            WhatIf(
                "Let t be 1.",
                "Which method is that, if d is the update minus x?",
                "The update itself. The best t is often larger, and F falls by more with the same product.",
            ),
            WhatIf(
                "After the step, the next update needs Q (x + t d).",
                "Which product is that?",
                "None: it is Qx + t Qd. One product with Q per iteration is enough.",
            ),
        ),
    ),
)
