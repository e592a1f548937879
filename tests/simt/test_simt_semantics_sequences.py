"""Slices, loops over arrays, tuples and functions inside kernels give what compiled Numba gives, to the last bit."""

import numba
import numpy as np
import pytest
from compiled_oracle import assert_as_compiled, interpret

from course_pkg.simt.errors import SimtError

TABLE = np.array([[1.5, 2.5], [3.5, 4.5]])
NAMES = {"TABLE": TABLE, "STEPS": ((0, 1), (1, 0), (2, 3))}


def arguments():
    a = (np.arange(24) * 7 % 11 - 4.0).reshape(4, 6)
    return {"a": a, "k": np.array([-7, -2, -1, 0, 1, 3, 5, 9], np.int32), "out": np.zeros((8, 6))}


SLICES = {
    "ends of every sign": "out[i, 0] = len(a[0][k[i]:]); out[i, 1] = len(a[0][:k[i]]); out[i, 2] = len(a[0][k[i]:-1]); "
    "out[i, 3] = len(a[0][-4:k[i]]); out[i, 4] = len(a[k[i]:, 0]); out[i, 5] = len(a[0][k[i]:k[i] + 2])",
    "steps": "out[i, 0] = len(a[0][k[i]::2]); out[i, 1] = len(a[0][k[i]::-1]); out[i, 2] = len(a[0][:k[i]:-2]); "
    "out[i, 3] = len(a[0][::3]); out[i, 4] = a[0][::-2][1]; out[i, 5] = a[1][4::-1][2]",
    "elements": "b = a[1:, 2:]; out[i, 0] = b[0, 0]; out[i, 1] = b[-1, -1]; out[i, 2] = a[:, 1][2]; "
    "out[i, 3] = a[2, :][3]; out[i, 4] = a[1:3][1][2]; out[i, 5] = a[..., 3][1]",
    "slices of slices": "b = a[0][1:]; c = b[1:][::2]; out[i, 0] = c[0]; out[i, 1] = c[1]; out[i, 2] = len(c); "
    "out[i, 3] = a[::2][1:][0, 3]; out[i, 4] = a[None, 1][0, 2]; out[i, 5] = a[1][:, None][4, 0]",
    "shapes": "m, n = a[1:, ::2].shape; out[i, 0] = m; out[i, 1] = n; out[i, 2] = a[1:, ::2].size; "
    "out[i, 3] = a[1:].ndim; out[i, 4] = a.T.shape[0]; out[i, 5] = a[0].strides[0]",
    "numbers written to a part": "out[i, 1:3] = k[i]; out[i][4:] = (5, 6); out[i, :1] = a[0, 0]",
    "a slice of its own kind": "s = slice(1, k[i]); b = a[0][s]; out[i, 0] = len(b)",
    "different views in different threads": "r = a[0]\nif k[i] > 0:\n    r = a[k[i] % 4]\nout[i, 0] = r[1]\n"
    "if k[i] < 3:\n    r = r[2:]\nelse:\n    r = r[1:]\nout[i, 1] = r[0]; out[i, 2] = len(r)",
    "views that change in a loop": "r = a[0]\nfor j in range(k[i] + 8):\n    r = a[j % 4]\nout[i, 0] = r[2]",
    "the shape folded": "b = a.reshape(8, 3)\nout[i, 0] = b[i, 1]; out[i, 1] = a.reshape((2, -1))[1, i]; "
    "out[i, 2] = a.reshape(24)[i + 7]",
    "an axis exchanged": "out[i, 0] = a.T[i % 6, 1]; out[i, 1] = a.T[1:, ::2][2, 1]; out[i, 2] = len(a.T)",
    "sums": "out[i, 0] = a.sum(); out[i, 1] = a[1].sum(); out[i, 2] = a[:, i % 6].sum(); "
    "out[i, 3] = np.sum(a[1:, 1:]); out[i, 4] = a.mean(); out[i, 5] = k.sum()",
    "more sums": "out[i, 0] = a[0].prod(); out[i, 1] = a[1].argmax(); out[i, 2] = a[1].argmin(); out[i, 3] = a.var(); "
    "out[i, 4] = k.mean(); out[i, 5] = (a[1] if i else a[2]).sum()",
}
LOOPS = {
    "an array": "for v in a[i % 4]:\n    out[i, 0] = 2 * out[i, 0] + v",
    "rows": "for r in a:\n    for v in r:\n        out[i, 0] = 0.5 * out[i, 0] + v",
    "a part that differs": "for v in a[1, k[i]:]:\n    out[i, 0] += v\n    out[i, 1] += 1",
    "enumerate": "for n, v in enumerate(a[1]):\n    out[i, n] = n * v",
    "enumerate with a start": "for n, v in enumerate(a[1], k[i]):\n    out[i, 0] += n * v",
    "enumerate of a range": "for n, v in enumerate(range(5, 9)):\n    out[i, n] = n * v",
    "enumerate of a tuple": "for n, v in enumerate((3, 4, 5)):\n    out[i, n] = n * v",
    "zip": "for u, v in zip(a[0], a[1, 2:]):\n    out[i, 0] += u * v",
    "zip of three": "for u, v, n in zip(a[0], a[1], range(k[i])):\n    out[i, 0] += u * v * n",
    "zip in enumerate": "for n, (u, v) in enumerate(zip(a[0], a[1])):\n    out[i, n] = u - n * v",
    "zip of tuples": "for u, v in zip((1, 2), (3.5, 4.5)):\n    out[i, 0] += u * v",
    "break and else": "for v in a[i % 4]:\n    if v > 4:\n        break\n    out[i, 0] += v\nelse:\n    out[i, 1] = 7",
    "continue": "for v in a[i % 4]:\n    if v > 2:\n        continue\n    out[i, 0] += v",
    "nothing": "for v in a[0, 6:]:\n    out[i, 0] = 9\nfor n, v in enumerate(a[0, 3:2]):\n    out[i, 1] = 9",
    "a list": "for d in [3, 1, 2]:\n    out[i, 0] = 10 * out[i, 0] + d",
    "flat": "for v in a[:, 1:3].flat:\n    out[i, 0] = 0.5 * out[i, 0] + v",
    "indices": "for m, n in np.ndindex(2, 3):\n    out[i, 0] = out[i, 0] * 2 + a[m, n]",
    "indices and elements": "for (m, n), v in np.ndenumerate(a[:2]):\n    out[i, m] += n * v",
    "names for the elements": "u, v = a[1, 2:4]; out[i, 0] = u - v; p, q = a[:2, :2]; out[i, 1] = p[1] - q[0]",
}
TUPLES = {
    "a part by a number": "t = (3, 5, 8, 13); out[i, 0] = t[i % 4]; out[i, 1] = t[-1 - i % 4]; out[i, 2] = t[1:][1]",
    "a tuple by a number": "d = STEPS[i % 3]; out[i, 0] = d[0]; out[i, 1] = d[1]; "
    "m, n = STEPS[(i + 1) % 3]; out[i, 2] = m - n",
    "among": "out[i, 0] = k[i] in (1, 3, 5); out[i, 1] = k[i] not in (1, 3, 5)",
    "compared": "out[i, 0] = (k[i], 1) == (3, 1); out[i, 1] = (k[i], 1) != (3, 1); out[i, 2] = (1, 2) == (1, 2)",
    "joined and repeated": "t = (1, 2) * 2 + (3,); out[i, 0] = t[3]; out[i, 1] = len(t); out[i, 2] = sum(t)",
    "an array of the module": "out[i, 0] = TABLE[i % 2, 1]; out[i, 1] = TABLE.sum(); out[i, 2] = len(TABLE[0])",
    "infinity": "out[i, 0] = float('inf'); out[i, 1] = -float('inf'); out[i, 2] = min(float('inf'), k[i])",
}
INSIDE = {
    "a function": "def f(v):\n    return v * k[i]\nout[i, 0] = f(2) + f(0.5)",
    "with a branch": "def f(v):\n    if v > 0:\n        return v\n    return -2 * v\nout[i, 0] = f(k[i])",
    "names of its own": "def f(v):\n    y = 2 * v\n    return y\ny = 5\nout[i, 0] = f(k[i]) + y",
    "the latest value": "y = 1\ndef f(v):\n    return v + y\ny = k[i]\nout[i, 0] = f(10)",
    "a lambda": "f = lambda v: v * v\nout[i, 0] = f(k[i]) + f(2)",
    "a default": "def f(v, w=3):\n    return v * w\nout[i, 0] = f(k[i]) + f(1, 2)",
}
BODIES = {**SLICES, **LOOPS, **TUPLES, **INSIDE}


