"""Launches that run again with late threads: they find what another order shows, and leave nothing behind.

Which races they find is in ``tricks_setters.py``; honest hand-overs, which are no races to them, are in ``idioms*.py``.
"""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.simt import Kernel, limits, profile
from course_pkg.simt.memory.order import Order as Barriers
from course_pkg.simt.run import launch
from course_pkg.simt.run.late import MANY_THREADS, MOST_LATE, sequences
from course_pkg.simt.run.order import Order

LAST_BLOCK = """
def kernel(a, part, count, out):
    b = cuda.blockIdx.x
    part[b] = a[b]
    cuda.threadfence()
    if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
        print("block", b)
        total = 0.0
        for k in range(cuda.gridDim.x):
            total = 0.5 * total + part[k]
        out[b] = total
"""
BLOCKS = 6


def _run(monkeypatch=None):
    ran, others = [], Order.others

    def noted(self, *given):
        for late in others(self, *given):
            ran.append(late)
            yield late

    if monkeypatch is not None:
        monkeypatch.setattr(Order, "others", noted)
    a, part, count, out = (
        np.arange(1.0, BLOCKS + 1),
        np.zeros(BLOCKS),
        np.zeros(1, np.int32),
        np.zeros(BLOCKS),
    )
    found = profile(Kernel.from_source(LAST_BLOCK, "kernel", {"cuda": cuda})[BLOCKS, 1], a, part, count, out)
    return found, (part, count, out), ran


def test_late_threads_leave_no_numbers_counts_or_prints(monkeypatch, capsys):
    """In the launches with late threads, another block is the last one and prints."""
    found, arrays, ran = _run(monkeypatch)
    assert len(ran) == 3
    assert len({one.late for one in ran}) == 3
    assert all(one.ran > 0 for one in ran)
    assert not found.hazards
    assert capsys.readouterr().out == f"block {BLOCKS - 1}\n"
    monkeypatch.setattr(Order, "others", lambda *_: ())
    alone, same, _ = _run()
    for one, other in zip(arrays, same, strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.flatnonzero(arrays[-1]).tolist() == [BLOCKS - 1]
    assert str(found) == str(alone)


def test_they_run_as_many_statements_as_the_first_launch_allows(monkeypatch):
    monkeypatch.setattr(launch, "MANY_THREADS", 0)
    monkeypatch.setattr(launch, "LATE_OF_MANY", (1, 1, 4_000))
    _, _, ran = _run(monkeypatch)
    assert len(ran) == 1  # it needs more, and what is left is too little for another one
    monkeypatch.setattr(launch, "LATE_OF_MANY", (8, 1, 10))
    assert not _run(monkeypatch)[0].hazards


def test_they_leave_no_numbers_if_they_are_interrupted(monkeypatch):
    part, others = np.zeros(BLOCKS), Order.others

    def interrupt(*_):
        part.fill(7.0)
        raise KeyboardInterrupt

    def interrupted(self, *given):
        for late in others(self, *given):
            late.run = interrupt
            yield late

    monkeypatch.setattr(Order, "others", interrupted)
    kernel = Kernel.from_source(LAST_BLOCK, "kernel", {"cuda": cuda})
    with pytest.raises(KeyboardInterrupt):
        profile(kernel[BLOCKS, 1], np.ones(BLOCKS), part, np.zeros(1, np.int32), np.zeros(BLOCKS))
    assert (part == 1.0).all()


def test_a_launch_without_hand_overs_runs_once(monkeypatch):
    monkeypatch.setattr(Order, "others", lambda *_: pytest.fail("nothing is handed over"))
    kernel = Kernel.from_source("def kernel(out):\n    out[cuda.grid(1)] = 1.0", "kernel", {"cuda": cuda})
    assert not profile(kernel[2, 32], np.zeros(64)).hazards


def test_a_budget_of_statements_is_that_of_the_first_launch():
    with limits(steps=200):
        assert not _run()[0].hazards


@pytest.mark.parametrize(("threads", "most"), [(64, MOST_LATE), (MANY_THREADS, MOST_LATE // 2), (1 << 18, 2)])
def test_of_too_many_groups_some_are_late_together_and_in_the_next_sequence_others(threads, most):
    accesses = {thread: {("kernel", 4, False)} for thread in range(0, 100 * 64, 64)}
    held, far, near, new = sequences(accesses, {1}, Barriers(64), threads, {7: {("kernel", 9, True)}})
    assert held.groups in (far.groups, far.groups[::-1])
    assert held.stops == (frozenset({("kernel", 4, False)}),) * most
    for one in (far, near):
        assert len(one.groups) == most
        assert sorted(sum(one.groups, ())) == sorted(accesses)
        assert one.waiting == ((1,),)
    together = [
        {(a, b) for group in one.groups for a in group for b in group if a < b} for one in (far, near)
    ]
    assert all(b - a < -(-100 // most) * 64 for a, b in together[1])
    assert all((b - a) % (most * 64) == 0 for a, b in together[0])
    assert near.groups[0][-1] == 99 * 64
    assert (new.groups, new.stops) == (((7,),), (frozenset({("kernel", 9, True)}),))


def test_of_each_part_the_first_and_the_last_thread_are_late_first():
    reads, writes, enters = ("kernel", 4, False), ("kernel", 8, False), ("kernel", 3, True)
    accesses = {1: {reads, enters}, 2: {writes}, 3: {reads}, 4: {reads}, 5: {writes}, 6: {enters}}
    first, then, *_ = sequences(accesses, set(), Barriers(64), 64, {})
    assert (first.groups, first.stops) == (((1,), (4,)), (frozenset({reads}),) * 2)
    assert (then.groups, then.stops) == (((2,), (5,)), (frozenset({writes}),) * 2)


def test_where_an_atomic_comes_before_other_accesses_either_end_of_the_threads_is_late_behind_it():
    turn, work = ("kernel", 3, True), ("kernel", 8, False)
    first, then, *_ = sequences({1: {turn, work}}, {0, 2}, Barriers(64), 64, {})
    assert [(one.groups, one.stops) for one in (first, then)] == [
        (((thread,),), (frozenset({work}),)) for thread in (0, 2)
    ]


def test_threads_that_wait_have_roles_of_their_own_if_they_are_few():
    accesses = {0: {("kernel", 4, False)}}
    for blocks, roles in ((3, 3), (MOST_LATE * 2, MOST_LATE * 2), (MOST_LATE * 2 + 1, 0)):
        learners = {0, *range(64, 64 * (blocks + 1), 64)}
        assert [len(one.waiting) for one in sequences(accesses, learners, Barriers(64), 64, {})] == [0, roles]
