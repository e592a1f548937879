"""Features of CUDA (grids, blocks, shared memory, shuffles, votes, atomics), compared with Numba's simulator."""

import math

import numba
import numpy as np
import pytest
from compiled_oracle import examples
from hypothesis import given
from hypothesis import strategies as st
from simulator_server import Simulator

from course_pkg import cuda, simt
from course_pkg.simt.run.kernel import Kernel

NAMES = {"cuda": cuda, "np": np, "math": math, "numba": numba}
INDICES = ("threadIdx", "blockIdx", "blockDim", "gridDim")


@pytest.fixture(scope="module")
def simulator():
    """Numba's simulator, started once."""
    simulator = Simulator()
    yield simulator
    simulator.close()


def kernel(source):
    return Kernel.from_source(source, "kernel", NAMES)


def copies(arguments):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def assert_as_simulated(simulator, source, blocks, threads, arguments, shared_bytes=0):
    """Assert that a plain launch and a profiled one leave what the simulator leaves; return the profile."""
    expected = simulator.launch(source, "kernel", blocks, threads, copies(arguments), shared_bytes)
    launch, plain, profiled = (
        kernel(source)[blocks, threads, 0, shared_bytes],
        copies(arguments),
        copies(arguments),
    )
    launch(*plain)
    profile = simt.profile(launch, *profiled)
    for ours in (plain, profiled):
        for one, other in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    return profile


blocks_1d = st.integers(1, 5)
extents = st.lists(st.integers(1, 7), min_size=1, max_size=3)
dtypes = st.sampled_from([np.dtype(f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)] + ["f4", "f8", "bool"])

COPY = {
    1: "def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.shape[0]:\n        out[i] = x[i]\n",
    2: "def kernel(x, out):\n    i, j = cuda.grid(2)\n"
    "    if i < x.shape[1] and j < x.shape[0]:\n        out[j, i] = x[j, i]\n",
    3: "def kernel(x, out):\n    i, j, k = cuda.grid(3)\n"
    "    if i < x.shape[2] and j < x.shape[1] and k < x.shape[0]:\n        out[k, j, i] = x[k, j, i]\n",
}


