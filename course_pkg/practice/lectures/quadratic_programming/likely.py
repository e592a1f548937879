"""Results of likely mistakes in kernels for an update, each with the sentence of the verdict; computed on the host."""

import numpy as np

from course_pkg.core.access import WARP
from course_pkg.qp.reference import split


def sums(Q, x):
    """Return Q⁺x and Q⁻x, of one problem or of several."""
    return _products(split(Q), x)


def _products(parts, x):
    return tuple(np.einsum("...ij,...j->...i", part, x) for part in parts)


def by_threads(Q, h, x):
    """Return likely mistakes in a kernel that computes each new x_i from its own row."""
    parts = split(Q)
    (plus, minus), entries = _products(parts, x), [part.sum(axis=1) for part in parts]
    return {
        "These are the factors: each x_i has still to be multiplied by its own.": _new(1, h, plus, minus),
        "h was left out of the fraction: h⁻ belongs above, h⁺ below.": _new(x, 0 * h, plus, minus),
        "The fraction stands on its head: what is negative in Q and h makes x grow, so it stands above.": _new(
            x, -h, minus, plus
        ),
        "Q⁺ and Q⁻ are exchanged: what is negative in Q makes x grow, so Q⁻x stands above, and Q⁺x below.": _new(
            x, h, minus, plus
        ),
        "The entries of Q⁻ are not negative: max(-q, 0).": _new(x, h, plus, -minus),
        "The entries of Q were added as they are: each has to be multiplied by its x_j.": _new(
            x, h, *entries
        ),
        "Each entry of row i was multiplied by x_i, the thread's own: entry j belongs to x_j.": _new(
            x, h, *(of * x for of in entries)
        ),
    }


def by_tiles(Q, h, x, size):
    """Return likely mistakes in a kernel that stages x in tiles of this size."""
    n = x.size
    first, place = np.arange(0, n, size), np.arange(n) % size
    own = first[:, None] + place  # [tile, i]: index that thread i fetched
    fetched = x[np.where(own < n, own, own - size)]  # beyond n, the number of the tile before stays
    parts = split(Q)
    of_tiles = [np.add.reduceat(part, first, axis=0) for part in parts]
    return {
        "Every tile held the first elements of x: a tile begins at `first`.": _new(
            x, h, *_products(parts, x[place])
        ),
        "Each thread used tile[t], which it has fetched itself: row first + k belongs to tile[k].": _new(
            x, h, *((part * fetched).sum(axis=0) for part in of_tiles)
        ),
    }


def by_warps(Q, x):
    """Return likely mistakes in a kernel that computes Q⁺x and Q⁻x with one warp per row."""
    parts = split(Q)
    plus, minus = _products(parts, x)
    first, times = np.arange(0, x.size, WARP), np.minimum(np.arange(x.size) + 1, WARP)
    of_lane_0, every_column = sums(Q[:, first], x[first]), _products(parts, times * x)
    entries = [part.sum(axis=1) * x for part in parts]
    return {
        "These are the sums of lane 0 alone: the other lanes have to hand over theirs.": {
            "plus": of_lane_0[0]
        },
        "The entries of Q⁻ are not negative: max(-q, 0).": {"minus": -minus},
        "minus holds the sum of lane 0 alone: both sums have to be handed over.": {"minus": of_lane_0[1]},
        "Every lane walked through the whole row, so each sum is 32 times too large: lane t takes t, t + 32, …": {
            "plus": WARP * plus,
            "minus": WARP * minus,
        },
        "Lane t begins at column t, but then takes every column: the step of the loop is 32.": {
            "plus": every_column[0],
            "minus": every_column[1],
        },
        "The entries of Q were multiplied by x[row]: entry j belongs to x[j].": {
            "plus": entries[0],
            "minus": entries[1],
        },
    }


def _new(x, h, plus, minus):
    """Return the new x that a kernel writes if it uses these products; like a GPU, it divides by 0 without an error."""
    h_plus, h_minus = split(h)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {"out": x * (h_minus + minus) / (h_plus + plus)}
