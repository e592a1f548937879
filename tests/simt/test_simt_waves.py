"""Grids of so many blocks that they run in several waves."""

import numpy as np
import pytest
from test_simt_semantics_cuda import kernel

from course_pkg import simt
from course_pkg.simt.errors import Endless

WAVES = """
def kernel(x, out, total):
    tile = cuda.shared.array(64, numba.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.size:
        tile[t] = x[i]
    cuda.syncthreads()
    if i < x.size and i - t + 63 < x.size:
        out[i] = tile[63 - t]
        cuda.atomic.add(total, 0, 1)
"""


def test_a_grid_of_many_waves_gives_the_same_and_counts_as_the_sum():
    n = 2_000_000 - 37
    x, out, total = np.arange(float(n)), np.zeros(n), np.zeros(1, np.int64)
    profile = simt.profile(kernel(WAVES)[-(-n // 64), 64], x, out, total)
    full = n // 64 * 64
    np.testing.assert_array_equal(out[:full], x[:full].reshape(-1, 64)[:, ::-1].ravel())
    assert (out[full:] == 0).all()
    assert total[0] == full
    assert profile.hazards == []
    assert profile.global_load.thread_accesses == n
    assert profile.global_load.unique_bytes == profile.global_load.block_unique_bytes == 8 * n
    assert profile.global_load.requests == -(-n // 32)
    assert profile.global_load.sectors == -(-n // 4)
    assert profile.global_store.sectors == full // 4
    assert profile.barriers == -(-n // 64)


def test_a_race_between_blocks_of_different_waves_is_found():
    n = 3_000_000
    out = np.zeros(n - 1)
    source = "def kernel(out):\n    i = cuda.grid(1)\n    out[i % out.size] = i\n"
    hazards = simt.profile(kernel(source)[n // 64, 64], out).hazards
    assert [(h.kind, h.line, h.array, h.index) for h in hazards] == [("race", 3, "out", (0,))]
    assert {t.block for t in hazards[0].threads} == {(0, 0, 0), (n // 64 - 1, 0, 0)}


BLOCKS, THREADS = 6, 64
ROLES = """
def kernel(x, flag, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t < 32:
        for k in range(TRIPS):
            while cuda.atomic.add(flag, b, 0) != 0:
                pass
            out[32 * b + t] = x[t] + k
            cuda.threadfence()
            cuda.syncwarp()
            if t == 0:
                cuda.atomic.exch(flag, b, 1)
            cuda.syncwarp()
    else:
        for k in range(TRIPS):
            while cuda.atomic.add(flag, b, 0) != 1:
                pass
            x[32 * (b + 1) + t - 32] += out[32 * b + t - 32]
            cuda.threadfence()
            cuda.syncwarp()
            if t == 32:
                cuda.atomic.exch(flag, b, 0)
            cuda.syncwarp()
"""


@pytest.fixture
def two_blocks_a_wave(monkeypatch):
    monkeypatch.setattr("course_pkg.simt.run.launch.WAVE_THREADS", 2 * THREADS)


def in_roles(source):
    x, flag, out = np.zeros(32 * (BLOCKS + 1)), np.zeros(BLOCKS, np.int32), np.zeros(32 * BLOCKS)
    x[:32] = np.arange(32.0)
    found = simt.profile(kernel(source)[BLOCKS, THREADS], x, flag, out)
    return found, x.reshape(-1, 32), flag, out


@pytest.mark.parametrize("trips", ["2", "b % 3 + 1", "(b in (2, 3)) + 1", "2 * (b == 5)"])
def test_threads_with_roles_in_each_of_several_waves_or_in_one_of_them(trips, two_blocks_a_wave):
    found, x, flag, out = in_roles(ROLES.replace("TRIPS", f"int({trips})"))
    some = [eval(trips, {"b": b}) for b in range(BLOCKS)]
    expected = [n * np.arange(32) + n * (n - 1) / 2 for n in some]
    np.testing.assert_array_equal(x[1:], expected)
    np.testing.assert_array_equal(out.reshape(-1, 32), [(np.arange(32) + n - 1) * (n > 0) for n in some])
    assert not flag.any() and not found.hazards
    assert found.global_store.requests == 2 * sum(some)


def test_a_missing_fence_of_one_role_is_found_in_a_later_wave(two_blocks_a_wave):
    fence = "            cuda.threadfence()\n            cuda.syncwarp()\n            if t == 0:"
    without = ROLES.replace("TRIPS", "int(2 * (b == 5))").replace(
        fence, fence.replace("cuda.threadfence()", "pass")
    )
    hazards = in_roles(without)[0].hazards
    assert {(h.kind, h.array) for h in hazards} >= {("race", "out")}
    assert {t.block for h in hazards for t in h.threads} == {(5, 0, 0)}


CHAIN = """
def kernel(x, flag):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) != ORDER:
            pass
        cuda.threadfence()
        x[0] = 2.0 * x[0] + b
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)
"""


def test_blocks_may_wait_for_blocks_of_earlier_waves(two_blocks_a_wave):
    x, flag = np.zeros(1), np.zeros(1, np.int32)
    assert simt.profile(kernel(CHAIN.replace("ORDER", "b"))[BLOCKS, THREADS], x, flag).hazards == []
    assert (x[0], flag[0]) == (57.0, BLOCKS)


@pytest.mark.parametrize("launch", [simt.profile, lambda launch, *arguments: launch(*arguments)])
def test_blocks_that_wait_for_blocks_of_a_later_wave_are_refused_and_the_message_says_why(
    launch, two_blocks_a_wave
):
    backwards = kernel(CHAIN.replace("ORDER", "cuda.gridDim.x - 1 - b"))
    said = (
        r"line 5: thread 0 of block 0 and 1 other thread wait here until another thread changes flag, and the blocks "
        r"from number 2 on begin only when these have ended"
    )
    with pytest.raises(Endless, match=said):
        launch(backwards[BLOCKS, THREADS], np.zeros(1), np.zeros(1, np.int32))
    x, flag = np.zeros(1), np.zeros(1, np.int32)
    launch(backwards[2, THREADS], x, flag)  # all blocks in one wave
    assert (x[0], flag[0]) == (2.0, 2)


def test_a_later_wave_that_waits_for_one_after_it_names_that_one(two_blocks_a_wave):
    body = CHAIN.replace("ORDER", "(b if b < 2 else 7 - b)")  # 0, 1, then 5, 4, 3, 2
    with pytest.raises(
        Endless, match=r"thread 0 of block 2 .*the blocks from number 4 on begin only when these have"
    ):
        kernel(body)[BLOCKS, THREADS](np.zeros(1), np.zeros(1, np.int32))
