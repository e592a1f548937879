"""``iter`` and ``next``: each thread has a place of its own in the sequence, as in numba-cuda 0.30.4."""

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt.run.kernel import Kernel


def result(body, rows=5):
    source = "def kernel(a, out):\n    i = cuda.grid(1)\n    if i < a.shape[0]:\n"
    source += "".join(f"        {line}\n" for line in body.split("\n"))
    kernel = Kernel.from_source(source, "kernel", {"cuda": cuda, "np": np})
    out = np.zeros(rows)
    assert not simt.profile(kernel[1, 8], ROWS[:rows], out).hazards
    return out


ROWS = np.random.default_rng(0).random((5, 9))
I = np.arange(5)
BODIES = {
    "as many items as the thread's number": (
        "it = iter(a[i])\nfor j in range(i + 1):\n    out[i] += next(it)",
        np.tril(ROWS[:, :5]).sum(1),
    ),
    "a step by some threads": (
        "it = iter(a[i])\nif i % 2:\n    out[i] = next(it)\nout[i] = next(it)",
        ROWS[I, I % 2],
    ),
    "a range": ("it = iter(range(3, 20, 2))\nx = next(it)\nout[i] = x * next(it)", np.full(5, 15.0)),
    "a tuple of one type": ("it = iter((1.0, 2.0 * i, 3.0))\nx = next(it)\nout[i] = next(it)", 2.0 * I),
    "pairs": (
        "it = iter(zip(a[i], range(9)))\nx, n = next(it)\nx, n = next(it)\nout[i] = x + n",
        ROWS[:, 1] + 1,
    ),
    "the first of a numbered sequence": ("n, x = next(enumerate(a[i], 4))\nout[i] = n * x", 4 * ROWS[:, 0]),
    "a loop": ("for x in iter(a[i]):\n    out[i] += x", ROWS.sum(1)),
    "a loop over an iterator that has a name": (
        "it = iter(a[i])\nx = next(it)\nfor x in it:\n    out[i] += x",
        ROWS[:, 1:].sum(1),
    ),
    "a loop over an iterator of an iterator": (
        "it = iter(a[i])\nfor x in iter(it):\n    out[i] += x",
        ROWS.sum(1),
    ),
    "a loop that goes on where each thread has left another one": (
        "it = iter(range(9))\nfor j in it:\n    if j == i:\n        break\nfor j in it:\n    out[i] += a[i, j]",
        ROWS.sum(1) - np.tril(ROWS[:, :5]).sum(1),
    ),
    "a step in a loop": (
        "it = iter(a[i])\nfor x in it:\n    if i % 2 == 0:\n        out[i] += x\n    elif x != a[i, 8]:\n"
        "        out[i] += next(it)\nelse:\n    out[i] += 100",
        np.where(I % 2 == 0, ROWS.sum(1), ROWS[:, 1::2].sum(1)) + 100,
    ),
    "passed to a function": (
        "def second(it):\n    x = next(it)\n    return next(it)\nit = iter(a[i])\ny = second(it)\nout[i] = next(it)",
        ROWS[:, 2],
    ),
}


@pytest.mark.parametrize("case", BODIES)
def test_items_come_in_order_in_each_thread(case):
    body, expected = BODIES[case]
    np.testing.assert_allclose(result(body), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("it = iter((1, 2.0 * i, 3))\nx = next(it)\nout[i] = next(it)", "items have different types"),
        ("it = iter(a[i])\nfor j in range(3 * i):\n    x = next(it)", "no further item in some threads"),
        ("it = iter(a[i])\nx = next(it, 0.0)", "next takes one iterator: make it by iter"),
        ("x = next(a[i])", "next takes one iterator: make it by iter"),
        (
            "it = enumerate(a[i])\nfor n, x in it:\n    pass\nfor n, x in it:\n    out[i] += x",
            r"a second loop over it, which goes on where the first one ended, .* behind the `in`",
        ),
    ],
)
def test_what_does_not_run_is_refused_with_what_to_write(body, said):
    with pytest.raises(simt.SimtError, match=rf"line [0-9]+: .*{said}"):
        result(body)
