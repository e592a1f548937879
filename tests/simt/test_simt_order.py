"""The warps of a block may run in any order between two barriers: results of correct kernels do not depend on it."""

import math
import textwrap
import threading

import numpy as np
import pytest
from idioms import IDIOMS

from course_pkg import cuda, simt
from course_pkg.simt.run import halves
from course_pkg.simt.run.kernel import Kernel

FILL = "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
SWAP = FILL + "cuda.atomic.cas(s, t, 0, k[t] + 1)\n{}x = cuda.atomic.cas(s, 63 - t, -9, -9)\nout[t] = x"
RACY = {  # kernels whose result is right in lock step alone
    "filled and read by compare-and-swap": SWAP.format(""),
    "the winner is looked at": FILL + "if cuda.atomic.cas(s, t, 0, k[t] + 1) != 0:\n    out[t] = 5.0\n"
    "x = cuda.atomic.cas(s, 63 - t, -9, -9)\nout[t] = x",
    "filled and read by exchanges that are looked at": FILL + "if cuda.atomic.exch(s, t, k[t] + 1) == 77:\n"
    "    out[t] = 1.0\nout[t] = cuda.atomic.exch(s, 63 - t, 0)",
    "filled and read by additions that change": FILL + "cuda.atomic.add(s, t, k[t] + 1)\n"
    "out[t] = cuda.atomic.add(s, 63 - t, 1)",
    "filled and read by one statement": FILL + "x = 0\nfor z in range(2):\n    j = t if z == 0 else 63 - t\n"
    "    x = cuda.atomic.cas(s, j, 0, k[t] + 1)\nout[t] = x",
    "taken, and proved by a swap": FILL + "if cuda.atomic.cas(s, t, 0, k[t] + 1) != 0:\n    out[t] = 5.0\n"
    "x = cuda.atomic.cas(s, 63 - t, -9, -9)\nif cuda.atomic.cas(s, 63 - t, x, -5) == x:\n    out[t] = x",
    "stored where it is no zero": FILL + "cuda.atomic.exch(s, t, k[t] + 1)\nx = cuda.atomic.add(s, 63 - t, 0)\n"
    "if x != 0:\n    out[t] = x",
    "a barrier that no thread comes to": SWAP.format("if n < 0:\n    cuda.syncthreads()\n"),
    "a function between": SWAP.format("def f(q):\n    return q\n"),
    "an allocation between": SWAP.format("c = cuda.shared.array(1, np.int64)\n"),
    "another name of the function": SWAP.format("cas = cuda.atomic.cas\n"),
    "in a loop": FILL + "for z in range(3):\n    cuda.atomic.cas(s, t, 0, k[t] + 1)\n"
    "    x = cuda.atomic.cas(s, 63 - t, -9, -9)\n    if x > 0:\n        out[t] = x\n        break\n    out[t] = z",
    "a return": SWAP.format("if t == 64:\n    return\n"),
}  # fmt: skip


def run(body: str):
    arguments = {"out": np.zeros(64), "k": np.arange(64), "n": 64}
    head = f"def kernel({', '.join(arguments)}):\n    t = cuda.threadIdx.x\n"
    kernel = Kernel.from_source(
        head + textwrap.indent(body, "    "), "kernel", {"cuda": cuda, "np": np, "math": math}
    )
    kernel[1, 64](*arguments.values())
    return arguments["out"]


@pytest.mark.family
@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda idiom: idiom.name)
@pytest.mark.parametrize("parity", [0, 1])
def test_an_idiom_is_right_in_each_order(idiom, parity):
    arguments = idiom.arguments()
    kernel = Kernel.from_source(idiom.source, idiom.name, idiom.kernel.__globals__)
    with simt.warps_first(parity):
        kernel[idiom.blocks, idiom.threads, 0, idiom.shared_bytes](*arguments.values())
    for name, expected in idiom.expected(idiom.arguments()).items():
        np.testing.assert_array_equal(arguments[name], expected, err_msg=name)


