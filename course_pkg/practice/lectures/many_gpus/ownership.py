"""Steps on who owns what: planes of a grid, the columns beyond a block of rows, and a rank's numbering of them."""

import numpy as np

from course_pkg.distributed import halo as halos
from course_pkg.distributed.partition import offsets, owner_of
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf


def _plane_owner(size, rng):
    nz, ranks = size
    planes, first = rng.permutation(nz), offsets(nz, ranks)
    rank = owner_of(planes, first)
    local = planes - first[rank]
    equal = planes // max(1, nz // ranks)
    before = np.searchsorted(first, planes) - 1
    scaled = planes * ranks // nz
    mistakes = {
        "The slabs are not all of the same size: a rank's first plane is first[rank].": np.array(
            [equal, planes - equal * max(1, nz // ranks)]
        ),
        "planes * ranks // nz divides the grid in real numbers, and first was rounded: look the plane up in first.": (
            np.array([scaled, planes - first[scaled]])
        ),
        "The ranks are right. Slabs have different sizes, so a rest of a division does not count within one: subtract "
        "first[rank].": np.array([rank, planes % max(1, nz // ranks)]),
        "A plane that is the first of its rank went to the rank before: first[rank] belongs to rank itself.": np.array(
            [before, planes - first[before]]
        ),
        "These are the planes' numbers in the whole grid: a rank counts from its own first plane.": np.array(
            [rank, planes]
        ),
    }
    right = np.array([rank, local])
    return Trial(
        {"planes": planes, "nz": nz, "ranks": ranks},
        {RESULT: right},
        mistakes={
            says: {RESULT: value} for says, value in mistakes.items() if not np.array_equal(value, right)
        },
    )


def _columns(size, rng):
    """Return the column indices of a block of rows, the block's first row, and the row after its last one."""
    n, first, last, many = size
    indices = rng.integers(0, n, many)
    indices[:4] = (first - 1, last, last, first)  # first - 1 and last are just outside the block
    return rng.permutation(indices), first, last


def _beyond_rows(size, rng):
    indices, first, last = _columns(size, rng)
    outside = indices[(indices < first) | (indices >= last)]
    right = halos.needed(indices, first, last)
    mistakes = {
        "A column that several rows need is there several times: it is sent once.": np.sort(outside),
        "The columns stand as they come: sort them, so that what comes from one rank is one slice.": outside[
            np.sort(np.unique(outside, return_index=True)[1])
        ],
        "last is the first entry after the block: it is not owned.": np.unique(
            indices[(indices < first) | (indices > last)]
        ),
        "These are the columns that the rank owns: the others are asked for.": np.unique(
            indices[(indices >= first) & (indices < last)]
        ),
    }
    return Trial(
        {"indices": indices, "first": first, "last": last},
        {RESULT: right},
        mistakes={says: {RESULT: value} for says, value in mistakes.items()},
    )


def _own_numbers(size, rng):
    indices, first, last = _columns(size, rng)
    halo = halos.needed(indices, first, last)
    owned = (indices >= first) & (indices < last)
    place = np.searchsorted(halo, indices)
    right = halos.renumbered(indices, first, last, halo).astype(np.int64)
    mistakes = {
        "Entry 0 of the halo has the number 0, and so has the first owned entry: the halo begins after the owned "
        "entries.": np.where(owned, indices - first, place),
        "The owned columns still have their numbers of the whole matrix: the rank's first row is its row 0.": np.where(
            owned, indices, last - first + place
        ),
        "A column of the halo has the number of its place in `halo`, not of the column itself.": np.where(
            owned, indices - first, last - first + indices
        ),
        "The numbers of the halo begin at last: a rank owns last - first entries, not last.": np.where(
            owned, indices - first, last + place
        ),
    }
    return Trial(
        {"indices": indices, "first": first, "last": last, "halo": halo},
        {RESULT: right},
        mistakes={says: {RESULT: value} for says, value in mistakes.items()},
    )


STEPS = (
    Step(
        name="plane_owner",
        title="Who owns a plane",
        ask="Fill `rank` with the rank that owns each plane, and return it with the plane's number in that slab.",
        trial=_plane_owner,
        sizes=((10, 4), (7, 7), (9, 2), (5, 1)),
        tell="each plane has one owner, and its owner counts from 0",
        hints=(
            "first is sorted. Between which two of its numbers does a plane lie?",
            "np.searchsorted says where a number would be put in; side='right' puts an equal one behind.",
            "`rank = np.searchsorted(first, planes, side='right') - 1`; then `planes - first[rank]`",
        ),
        what_if=(
            WhatIf(
                "Let there be more ranks than planes.",
                "Which rank owns nothing, and what does it do at a sum?",
                "Some entries of first are equal, and the ranks between them own no plane. They still have to bring a "
                "0 to each sum: all ranks wait for it. The course's own offsets refuses such a division.",
            ),
        ),
    ),
    Step(
        name="beyond_rows",
        title="The halo of a block of rows",
        ask="Return the columns that the rank does not own: sorted, each once.",
        trial=_beyond_rows,
        sizes=((20, 6, 12, 14), (50, 5, 40, 30), (9, 3, 4, 8)),
        tell="these are the entries that others have to send, and no other",
        hints=(
            "Which columns does a rank own that has the rows first to last - 1?",
            "Two comparisons make a mask of all others; one function of NumPy sorts and leaves out repetitions.",
            "`np.unique(indices[(indices < first) | (indices >= last)])`",
        ),
        what_if=(
            WhatIf(
                "Permute the rows of a matrix at random, as in lecture 6, and divide it.",
                "What happens to the halo?",
                "Neighbours in the graph of the matrix are then on any rank, so nearly each nonzero needs an entry of "
                "another one: the halo is nearly all of the vector, and each rank gets messages from all.",
            ),
        ),
    ),
    Step(
        name="own_numbers",
        title="A rank's own numbers",
        ask="Return the columns in the rank's own numbers: owned entries from 0 on, and behind them the halo.",
        trial=_own_numbers,
        sizes=((20, 6, 12, 14), (50, 5, 40, 30), (9, 3, 4, 8)),
        needs="beyond_rows",
        tell="with these columns, the product of one rank is that of a small matrix of its own",
        hints=(
            "There are last - first owned entries. Which number has the first entry of the halo?",
            "halo is sorted: np.searchsorted says at which place of it a column stands.",
            "`np.where((indices >= first) & (indices < last), indices - first, "
            "last - first + np.searchsorted(halo, indices))`",
        ),
        what_if=(
            WhatIf(
                "Leave the columns in the numbers of the whole matrix.",
                "What would a rank need besides its own part of x?",
                "An array of the size of the whole x, most of which it never reads. On 64 ranks that is 64 times the "
                "memory, and more than its share of caches.",
            ),
        ),
    ),
)
