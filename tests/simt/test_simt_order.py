"""The warps of a block may run in any order between two barriers: results of correct kernels do not depend on it."""

import textwrap

import numpy as np
import pytest
from idioms import IDIOMS

from course_pkg import cuda, simt
from course_pkg.simt.run.kernel import Kernel

WAITING = set()
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
    kernel = Kernel.from_source(head + textwrap.indent(body, "    "), "kernel", {"cuda": cuda, "np": np})
    kernel[1, 64](*arguments.values())
    return arguments["out"]


@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda idiom: idiom.name)
@pytest.mark.parametrize("parity", [0, 1])
def test_an_idiom_is_right_in_each_order(idiom, parity):
    arguments = idiom.arguments()
    kernel = Kernel.from_source(idiom.source, idiom.name, idiom.kernel.__globals__)
    with simt.warps_first(parity):
        try:
            kernel[idiom.blocks, idiom.threads, 0, idiom.shared_bytes](*arguments.values())
        except simt.NoOrder:
            assert idiom.name in WAITING
            return
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
