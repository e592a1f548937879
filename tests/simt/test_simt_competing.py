"""Launches that run again because threads compete at an atomic: when they run, in which orders, and what they leave.

Which races they find is in ``tricks_tickets.py``.
"""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.simt import Kernel, profile
from course_pkg.simt.run.competing import drawn, first, order_of, reverse
from course_pkg.simt.run.order import Order

COLLECT = """
def kernel(a, count, out, who):
    i = cuda.grid(1)
    if a[i] > 1.0:
        at = cuda.atomic.add(count, 0, 1)
        print(i)
        out[at] = a[i]
        who[i] = at
"""


def _noted(monkeypatch):
    ran, others = [], Order.others

    def noted(self, *given):
        for one in others(self, *given):
            ran.append(one)
            yield one

    monkeypatch.setattr(Order, "others", noted)
    return ran


def _profile(text, *arguments, blocks=1, threads=64):
    return profile(Kernel.from_source(text, "kernel", {"cuda": cuda})[blocks, threads], *arguments)


def test_they_leave_no_numbers_counts_or_prints(monkeypatch, capsys):
    ran = _noted(monkeypatch)
    arrays = np.arange(64.0) % 4, np.zeros(1, np.int32), np.zeros(32), np.zeros(64, np.int64)
    found = _profile(COLLECT, *arrays)
    printed = capsys.readouterr().out
    assert not found.hazards
    assert len(ran) == 3
    assert all(one.ran > 0 for one in ran)
    assert arrays[1][0] == 32
    np.testing.assert_array_equal(arrays[2], [2.0, 3.0] * 16)
    assert printed.split() == [str(n) for n in range(64) if n % 4 > 1]
    monkeypatch.setattr(Order, "others", lambda *_: ())
    again = arrays[0], np.zeros(1, np.int32), np.zeros(32), np.zeros(64, np.int64)
    assert str(_profile(COLLECT, *again)) == str(found)
    np.testing.assert_array_equal(arrays[3], again[3])


@pytest.mark.parametrize(
    "body",
    [
        "cuda.atomic.add(count, 0, 1)",
        "out[i] = a[i]",
        "if i == 3:\n        out[cuda.atomic.add(count, 0, 1)] = 1.0",
    ],
)
def test_a_kernel_in_which_no_threads_compete_for_a_number_runs_once(monkeypatch, body):
    ran = _noted(monkeypatch)
    text = f"def kernel(a, count, out):\n    i = cuda.grid(1)\n    {body}\n"
    assert not _profile(text, np.arange(64.0), np.zeros(1, np.int32), np.zeros(64)).hazards
    assert not ran


def test_those_who_race_if_all_are_first_come_first_once_each(monkeypatch):
    ran = _noted(monkeypatch)
    text = (
        "def kernel(a, count, out):\n    i = cuda.grid(1)\n    if cuda.atomic.add(count, 0, 1) == 0:\n"
        "        out[i // 2] = i\n        if i == 7:\n            a[5] = 1.0\n    if i == 9:\n        out[40] = a[5]\n"
    )
    found = _profile(text, np.arange(64.0), np.zeros(1, np.int32), np.zeros(64))
    assert [hazard.kind for hazard in found.hazards] == ["race"]
    assert {hazard.array for hazard in found.hazards} == {"a"}
    assert 4 <= len(ran) <= 5


def test_threads_come_in_the_order_of_their_ranks():
    at, threads = np.array([1, 0, 1, 1]), np.array([4, 5, 6, 7])
    assert order_of(None, at, threads).tolist() == [1, 0, 2, 3]
    assert order_of(reverse(), at, threads).tolist() == [1, 3, 2, 0]
    assert order_of(first(6), at, threads).tolist() == [1, 2, 0, 3]
    lots, at, threads = drawn(), np.zeros(64, int), np.arange(64)
    draws = [lots.order(at, threads).tolist() for _ in range(3)]
    assert all(sorted(one) == threads.tolist() for one in draws)
    assert len({tuple(one) for one in draws}) == 3
    assert drawn().order(at, threads).tolist() == draws[0]
