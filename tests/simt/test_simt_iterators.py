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
    "a second loop over a named enumerate": (
        "it = enumerate(a[i])\nfor n, x in it:\n    if n == i:\n        break\nfor n, x in it:\n    out[i] += n * x",
        (ROWS * np.arange(9) * (np.arange(9) > I[:, None])).sum(1),
    ),
    "a second loop over all that is left of it": (
        "it = enumerate(a[i])\nfor n, x in it:\n    pass\nfor n, x in it:\n    out[i] += x",
        np.zeros(5),
    ),
    "a second loop over a named zip": (
        "it = zip(a[i], range(9))\nfor x, n in it:\n    if n == i:\n        break\n"
        "for x, n in it:\n    out[i] += n * x",
        (ROWS * np.arange(9) * (np.arange(9) > I[:, None])).sum(1),
    ),
    "a second name": (
        "it = enumerate(a[i])\nother = it\nfor n, x in it:\n    if n == i:\n        break\n"
        "for n, x in other:\n    out[i] += n * x",
        (ROWS * np.arange(9) * (np.arange(9) > I[:, None])).sum(1),
    ),
    "indices": (
        "it = np.ndindex(3, 3)\nfor j, k in it:\n    if 3 * j + k == i:\n        break\n"
        "for j, k in it:\n    out[i] += 3 * j + k",
        36.0 - np.arange(5).cumsum(),
    ),
    "a loop in a loop": (
        "it = enumerate(a[i])\nfor j in range(3):\n    for n, x in it:\n        out[i] += (n == j) * x\n        break",
        ROWS[:, :3].sum(1),
    ),
    "a new one in each trip": (
        "for j in range(i):\n    it = enumerate(a[i])\n    for n, x in it:\n        out[i] += x\n        break\n"
        "    for n, x in it:\n        out[i] += n * x",
        I * (ROWS[:, 0] + (ROWS * np.arange(9)).sum(1)),
    ),
    "a new one in some threads": (
        "it = enumerate(a[i])\nn, x = next(it)\nif i % 2:\n    it = enumerate(a[0], 5)\n"
        "for n, x in it:\n    out[i] += n * x",
        np.where(I % 2, (ROWS[0] * np.arange(5, 14)).sum(), (ROWS * np.arange(9)).sum(1)),
    ),
    "one of two rows": (
        "row = a[i] if i % 2 else a[0]\nit = iter(row)\nx = next(it)\nfor x in it:\n    out[i] += x",
        np.where(I % 2, ROWS[:, 1:].sum(1), ROWS[0, 1:].sum()),
    ),
    "a range of some threads": (
        "r = range(i) if i % 2 else range(2, 9)\nfor n in r:\n    out[i] += a[i, n]",
        np.where(I % 2, np.tril(ROWS[:, :5], -1).sum(1), ROWS[:, 2:].sum(1)),
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


SHARED = {  # bodies in which loops, zip and enumerate take items from one iterator
    "zip(it, it)": "it = iter(a[i])\nfor x, y in zip(it, it):\n    out[i] += 10 * x + y",
    "zip of enumerate": (
        "it = enumerate(a[i])\nfor p in it:\n    if p[0] == i:\n        break\n"
        "for p, y in zip(it, range(3)):\n    out[i] += p[1] * (y + 1)\nfor n, x in it:\n"
        "    out[i] += 100 * n * x"
    ),
    "zip other way": (
        "it = enumerate(a[i])\nfor y, p in zip(range(3), it):\n    out[i] += p[1] * (y + 1)\n"
        "for n, x in it:\n    out[i] += 100 * n * x"
    ),
    "zip both named": (
        "it = iter(a[i])\nr = iter(range(i))\nfor x, n in zip(it, r):\n    out[i] += n * x\n"
        "for x in it:\n    out[i] += 100 * x\nfor n in r:\n    out[i] += 1000"
    ),
    "zip both named rev": (
        "it = iter(a[i])\nr = iter(range(i))\nfor n, x in zip(r, it):\n    out[i] += n * x\n"
        "for x in it:\n    out[i] += 100 * x"
    ),
    "enumerate it": "it = iter(a[i])\nx = next(it)\nfor n, x in enumerate(it, 3):\n    out[i] += n * x",
    "enumerate it, go on": (
        "it = iter(a[i])\nfor n, x in enumerate(it, 3):\n    out[i] += n * x\n"
        "    if n == 3 + i:\n        break\nfor x in it:\n    out[i] += 100 * x"
    ),
    "named enumerate of it": (
        "it = iter(a[i])\ne = enumerate(it)\nfor n, x in e:\n    out[i] += n * x\n"
        "    if n == i:\n        break\nout[i] += 10 * next(it)\nfor n, x in e:\n"
        "    out[i] += 100 * n * x"
    ),
    "enumerate of zip of it": (
        "it = iter(a[i])\nfor n, p in enumerate(zip(it, it, it)):\n"
        "    out[i] += n * p[0] + 10 * p[1] + 100 * p[2]"
    ),
    "zip of zip": (
        "it = iter(a[i])\nz = zip(it, range(9))\nfor p, y in zip(z, a[0]):\n"
        "    out[i] += p[0] * y\n    if p[1] == i:\n        break\nfor x, n in z:\n"
        "    out[i] += 100 * n * x\nfor x in it:\n    out[i] += 1000"
    ),
    "zip of arrays used twice": (
        "z = zip(a[i], a[0, :i])\nfor x, y in z:\n    out[i] += x * y\nfor x, y in z:\n    out[i] += 100"
    ),
    "next of zip": "it = iter(a[i])\nx, y = next(zip(it, it))\nout[i] = 10 * x + y + 100 * next(it)",
    "next of enumerate": "it = iter(a[i])\nn, x = next(enumerate(it, 5))\nout[i] = n * x + 100 * next(it)",
    "iter of zip": "it = iter(a[i])\nfor x, y in iter(zip(it, it)):\n    out[i] += 10 * x + y",
    "flat twice": (
        "it = a.flat\nfor x in it:\n    out[i] += x\n    if x == a[i, 3]:\n        break\n"
        "for x in it:\n    out[i] += 100 * x"
    ),
    "flat of a part twice": (
        "it = a[:, 0:7].flat\nfor x in it:\n    out[i] += x\n    if x == a[i, 3]:\n"
        "        break\nfor x in it:\n    out[i] += 100 * x"
    ),
    "flat of a row": (
        "it = a[i].flat\nfor x in it:\n    out[i] += x\n    break\nfor x in it:\n    out[i] += 100 * x"
    ),
    "flat, two": (
        "it = a.flat\nr = a.flat\nfor x in it:\n    out[i] += x\n    if x == a[i, 3]:\n"
        "        break\nfor x in r:\n    out[i] += 100 * x"
    ),
    "flat second name": (
        "it = a.flat\nr = it\nfor x in it:\n    out[i] += x\n    if x == a[i, 3]:\n"
        "        break\nfor x in r:\n    out[i] += 100 * x"
    ),
    "flat zip": "it = a.flat\nfor x, y in zip(it, it):\n    out[i] += x + 10 * y",
    "flat zip then": (
        "it = a.flat\nfor x, y in zip(it, range(i)):\n    out[i] += x + 10 * y\nfor x in it:\n"
        "    out[i] += 100 * x"
    ),
    "flat next": "it = a.flat\nx = next(it)\nout[i] = x + 10 * next(it)",
    "flat function": (
        "def second(it):\n    for x in it:\n        return x\n    return 0.0\nit = a.flat\n"
        "y = second(it)\nout[i] = 10 * second(it) + y"
    ),
    "ndindex zip": (
        "it = np.ndindex(2, 3)\nfor q, y in zip(it, range(i)):\n    out[i] += q[1] + 10 * y\n"
        "for j, k in it:\n    out[i] += 100 * k"
    ),
    "in a loop": (
        "it = enumerate(a[i])\nfor j in range(3):\n    for p, y in zip(it, range(2)):\n"
        "        out[i] += (j + 1) * p[1] + 10 * y"
    ),
    "tuple zip": (
        "it = iter((1.0, 2.0, 3.0))\nx = next(it)\nfor x, y in zip(it, a[i]):\n    out[i] += x * y"
    ),
    "named enumerate later": (
        "e = enumerate(a[i])\nz = zip(e, range(i))\nfor p, y in z:\n    out[i] += p[1]\n"
        "for n, x in e:\n    out[i] += 100 * x * n"
    ),
    "nested outer": (
        "it = iter(range(9))\nfor p, q in zip(it, it):\n    for r in it:\n        out[i] += r\n"
        "        break\n    out[i] += 10 * p + q"
    ),
}


@pytest.mark.parametrize("case", SHARED)
def test_who_takes_items_from_an_iterator_takes_them_from_all(case):
    """Python's own numbers; numba.njit gave the same ones for each of these bodies."""
    names, out = {"np": np}, np.zeros(5)
    lines = "".join(f"        {line}\n" for line in SHARED[case].split("\n"))
    exec("def host(a, out):\n    for i in range(len(a)):\n" + lines, names)
    names["host"](ROWS, out)
    np.testing.assert_allclose(result(SHARED[case]), out, rtol=1e-14)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("it = iter((1, 2.0 * i, 3))\nx = next(it)\nout[i] = next(it)", "items have different types"),
        ("it = iter(a[i])\nfor j in range(3 * i):\n    x = next(it)", "no further item in some threads"),
        ("it = iter(a[i])\nx = next(it, 0.0)", "next takes one iterator: make it by iter"),
        ("x = next(a[i])", "next takes one iterator: make it by iter"),
        (
            "it = iter(a[i])\nfor j in range(3 * i):\n    x, y = next(zip(it, it))",
            "no further item in some threads",
        ),
        (
            "it = a.flat\nif i % 2:\n    it = a.flat\nfor x in it:\n    break\nfor x in it:\n    out[i] += x",
            "it, which goes through other elements in other threads",
        ),
        (
            "it = iter(a[i])\nz = zip(it, a[i])\nit2 = it\nif i % 2:\n    it = iter(a[0])\nx, y = next(z)",
            "an iterator with a second name",
        ),
        (
            "it = iter(a[i])\nother = it\nif i % 2:\n    it = iter(a[0])\nout[i] = next(it) + next(other)",
            "an iterator with a second name",
        ),
    ],
)
def test_what_does_not_run_is_refused_with_what_to_write(body, said):
    with pytest.raises(simt.SimtError, match=rf"line [0-9]+: .*{said}"):
        result(body)
