"""Endless loops are stopped at once or soon, and named; loops that end are left alone. No speed is asserted."""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.simt import Kernel, SimtError, limits, profile
from course_pkg.simt.memory.order import Order
from course_pkg.simt.run import endless, turns
from course_pkg.simt.run import order as orders

N = 10
SAYS = "runs on and on, and was stopped: look for a loop that ends too late, or whose condition never becomes false"


def of(body, **names):
    """Return a kernel ``k(x, n)`` of a body whose first line is line 2."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return Kernel.from_source(f"def k(x, n):\n{lines}", "k", {"cuda": cuda, **names})


CERTAIN = {
    "nothing leaves it": ("while True:\n    pass", 2),
    "a counter, but no way out": ("i = 0\nwhile True:\n    for j in range(3):\n        break\n    i += 1", 3),
    "no increment": ("i = 0\nwhile i < n:\n    x[1] = x[1] + 1 if n > 99 else 0", 3),
    "a sum grows, the counter does not": ("i = 0\ns = 0\nwhile i < n:\n    s += x[i]\nx[0] = s", 4),
    "a flag that nobody sets": ("while x[0] == 1:\n    pass", 2),
    "a flag, and a barrier": ("while x[0] == 1:\n    cuda.syncthreads()", 2),
    "a lock that is taken": ("while cuda.atomic.cas(x, 0, 0, 1) != 0:\n    pass", 2),
    "a lock that a lane of the loop holds": ("while cuda.atomic.exch(x, 0, 1) != 0:\n    pass\nx[0] = 0", 2),
    "one that stores in vain": ("while x[2] > 0:\n    x[2] = 1", 2),
    "a way out that nobody takes": ("i = 0\nwhile True:\n    if x[i] == 7:\n        break", 3),
    "a number that no longer changes": ("h = 1.0\nwhile h > 0:\n    h = h * 0.5 + 1e-3", 3),
    "an inner one": ("for k in range(2):\n    i = k\n    while i < n:\n        i = max(i, k)", 4),
    "in one lane only": ("i = cuda.grid(1)\nwhile i == 3:\n    x[1] = 2", 3),
}


@pytest.mark.parametrize("name", CERTAIN)
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_loop_that_certainly_never_ends_is_named(name, blocks):
    body, line = CERTAIN[name]
    with limits(steps=3000), pytest.raises(SimtError, match=SAYS) as caught:
        of(body)[blocks, 32](np.ones(40, np.int64), N)
    assert f"as that of the `while` in line {line}:" in str(caught.value)


DOUBTFUL = {
    "the wrong way": "i = 0\nwhile i < n:\n    i -= 1",
    "past the end": "i = 1\nwhile i != n:\n    i += 2\nx[0] = 1",
    "to and fro": "i = 0\nwhile i < 2:\n    i = 1 - i",
    "a way out behind it": "i = 0\nwhile True:\n    i += 1\n    if i < 0:\n        break",
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_loop_that_comes_no_closer_to_its_end_is_named_before_the_budget_is_spent(name, monkeypatch):
    monkeypatch.setattr(endless, "TOLERATED", 2_000)
    with limits(steps=20_000), pytest.raises(SimtError, match=f"{SAYS}, as that of the `while`"):
        of(DOUBTFUL[name])[1, 32](np.ones(40, np.int64), N)


def test_a_for_of_too_many_trips_is_stopped_before_it_begins():
    x = np.ones(4)
    with pytest.raises(SimtError, match=SAYS):
        of("for i in range(10**12):\n    x[0] = i")[1, 1](x, N)
    assert x[0] == 1
    of("for i in range(10**12):\n    if i == 3:\n        break\n    x[0] = i")[1, 1](x, N)
    assert x[0] == 2


ENDS = {
    "a counter": "i = 0\nwhile i < 600:\n    i += 1\nx[0] = i",
    "a bound in memory": "x[1] = 600\ni = 0\nwhile i < x[1]:\n    i += 1\nx[0] = i",
    "a way out": "i = 0\nwhile True:\n    if i >= 600:\n        break\n    i += 1\nx[0] = i",
    "downwards": "i = 600\nwhile i:\n    i -= 1\n    x[0] += 1\nx[0] -= 1",
    "a sum in memory": "x[0] = 0\nwhile x[0] < 600:\n    x[0] += 1",
    "lane by lane": "i = 0\nwhile i < 20 * cuda.threadIdx.x:\n    i += 1\nif cuda.threadIdx.x == 0:\n    x[0] = 600",
    "now and then a step": "i = 0\nk = 0\nwhile i < 20:\n    k += 1\n    if k % 30 == 0:\n        i += 1\nx[0] = k",
    "a function decides": "i = 0\nwhile further(x) == 1:\n    i += 1\nx[0] = i",
}


@pytest.mark.parametrize("name", ENDS)
def test_a_loop_that_ends_is_left_alone(name, monkeypatch):
    if name != "a function decides":  # the watch does not look into it, so only its few statements save it
        monkeypatch.setattr(endless, "TOLERATED", 1_000)
    further = Kernel.from_source(
        "def further(x):\n    x[2] += 1\n    return 1 if x[2] <= 601 else 0\n", "further", {}, device=True
    )
    x = np.ones(40, np.int64)
    of(ENDS[name], further=further)[1, 32](x, N)
    assert x[0] == 600


def test_lanes_that_hand_over_within_a_loop_are_left_alone():
    behind = "t = cuda.threadIdx.x\nwhile x[0] != t:\n    pass\nx[0] = t + 1"
    # in lock step, the lane that could hand over waits behind the loop
    with pytest.raises(SimtError, match=SAYS):
        of(behind)[1, 32](np.zeros(40, np.int64), N)
    inside = "t = cuda.threadIdx.x\nwhile x[0] <= t:\n    if x[0] == t:\n        x[0] = t + 1"
    x = np.zeros(40, np.int64)
    of(inside)[1, 32](x, N)
    assert x[0] == 32
    found = profile(of(inside)[1, 32], np.zeros(40, np.int64), N)
    assert found.hazards


@cuda.jit
def between(ends, out):
    i = np.uint32(cuda.grid(1))
    end = np.uint32(0)
    if i < out.size:
        end = np.uint32(ends[i])
        for k in range(np.uint32(i + 1), end):
            out[i] += k


def test_bounds_of_threads_that_do_not_come_to_a_loop_do_not_count():
    """From 41 to 0 is a long way for unsigned numbers, but the threads that hold these bounds never enter the loop."""
    ends, out = cuda.to_device(np.full(40, 41)), cuda.to_device(np.zeros(40))
    between[2, 64](ends, out)
    np.testing.assert_array_equal(out.copy_to_host(), [sum(range(i + 1, 41)) for i in range(40)])


QUEUE = of(
    "while cuda.atomic.cas(x, 0, 0, 1) != 0:\n    pass\ncuda.threadfence()\nx[1] += n\ncuda.threadfence()\n"
    "cuda.atomic.exch(x, 0, 0)"
)


def test_a_longer_queue_for_a_lock_takes_no_more_looks_at_each_thread(monkeypatch):
    looks, look = [], Order.clash
    monkeypatch.setattr(Order, "clash", lambda *a: looks.append(a) or look(*a))
    monkeypatch.setattr(
        orders.Order, "others", lambda *_: ()
    )  # in them, late threads have turns of their own
    many = []
    for threads in (16, 32, 64):
        x = np.zeros(2, np.int64)
        assert not profile(QUEUE[2, threads // 2], x, 1).hazards
        assert x[1] == threads
        many.append(len(looks) / threads)
        looks.clear()
    assert many[2] < 1.5 * many[0], many


def test_a_queue_in_which_it_would_take_long_to_look_for_races_is_refused(monkeypatch):
    monkeypatch.setattr(turns, "MOST_WAITED", 200)
    with pytest.raises(
        SimtError, match=r"line 2: so many threads wait here for one another .* one thread of each block"
    ):
        profile(QUEUE[1, 32], np.zeros(2, np.int64), 1)
    x = np.zeros(2, np.int64)
    QUEUE[1, 32](x, 1)  # without looking for races
    assert x[1] == 32
