"""A profile says by itself which of its counts may differ from the hardware's, in which direction, and why."""

import json
import math

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt import Kernel

HEAD = "def k(x, y):\n    t = cuda.threadIdx.x\n    s = cuda.shared.array((32, 32), float64)\n"
SPAN = 8
DOUBTFUL = {
    "a loop that ends early": (
        "v = 0.0\nfor j in range(t):\n    if x[j] > 2:\n        break\n    v += x[j]\ny[t] = v",
        "global_load.requests", "at most", 5,
    ),
    "a while": ("j = 0\nv = 0.0\nwhile j < t:\n    v += x[j]\n    j += 1\ny[t] = v", "global_load.sectors", "about", 6),
    "a while that ends early": (
        "j = 0\nwhile x[j] < 2:\n    j += 1\n    if j > t:\n        break\ny[t] = j",
        "global_load.requests", "at most", 5,
    ),
    "neighbours in an unrolled loop": (
        "s[t, t] = x[t]\ncuda.syncthreads()\nv = 0.0\nif t == 0:\n    for j in range(1):\n        v += s[t, j]\n"
        "y[t] = v",
        "shared_load.wavefronts", "at most", 8,
    ),
    "the same, up to a number of the module": (
        "for j in range(SPAN):\n    s[t, j] = x[j]\ny[t] = s[t, 0]", "shared_store.requests", "at most", 4
    ),
    "two neighbours": (
        "s[t, 0] = 1\nq[2 * t] = x[t]\nq[2 * t + 1] = x[t]\ny[t] = q[t]", "shared_store.requests", "at most", 1
    ),
    "an element of either array": (
        "if t > 3:\n    u = x[t] * 2\n    v = x[t] + u\nelse:\n    u = y[t] * 2\n    v = y[t] + u\ny[t] = v",
        "global_load.requests", "at most", 4,
    ),
    "a branch with alternatives": (
        "if t == 3 or (t > 5 and x[t] > 1):\n    y[t] = x[t]\nelse:\n    y[t] = 2",
        "global_store.requests", "at least", 4,
    ),
    "a product of both sides": (
        "if t > 3:\n    v = x[t] * 3\nelse:\n    v = y[t] * 3\ny[t] = v + 1", "flops.float64.fma", "about", 5
    ),
    "a function": ("y[t] = math.tanh(x[t])", "flops.float64.fma", "at least", 4),
    "a small local array": (
        "p = cuda.local.array(2, float64)\np[t % 2] = x[t]\np[1 - t % 2] = x[t]\ny[t] = p[t % 2]",
        "local_store.requests", "at most", 5,
    ),
    "a sum that the last trip carries on": (
        "c = 0.0\nfor j in range(t):\n    y[j] = c + x[t]\n    c = x[j] + 2.5", "flops.float64.add", "at most", 5
    ),
}  # fmt: skip
CERTAIN = {
    "a stencil": "y[t] = x[t] + x[t + 1] - 2.0 * x[t]",
    "a tree": "s[0, t] = x[t]\nd = 16\nwhile d > 0:\n    cuda.syncthreads()\n    if t < d:\n"
    "        s[0, t] += s[0, t + d]\n    d //= 2\nif t == 0:\n    y[0] = s[0, 0]",
    "a tile": "s[t, 0] = x[t]\ncuda.syncthreads()\ny[t] = s[31 - t, 0]",
    "a loop over a row": "v = 0.0\nfor j in range(t):\n    v += x[j]\ny[t] = v",
    "two sides that do different things": "if t > 3:\n    y[t] = x[t] + x[t + 1]\nelse:\n    y[t] = x[t]",
}


def profile_of(body):
    head = HEAD + ("    q = cuda.shared.array(64, float64)\n" if "q[" in body else "")
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    known = {"cuda": cuda, "float64": np.float64, "SPAN": SPAN, "math": math}
    kernel = Kernel.from_source(head + lines, "k", known)
    return simt.profile(kernel[1, 32], np.ones(64), np.ones(64))


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_count_that_may_differ_says_so_and_why(name):
    body, counter, word, line = DOUBTFUL[name]
    found = profile_of(body)
    assert found.certainty(counter) == word
    assert found.doubtful[counter].line == line
    said = " ".join(repr(found).split())
    assert f"counts that are {word} what is shown: " in said
    assert f"(k, line {line}: {found.doubtful[counter].reason})" in said
    assert json.loads(json.dumps(found.to_dict()))["doubtful"][counter]["word"] == word


@pytest.mark.parametrize("name", CERTAIN)
def test_what_the_model_knows_is_exact(name):
    found = profile_of(CERTAIN[name])
    assert found.doubtful == {} and found.certainty("global_load.requests") == "exact"
    assert "what is shown" not in repr(found)


def test_two_reasons_in_opposite_directions_leave_nothing_but_about():
    body = "c = 0.0\nfor j in range(t):\n    y[j] = c + x[t]\n    c = x[j] + 2.5\ny[t] = math.tanh(x[t])"
    assert profile_of(body).certainty("flops.float64.add") == "about"
