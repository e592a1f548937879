"""A learner's function on several ranks: what the judge sees of it, and what it says about mistakes."""

import threading

import numpy as np
import pytest
from rank_cases import given

from course_pkg.distributed.serial import Serial
from course_pkg.grading import check, ranks
from course_pkg.grading.ranks import Later, on_each_rank, play
from course_pkg.grading.session import Session


@on_each_rank
def around(comm, mine, out):
    """Get the number of the rank before, in a ring; what is inside is computed meanwhile."""
    after, before = (comm.rank + 1) % comm.ranks, (comm.rank - 1) % comm.ranks
    come = np.empty(1)
    pending = comm.start([(after, mine)], [(before, come)])
    out[1] = 10 * mine[0]
    pending.wait()
    out[0] = come[0]
    return comm.sum([mine[0], 1.0])


def test_a_played_function_does_what_it_does_on_ranks_and_tells_what_it_held_when():
    arguments = given(3)
    played = play(around, arguments)
    assert [list(out) for _, out in arguments] == [[3, 10], [1, 20], [2, 30]]
    assert [list(total) for total in played.results] == [[6, 3]] * 3
    assert [(m.source, m.destination, m.data[0]) for m in played.messages] == [
        (0, 1, 1),
        (1, 2, 2),
        (2, 0, 3),
    ]
    assert played.reductions == [2]
    for rank, moments in enumerate(played.moments):
        assert [moment.kind for moment in moments] == ["start", "wait", "sum", "end"]
        started, waiting, *_, ended = (moment.arrays[1] for moment in moments)
        assert np.isnan(started).all()
        assert np.isnan(waiting[0]) and waiting[1] == ended[1] == 10 * (rank + 1)
    inner = Serial(3).run(lambda comm: list(around(comm, np.array([comm.rank + 1.0]), np.zeros(2))))
    assert inner == [[6, 3]] * 3


def test_no_thread_of_an_unfinished_rank_is_left():
    @on_each_rank
    def waits(comm, mine):
        if comm.rank == 0:
            raise KeyError("rank 0")
        comm.sum(mine)

    before = threading.active_count()
    for _ in range(3):
        with pytest.raises(KeyError):
            play(waits, [(1.0,)] * 4)
    waits("ready")
    for thread in threading.enumerate():
        if thread.name.endswith("(live)"):
            thread.join(5)
    assert threading.active_count() <= before


WITHOUT_MESSAGES = """
parts = {}
@on_each_rank
def total(comm, mine):
    parts[comm.rank] = mine[0]
    comm.sum([0.0])
    return sum(parts[rank] for rank in range(comm.ranks))
"""


def in_memory_of_its_own():
    names = {"on_each_rank": on_each_rank}
    exec(WITHOUT_MESSAGES, names)
    return names["total"]


@pytest.mark.parametrize("count", [2, 3])
def test_numbers_that_go_through_memory_do_not_reach_the_rank_that_lives_apart(count):
    arguments = [(np.array([rank + 1.0]),) for rank in range(count)]
    total = in_memory_of_its_own()
    assert play(total, arguments).results == [sum(range(count + 1))] * count  # as in a notebook
    total = in_memory_of_its_own()
    total.apart = in_memory_of_its_own
    with pytest.raises(KeyError):
        play(total, arguments)


def kept_back(count, messages=1):
    """Three numbers for each rank, whose middle one comes with its messages."""
    return [(Later(np.arange(3.0) + 10 * rank, slice(1, 2), messages), check.out(3)) for rank in range(count)]


def swap(before=(), after=()):
    """Make a function that notes numbers in ``out``, some before the messages start and some after."""

    @on_each_rank
    def swaps(comm, mine, out):
        for n in before:
            out[n] = mine[n]
        come, pending = np.empty((2, 1)), []
        if comm.ranks > 1:
            for n in (0, 1):  # in two parts: what is sent first, and then what is received
                other = 1 - comm.rank
                pending.append(comm.start([(other, mine[:1])] * n, [(other, come[n])] * (1 - n)))
                out[n] = mine[1]
        for n in after:
            out[n] = mine[n]
        for one in pending:
            one.wait()

    return swaps