@pytest.mark.family
@pytest.mark.parametrize("name", BODIES)
def test_as_compiled(name):
    assert_as_compiled(BODIES[name].replace("; ", "\n"), arguments(), **NAMES)


@numba.njit
def with_a_default(v, w=3):
    return v * w


@numba.njit
def with_a_star(v, *rest):
    total = v
    for w in rest:
        total += w
    return total


@pytest.mark.parametrize(
    "body",
    [
        "out[i, 0] = with_a_default(k[i]) + with_a_default(k[i], 5) + with_a_default(w=2, v=4)",
        "t = (1, 2)\nout[i, 0] = with_a_star(*t) + with_a_star(k[i], *t)",
    ],
)
def test_functions_compiled_for_the_cpu_are_called_as_on_a_gpu(body):
    names = {"with_a_default": with_a_default, "with_a_star": with_a_star}
    assert_as_compiled(body, arguments(), **names)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("a[0] = a[1]", "cannot copy an array into a slice of a: .* in a loop"),
        ("a[0, 1:3] += 1", "more than one number, .* write a loop"),
        ("b = a[0] + a[1]", r"a\[0\] is a whole row, and one number is needed: an index is missing"),
        ("a[0, 1:3] = (1, 2, 3)", "3 numbers do not fill a slice of shape"),
        ("b = a[1:, 1:, 1:]", r"a has 2 dimension\(s\) and gets 3"),
        ("b = a[::0]", "the step of a slice is 0"),
        ("b = a[0.5:]", "the parts of a slice are integers"),
        ("t = (1, 2)\nout[i, 0] = t[i]", "the tuple of 2 does not have"),
        ("t = (1, 2)\nt[0] = 3", "t is a tuple, which cannot be changed"),
        ("n = 3\nout[i, 0] = n[0]", "n is one number and has no elements: write n alone"),
        ("n = 3\nn[0] = 1", "n is one number and has no elements"),
        ("out[i, 0] = cuda.threadIdx[0]", r"a part for each direction: write cuda\.threadIdx\.x"),
        ("out[i, 0] = cuda.grid[1]", r"cuda\.grid is a function .* as in cuda\.grid\(1\)"),
        ("cuda.blockDim = 3", r"cuda\.blockDim cannot be set in a kernel: the launch gives it"),
        ("i.part = 3", r"i\.part cannot be set in a kernel: i is no record"),
        ("def f(v):\n    return v\nout[i, 0] = f(v=1)", "ignores the names of arguments"),
        ("for v in reversed(a[0]):\n    out[i, 0] = v", "reversed.* nothing that Numba compiles"),
        ("a[0][9] = 1", r"a\[9\], outside"),
        ("a[:, 7][0] = 1", r"a\[7\], outside"),
        ("x = b = a[0][2:]\nx[4] = 1", r"a\[4\], outside"),
    ],
)
def test_what_numba_refuses_or_memory_forbids_is_refused(body, said):
    with pytest.raises(SimtError, match=said):
        interpret(body, arguments())
