"""The sketch of a run finds every array that a kernel may write, wherever a loop leaves a variable another number."""

import textwrap

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt.run.kernel import Kernel

LEFT = {  # c is 0 before, and not 0 behind, in some threads at least
    "a while counts": "while c < 5:\n    c += 1",
    "a for over a name that a loop before it had": "for j in range(2):\n    pass\nfor j in range(5):\n    c += j",
    "a loop is left": "while True:\n    c = 1\n    break",
    "a loop is left by some": "for j in (1, 2):\n    if t > 3:\n        c = 1\n        break",
    "a trip ends early": "for j in (1, 2):\n    if t > 3:\n        c = j\n        continue\n    c = 0",
    "a loop is left before its else": (
        "w = 0\nwhile w < 3:\n    w += 1\n    if t > 3:\n        c = 1\n        break\nelse:\n    c = 0"
    ),
    "the else of a loop that is also left": (
        "w = 0\nwhile w < 3:\n    w += 1\n    if t > 3:\n        break\nelse:\n    c = 1"
    ),
    "the else of a loop over items": "for j in (1, 2):\n    if t > 3:\n        break\nelse:\n    c = 1",
    "all leave a loop over items": "for j in (1, 2):\n    if t > 3:\n        c = 2\n    break\nelse:\n    c = 0",
}


@pytest.mark.parametrize("loop", LEFT.values(), ids=LEFT)
def test_a_branch_behind_a_loop_is_sketched_on_both_sides(loop):
    body = f"t = cuda.grid(1)\nc = 0\n{loop}\nif c >= 1:\n    a[t // 2] = 1.0 + t\n"
    source = "def kernel(a):\n" + textwrap.indent(body, "    ")
    a = np.zeros(4)
    found = simt.profile(Kernel.from_source(source, "kernel", {"cuda": cuda})[1, 8], a).hazards
    assert a.any() and [one.kind for one in found] == ["race"]