@pytest.mark.parametrize("body", RACY.values(), ids=RACY)
def test_a_missing_barrier_shows_in_each_order_and_a_barrier_mends_it(body):
    right = run(body)
    for parity in (0, 1):
        with simt.warps_first(parity):
            assert (run(body) != right).any()
            if body == SWAP.format(""):
                assert (run(SWAP.format("cuda.syncthreads()\n")) == right).all()
    assert (run(body) == right).all()


HONEST = {  # names of every sort, assigned between two barriers
    "a function": "f = math.sqrt\nx = f(4.0)\n",
    "a type": "T = np.float64\nx = T(3)\n",
    "a range": "r = range(t % 3)\nx = 0\nfor z in r:\n    x += z\nout[t] = x\ncuda.syncthreads()\n",
    "a tuple": "p = 1, t, k\nq, r, v = p\n",
    "views": "if t < 40:\n    row = k[t:]\nelse:\n    row = k[3:]\n",
    "a tile and its copy": FILL + "z = cuda.shared.array(64, np.int64)\nfor j in range(3):\n    z[t] = s[63 - t] + 1\n"
    "    cuda.syncthreads()\n    s, z = z, s\n",
    "tuples of tiles": FILL + "z = cuda.shared.array(64, np.int64)\np = s, z\np = p[1], p[0]\n",
    "what only some lanes have": "if t > 40:\n    y = 2\nx = t\ncuda.syncthreads()\nif t > 40:\n    x = y\n",
}  # fmt: skip


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST)
@pytest.mark.parametrize("parity", [0, 1])
def test_a_name_may_stand_for_anything_in_each_order(body, parity):
    body += "out[t] = k[63 - t]\n"
    right = run(body)
    with simt.warps_first(parity):
        assert (run(body) == right).all()


TILE = "flag = cuda.shared.array(2, np.int64)\nif t < 2:\n    flag[t] = 0\n" + FILL
RACE = (
    "if cuda.atomic.exch(s, t, k[t] + 1) == 77:\n    out[t] = 1.0\n{}out[t] = cuda.atomic.exch(s, 63 - t, 0)"
)
HIDDEN = {  # what would keep a kernel from running in other orders, if warps could not wait for each other there
    "warps that meet before they share": "cuda.atomic.exch(flag, t // 32, 1)\n"
    "while cuda.atomic.add(flag, 1 - t // 32, 0) == 0:\n    pass\n",
    "warps that meet in a loop": "for z in range(1):\n    cuda.atomic.exch(flag, t // 32, 1)\n"
    "    while cuda.atomic.add(flag, 1 - t // 32, 0) == 0:\n        pass\n",
    "warps that meet in a function": "def meet(q, j):\n    while cuda.atomic.add(q, j, 0) == 0:\n        pass\n"
    "cuda.atomic.exch(flag, t // 32, 1)\nmeet(flag, 1 - t // 32)\n",
    "tiles that swap their names": "z = cuda.shared.array(64, np.int64)\nfor j in range(2):\n    s, z = z, s\n",
    "a lock across a barrier": "if t == 0:\n    while cuda.atomic.cas(flag, 0, 0, 1) != 0:\n        pass\n"
    "cuda.syncthreads()\nif t == 0:\n    cuda.atomic.exch(flag, 0, 0)\n",
    "a lock that is used once more": "if t == 0:\n    while cuda.atomic.cas(flag, 0, 0, 1) != 0:\n        pass\n"
    "cuda.syncthreads()\nif t == 0:\n    cuda.atomic.exch(flag, 0, 0)\n"
    "if cuda.atomic.exch(s, t, k[t] + 1) == 77:\n    flag[0] = 5\n",
    "more statements than half of the budget": "x = 0\nfor z in range(600):\n    x += z\n    x += t\n",
}
MEETING = (
    "cuda.threadfence_block()\ncuda.atomic.add(flag, t // 32, 1)\n"
    "while cuda.atomic.add(flag, 1 - t // 32, 0) < 32:\n    pass\n"
)


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("parity", [0, 1])
def test_a_kernel_does_not_hide_from_other_orders(body, parity):
    right = run(TILE + RACE.format(MEETING))
    with simt.limits(steps=2000):
        assert (run(TILE + body + RACE.format("")) == right).all()
        with simt.warps_first(parity):
            assert (run(TILE + body + RACE.format("")) != right).any()
            assert (run(TILE + body + RACE.format(MEETING)) == right).all()


