"""Threads that wait for each other in loops of their own: counts, prints, barriers, and how deadlocks are named.

Right kernels and their racy twins are in ``idioms_roles.py``.
"""

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt.errors import Endless, HazardError
from course_pkg.simt.run import deadlock, endless, waits
from course_pkg.simt.run.kernel import Kernel

N = 32
HEAD = "def k(x, flag, out):\n    t = cuda.threadIdx.x\n    b = cuda.blockIdx.x\n"
FIRST = 4  # the line of the first statement of a body


def of(body: str):
    """Return a kernel ``k(x, flag, out)`` of a body whose first line is line 4."""
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    return Kernel.from_source(text, "k", {"cuda": cuda, "np": np})


def arguments():
    return np.arange(2.0 * N), np.zeros(4, np.int32), np.zeros(4 * N)


def refused(body: str, blocks=1, threads=2 * N) -> str:
    with pytest.raises(Endless) as caught:
        of(body)[blocks, threads](*arguments())
    return str(caught.value)


HANDED_ON = """
if t < 32:
    for k in range(2):
        while cuda.atomic.add(flag, 0, 0) != 0:
            pass
        out[t] = x[32 * k + t]
        cuda.threadfence()
        cuda.syncwarp()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
            cuda.atomic.add(flag, 1, 1)
            print("filled", k)
        cuda.syncwarp()
else:
    for k in range(2):
        while cuda.atomic.add(flag, 0, 0) != 1:
            pass
        out[32 * (k + 1) + t - 32] = out[t - 32]
        cuda.threadfence()
        cuda.syncwarp()
        if t == 32:
            cuda.atomic.exch(flag, 0, 0)
            print("emptied", k)
        cuda.syncwarp()
total = cuda.syncthreads_count(t % 3 == 0)
if t == 0:
    flag[2] = total
""".strip().replace("t % 3 == 0", "1 if t % 3 == 0 else 0")


def test_a_launch_with_roles_counts_prints_and_adds_once(capsys):
    x, flag, out = arguments()
    found = simt.profile(of(HANDED_ON)[1, 2 * N], x, flag, out)
    np.testing.assert_array_equal(out[N : 3 * N], x)
    assert flag.tolist() == [0, 2, 22, 0]  # what was added before the launch began again is forgotten
    assert (found.global_load.requests, found.global_store.requests) == (2 + 2, 2 + 2 + 1)
    assert found.barriers == 1
    assert not found.hazards
    assert capsys.readouterr().out == "filled 0\nemptied 0\nfilled 1\nemptied 1\n"


def test_each_block_has_roles_and_some_have_more_to_do():
    body = (
        "if t < 32:\n    for k in range(2 - b):\n"
        "        while cuda.atomic.add(flag, b, 0) != 0:\n            pass\n"
        "        cuda.syncwarp()\n        if t == 0:\n            cuda.atomic.exch(flag, b, 1)\n"
        "        cuda.syncwarp()\nelse:\n    for k in range(2 - b):\n"
        "        while cuda.atomic.add(flag, b, 0) != 1:\n            pass\n"
        "        out[32 * b + t - 32] += x[t]\n        cuda.syncwarp()\n        if t == 32:\n"
        "            cuda.atomic.exch(flag, b, 0)\n        cuda.syncwarp()"
    )
    x, flag, out = arguments()
    of(body)[2, 2 * N](x, flag, out)
    np.testing.assert_array_equal(out[: 2 * N], np.concatenate([2 * x[N:], x[N:]]))
    assert not flag.any()


DEADLOCKS = {  # {who waits for whom: body, and what the message says}
    "each for the other": (
        "if t < 32:\n    while cuda.atomic.add(flag, 0, 0) == 0:\n        pass\n    cuda.atomic.exch(flag, 1, 1)\n"
        "else:\n    while cuda.atomic.add(flag, 1, 0) == 0:\n        pass\n    cuda.atomic.exch(flag, 0, 1)",
        "line 5: thread 0 of block 0 and 31 other threads wait here until another thread changes flag, and thread 32 "
        "of block 0 and 31 other threads wait in the `while` of line 9 until another thread changes flag, and no",
    ),
    "with counters": (
        "n = 0\nif t == 0:\n    while cuda.atomic.add(flag, 0, 0) == 0:\n        n += 1\n"
        "if t == 32:\n    while cuda.atomic.add(flag, 1, 0) == 0:\n        n += 2",
        "line 6: thread 0 of block 0 waits here until another thread changes flag",
    ),
    "a block for one that has ended": (
        "if b == 0 and t == 0:\n    while cuda.atomic.add(flag, 0, 0) < 2:\n        pass\nelif t == 0:\n"
        "    cuda.atomic.add(flag, 0, 1)",
        "line 5: thread 0 of block 0 waits here until another thread changes flag, and no thread is left that could",
    ),
    "two lanes of a warp": (
        "if t == 0:\n    while cuda.atomic.add(flag, 0, 0) == 0:\n        pass\n    cuda.atomic.exch(flag, 1, 1)\n"
        "elif t == 1:\n    while cuda.atomic.add(flag, 1, 0) == 0:\n        pass\n    cuda.atomic.exch(flag, 0, 1)",
        "line 5: thread 0 of block 0 waits here until another thread changes flag",
        "thread 1 of block 0 waits in the `while` of line 9 until another thread changes flag",
    ),
}


