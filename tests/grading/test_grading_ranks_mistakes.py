"""What the judge says about mistakes of a function on several ranks, and what a notebook shows of them."""

import traceback
from pathlib import Path

import numpy as np
import pytest
from rank_cases import given

from course_pkg.core import CourseError
from course_pkg.grading import check, ranks
from course_pkg.grading.explain import InputChanged
from course_pkg.grading.ranks import on_each_rank, play


def refused(body, match, arguments=None, count=2):
    with pytest.raises(Exception, match=match) as caught:
        play(on_each_rank(body), arguments or given(count))
    return caught.value


def test_mistakes_are_told_in_sentences():
    two = np.arange(6.0).reshape(3, 2)

    def column_sent(comm, mine, out):
        comm.start([(1 - comm.rank, two[:, 0])], [])

    def column_received(comm, mine, out):
        comm.start([(1 - comm.rank, mine)], [(1 - comm.rank, two[:, 0])])

    def no_list(comm, mine, out):
        comm.start((1 - comm.rank, mine), [])

    def no_array(comm, mine, out):
        comm.start([(1 - comm.rank, 1.0)], [])

    def to_nobody(comm, mine, out):
        comm.start([(comm.rank + 1, mine)], [])

    def two_in_one(comm, mine, out):
        comm.start([(1 - comm.rank, two.view(complex))], [])

    def no_list_of_numbers(comm, mine, out):
        comm.sum(mine[0], 1.0)

    def changed(comm, mine, out):
        sent, come = mine.copy(), np.empty(1)
        pending = comm.start([(1 - comm.rank, sent)], [(1 - comm.rank, come)])
        sent += 1
        pending.wait()

    refused(column_sent, "an array in sends has gaps in memory, as a column has: send a copy")
    refused(column_received, "receive into an array of its own, and copy from there")
    refused(no_list, r"sends is a list of pairs, each a rank and an array")
    refused(no_array, "sends has a float where an array has to be")
    refused(
        two_in_one,
        "sends has 3 numbers of type complex128: a message carries at most 1,048,576, each of at most",
    )
    refused(no_list_of_numbers, r"sum takes one array or list: .* write comm.sum\(\[a, b\]\)")
    refused(to_nobody, "rank 1 has no messages with rank 2; ranks are 0 to 1")
    refused(changed, r"what is sent must not change before wait\(\)")


def test_ranks_that_do_not_fit_fail_the_check_with_a_verdict_that_shows_no_value():
    def only_one_adds(comm, mine, out):
        if comm.rank == 0:
            comm.sum(mine)

    def never_received(comm, mine, out):
        comm.start([(1 - comm.rank, mine)], [])

    def other_size(comm, mine, out):
        comm.start([(1 - comm.rank, mine)], [(1 - comm.rank, np.empty(3))]).wait()

    for body, said in (
        (only_one_adds, "rank 0 waits for a sum over all ranks; rank 1 has ended"),
        (never_received, r"that rank . never received. Is there a wait\(\) for each start"),
        (other_size, "expects 3 of float64"),
    ):
        error = refused(body, said)
        assert isinstance(error, check.Failed) and error.verdict == ranks.STUCK


def test_messages_without_end_are_stopped(monkeypatch):
    monkeypatch.setattr(ranks, "MOST_MOMENTS", 20)

    def on_and_on(comm, mine, out):
        while True:
            comm.sum(mine)

    assert refused(on_and_on, "without end").verdict == ranks.ENDLESS


def test_numbers_without_end_are_stopped(monkeypatch):
    monkeypatch.setattr(ranks, "MOST_SENT", 20)

    def in_sums(comm, mine, out):
        comm.sum(np.ones(8))
        comm.sum(np.ones(13))

    def in_messages(comm, mine, out):
        comm.start([(1 - comm.rank, np.ones(21))], [])

    for floods in (in_sums, in_messages):
        assert refused(floods, "without end").verdict == ranks.ENDLESS


def test_inputs_stay_as_they_are():
    def writes(comm, mine, out):
        mine[0] = 0.0

    error = refused(writes, "writes changes its argument 1 after comm, which is an input")
    assert isinstance(error, InputChanged) and (error.function, error.argument) == ("writes", 1)
    assert error.verdict == "An input is changed: work on a copy of it."


def test_a_function_without_the_line_above_it_is_told_so():
    with pytest.raises(check.Failed, match="Keep the line @on_each_rank"):
        play(lambda comm, mine, out: None, given(2))


def test_errors_of_the_learner_keep_their_kind():
    class Told(CourseError):
        pass

    def raises(comm, mine, out):
        raise Told("by the sandbox")

    assert type(refused(raises, "by the sandbox")) is Told


def test_a_notebook_shows_the_lines_of_the_learner_and_no_others():
    def too_far(comm, mine, out):
        comm.sum(mine)
        return mine[7]

    error = refused(too_far, "out of bounds")
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert [Path(file).name for file in files[-2:]] == ["ranks.py", Path(__file__).name]
    assert sum("course_pkg" in file for file in files) == 1, "play alone"

    def to_itself(comm, mine, out):
        comm.start([(comm.rank, mine)], [])

    lines = refused(to_itself, "has no messages with rank")._render_traceback_()
    assert "comm.start([(comm.rank, mine)], [])" in lines[-2]
    assert lines[-1] == "MessageError: rank 0 has no messages with rank 0; ranks are 0 to 1"