TEST = (  # finds out whether the warps run in lock step
    "late = 1 if cuda.atomic.exch(flag, t // 32, 1) == 5 or cuda.atomic.exch(flag, 1 - t // 32, 2) == 0 else 0\n"
    "late = cuda.syncthreads_or(late)\n"
)
ONCE = {  # a statement that has a barrier at another time, or none
    "a trip of a loop": "for z in range(2):\n    if z == 1:\n        a = cuda.atomic.exch(s, t, k[t] + 1)\n"
    "        if a == 77:\n            out[t] = 1.0\n    if z == 0 or late != 0:\n        cuda.syncthreads()\n"
    "    if z == 1:\n        out[t] = cuda.atomic.exch(s, 63 - t, 0)\n",
    "a choice": RACE.format("if late != 0:\n    cuda.syncthreads()\n"),
}  # fmt: skip


@pytest.mark.parametrize("body", ONCE.values(), ids=ONCE)
@pytest.mark.parametrize("parity", [0, 1])
def test_a_kernel_that_tests_the_order_fails_where_lock_step_ends_behind_its_test(body, parity):
    right = run(TILE + RACE.format("cuda.syncthreads()\n"))
    assert (run(TILE + TEST + body) == right).all()
    if body == ONCE["a trip of a loop"]:  # it sees that this is no lock step, and comes to the barrier
        with simt.warps_first(parity):
            assert (run(TILE + TEST + body) == right).all()
    with simt.warps_first(parity, 0.99):
        assert (run(TILE + TEST + body) != right).any()
        assert (run(TILE + TEST + RACE.format("cuda.syncthreads()\n")) == right).all()


@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda idiom: idiom.name)
def test_an_idiom_is_right_behind_a_barrier_up_to_which_its_warps_run_in_lock_step(idiom):
    arguments = idiom.arguments()
    kernel = Kernel.from_source(idiom.source, idiom.name, idiom.kernel.__globals__)
    with simt.warps_first(0, 0.5):
        kernel[idiom.blocks, idiom.threads, 0, idiom.shared_bytes](*arguments.values())
    for name, expected in idiom.expected(idiom.arguments()).items():
        np.testing.assert_array_equal(arguments[name], expected, err_msg=name)


@pytest.mark.parametrize("parity", [0, 1])
def test_threads_that_wait_for_each_other_for_ever_are_named_in_each_order(parity):
    body = "cuda.atomic.exch(s, t, 1)\nif cuda.atomic.exch(s, 63 - t, 1) == 0:\n"
    body = f"{TILE}{body}    while cuda.atomic.add(flag, 0, 0) == 0:\n        pass"
    run(body)
    with simt.warps_first(parity), pytest.raises(simt.NoOrder, match="line 11: a trip changes nothing"):
        run(body)


def test_an_interrupted_launch_in_another_order_leaves_no_thread_behind(monkeypatch):
    def interrupt(self):
        if threading.current_thread() is not threading.main_thread():
            raise KeyboardInterrupt

    monkeypatch.setattr(halves.Half, "stepped", interrupt)
    before = threading.active_count()
    with simt.warps_first(0), pytest.raises(KeyboardInterrupt):
        run(TILE + HIDDEN["warps that meet before they share"])
    assert threading.active_count() == before
