"""Other orders of warps where only some blocks come to a barrier, or where data decide which do."""

import textwrap

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.grading import check
from course_pkg.grading.draws import drawing
from course_pkg.simt.run.kernel import Kernel

BLOCKS = 4
FILL = "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
SHARED = {  # the finder takes what one thread stores, and another one fetches, for a hand-over
    "swaps": "cuda.atomic.cas(s, t, 0, k[t] + 1)\n{}out[i] = cuda.atomic.cas(s, 63 - t, -9, -9)",
    "exchanges": "if cuda.atomic.exch(s, t, k[t] + 1) == 77:\n    out[i] = 1.0\n"
    "{}out[i] = cuda.atomic.exch(s, 63 - t, 0)",
    "tickets": "cuda.atomic.add(s, t, k[t] + 1)\n{}out[i] = cuda.atomic.add(s, 63 - t, 1)",
}  # fmt: skip
SOME = {
    "the first block": "b == 0",
    "the last block": f"b == {BLOCKS - 1}",
    "even blocks": "b % 2 == 0",
    "two of the blocks": "(b >= 1) & (b < 3)",
    "blocks that data choose": "k[b + 1] % 2 == 1",
    "blocks by a loop": "z < 1 - b",
}
EVERY = {
    "at one of two barriers": "if b == 0:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()\n",
    "in other trips of a loop": "for z in range(4):\n    if z == b:\n        cuda.syncthreads()\n",
    "more often in later blocks": "for z in range(b + 1):\n    cuda.syncthreads()\n",
    "and some blocks before": "if b % 2 == 1:\n    cuda.syncthreads()\ncuda.syncthreads()\n",
}


def kernel_of(body):
    head = "def kernel(out, k):\n    t, i, b = cuda.threadIdx.x, cuda.grid(1), cuda.blockIdx.x\n"
    text = head + textwrap.indent(FILL + body, "    ")
    return Kernel.from_source(text, "kernel", {"cuda": cuda, "np": np})


def run(body):
    out = np.zeros(64 * BLOCKS)
    kernel_of(body)[BLOCKS, 64](out, np.arange(64))
    return out


def run_in_order(body, *order):
    kernel, out = kernel_of(body), np.zeros(64 * BLOCKS)
    kernel[BLOCKS, 64](out, np.arange(64))
    out[:] = 0
    with simt.warps_first(*order):
        kernel[BLOCKS, 64](out, np.arange(64))
    return out


def barrier_if(which):
    if "z" in which:
        return "for z in range(1):\n    if " + which + ":\n        cuda.syncthreads()\n"
    return f"if {which}:\n    cuda.syncthreads()\n"


@pytest.mark.parametrize("parity", [0, 1])
@pytest.mark.parametrize("some", SOME.values(), ids=SOME)
@pytest.mark.parametrize("body", SHARED.values(), ids=SHARED)
def test_a_barrier_of_some_blocks_puts_no_other_block_in_order(body, some, parity):
    right = run(body.format("cuda.syncthreads()\n"))
    body = body.format(barrier_if(some))
    assert (run(body) == right).all()
    wrong = (run_in_order(body, parity) != right).reshape(BLOCKS, 64).any(axis=1)
    b, k = np.arange(BLOCKS), np.arange(64)
    meets = eval(some, {"b": b, "k": k, "z": 0})
    assert wrong.tolist() == (~meets).tolist()