def test_what_is_kept_back_of_an_input_comes_when_all_messages_have_started():
    arguments = kept_back(2)
    play(swap(before=[2], after=[2]), arguments)
    assert [list(out[1:]) for _, out in arguments] == [[1, 2], [11, 12]]
    assert all(np.isnan(out[0]) for _, out in arguments), "only receiving had started"
    assert list(arguments[1][0].array) == [10, 11, 12]
    early = kept_back(2)
    play(swap(before=[0, 1, 2]), early)
    assert all(np.isnan(out[0]) for _, out in early)
    too_few = kept_back(2, messages=2)
    play(swap(after=[0, 1, 2]), too_few)
    assert [(*out[[0, 2]], np.isnan(out[1])) for _, out in too_few] == [(0, 2, True), (10, 12, True)]
    alone = kept_back(1)
    play(swap(before=[0, 1, 2]), alone)
    assert list(alone[0][1]) == [0, 1, 2]


def test_what_is_kept_back_is_an_input_like_others():
    @on_each_rank
    def changes(comm, mine, out):
        comm.start([(1 - comm.rank, mine[:1])], [(1 - comm.rank, np.empty(1))]).wait()
        mine[1] = 0.0

    with pytest.raises(check.Failed, match="argument 1 after comm, which is an input"):
        play(changes, kept_back(2))


def test_any_of_the_ranks_may_live_apart_and_messages_reach_it():
    apart = []

    def elsewhere():
        def noted(what, *rest):
            if what == "begin":
                apart.append(rest[0])
            return around(what, *rest)

        noted.by_turns = True
        return noted

    here = on_each_rank(around.__wrapped__)
    here.apart = elsewhere
    for _ in range(20):
        arguments = given(2)
        play(here, arguments)
        assert [list(out) for _, out in arguments] == [[2, 10], [1, 20]]
    assert set(apart) == {0, 1} and len(apart) == 20


@pytest.mark.parametrize(
    "event",
    [
        None,
        {"kind": "end"},
        {"kind": "other", "about": None, "arrays": [np.ones(1), np.ones(2)]},
        {"kind": "end", "about": None, "arrays": [np.ones(1), np.ones(3)]},
        {"kind": "wait", "about": 7, "arrays": [np.ones(1), np.ones(2)]},
        {"kind": "wait", "about": [], "arrays": [np.ones(1), np.ones(2)]},
        {"kind": "sum", "about": "x", "arrays": [np.ones(1), np.ones(2)]},
        {"kind": "start", "about": [0, [], [[1, 1 << 40, "f8"]]], "arrays": [np.ones(1), np.ones(2)]},
        {"kind": "start", "about": [0, [], [[1, 1, "O"]]], "arrays": [np.ones(1), np.ones(2)]},
        {"kind": "start", "about": [0, [[1, "x"]], []], "arrays": [np.ones(1), np.ones(2)]},
        {"kind": "start", "about": [0, [], [[1, 1, "f8,("]]], "arrays": [np.ones(1), np.ones(2)]},
        {"kind": "start", "about": [0, [[1, np.ones(1, complex)]], []], "arrays": [np.ones(1), np.ones(2)]},
        {
            "kind": "start",
            "about": [0, [[1, np.ones(1, np.longdouble)]], []],
            "arrays": [np.ones(1), np.ones(2)],
        },
        np.ones(3),
        [{"kind": "end"}],
    ],
    ids=str,
)
def test_what_a_sandbox_says_is_not_trusted(event):
    def forged(what, *rest):
        return "ready" if what == "ready" else event

    forged.by_turns = True
    with pytest.raises(check.Failed) as caught:
        play(forged, given(2))
    assert caught.value.verdict in (ranks.NO_RANK, ranks.STUCK)


def test_what_says_that_it_is_ready_by_an_array_is_not():
    def forged(what, *rest):
        return np.ones(2)

    forged.using = print  # the judge's stand-in has it
    with pytest.raises(check.Failed, match="Keep the line @on_each_rank"):
        play(forged, given(2))


class Sandboxes:
    """Stands for the sandboxes of a session: the first is lost in a call, and each notes the thread that made it."""

    def __init__(self):
        self.made_in = []

    def __call__(self, *, spent_s):
        self.made_in.append(threading.current_thread())
        return self

    contained, note, spent_s = True, "", 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, source, name, *, call_s=None):
        pass

    def call(self, name, args, kwargs, instead):
        return around(*args), list(args)


def test_a_sandbox_is_opened_in_the_thread_that_grades_and_not_in_that_of_a_rank():
    """It ends with the thread that started it, and a thread of a rank ends with the ranks."""
    made = Sandboxes()
    session = Session(made)
    session._open()
    session._close()  # as after a call that took too much time
    play(session.function("around"), given(3))
    assert made.made_in == [threading.current_thread()] * 3  # the last one is for the rank that lives apart
