"""Who owns what, and halos: properties that hold for every size, every number of ranks, and every sparse matrix."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from course_pkg.core import CourseError
from course_pkg.distributed.halo import HaloExchange, by_owner, csr_plan, needed, renumbered, slab_plan
from course_pkg.distributed.partition import Slab, offsets, owner_of
from course_pkg.distributed.rows import RowBlockMatrix
from course_pkg.distributed.serial import Serial

quickly = settings(max_examples=40)


@st.composite
def divided(draw):
    """A number of rows, and of ranks that can share them."""
    ranks = draw(st.integers(1, 7))
    return draw(st.integers(ranks, 60)), ranks


@quickly
@given(divided())
def test_parts_are_consecutive_and_differ_by_at_most_one(sizes):
    n, ranks = sizes
    ends = offsets(n, ranks)
    lengths = np.diff(ends)
    assert ends[0] == 0 and ends[-1] == n and len(lengths) == ranks
    assert lengths.min() >= 1 and lengths.max() - lengths.min() <= 1
    owners = owner_of(np.arange(n), ends)
    np.testing.assert_array_equal(owners, np.repeat(np.arange(ranks), lengths))


@quickly
@given(divided())
def test_slabs_cover_the_grid_and_know_their_neighbours(sizes):
    nz, ranks = max(sizes[0], 3), sizes[1]
    slabs = [Slab((nz, 4, 5), rank, ranks) for rank in range(ranks)]
    assert [s.first for s in slabs[1:]] == [s.last for s in slabs[:-1]]
    assert sum(s.shape[0] for s in slabs) == nz and {s.shape[1:] for s in slabs} == {(4, 5)}
    for slab in slabs:
        assert slab.below is None or slabs[slab.below].above == slab.rank
        plan = slab_plan(slab)
        assert plan.contiguous and plan.sent == plan.size == 20 * ((slab.rank > 0) + (slab.rank < ranks - 1))


@quickly
@given(divided(), st.integers(0, 2**32 - 1))
def test_what_a_rank_sends_is_what_the_other_needs_in_its_order(sizes, seed):
    """Also where the matrix is not symmetric: then one rank may send without receiving."""
    n, ranks = sizes
    A = sp.csr_array(sp.random(n, n, 0.08, rng=np.random.default_rng(seed)))
    ends = offsets(n, ranks)
    halos = [needed(A[a:b].indices, a, b) for a, b in pairwise(ends)]
    asked = [{p: by_owner(h, ends).get(rank, []) for p, h in enumerate(halos)} for rank in range(ranks)]
    plans = [csr_plan(rank, ends, halos[rank], asked[rank]) for rank in range(ranks)]
    for rank, plan in enumerate(plans):
        got = np.full(plan.size, -1)
        for peer, where in plan.receives:
            (sent,) = [entries for other, entries in plans[peer].sends if other == rank]
            got[where] = ends[peer] + sent
        np.testing.assert_array_equal(got, halos[rank])
    assert sum(p.sent for p in plans) == sum(p.size for p in plans)


@quickly
@given(divided(), st.integers(0, 2**32 - 1))
def test_renumbered_columns_read_the_same_entries(sizes, seed):
    n, ranks = sizes
    rng = np.random.default_rng(seed)
    columns, x, ends = rng.integers(0, n, 30), rng.random(n), offsets(n, ranks)
    first, last = ends[ranks // 2], ends[ranks // 2 + 1]
    halo = needed(columns, first, last)
    local = renumbered(columns, first, last, halo)
    np.testing.assert_array_equal(np.concatenate([x[first:last], x[halo]])[local], x[columns])
    assert np.array_equal(local < last - first, (columns >= first) & (columns < last))


@settings(max_examples=15)
@given(divided(), st.integers(0, 2**32 - 1))
def test_the_product_of_all_ranks_is_that_of_one(sizes, seed):
    n, ranks = sizes
    rng = np.random.default_rng(seed)
    A = sp.csr_array(sp.random(n, n, 0.1, rng=rng))
    A.sort_indices()
    x = rng.random(n)

    def multiply(comm):
        mine = RowBlockMatrix.of(A, comm)
        local = sp.csr_array((mine.local.data, mine.local.indices, mine.local.indptr), shape=mine.local.shape)
        product = mine @ mine.part(x)
        mine.exchange.start(mine.part(x))
        whole = np.concatenate([mine.part(x), mine.exchange.finish()])
        np.testing.assert_allclose(local @ whole, product, atol=1e-14)
        return mine.whole(product)

    for found in Serial(ranks).run(multiply):
        np.testing.assert_allclose(found, A @ x, atol=1e-14)


# ---- wrong arguments


def test_fewer_planes_than_ranks_are_refused():
    with pytest.raises(CourseError, match="4 planes cannot be divided among 5 ranks: start at most 4 ranks"):
        Slab((4, 8, 8), 0, 5)
    with pytest.raises(CourseError, match="ranks is 0"):
        offsets(4, 0)
    with pytest.raises(CourseError, match="rank is 2: 2 ranks are numbered from 0 to 1"):
        Slab((4, 8, 8), 2, 2)
    with pytest.raises(CourseError, match=r"grid is \(4, 2, 8\): pass three sizes of at least 3"):
        Slab((4, 2, 8), 0, 2)


def test_entries_that_are_nobodys_are_refused():
    ends = offsets(10, 3)
    with pytest.raises(CourseError, match="numbered from 0 to 9"):
        owner_of([10], ends)
    with pytest.raises(CourseError, match="neither owned nor in the halo"):
        renumbered([0, 4, 9], 3, 6, np.array([0]))
    with pytest.raises(CourseError, match="neither owned nor in the halo"):
        renumbered([0], 3, 6, np.empty(0, np.int64))
    with pytest.raises(
        CourseError, match="Rank 2 asks rank 1 for entries that it does not own: it has 3 to 5"
    ):
        csr_plan(1, ends, np.array([0]), {2: np.array([6])})
    with pytest.raises(CourseError, match="holds entries that it owns"):
        csr_plan(1, ends, np.array([0, 4]), {})


def test_an_exchange_is_started_and_finished_in_turn():
    exchange = HaloExchange(Serial().run(lambda comm: comm)[0], slab_plan(Slab((3, 3, 3), 0, 1)), "float64")
    with pytest.raises(CourseError, match="no halo exchange to finish"):
        exchange.finish()
    exchange.start(np.ones(27))
    with pytest.raises(CourseError, match="started twice"):
        exchange.start(np.ones(27))
    assert exchange.finish().size == 0