@pytest.mark.parametrize("order", [(0,), (1,), (0, 0.5)])
@pytest.mark.parametrize("barrier", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("body", SHARED.values(), ids=SHARED)
def test_blocks_that_all_meet_somewhere_are_right(body, barrier, order):
    body = body.format(barrier)
    assert (run_in_order(body, *order) == run(body)).all()


FILLED = "z == 1 and cuda.atomic.add(s, t, k[t] + 1) == 777:\n        out[i] = 5\n"
LOOPS = {  # where a trip ends, no thread waits for another one
    "a tile that is filled again": "for z in range(4):\n    if cuda.atomic.exch(s, t, k[t] + 1 + 100 * z) == 777:\n"
    "        out[i] = 5\n    cuda.syncthreads()\n    out[i] += cuda.atomic.add(s, 63 - t, 1)\n    {}\n",
    "phases in trips": f"for z in range(3):\n    if {FILLED}    if z == 0:\n        cuda.syncthreads()\n    {{}}\n"
    "    if z == 2:\n        out[i] = cuda.atomic.add(s, 63 - t, 1)\n",
    "a meeting only in other orders": f"for z in range(3):\n    if {FILLED}    if z == 0:\n        cuda.syncthreads()\n"
    "    {}\n    if z == 2:\n        x = cuda.atomic.add(s, 63 - t, 1)\n"
    "        if x == 0:\n            cuda.syncthreads()\n        out[i] = x\n",
}  # fmt: skip


@pytest.mark.parametrize("order", [(0,), (1,), (0, 0.0), (1, 0.3)])
@pytest.mark.parametrize("body", LOOPS.values(), ids=LOOPS)
def test_a_barrier_that_a_loop_lacks_shows_in_each_order(body, order):
    right = run(body.format("cuda.syncthreads()"))
    assert (run_in_order(body.format("cuda.syncthreads()"), *order) == right).all()
    assert (run(body.format("pass")) == right).all()
    try:
        assert (run_in_order(body.format("pass"), *order) != right).any()
    except simt.NoOrder:
        assert "x == 0" in body


MET = {  # values that barriers return
    "count": ("cuda.syncthreads_count(1 if k[t] % 3 == 0 else 0)", 22),
    "and": ("cuda.syncthreads_and(1 if k[t] < 63 else 0)", 0),
    "all": ("cuda.syncthreads_and(1 if k[t] < 64 else 0)", 1),
    "or": ("cuda.syncthreads_or(1 if k[t] == 40 else 0)", 1),
    "none": ("cuda.syncthreads_or(1 if k[t] == 64 else 0)", 0),
    "without the warps that have left": ("cuda.syncthreads_count(1)", 32),
}


@pytest.mark.parametrize("order", [(0,), (1,), (0, 0.0), (1, 0.9)])
@pytest.mark.parametrize(("call", "value"), MET.values(), ids=MET)
def test_both_halves_learn_what_a_barrier_returns(call, value, order):
    body = "if t < 32:\n    return\n" if value == 32 else ""
    assert set(run_in_order(f"{body}out[i] = {call}\n", *order)) - {0.0} == {value} - {0}


def test_a_barrier_of_the_grid_puts_both_halves_in_order():
    body = "g = cuda.cg.this_grid()\ncuda.atomic.add(k, 0, 1)\ng.sync()\nout[i] = k[0]\n"
    for order in ((0,), (1,), (0, 0.9)):
        assert set(np.diff(run_in_order(body, *order))) == {0}


def test_the_number_of_barriers_may_depend_on_the_order():
    body = (  # each thread takes the largest number beside it until nothing changes
        "cuda.atomic.max(s, t, k[t])\ncuda.syncthreads()\nmore = 1\nwhile more:\n"
        "    x = cuda.atomic.max(s, (t + 1) % 64, 0)\n"
        "    more = cuda.syncthreads_or(1 if cuda.atomic.max(s, t, x) < x else 0)\nout[i] = s[t]\n"
    )
    for order in ((0,), (1,), (0, 0.0), (1, 0.5)):
        assert (run_in_order(body, *order) == 63).all()


def graded(body, seed):
    """Grade a kernel that turns each block round; its data are drawn."""
    kernel = kernel_of(body)

    @check.in_each_order
    def test():
        numbers, out = check.rng().integers(100, size=64), np.zeros(64 * BLOCKS)
        simt.profile(kernel[BLOCKS, 64], out, numbers)
        check.close(out, np.tile(numbers[::-1] + 1, BLOCKS), "out")

    with drawing([seed]):
        test()


@pytest.mark.parametrize(
    "barrier",
    [
        "if k[0] < 50:\n    cuda.syncthreads()\n",
        "x = k[3] - 50\nwhile x > 0:\n    cuda.syncthreads()\n    x = 0\n",
        "for z in range(k[5] // 50):\n    cuda.syncthreads()\n",
        "for z in range(1):\n    if k[1] < 50:\n        continue\n    cuda.syncthreads()\n",
        "def meet(yes):\n    if yes:\n        cuda.syncthreads()\nmeet(k[7] % 2)\n",
    ],
)
def test_a_barrier_that_depends_on_data_does_not_pass_by_luck(barrier):
    for seed in range(4):
        with pytest.raises(check.Failed):
            graded(SHARED["tickets"].format(barrier), seed)
    graded(SHARED["tickets"].format("cuda.syncthreads()\n"), 0)


@pytest.mark.parametrize(
    ("condition", "by_data"),
    [
        *(("max(k) > 9", True), ("min(k.T) > 9", True), ("9 in k", True), ("9 not in k[:3]", True)),
        *(
            ("max(b, 1) > 1", False),
            ("min((b, 1)) > 0", False),
            ("b in (0, 2)", False),
            ("b in range(2)", False),
        ),
    ],
)
def test_a_search_of_a_whole_array_is_known_to_depend_on_data(condition, by_data):
    with simt.observed() as launches:
        run(f"if {condition}:\n    cuda.syncthreads()\n")
    assert launches[0].by_data == by_data


TEST = (  # finds out whether the warps run in lock step: then it leaves out a barrier in a loop
    "flag = cuda.shared.array(2, np.int64)\nif t < 2:\n    flag[t] = 0\ncuda.syncthreads()\nlate = 0\n"
    "{}for z in range(2):\n    if z == 1:\n        if cuda.atomic.add(s, t, k[t] + 1) == 777:\n"
    "            out[i] = 1.0\n    if z == 0 or late != 0:\n        cuda.syncthreads()\n    if z == 1:\n"
    "        out[i] = cuda.atomic.add(s, 63 - t, 1)\n{}"
)
LOOK = (
    "for z in range({}):\n    flag[t // 32] = 0\n    cuda.syncthreads()\n"
    "    if cuda.atomic.exch(flag, t // 32, 1) == 5 or cuda.atomic.exch(flag, 1 - t // 32, 2) == 0:\n"
    "        late = 1\n    late = cuda.syncthreads_or(late)\n"
)
VAIN = "for z in range({}):\n    cuda.syncthreads()\n"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("before", "after"), [(1, 0), (1, 2), (2, 0)])
def test_a_kernel_that_looks_for_its_order_is_found_behind_some_barrier(before, after, seed):
    body = TEST.format(LOOK.format(before), VAIN.format(after))
    with pytest.raises(check.Failed):
        graded(body, seed)
    graded(body.replace("if z == 0 or late != 0:\n        ", "if True:\n        "), seed)


