"""Steps on sparse products: by rows, by rows in another order, by lanes that share a row, by slices."""

import numpy as np
from scipy.sparse import csr_array, diags_array

from course_pkg.core.access import SECTOR_BYTES, WARP
from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.permutation import reference
from course_pkg.practice.lectures.permutations.orders import (
    permutation,
    random_matrix,
    sectors,
    sectors_in_order,
    values,
)
from course_pkg.practice.step import Step, Trial, WhatIf
from course_pkg.spmv.formats import SellCSigma

LANES, SLICE = 4, 32
LONGEST = 7  # entries of the longest row that four lanes share: at most two trips, which no compiler reorders
STORES = "global_store.thread_accesses"


def _csr(A):
    return {"indptr": A.indptr, "indices": A.indices, "data": A.data}


def _one_row_each(shape, rng):
    A, x = random_matrix(shape, rng), values(shape[1], rng)
    rows = shape[0]
    needed = {"global_load.thread_accesses": 2 * rows + 3 * A.nnz, STORES: rows}
    arguments = {**_csr(A), "x": x, "y": unwritten(rows)}
    return Trial(arguments, {"y": A @ x}, blocks_for(rows, WARP), WARP, needed)


def _back_in_place(n, rng):
    A, order = random_matrix((n, n), rng, longest=3), permutation(n, rng)
    perm = np.empty_like(order)
    perm[order] = np.roll(order, 1)  # one cycle: perm[i] is never i
    # an answer that looks in row i for column i, instead of perm[i], must find nothing in any row
    A.data[A.indices == np.repeat(reference.invert(perm), np.diff(A.indptr))] = 0
    A.eliminate_zeros()
    diagonal = 2.0 ** rng.integers(1, 5, n)  # so that every quotient is exact
    A = csr_array(A + diags_array(diagonal - A.diagonal()))
    x, b = values(n, rng), values(n, rng)
    rows = reference.permute_rows(perm, A)
    right = (b - A @ x) / A.diagonal() + x
    in_order_of_rows = right[perm]
    by_old_b = (b[perm][perm] - (A @ x)[perm]) / A.diagonal()[perm] + x[perm]
    with_diagonal = b - A @ x
    mistakes = {
        "The numbers are right, but lie in the order of the rows: row i gives the unknown perm[i].": {
            "x_new": in_order_of_rows
        },
        "b has the order of the rows already: row i needs b[i].": {
            "x_new": reference.unpermute_vector(perm, by_old_b)
        },
        "The diagonal entry is in the sum, too: the sum is of all others.": {
            "x_new": with_diagonal / A.diagonal()
        },
        "No row found its diagonal entry: the columns have their old numbers, and row i has the unknown perm[i].": {
            "x_new": np.copysign(np.inf, with_diagonal)
        },
    }
    arguments = {"perm": perm, **_csr(rows), "b": b[perm], "x": x, "x_new": unwritten(n)}
    return Trial(arguments, {"x_new": right}, blocks_for(n, WARP), WARP, {STORES: n}, mistakes=mistakes)


