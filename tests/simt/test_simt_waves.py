"""Grids of so many blocks that they run in several waves."""

import numpy as np
from test_simt_semantics_cuda import kernel

from course_pkg import simt

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
