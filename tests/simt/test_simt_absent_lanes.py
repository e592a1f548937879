"""A lane may take a value from one that does not take part in the shuffle, but must not use it."""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.simt import Kernel, profile

DOWN = "w = cuda.shfl_down_sync(0xFFFF, v, 8)"
ACROSS = "w = cuda.shfl_xor_sync(0xFFFF, v, 16)"
SUM = """for by in (16, 8, 4, 2, 1):
    w = cuda.shfl_down_sync(0xFFFFF, v, by)
    if GUARD:
        v += w
if t == 0:
    out[0] = v"""
USED = {
    "stored": f"{DOWN}\nout[t] = w",
    "stored after a maximum, which drops NaN": f"{ACROSS}\nout[t] = max(v, w)",
    "stored in shared memory": f"s = cuda.shared.array(32, np.float64)\n{DOWN}\ns[t] = w",
    "decides": f"{ACROSS}\nif w > 0.5:\n    out[t] = 1.0",
    "decides with others": f"{ACROSS}\nif cuda.any_sync(0xFFFF, w > 0.5):\n    out[t] = 1.0",
    "index": "w = cuda.shfl_sync(0xFFFF, np.int32(t), 20)\nout[w % 32] = 1.0",
    "a sum of 20 lanes": SUM.replace("GUARD", "True"),
}
UNUSED = {
    "by lanes whose sum nobody needs": SUM.replace("GUARD", "t + by < 20"),
    "in a tree of half a warp": f"{DOWN}\nv += w\nif t == 0:\n    out[0] = v",
    "behind a condition": f"{DOWN}\nif t < 8 and w > 0.5:\n    out[t] = w",
    "by a choice": f"{DOWN}\nout[t] = w if t < 8 else v",
}


def kinds(body, lanes):
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = f"def k(a, out):\n    t = cuda.threadIdx.x\n    if t < {lanes}:\n        v = a[t]\n{lines}"
    kernel = Kernel.from_source(text, "k", {"cuda": cuda, "np": np})
    return [(h.kind, h.line) for h in profile(kernel[1, 32], np.arange(32.0) / 32, np.zeros(32)).hazards]


@pytest.mark.parametrize("name", USED)
def test_a_value_of_no_lane_that_is_used_is_a_hazard(name):
    body = USED[name]
    line = 5 + next(n for n, text in enumerate(body.splitlines()) if "shfl" in text)
    assert kinds(body, 20 if "20" in name else 16) == [("absent_lane", line)]


@pytest.mark.parametrize("name", UNUSED)
def test_a_value_of_no_lane_that_is_not_used_is_none(name):
    assert kinds(UNUSED[name], 20 if "sum" in name else 16) == []
