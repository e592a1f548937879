"""What the compiler does around loops and in shared memory: merged neighbours, groups of trips, loads before a loop."""

import ast

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.simt.counting.banks import wavefronts
from course_pkg.simt.counting.unrolling import moves_before, written_out_of
from course_pkg.simt.run.kernel import Kernel

NAMES = {"cuda": __import__("course_pkg.cuda").cuda, "np": np}


def profiled(body, *arguments, block=32, parameters="x, out"):
    """Profile a kernel whose thread is number t of one block."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"def k({parameters}):\n    t = cuda.threadIdx.x\n{lines}"
    return simt.profile(Kernel.from_source(source, "k", NAMES)[1, block], *arguments)


def a_row_each(dtype, pitch, trips=8):
    return (
        f"s = cuda.shared.array((32, {pitch}), np.{dtype})\n"
        f"for k in range({trips}):\n    s[t, k] = x[k]\n"
        "cuda.syncthreads()\n"
        "total = x[0]\n"
        f"for k in range({trips}):\n    total += s[31 - t, k]\n"
        "out[t] = total"
    )


@pytest.mark.parametrize(
    ("dtype", "pitch", "requests"),
    [
        ("float32", 8, 2),  # 16 bytes: four elements
        ("float64", 8, 4),
        ("float32", 10, 4),  # rows begin at multiples of 8 bytes only
        ("float32", 9, 8),  # and here of 4
        ("float64", 9, 8),
    ],
)
def test_neighbours_in_a_row_are_one_access_as_far_as_its_pitch_allows(dtype, pitch, requests):
    x, out = np.arange(1, 9, dtype=dtype), np.zeros(32, dtype)
    found = profiled(a_row_each(dtype, pitch), x, out)
    assert found.shared_load.requests == found.shared_store.requests == requests
    np.testing.assert_array_equal(out, x.sum() + x[0])


def test_a_barrier_keeps_neighbours_apart():
    body = (
        "s = cuda.shared.array((32, 4), np.float32)\n"
        "for k in range(4):\n    s[t, k] = x[k]\n    cuda.syncthreads()\n"
        "for k in range(4):\n    out[t] += s[t, k]\n    cuda.syncthreads()"
    )
    found = profiled(body, np.ones(4, "float32"), np.zeros(32, "float32"))
    assert found.shared_load.requests == found.shared_store.requests == 4


def test_a_signed_index_is_no_multiple_and_an_unsigned_one_is():
    """The compiler adds the extent to a signed index that is negative, and then knows nothing of its factor."""
    for one, next_one, requests in (
        ("2 * t", "2 * t + 1", 2),
        ("np.uint32(2 * t)", "np.uint32(2 * t + 1)", 1),
    ):
        body = (
            "s = cuda.shared.array(64, np.float32)\n"
            "s[t] = s[t + 32] = x[0]\n"
            "cuda.syncthreads()\n"
            f"out[t] = s[{one}] + s[{next_one}]"
        )
        found = profiled(body, np.ones(1, "float32"), np.zeros(32, "float32"))
        assert found.shared_load.requests == requests


def test_128_bits_that_all_lanes_read_alike_take_two_wavefronts():
    alike = np.zeros((1, 32), np.int64)
    assert [int(wavefronts(alike, size)[0][0]) for size in (4, 8, 16)] == [1, 1, 2]
    own = 16 * np.arange(32)[None]
    assert [int(wavefronts(own, 16, kind)[0][0]) for kind in ("load", "store")] == [4, 4]


LONG = "near = s[k] - x[0]\n    total += near * near / (s[k] + 2.0)"


def test_a_long_body_is_written_out_in_groups_whose_neighbours_stay_apart():
    """The compiler does not know where a group of trips begins."""
    for trips, requests in ((8, 4), (32, 32)):
        body = (
            "s = cuda.shared.array(32, np.float64)\n"
            "s[t] = x[t]\n"
            "cuda.syncthreads()\n"
            "total = 0.0\n"
            f"for k in range({trips}):\n    {LONG}\n"
            "out[t] = total"
        )
        assert profiled(body, np.ones(32), np.zeros(32)).shared_load.requests == requests


def test_a_loop_around_a_local_array_is_written_out_whole():
    body = (
        "s, total = x, 0.0\n"
        "own = cuda.local.array(32, np.float64)\n"
        f"for k in range(32):\n    own[k] = x[k]\n    {LONG}\n"
        "out[t] = own[0] + total"
    )
    assert profiled(body, np.ones(32), np.zeros(32)).local_store.requests == 0


# how often compiled loops were written out, by NVVM of CUDA 13 for compute capability 9.0
TRIPS = (8, 16, 24, 32, 48, 64, 96, 128)
COMPILED = {
    "t += s[k]": (8, 16, 24, 32, 48, 64, 16, 16),
    "t += s[k] * s[k]": (8, 16, 24, 32, 48, 64, 16, 16),
    "t += s[y, k] * q[k, x]": (8, 16, 24, 32, 8, 8, 8, 8),
    "d = s[k] - u\n    t += d * d": (8, 16, 24, 32, 48, 16, 16, 16),
    "d = s[k, 0] - u\n    e = s[k, 1] - u\n    t += d * d + e * e": (8, 16, 24, 8, 8, 8, 8, 8),
    "t += math.sqrt(s[k])": (8, 16, 24, 32, 8, 8, 8, 8),
    "t += 1.0 / s[k]": (8, 16, 24, 32, 8, 8, 8, 8),
    "t = max(t, s[k])": (8, 16, 24, 32, 48, 64, 16, 16),
    "if s[k] > u:\n        t += s[k]": (8, 16, 24, 32, 8, 8, 8, 8),
}


@pytest.mark.parametrize("body", COMPILED)
def test_so_many_trips_are_written_out_as_the_compiler_wrote(body):
    loop = ast.parse(f"for k in range(9):\n    {body}").body[0]
    assert tuple(written_out_of(loop, trips, False) for trips in TRIPS) == COMPILED[body]


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("total += x[k] * x[t]", 1),
        ("if x[k] > 2.0:\n        break\n    total += x[t]", 1),
        ("total += x[t]\n    if x[k] > 2.0:\n        break", 6),  # the end of the body leaves the loop
        ("if x[k] > 0.5:\n        total += x[t]", 6),  # not in each trip
    ],
)
def test_a_load_that_each_trip_makes_alike_is_made_before_the_loop(body, before):
    inner = body.replace("\n", "\n    ")
    source = f"if t < 20:\n    total = 0.0\n    for k in range(n):\n        {inner}\n    out[t] = total"
    x = np.ones(32)
    found = profiled(source, x, np.zeros(32), 6, parameters="x, out, n")
    assert found.global_load.requests == 6 + before


def test_a_loop_whose_end_leaves_it_keeps_its_test_at_the_beginning():
    loops = [
        "for k in x:\n    if k: break",
        "while x:\n    if x: return",
        "for k in x:\n    if k: break\n    y = 1",
    ]
    assert [moves_before(ast.parse(loop).body[0]) for loop in loops] == [False, False, True]