ONE_WAY = (  # learns about its order twice; behind its first barrier, the second warp reads what the first one stores
    "flag = cuda.shared.array(2, np.int64)\nif t < 2:\n    flag[t] = 0\ncuda.syncthreads()\n"
    "late = cuda.atomic.exch(flag, t // 32, 1) == 5 or cuda.atomic.exch(flag, 1 - t // 32, 2) == 0\n"
    "late = cuda.syncthreads_or(1 if late else 0)\nif t < 32:\n    x = cuda.atomic.add(s, t, k[t] + 1)\n"
    "    if x == 777:\n        out[i] = 1.0\nif late:\n    cuda.syncthreads()\n{}"
    "x = cuda.atomic.add(s, 63 - t, 1) if t >= 32 else k[63 - t] + 1\nout[i] = x\n"
)


def test_a_race_that_shows_in_one_order_alone_is_found_each_time():
    for seed in range(5):
        with pytest.raises(check.Failed, match="odd"):
            graded(ONE_WAY.format(""), seed)
    graded(ONE_WAY.format("cuda.syncthreads()\n"), 0)


MARCH = (
    "q = cuda.shared.array(64, np.int64)\nlast = cuda.shared.array(1, np.int64)\n"
    "for z in range(100):\n    q[t] = k[t] + z\n"
    "    cuda.syncthreads()\n    x = q[63 - t]\n    cuda.syncthreads()\nout[i] = x - 98\n"
    "for z in range({}):\n    if t == 0:\n        last[0] = cuda.atomic.add(s, 0, 1)\n    cuda.syncthreads()\n"
)


def test_barriers_before_which_no_atomic_was_looked_at_may_be_many():
    graded(MARCH.format(1), 0)
    with simt.observed() as launches:
        run(MARCH.format(1))
    assert launches[0].barriers > 200
    assert launches[0].informed == 1
    with pytest.raises(check.Failed, match="A block passes 65 barriers with atomics before them"):
        graded(MARCH.format(65), 0)
