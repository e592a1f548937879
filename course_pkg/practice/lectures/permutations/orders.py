"""Steps on vectors and a matrix in a new order: gather, scatter, and a symmetric permutation on the host."""

import numpy as np
from scipy.sparse import csr_array

from course_pkg.core.access import SECTOR_BYTES, WARP
from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.permutation import reference
from course_pkg.permutation.measures import distinct
from course_pkg.practice.step import Step, Trial, WhatIf


def values(n, rng):
    """Return small whole numbers other than 0: they are short to read, and their sums are exact in any order."""
    return rng.integers(1, 60, n).astype(np.float64)


def sectors(request, element, itemsize):
    """Return how many sectors all requests touch; each access is given by its request and its element."""
    request, sector = np.ravel(request), np.ravel(element) * itemsize // SECTOR_BYTES
    return distinct(request * (int(sector.max(initial=0)) + 1) + sector)


def sectors_in_order(first, last, itemsize):
    """Return how many sectors all requests touch, if each asks for the elements from ``first`` to ``last``."""
    return int(np.sum(last * itemsize // SECTOR_BYTES - first * itemsize // SECTOR_BYTES + 1))


def random_matrix(shape, rng, shortest=0, longest=5):
    """Return a random sparse matrix of small whole numbers; rows have different numbers of entries."""
    rows, columns = shape
    lengths = rng.integers(shortest, min(longest, columns) + 1, rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    row = np.repeat(np.arange(rows), lengths)
    place = np.arange(row.size) - indptr[row]
    drawn = np.sort(row * columns + rng.integers(columns - lengths[row] + 1)) - row * columns
    data = rng.integers(1, 10, row.size).astype(np.float64)
    # the k-th smallest column of a row moves k to the right, so that no column occurs twice
    return csr_array((data, (drawn + place).astype(np.int32), indptr), shape=shape)


def permutation(n, rng):
    """Return a random permutation of n elements."""
    return rng.permutation(np.arange(n, dtype=np.int32))


def _moved(n, rng, source, target, move, undo, mistake):
    """Return the trial of a copy between ``old`` and ``new``: ``old`` is accessed at ``perm``, ``new`` in order."""
    perm, given = permutation(n, rng), values(n, rng)
    first = np.arange(0, n, WARP)
    of_perm, numbers = (sectors_in_order(first, np.minimum(first + WARP, n) - 1, size) for size in (4, 8))
    apart = sectors(np.arange(n) // WARP, perm, 8)
    loads, stores = (apart, numbers) if source == "old" else (numbers, apart)
    return Trial(
        {"perm": perm, source: given, target: unwritten(n)},
        {target: move(perm, given)},
        blocks_for(n, WARP),
        WARP,
        {"global_load.sectors": of_perm + loads, "global_store.sectors": stores},
        mistakes={mistake: {target: undo(perm, given)}},
    )


def _reorder(n, rng):
    back = "This is the way back: number i went to place perm[i], but new[i] has to come from place perm[i]."
    return _moved(n, rng, "old", "new", reference.permute_vector, reference.unpermute_vector, back)


def _bring_back(n, rng):
    again = "This permutes a second time: new[i] came from place perm[i], and that is where it has to go."
    return _moved(n, rng, "new", "old", reference.unpermute_vector, reference.permute_vector, again)


def _renumber(n, rng):
    A = random_matrix((n, n), rng)
    perm = permutation(n, rng)
    right = reference.permute_symmetric(perm, A)
    arrays = {"indptr": A.indptr, "indices": A.indices, "data": A.data}
    new = {f"new_{name}": unwritten(a.shape, a.dtype) for name, a in arrays.items()}
    rows = reference.permute_rows(perm, A)
    unsorted = rows.indices
    by_perm = csr_array((right.data.copy(), perm[unsorted], right.indptr), shape=A.shape)
    by_perm.sort_indices()
    mistakes = {
        "Columns got the numbers perm[column]: perm[i] says where place i comes from, and a column has to know where "
        "it goes.": {"new_indices": by_perm.indices},
        "The columns have their new numbers, but in each row they should rise.": {
            "new_indices": reference.invert(perm)[unsorted]
        },
        "The columns still have their old numbers.": {"new_indices": unsorted},
        "The values still have the order of the old columns: take them along when you sort.": {
            "new_data": rows.data
        },
    }
    expected = {"new_indptr": right.indptr, "new_indices": right.indices, "new_data": right.data}
    return Trial({"perm": perm, **arrays, **new}, expected, mistakes=mistakes)


VECTORS = (
    Step(
        name="reorder",
        title="A vector in a new order",
        ask="Fill new so that new[i] is the number at place perm[i] of old.",
        trial=_reorder,
        sizes=(40, 7, 96),
        timed=1 << 22,
        limits={"global_load.sectors": 1, "global_store.sectors": 1},
        tell="perm and new were touched in whole sectors, and only the numbers of old lay apart",
        hints=(
            "A map: thread i is responsible for one element of new.",
            "Where thread i has to read stands in perm, at place i.",
            "`if i < new.size:` and in it `new[i] = old[perm[i]]`",
        ),
        what_if=(
            WhatIf(
                "Let perm be 0, 1, 2, …",
                "Why does the same kernel then ask for fewer sectors, although it reads as many numbers?",
                "Neighbouring lanes read neighbouring numbers, four to a sector of 32 bytes. With a random perm, "
                "nearly every lane asks for a sector of its own and uses 8 of its 32 bytes.",
            ),
            WhatIf(
                "Write `old[i] = old[perm[i]]`, to save the second vector.",
                "Why is that a race, although each thread writes an element of its own?",
                "Thread i overwrites old[i], which the thread whose perm is i still has to read. Nothing makes one "
                "of them wait for the other.",
            ),
        ),
    ),
    Step(
        name="bring_back",
        title="And back",
        ask="new was made by the step before: fill old, with perm alone and without its inverse.",
        trial=_bring_back,
        sizes=(40, 7, 96),
        timed=1 << 22,
        needs="reorder",
        limits={"global_load.sectors": 1, "global_store.sectors": 1},
        tell="each thread knew where its number belongs; now the stores lie apart, not the loads",
        hints=(
            "new[i] came from place perm[i] of old. Where does it have to go?",
            "Thread i reads one number of new and writes it to a place that it looks up.",
            "`if i < new.size:` and in it `old[perm[i]] = new[i]`",
        ),
        what_if=(
            WhatIf(
                "Write one number into perm twice: `perm[1] = perm[0]`.",
                "Why does the step before still give an answer, while this one is now a race?",
                "Reading a number twice harms nobody. Here two threads write the same element, and another element is "
                "written by nobody.",
            ),
            WhatIf(
                "Suppose that the inverse is at hand.",
                "How would you write this kernel so that its stores fill whole sectors?",
                "As a gather with the inverse: `old[j] = new[inverse[j]]`. Then the loads lie apart instead. One of "
                "both sides always does.",
            ),
        ),
    ),
)

MATRICES = (
    Step(
        name="renumber",
        title="Rows and columns renumbered",
        ask="On the host: let entry (i, j) of the new matrix be entry (perm[i], perm[j]) of the old one, with rising "
        "columns in each row.",
        trial=_renumber,
        sizes=(9, 1, 30),
        needs="one_row_each",
        tell="the new matrix takes vectors in the new order and gives them in the new order",
        hints=(
            "Row i of the new matrix has the nonzeros of row perm[i]. Their columns have old numbers: which new place "
            "does old column c have?",
            "The inverse says where an old number goes: `inverse[perm[i]]` is i. Then sort the columns, and take the "
            "values along.",
            "`inverse = np.argsort(perm)`, `columns = inverse[indices[row]]`, `order = np.argsort(columns)`, then "
            "`columns[order]` and `data[row][order]`",
        ),
        what_if=(
            WhatIf(
                "Leave the columns as they are, so that only the rows change places.",
                "What does a solver then have to do in each iteration that it does not have to do here?",
                "The product gives y in the new order of rows, but needs x in the old order of columns. So y has to be "
                "put back before it can be the next x.",
            ),
            WhatIf(
                "Look at the diagonal of the new matrix.",
                "Why does it hold the old diagonal, in another order?",
                "Entry (i, i) of the new matrix is entry (perm[i], perm[i]) of the old one: row and column got the "
                "same new number.",
            ),
        ),
    ),
)