def _lanes_share(shape, rng):
    A, x = random_matrix(shape, rng, longest=LONGEST), values(shape[1], rng)
    rows = shape[0]
    row, entry = np.repeat(np.arange(rows), np.diff(A.indptr)), np.arange(A.nnz)
    trip, lane = np.divmod(entry - A.indptr[row], LANES)
    request = LANES * row // WARP * LONGEST + trip
    first = np.arange(0, rows, WARP // LANES)
    last = np.minimum(first + WARP // LANES, rows) - 1
    needed = {
        "global_load.sectors": sectors(request, entry, A.data.itemsize)
        + sectors(request, entry, A.indices.itemsize)
        + sectors(request, A.indices, x.itemsize)
        + sum(sectors_in_order(first + k, last + k, A.indptr.itemsize) for k in (0, 1)),
        STORES: rows,
    }
    lanes = WARP * blocks_for(LANES * rows, WARP)
    shares = np.bincount(LANES * row + lane, A.data * x[A.indices], lanes)
    mistakes = {
        "These are the shares of lane 0 alone: the other lanes of a row have to hand over theirs.": {
            "y": shares[: LANES * rows : LANES]
        },
        "The distances reach into the next rows: within 4 lanes, the farthest neighbour of lane 0 and 1 is 2 away.": {
            "y": _by_whole_warps(shares)[: LANES * rows : LANES]
        },
        "Some nonzeros are counted by several lanes: after its first one, a lane takes every fourth.": {
            "y": np.bincount(row, np.minimum(LANES * trip + lane + 1, LANES) * A.data * x[A.indices], rows)
        },
    }
    arguments = {**_csr(A), "x": x, "y": unwritten(rows)}
    blocks = blocks_for(LANES * rows, WARP)
    return Trial(arguments, {"y": A @ x}, blocks, WARP, needed, mistakes=mistakes)


def _by_whole_warps(shares):
    """Return the lanes' sums after five shuffles; a shuffle from beyond the warp returns the lane's own number."""
    total = shares.reshape(-1, WARP)
    for d in (16, 8, 4, 2, 1):
        total = total + np.concatenate([total[:, d:], total[:, -d:]], axis=1)
    return total.reshape(-1)


def _side_by_side(request, itemsize):
    """Return how many sectors all requests touch, if each begins with a sector and its lanes read neighbours."""
    return int(np.sum(-(-np.bincount(request) * itemsize // SECTOR_BYTES)))


def _slices(size, rng):
    rows, columns, shortest = size
    A, x = random_matrix((rows, columns), rng, shortest, longest=4), values(columns, rng)
    S = SellCSigma.from_scipy(A, chunk=SLICE, sigma=rows + 1)
    piece = np.repeat(np.arange(S.offsets.size - 1), np.diff(S.offsets))
    place, lane = np.divmod(np.arange(S.stored) - S.offsets[piece], SLICE)
    request = piece * (place.max(initial=0) + 1) + place
    run, used = SLICE * piece + lane < rows, S.indices >= 0
    first = np.arange(0, rows, WARP)
    product = np.where(used, S.data * x[S.indices], 0)
    width = np.diff(S.offsets)[piece] // SLICE
    by_rows = SLICE * piece + (SLICE * place + lane) // np.maximum(width, 1)

    def summed(sorted_row, products):
        y = np.bincount(sorted_row, products, SLICE * S.offsets.size)
        return {"y": reference.unpermute_vector(S.perm, y[:rows])}

    needed = {
        "global_load.sectors": _side_by_side(request[run], S.indices.itemsize)
        + _side_by_side(request[used], S.data.itemsize)
        + sectors(request[used], S.indices[used], x.itemsize)
        + sectors_in_order(first, np.minimum(first + WARP, rows) - 1, S.perm.itemsize)
        + 2 * (S.offsets.size - 1),
        STORES: rows,
    }
    mistakes = {
        "The sums are right, but lie in the sorted order: sorted row i is row perm[i] of the matrix.": {
            "y": (A @ x)[S.perm]
        },
        "This reads a slice row by row, but it is stored column by column: a row's next place is 32 further.": summed(
            by_rows, product
        ),
        "Rows of later slices begin too late: in its slice, thread i has place i % 32.": summed(
            SLICE * piece + lane, product * (place >= piece)
        ),
    }
    arguments = {"offsets": S.offsets, "perm": S.perm, "indices": S.indices, "data": S.data, "x": x}
    arguments["y"] = unwritten(rows)
    return Trial(arguments, {"y": A @ x}, blocks_for(rows, WARP), WARP, needed, mistakes=mistakes)


ROWS = (
    Step(
        name="one_row_each",
        title="A row for each thread",
        ask="Let each thread compute one element of y = A x: the nonzeros of row i lie at places indptr[i] to "
        "indptr[i + 1] of indices and data, without the last.",
        trial=_one_row_each,
        sizes=((12, 12), (3, 5), (70, 40)),
        timed=(1 << 21, 1 << 21),
        limits={"global_load.thread_accesses": 1, STORES: 1},
        tell="each nonzero was read once, and each row was written once",
        hints=(
            "A thread walks through the nonzeros of its row and adds up, in a variable of its own.",
            "Nonzero k has its value in data[k] and its column in indices[k]. Which element of x belongs to it?",
            "`for k in range(indptr[row], indptr[row + 1]): total += data[k] * x[indices[k]]`, then `y[row] = total`",
        ),
        what_if=(
            WhatIf(
                "Point at the threads of a warp, one after the other, and watch what each reads of data first.",
                "Why does a request of the warp touch many sectors of data, although all of data is needed?",
                "In each trip the lanes read at the same place of 32 different rows, which lie as far apart as rows "
                "are long. The rest of a sector is needed only in later trips.",
            ),
            WhatIf(
                "Give one row 100 nonzeros and leave the others as they are.",
                "For whom does its warp wait, and what do the other 31 lanes do meanwhile?",
                "For the lane with the long row. The others have finished their loops and are idle until it is done.",
            ),
        ),
    ),
    Step(
        name="back_in_place",
        title="Rows in a new order, unknowns in the old one",
        ask="The rows of A and b are permuted, x is not: divide what row i leaves by its diagonal entry, and write it "
        "where this unknown belongs.",
        trial=_back_in_place,
        sizes=(12, 40, 5),
        timed=1 << 20,
        needs="one_row_each",
        limits={STORES: 1},
        tell="every row found its diagonal entry, and every unknown is where the next step expects it",
        hints=(
            "Row i of the permuted matrix was row perm[i]. In which column is its diagonal entry?",
            "The columns have their old numbers: the diagonal entry is the one with indices[k] == perm[i]. All others "
            "belong into the sum.",
            "`if indices[k] == unknown: diagonal = data[k]`, else `total += data[k] * x[indices[k]]`; then "
            "`x_new[unknown] = (b[i] - total) / diagonal`",
        ),
        what_if=(
            WhatIf(
                "Compare the sectors of this kernel's stores with those of the step before.",
                "Why does a row permutation cost something in every step of the method, and a symmetric one nothing?",
                "Here a warp writes to 32 places that lie apart. If the columns are renumbered, too, x has the order "
                "of the rows, and a warp writes neighbours.",
            ),
            WhatIf(
                "Write x_new[i] instead, and use it as x in the next step.",
                "Why does the method then not fail at once, but go astray?",
                "Each number is right, but the next product multiplies it with the column of another unknown. No "
                "index leaves its array, so nothing warns.",
            ),
        ),
    ),
)

LAYOUTS = (
    Step(
        name="lanes_share",
        title="Four lanes for a short row",
        ask="Let four neighbouring lanes share a row: lane 0 takes its nonzeros 0, 4, …, lane 1 takes 1, 5, …; then "
        "add up their shares by shuffles.",
        trial=_lanes_share,
        sizes=((10, 12), (3, 9), (33, 40)),
        timed=(1 << 20, 1 << 20),
        needs="one_row_each",
        limits={"global_load.sectors": 1.1, STORES: 1},
        tell="four lanes read neighbours, and eight rows kept a warp busy",
        hints=(
            "Where does lane 2 of a row begin, and how far does it jump?",
            "After the loop, each lane holds a share. cuda.shfl_down_sync gives lane 0 the share of the lane that "
            "stands 2 further, then of the one that stands 1 further. All lanes of the warp have to call it.",
            "`for k in range(indptr[row] + lane, indptr[row + 1], 4):`; outside the guard "
            "`for distance in (2, 1): total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)`",
        ),
        what_if=(
            WhatIf(
                "Let a whole warp share each row.",
                "How many of its 32 lanes have something to do in a row of 7 nonzeros?",
                "7. The other 25 wait, and five shuffles add up mostly zeros.",
            ),
            WhatIf(
                "Let each lane take a quarter of the row: lane 0 the first nonzeros, lane 1 the next ones.",
                "The result is the same. Why does each request touch more sectors?",
                "In one trip the four lanes then read places that lie a quarter of a row apart, instead of neighbours.",
            ),
        ),
    ),
    Step(
        name="slices",
        title="Slices of 32 rows",
        ask="Rows were sorted by length and cut into slices of 32, each stored column by column; a column index of -1 "
        "is padding. Compute y = A x, in the old order of the rows.",
        trial=_slices,
        sizes=((40, 40, 1), (32, 20, 0), (70, 50, 0)),
        timed=(3 << 19, 3 << 19, 1),
        needs="one_row_each",
        limits={"global_load.sectors": 1, STORES: 1},
        tell="the lanes of a warp read neighbours in every column, and padding was not multiplied",
        hints=(
            "In which place of its slice does thread i find its first nonzero, and how far away is the next one?",
            "Slice `piece` begins at offsets[piece]. One of its columns has 32 places: thread i is at place i % 32 of "
            "each. Sorted row i is row perm[i] of the matrix.",
            "`for k in range(offsets[piece] + i % 32, offsets[piece + 1], 32):`, in it "
            "`if indices[k] >= 0: total += data[k] * x[indices[k]]`; then `y[perm[i]] = total`",
        ),
        what_if=(
            WhatIf(
                "Do not sort: perm is 0, 1, 2, …",
                "What grows, and why is the result still right?",
                "A slice is as wide as its longest row, and without sorting most slices then have a long one. There "
                "is more padding to read; it adds nothing.",
            ),
            WhatIf(
                "Sort all rows of a large matrix, and not only those of a window.",
                "There is less padding. What may become worse?",
                "Rows that were neighbours and used the same part of x are then far apart: the gather of x touches "
                "more sectors, and fewer of them are found in a cache.",
            ),
        ),
    ),
)
