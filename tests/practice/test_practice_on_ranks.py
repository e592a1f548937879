"""A learner's function on several ranks: what it returns, what ranks said, and what they did."""

import numpy as np
import practice_cells as cells
import pytest
from test_practice_verdicts import HINTS

from course_pkg.practice.checking import check_step
from course_pkg.practice.on_ranks import Part, call, joined
from course_pkg.practice.step import RESULT, Step, Trial


def total(ranks, rng):
    parts = tuple(rng.integers(1, 9, 3).astype(float) for _ in range(ranks))
    whole = float(sum(part.sum() for part in parts))
    return Trial(
        {"a": parts, "factor": 2.0},
        {RESULT: np.full(ranks, 2 * whole)},
        ranks=ranks,
        mistakes={"Each rank has its own.": {RESULT: np.array([2 * part.sum() for part in parts])}}
        if ranks > 1
        else {},
        heard=lambda heard: "" if heard.sums == [1] else f"Numbers in sums: {heard.sums}.",
    )


STEP = Step("total_on_ranks", "Sum", "Return factor times the sum.", total, (3, 2, 1), HINTS)


def judged(body):
    return check_step(STEP, cells.function(body, "comm, a, factor"))


def test_a_right_answer_is_right_and_its_picture_shows_each_rank():
    result = judged("return factor * comm.sum([a.sum()])[0]")
    assert result.good
    [picture] = result.pictures
    assert picture.alt == "rank 0: adds 1 number. rank 1: adds 1 number. rank 2: adds 1 number."


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return factor * a.sum()", "Each rank has its own."),
        ("return factor * comm.sum(a).sum()", "Numbers in sums: [3]."),
        ("return factor * comm.sum([a.sum()])[0] if comm.ranks == 3 else 0.0", "but with 2 ranks"),
        ("return comm.sum([1.0]) if comm.rank else 0.0", "The ranks wait without end"),
        (
            "if comm.rank == 1:\n    return 1 / 0\nreturn comm.sum([1.0])[0]",
            "Line 3 raises ZeroDivisionError",
        ),
        ("comm.sum([a.sum()])", "It returns nothing"),
        ("return [1.0, 2.0]", "It returns a list"),
        ("return 'many'", "It returns a str"),
        ("comm.start([(7, a)], []).wait()\nreturn 0.0", "there are ranks 0 to 2"),
    ],
)
def test_a_wrong_answer_gets_its_sentence(body, says):
    result = judged(body)
    assert not result.good and says in str(result)


def test_what_ranks_did_before_one_failed_is_drawn():
    result = judged("comm.sum([1.0, 2.0])\nreturn 1 / 0")
    assert "rank 0: adds 2 numbers." in result.pictures[0].alt


def test_messages_are_heard_in_order_and_a_part_notes_its_deeds():
    def swap(comm, part):
        come = np.empty(1)
        pending = comm.start([(1 - comm.rank, np.array([comm.rank + 0.5]))], [(1 - comm.rank, come)])
        part.note("works")
        pending.wait()
        return come

    results, heard = call(swap, 2, {"part": (Part(), Part())})
    assert joined(results).tolist() == [1.5, 0.5]
    assert heard.messages == [(0, 1, 1), (1, 0, 1)] and heard.sums == []
    assert [deed.what for deed in heard.done[0]] == ["sends to 1", "works", "waits"]


def test_a_wrong_number_of_results_is_compared_with_likely_mistakes():
    def trial(n, rng):
        return Trial({"n": n}, {RESULT: np.arange(n)}, mistakes={"One too many.": {RESULT: np.arange(n + 1)}})

    step = Step("counts", "Counts", "Return 0 to n - 1.", trial, (3, 4), HINTS)
    said = str(check_step(step, cells.function("return np.arange(n + 1)", "n")))
    assert "found the shape (4,)" in said and said.endswith("One too many.")
