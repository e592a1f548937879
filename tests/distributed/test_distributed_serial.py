"""All ranks in one process: messages are kept, and what would hang on a cluster is a sentence here."""

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.distributed.mpi import ends_all
from course_pkg.distributed.serial import Serial


def neighbours(comm):
    """Exchange a number with the next and the last rank, in a circle."""
    after, before = (comm.rank + 1) % comm.ranks, (comm.rank - 1) % comm.ranks
    come = np.empty(1)
    comm.start([(after, np.array([float(comm.rank)]))], [(before, come)]).wait()
    return come[0]


def test_messages_and_reductions_are_kept_in_order():
    world = Serial(3)
    assert world.run(neighbours) == [2.0, 0.0, 1.0]
    assert [(m.source, m.destination, m.count, m.bytes, m.data[0]) for m in world.messages] == [
        (0, 1, 1, 8, 0.0), (1, 2, 1, 8, 1.0), (2, 0, 1, 8, 2.0),
    ]  # fmt: skip
    assert [list(total) for total in world.run(lambda comm: comm.sum([1.0, comm.rank]))] == [[3.0, 3.0]] * 3
    assert world.reductions == [2]
    small = Serial(3, keep=False)
    small.run(neighbours)
    assert [m.data for m in small.messages] == [None] * 3


def test_what_is_sent_may_change_afterwards():
    def change(comm):
        mine, theirs = np.array([comm.rank + 1.0]), np.empty(1)
        pending = comm.start([(1 - comm.rank, mine)], [(1 - comm.rank, theirs)])
        pending.wait()
        mine[:] = np.nan
        return theirs[0]

    assert Serial(2).run(change) == [2.0, 1.0]


def test_sums_are_the_same_bits_on_every_rank(rng):
    parts = rng.standard_normal((5, 100)) * 10.0 ** rng.integers(-8, 8, (5, 1))
    first, *others = Serial(5).run(lambda comm: comm.sum(parts[comm.rank]))
    assert all(np.array_equal(first, other) for other in others)
    np.testing.assert_allclose(first, parts.sum(axis=0), rtol=1e-10)


def test_arrays_of_any_size_are_exchanged():
    def swap(comm):
        return comm.exchange([np.full(comm.rank * peer, 10 * comm.rank + peer) for peer in range(3)])

    for rank, come in enumerate(Serial(3).run(swap)):
        for peer, part in enumerate(come):
            np.testing.assert_array_equal(part, np.full(rank * peer, 10 * peer + rank))


def test_ranks_that_wait_for_each_other_are_named():
    def both_receive(comm):
        comm.start([], [(1 - comm.rank, np.empty(4))]).wait()

    with pytest.raises(
        CourseError,
        match="without end: rank 0 waits for 4 numbers from rank 1; rank 1 waits for 4 numbers from",
    ):
        Serial(2).run(both_receive)


def test_a_rank_that_leaves_early_is_named():
    def all_but_one(comm):
        return None if comm.rank == 1 else comm.sum([1.0])

    with pytest.raises(CourseError, match="rank 2 waits for a sum over all ranks; rank 1 has ended"):
        Serial(3).run(all_but_one)


def test_a_rank_that_fails_ends_the_others_with_its_name():
    def fail(comm):
        if comm.rank == 1:
            raise CourseError("b is missing.")
        comm.sum([1.0])

    with pytest.raises(CourseError, match=r"^rank 1 of 3: b is missing\.$"):
        Serial(3).run(fail)
    with pytest.raises(CourseError, match=r"^rank 0 of 2: it ended with status 3"):
        Serial(2).run(_leaves)
    with pytest.raises(ZeroDivisionError) as caught:
        Serial(2).run(lambda comm: 1 / (1 - comm.rank))
    assert caught.value.__notes__ == ["It happened on rank 1 of 2."]


def _leaves(comm):
    with ends_all(comm):
        raise SystemExit(3)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (np.ones(3), "rank 1 sent 3 numbers of float64, but rank 0 expects 2 of float64"),
        (np.ones(2, np.float32), "rank 1 sent 2 numbers of float32, but rank 0 expects 2 of float64"),
    ],
)
def test_messages_of_another_size_or_kind_are_refused(sent, said):
    def mismatched(comm):
        if comm.rank == 1:
            comm.start([(0, sent)], []).wait()
        else:
            comm.start([], [(1, np.empty(2))]).wait()

    with pytest.raises(CourseError, match=said):
        Serial(2).run(mismatched)


def test_messages_are_received_in_the_order_in_which_their_receives_start():
    """As by MPI: it does not matter in which order a rank waits."""

    def two(comm):
        first, second = np.empty(1), np.empty(1)
        peer = 1 - comm.rank
        one = comm.start([(peer, np.array([1.0]))], [(peer, first)])
        other = comm.start([(peer, np.array([2.0]))], [(peer, second)])
        other.wait()
        one.wait()
        return first[0], second[0]

    assert Serial(2).run(two) == [(1, 2), (1, 2)]


def test_sums_of_different_shapes_are_refused():
    with pytest.raises(CourseError, match=r"different shapes: \(2,\) here, \(1,\) on rank 0"):
        Serial(2).run(lambda comm: comm.sum(np.ones(comm.rank + 1)))


def test_a_message_that_nobody_receives_is_named():
    def send(comm):
        if comm.rank == 0:
            comm.start([(1, np.ones(3))], []).wait()

    with pytest.raises(CourseError, match="rank 0 sent 3 numbers that rank 1 never received"):
        Serial(2).run(send)


@pytest.mark.parametrize("peer", [-1, 0, 2])
def test_a_rank_that_does_not_exist_is_refused(peer):
    with pytest.raises(CourseError, match=f"Rank 0 has no message for rank {peer}: there are ranks 0 to 1"):
        Serial(2).run(lambda comm: comm.start([], [(peer, np.empty(1))]).wait())


def test_ranks_that_disagree_are_named():
    with pytest.raises(CourseError, match=r"about the grid: rank 0 has \(8, 4\), but rank 1 has \(8, 5\)"):
        Serial(2).run(lambda comm: comm.agree("the grid", 8, 4 + comm.rank))
    with pytest.raises(CourseError, match="There are 1 parts for 2 ranks"):
        Serial(2).run(lambda comm: comm.exchange([np.ones(1)]))
    with pytest.raises(CourseError, match="at least one rank"):
        Serial(0)


@pytest.mark.parametrize("which", [0, 1])
def test_a_column_is_neither_sent_nor_received(which):
    """Numbers received into a column would be lost: it is filled through a copy."""

    def columns(comm):
        field, plain = np.zeros((3, 3)), np.zeros(3)
        sends, receives = (field[:, 1], plain) if which == 0 else (plain, field[:, 0])
        comm.start([(1 - comm.rank, sends)], [(1 - comm.rank, receives)]).wait()

    with pytest.raises(CourseError, match="rank 0 of 2: Messages are C-contiguous arrays"):
        Serial(2).run(columns)


def test_a_rank_that_asks_and_does_not_wait_is_told_so():
    def swap(comm):
        comm.start([(1 - comm.rank, np.ones(1))], [(1 - comm.rank, np.empty(1))])

    said = r"rank 0 sent 1 number that rank 1 never received: it asked, and did not wait"
    with pytest.raises(CourseError, match=said):
        Serial(2).run(swap)