@given(
    shape=extents,
    block=st.tuples(*[st.integers(1, 5)] * 3),
    extra=st.integers(0, 1),
    dtype=dtypes,
    order=st.sampled_from("CF"),
)
@examples(30)
def test_any_shape_block_and_dtype(simulator, shape, block, extra, dtype, order):
    ndim = len(shape)
    block = block[:ndim]
    grid = tuple(-(-n // b) + extra for n, b in zip(reversed(shape), block, strict=True))
    x = np.asarray(np.arange(math.prod(shape)).reshape(shape) % 127, dtype, order=order)
    profile = assert_as_simulated(simulator, COPY[ndim], grid, block, [x, np.zeros_like(x)])
    assert profile.hazards == []
    assert profile.global_load.thread_accesses == profile.global_store.thread_accesses == x.size
    assert profile.global_load.bytes_requested == profile.global_load.unique_bytes == x.nbytes


@given(
    block=st.tuples(st.integers(1, 7), st.integers(1, 5), st.integers(1, 3)),
    grid=st.tuples(*[st.integers(1, 3)] * 3),
)
@examples(15)
def test_every_index_of_every_thread(simulator, block, grid):
    stores = "".join(
        f"    out[n, {3 * row + column}] = cuda.{name}.{axis}\n"
        for row, name in enumerate(INDICES)
        for column, axis in enumerate("xyz")
    )
    source = (
        "def kernel(out):\n    i, j, k = cuda.grid(3)\n    sx, sy, sz = cuda.gridsize(3)\n"
        "    n = (k * sy + j) * sx + i\n" + stores + "    out[n, 12] = sx + 10 * sy + 100 * sz\n"
    )
    threads = math.prod(block) * math.prod(grid)
    assert_as_simulated(simulator, source, grid, block, [np.zeros((threads, 13), np.int64)])


SHARED = """
def kernel(x, out):
    tile = cuda.shared.array((3, 40), numba.float64)
    mine = cuda.local.array(4, numba.int32)
    t, s = cuda.threadIdx.x, cuda.threadIdx.y
    i = (cuda.blockIdx.x * cuda.blockDim.y + s) * cuda.blockDim.x + t
    for k in range(4):
        mine[k] = i * k
    tile[s, t] = x[i] * 2
    cuda.syncthreads()
    left = tile[(s + 1) % cuda.blockDim.y, (t + 5) % cuda.blockDim.x]
    cuda.syncthreads()
    tile[s, t] = left + mine[i % 4]
    cuda.syncthreads()
    out[i] = tile[cuda.blockDim.y - 1 - s, cuda.blockDim.x - 1 - t]
"""


@pytest.mark.parametrize("block", [(40, 3), (7, 3), (32, 1), (13, 2), (1, 1)])
def test_shared_and_local_arrays(simulator, block):
    x = np.arange(3.0 * math.prod(block))
    profile = assert_as_simulated(simulator, SHARED, 3, block, [x, np.zeros_like(x)])
    assert profile.hazards == []
    assert profile.barriers == 9


DYNAMIC = """
def kernel(x, out):
    reals = cuda.shared.array(0, numba.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    reals[t] = x[i]
    cuda.syncthreads()
    out[i] = reals[cuda.blockDim.x - 1 - t]
"""


@pytest.mark.parametrize("threads", [1, 31, 64])
def test_dynamic_shared_memory(simulator, threads):
    x = np.arange(2 * threads, dtype=np.float32)
    assert_as_simulated(simulator, DYNAMIC, 2, threads, [x, np.zeros_like(x)], shared_bytes=4 * threads)


VOTES = """
def kernel(x, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.syncthreads_count(1 if x[i] > 0 else 0)
    out[i, 1] = cuda.syncthreads_and(1 if x[i] > -9 else 0)
    out[i, 2] = cuda.syncthreads_or(1 if x[i] > 9 else 0)
    out[i, 3] = cuda.syncthreads_count(1 if x[i] % 3 != 0 else 0)
"""


@pytest.mark.parametrize("threads", [1, 33, 64])
def test_barriers_that_count(simulator, threads):
    x = np.arange(3 * threads, dtype=np.int64) * 7 % 23 - 10
    profile = assert_as_simulated(simulator, VOTES, 3, threads, [x, np.zeros((3 * threads, 4), np.int64)])
    assert profile.barriers == 12


ATOMICS = {
    "add": lambda old, v: old + v,
    "sub": lambda old, v: old - v,
    "max": max,
    "min": min,
    "and_": lambda old, v: old & v,
    "or_": lambda old, v: old | v,
    "xor": lambda old, v: old ^ v,
    "exch": lambda old, v: v,
}


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("name", ATOMICS)
def test_atomics_return_the_values_of_some_order(name, space):
    """Old values and the last one are a chain: each is followed by one update that was asked for."""
    body = {
        "global": f"    old[i] = cuda.atomic.{name}(cells, i % 3, x[i])\n",
        "shared": "    own = cuda.shared.array(3, numba.int32)\n    t = cuda.threadIdx.x\n"
        "    if t < 3:\n        own[t] = cells[t]\n    cuda.syncthreads()\n"
        f"    old[i] = cuda.atomic.{name}(own, i % 3, x[i])\n"
        "    cuda.syncthreads()\n    if t < 3:\n        cells[t] = own[t]\n",
    }[space]
    rng = np.random.default_rng(3)
    blocks, threads = (3, 40) if space == "global" else (1, 90)
    x = rng.integers(0, 64, blocks * threads).astype(np.int32)
    cells, old = np.array([5, 9, 33], np.int32), np.zeros_like(x)
    begin = cells.copy()
    profile = simt.profile(
        kernel("def kernel(x, cells, old):\n    i = cuda.grid(1)\n" + body)[blocks, threads], x, cells, old
    )
    assert profile.hazards == []
    for cell in range(3):
        mine = slice(cell, None, 3)
        before = sorted([*old[mine].tolist(), int(cells[cell])])
        after = sorted(
            [
                int(begin[cell]),
                *(ATOMICS[name](int(o), int(v)) for o, v in zip(old[mine], x[mine], strict=True)),
            ]
        )
        assert before == after


def test_compare_and_swap_is_won_once():
    source = "def kernel(cells, old):\n    i = cuda.grid(1)\n    old[i] = cuda.atomic.cas(cells, 0, -1, i)\n"
    cells, old = np.array([-1]), np.zeros(96, np.int64)
    kernel(source)[3, 32](cells, old)
    assert (old == -1).sum() == 1
    assert cells[0] == np.flatnonzero(old == -1)[0]
    assert set(old.tolist()) == {-1, int(cells[0])}


def test_atomic_add_of_floats_is_a_sum_up_to_rounding():
    source = "def kernel(x, out):\n    i = cuda.grid(1)\n    cuda.atomic.add(out, (0, i % 2), x[i])\n"
    x, out = np.linspace(0, 1, 256), np.zeros((1, 2))
    kernel(source)[4, 64](x, out)
    np.testing.assert_allclose(out[0], [x[::2].sum(), x[1::2].sum()], rtol=1e-14)


SHUFFLES = {
    "shfl_sync(FULL, x[i], 5)": lambda w, lane: w[5],
    "shfl_sync(FULL, x[i], (cuda.laneid * 7) % 32)": lambda w, lane: w[lane * 7 % 32],
    "shfl_up_sync(FULL, x[i], 3)": lambda w, lane: w[np.where(lane >= 3, lane - 3, lane)],
    "shfl_down_sync(FULL, x[i], 9)": lambda w, lane: w[np.where(lane < 23, lane + 9, lane)],
    "shfl_xor_sync(FULL, x[i], 17)": lambda w, lane: w[lane ^ 17],
    "any_sync(FULL, x[i] > 40)": lambda w, lane: (w > 40).any(),
    "all_sync(FULL, x[i] > -20)": lambda w, lane: (w > -20).all(),
    "ballot_sync(FULL, x[i] > 0)": lambda w, lane: np.packbits(w > 0, bitorder="little").view(np.int32)[
        0
    ],  # signed, in Numba
    "popc(cuda.ballot_sync(FULL, x[i] > 3))": lambda w, lane: (w > 3).sum(),
    "laneid": lambda w, lane: lane,
}


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("call", SHUFFLES)
def test_shuffles_and_votes_against_numpy(call, dtype):
    source = f"def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = cuda.{call}\n".replace(
        "FULL", "0xFFFFFFFF"
    )
    x = (np.arange(4 * 32) * 37 % 83 - 41).astype(dtype)
    out = np.zeros(x.size)
    kernel(source)[2, 64](x, out)
    lane = np.arange(32)
    expected = [np.broadcast_to(SHUFFLES[call](w, lane), 32) for w in x.reshape(-1, 32)]
    np.testing.assert_array_equal(out, np.concatenate(expected))


@pytest.mark.parametrize("block", [(8, 8), (4, 4, 4), (16, 2, 2)])
def test_a_warp_straddles_the_rows_of_its_block(block):
    source = (
        "def kernel(out):\n    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z\n"
        "    n = (z * cuda.blockDim.y + y) * cuda.blockDim.x + x\n"
        "    out[n] = cuda.shfl_sync(0xFFFFFFFF, n, 0)\n"
    )
    out = np.zeros(64, np.int64)
    kernel(source)[1, block](out)
    np.testing.assert_array_equal(out, np.repeat([0, 32], 32))
