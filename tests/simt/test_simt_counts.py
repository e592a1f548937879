"""Counts of small kernels, compared with counts by hand; tests/witness compares them with the hardware's."""

import math

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.simt import api as cuda


def profile(body, grid, block, **arguments):
    text = f"def kernel({', '.join(arguments)}):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    kernel = simt.Kernel.from_source(text, "kernel", {"cuda": cuda, "np": np, "math": math})
    return simt.profile(kernel[grid, block], *arguments.values())


NEWTON = """i = cuda.grid(1)
x = 1.0
for j in range(n):
    x = 0.5 * (x + 2.0 / x)
out[i] = x"""

WEIGHTS = """i = cuda.grid(1)
total, weight = 0.0, 1.0
for j in range(n):
    total += weight * a[i]
    weight *= 0.5
out[i] = total"""

COUNT = """i = cuda.grid(1)
t = 0.0
while t < n:
    t += 0.5
out[i] = t"""


@pytest.mark.parametrize(
    ("body", "n", "expected"),
    [
        (NEWTON, 16, {"add": 16, "mul": 16, "div": 16}),
        (WEIGHTS, 16, {"fma": 16, "mul": 16}),
        (COUNT, 8, {"add": 16}),
    ],
    ids=["newton", "weights", "while"],
)
def test_a_loop_of_unknown_length_does_not_fold_what_it_computes(body, n, expected):
    counted = profile(body, 2, 32, a=np.ones(64), n=n, out=np.zeros(64)).flops["float64"]
    assert {k: getattr(counted, k) // 64 for k in expected} == expected
    assert counted.total == 64 * (sum(expected.values()) + expected.get("fma", 0))


def test_a_loop_of_known_length_is_folded():
    body = COUNT.replace("t < n", "t < 8.0")
    assert profile(body, 2, 32, n=8, out=np.zeros(64)).flops.total == 0


def test_local_memory_with_an_unknown_index_is_counted():
    body = """i = cuda.grid(1)
kept = cuda.local.array(8, np.float64)
k = 0
while k < n:
    kept[k] = a[i] * 2.0
    k += 1
out[i] = kept[n - 1]"""
    counted = profile(body, 1, 32, a=np.ones(32), n=4, out=np.zeros(32))
    assert counted.local_store.thread_accesses == (4 + 16) * 32  # and zeros: 8 doubles, in words of 4 bytes
    assert counted.local_load.thread_accesses == 32
    assert counted.in_registers == ()


LAST_BLOCK = """tile = cuda.shared.array(1, np.int64)
partial[cuda.blockIdx.x] = a[cuda.grid(1)]
cuda.threadfence()
tile[0] = cuda.atomic.add(ticket, 0, 1)
if tile[0] == cuda.gridDim.x - 1:
    total = 0.0
    for k in range(cuda.gridDim.x):
        total += partial[k]
    out[0] = total"""


def test_the_last_block_may_read_what_a_fence_and_an_atomic_hand_over():
    out = np.zeros(1)
    arguments = {"a": np.arange(8.0), "partial": np.zeros(8), "ticket": np.zeros(1, np.int64), "out": out}
    assert profile(LAST_BLOCK, 8, 1, **arguments).hazards == []
    assert out[0] == 28
    arguments["ticket"][0] = 0
    found = profile(LAST_BLOCK.replace("cuda.threadfence()", "pass"), 8, 1, **arguments).hazards
    assert {h.array for h in found} == {"partial"}


def test_a_thread_that_waits_for_another_is_stopped(monkeypatch):
    monkeypatch.setattr("course_pkg.simt.run.launch.PATIENCE", 1000)
    body = """while cuda.atomic.cas(lock, 0, 0, 1) != 0:
    pass
out[0] += 1.0"""  # and it never gives the lock back
    with pytest.raises(simt.SimtError, match="waits in a loop for another may wait for ever"):
        profile(body, 1, 2, lock=np.zeros(1, np.int32), out=np.zeros(1))


def test_a_shuffle_that_names_absent_lanes_is_told():
    body = """t = cuda.threadIdx.x
if t < 8:
    out[t] = cuda.shfl_xor_sync(MASK, a[t], 4)"""
    torn = profile(body.replace("MASK", "0xffffffff"), 1, 32, a=np.arange(32.0), out=np.zeros(32))
    assert [h.kind for h in torn.hazards] == ["divergent_barrier"]
    assert "shfl_xor_sync" in torn.hazards[0].message
    out = np.zeros(32)
    assert profile(body.replace("MASK", "0xff"), 1, 32, a=np.arange(32.0), out=out).hazards == []
    np.testing.assert_array_equal(out[:8], np.arange(8) ^ 4)


def test_a_value_from_a_lane_that_is_off_shows():
    body = """t = cuda.threadIdx.x
if t < 8:
    out[t] = cuda.shfl_down_sync(0xff, a[t], 4)"""
    out = np.zeros(32)
    profile(body, 1, 32, a=np.arange(32.0), out=out)
    np.testing.assert_array_equal(out[:8], [4, 5, 6, 7, np.nan, np.nan, np.nan, np.nan])


def test_shared_memory_is_unique_once_a_block():
    body = """tile = cuda.shared.array(32, np.float64)
t = cuda.threadIdx.x
tile[t] = a[t]
cuda.syncthreads()
out[cuda.grid(1)] = tile[31 - t] + tile[t]"""
    counted = profile(body, 4, 32, a=np.arange(32.0), out=np.zeros(128)).shared_load
    assert (counted.unique_bytes, counted.block_unique_bytes) == (32 * 8, 4 * 32 * 8)


def test_an_array_without_dimensions_has_one_element():
    body = (
        "i = cuda.grid(1)\nout[i] = q[()] + i\ncuda.atomic.add(total, (), 1.0)\nif i == 63:\n    last[()] = i"
    )
    q, total, last, out = np.array(4.0), np.array(0.0), np.array(0.0), np.zeros(64)
    found = profile(body, 2, 32, q=q, total=total, last=last, out=out)
    np.testing.assert_array_equal(out, 4 + np.arange(64))
    assert (total, last, len(found.hazards)) == (64, 63, 0)
    assert found.by_array["q"].global_load.sectors == 2, "one of each warp"


ARITHMETIC = {
    "a product that a comparison needs is not fused": (
        "p = a[i] * a[i]\nif p > 1.0:\n    out[i] = p\nout[i + 64] = p + a[i]",
        {"add": 1, "mul": 1, "fma": 0},
    ),
    "of two products the first one is fused": (
        "out[i] = a[i] * a[i] + a[i] * 3.0",
        {"add": 0, "mul": 1, "fma": 1},
    ),
    "the value of a choice is no product": (
        "out[i] = (a[i] * 3.0 if a[i] > 0.0 else 0.0) + 1.5",
        {"add": 1, "mul": 1, "fma": 0},
    ),
    "a reciprocal": ("out[i] = 1 / a[i]", {"add": 0, "mul": 0, "fma": 5}),
    "a quotient": ("out[i] = 3.0 / a[i]", {"add": 0, "mul": 1, "fma": 7}),
    "a quotient whose numerator is 0": (
        "out[i] = (a[i] - a[i + 64]) / a[i]",
        {"add": 1, "mul": 2, "fma": 15},
    ),
    "a product that both sides make": (
        "if i % 2 == 0:\n    out[i] = a[i] * 3.0 + 1.5\nelse:\n    out[i] = a[i] * 3.0 + 2.5",
        {"add": 0, "mul": 0, "fma": 1},
    ),
    "a minus sign that a product hands on and a store needs": (
        "out[i] = -a[i] * a[i + 64]",
        {"add": 1, "mul": 1},
    ),
    "a minus sign that a sum takes over": ("out[i] = -a[i] + a[i + 64]", {"add": 1, "mul": 0}),
    "a minus sign that a constant takes over": ("out[i] = -a[i] * 3.0", {"add": 0, "mul": 1}),
    "a distance that is compared and stored": (
        "d = abs(a[i] - 3.0)\nif d > 1.0:\n    out[i] = d",
        {"add": 2, "mul": 0},
    ),
    "a distance that a product takes over": ("out[i] = abs(a[i]) * a[i + 64]", {"add": 0, "mul": 1}),
    "exp of a negative number": ("out[i] = math.exp(-a[i])", {"add": 2, "fma": 14}),
    "half of a number": ("out[i] = a[i] / 2.0", {"add": 0, "mul": 1}),
    "twice a number": ("out[i] = a[i] * 2.0", {"add": 1, "mul": 0}),
    "asin of a small number": ("out[i] = math.asin(0.5 * a[i])", {"add": 0, "mul": 3, "fma": 13}),
    "asin of a large number": ("out[i] = math.asin(0.75 * a[i])", {"add": 3, "mul": 4, "fma": 20}),
    "one of two ways, which all lanes compute": (
        "d = a[i]\nif i % 2 == 0:\n    d -= 2.0\nout[i] = d",
        {"add": 1},
    ),
    "one of three ways, which three quarters of the lanes compute": (
        "d = a[i]\nif i % 2 == 0:\n    d -= 2.0\nelif i % 4 == 1:\n    d += 3.0\nout[i] = d",
        {"add": 0},
    ),
    "what no trip changes": (
        "d = 0.0\nfor j in range(n):\n    if a[i + j] > w * 3.0:\n        d += a[i + j] / w\nout[i] = d",
        {"add": 2, "mul": 3},
    ),
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_counts_as_the_instructions_that_it_becomes(name):
    body, expected = ARITHMETIC[name]
    numbers = {"n": 2, "w": 0.125} if "w" in body.split() else {}
    counted = profile(f"i = cuda.grid(1)\n{body}", 2, 32, a=np.ones(128), out=np.zeros(128), **numbers).flops
    assert {kind: counted.instructions("float64", kind) // 64 for kind in expected} == expected


def test_what_a_predicated_branch_stores_is_computed_by_all_lanes():
    body = """i, t = cuda.grid(1), cuda.threadIdx.x
parts = cuda.shared.array(2, np.float64)
total = a[i] + 2.5
if t % 32 == 0:
    parts[t // 32] = total
cuda.syncthreads()
out[i] = parts[0]"""
    assert profile(body, 1, 64, a=np.ones(64), out=np.zeros(64)).flops["float64"].add == 64