@pytest.mark.parametrize("name", DEADLOCKS)
def test_a_deadlock_is_named_with_all_who_wait(name):
    body, *said = DEADLOCKS[name]
    message = refused(body, blocks=2 if "block" in name else 1)
    for one in said:
        assert one in message
    assert "a trip changes nothing" not in message


def test_a_barrier_whose_other_threads_wait_for_ever_is_a_hazard():
    body = (
        "if t < 32:\n    while cuda.atomic.add(flag, 0, 0) == 0:\n        pass\ncuda.syncthreads()\n"
        "if t == 32:\n    cuda.atomic.exch(flag, 0, 1)"
    )
    with pytest.raises(
        HazardError, match=r"line 7: thread 32 .* waits at this barrier and thread 0 .* never comes"
    ):
        of(body)[1, 2 * N](*arguments())


def test_barriers_in_the_loops_of_two_roles_are_a_hazard():
    body = (
        "if t < 32:\n    while cuda.atomic.add(flag, 0, 0) == 0:\n        pass\n    cuda.syncthreads()\n"
        "else:\n    cuda.atomic.exch(flag, 0, 1)\n    cuda.syncthreads()"
    )
    with pytest.raises(
        HazardError, match="never comes to it: all threads of a block must pass the same barrier"
    ):
        of(body)[1, 2 * N](*arguments())


def test_threads_that_read_a_flag_without_an_atomic_still_wait_for_ever():
    """A compiler may load it once, before the loop."""
    body = "if t < 32:\n    while flag[0] == 0:\n        pass\nelse:\n    flag[0] = 1"
    assert "line 5: a trip changes nothing that decides about the next one" in refused(body)


@pytest.mark.parametrize("way", ["cuda.threadfence()", "cuda.nanosleep(8)\n        cuda.threadfence_block()"])
def test_a_fence_in_the_loop_lets_it_see_a_flag(way):
    body = f"if t < 32:\n    while flag[0] == 0:\n        {way}\n    out[t] = 1\nelse:\n    flag[0] = 1"
    x, flag, out = arguments()
    of(body)[1, 2 * N](x, flag, out)
    assert out.sum() == N
    assert any(h.kind == "race" for h in simt.profile(of(body)[1, 2 * N], *arguments()).hazards)


def test_the_whole_grid_meets_behind_its_roles():
    body = (
        "grid = cuda.cg.this_grid()\nif b == 0:\n    while cuda.atomic.add(flag, 0, 0) != 1:\n        pass\n"
        "    out[t] = x[t]\nelse:\n    cuda.threadfence()\n    cuda.syncthreads()\n    if t == 0:\n"
        "        cuda.atomic.add(flag, 0, 1)\ngrid.sync()\nout[64 + 32 * b + t % 32] = out[t % 32]"
    )
    x, flag, out = arguments()
    found = simt.profile(of(body)[2, N], x, flag, out)
    np.testing.assert_array_equal(out[64:], np.tile(x[:N], 2))
    assert not found.hazards


def test_a_flag_that_is_set_after_the_branch_is_seen():
    body = (
        "if t >= 32:\n    while cuda.atomic.add(flag, 0, 0) == 0:\n        pass\n"
        "if t == 0:\n    cuda.atomic.exch(flag, 0, 1)"
    )
    x, flag, out = arguments()
    of(body)[1, 2 * N](x, flag, out)
    assert flag[0] == 1


def test_roles_are_divided_until_there_are_too_many(monkeypatch):
    body, *_ = DEADLOCKS["each for the other"]
    body = body.replace("== 0:", "!= 1:").replace("cuda.atomic.exch(flag, 0, 1)", "pass")
    monkeypatch.setattr(waits, "MOST", 2)
    monkeypatch.setattr(deadlock, "MOST", 2)
    assert "at most 2 groups of threads" in refused(body)


def test_a_loop_that_counts_for_ever_is_named_soon(monkeypatch):
    monkeypatch.setattr(endless, "TOLERATED", 4_000)
    body = "n = 0\nif t < 32:\n    while n >= 0:\n        n = cuda.atomic.add(flag, 0, 1) % 2"
    with simt.limits(steps=60_000):
        assert "its trips bring it no closer to its end" in refused(body)
