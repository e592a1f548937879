"""The interpreter's counts of sums and cumulative sums: the traffic in which the variants differ."""

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.device.launch import blocks_for
from course_pkg.vector import cost, gpu_numba

THREADS = gpu_numba.THREADS_PER_BLOCK
SECTOR = 32  # bytes


def profile_of_sum(idea, n, blocks=None, dtype="float64"):
    kernel = getattr(gpu_numba, f"reduce_sum_{idea}_kernel")
    blocks = blocks or blocks_for(n, THREADS)
    return simt.profile(kernel[blocks, THREADS], np.ones(n, dtype), np.zeros(blocks))


def profile_of_scan(name, shape, dtype="float64"):
    kernel, lines = getattr(gpu_numba, f"{name}_kernel"), gpu_numba.LINES_PER_BLOCK
    if name == "cumsum_rows_chunked":
        launch = kernel[blocks_for(shape[0], gpu_numba.BLOCK_CHUNKED[1]), gpu_numba.BLOCK_CHUNKED]
    else:
        launch = kernel[blocks_for(shape[name == "cumsum_columns"], lines), lines]
    return simt.profile(launch, np.ones(shape, dtype), np.zeros(shape, dtype))


@pytest.mark.parametrize("n", [1, 100, 256, 3000])
@pytest.mark.parametrize("idea", ["tree", "shuffle", "grid_stride"])
def test_no_thread_reads_what_another_may_still_write(idea, n):
    assert profile_of_sum(idea, n, blocks=3 if idea == "grid_stride" else None).hazards == []


@pytest.mark.parametrize("name", ["cumsum_columns", "cumsum_rows_serial", "cumsum_rows_chunked"])
def test_lines_do_not_disturb_each_other(name):
    assert profile_of_scan(name, (61, 75)).hazards == []


@pytest.mark.parametrize(("n", "dtype"), [(2**15, "float64"), (2**15, "float32"), (30_001, "float64")])
@pytest.mark.parametrize("idea", ["tree", "shuffle", "grid_stride"])
def test_a_sum_reads_each_sector_once(idea, n, dtype):
    found = profile_of_sum(idea, n, blocks=16 if idea == "grid_stride" else None, dtype=dtype)
    compulsory = cost.reduce_sum(n, dtype).bytes / SECTOR
    assert compulsory <= found.global_load.sectors <= 1.02 * compulsory


def test_barriers_and_shared_memory_fall_from_tree_to_shuffle_to_grid_stride():
    n, blocks = 2**15, 2**15 // THREADS
    tree, shuffle = profile_of_sum("tree", n), profile_of_sum("shuffle", n)
    stride = profile_of_sum("grid_stride", n, blocks=16)
    assert [p.barriers for p in (tree, shuffle, stride)] == [9 * blocks, blocks, 16]
    assert shuffle.shared_store.requests == blocks * THREADS // 32
    assert shuffle.shared_load.requests == blocks
    requests = [p.shared_load.requests + p.shared_store.requests for p in (tree, shuffle, stride)]
    assert requests[0] > 4 * requests[1] > 4 * 4 * requests[2]
    # the elements are read in the same way
    assert tree.global_load.requests == shuffle.global_load.requests == stride.global_load.requests == n // 32


def test_a_sum_by_blocks_moves_what_its_cost_says():
    """The launches over the blocks' sums included: 1.008 passes, where a fixed number of blocks comes with one."""
    n = 2**17
    least, whole = cost.reduce_sum(n), cost.reduce_sum_tree(n, THREADS)
    assert 1.007 < whole.bytes / least.bytes < 1.01
    values, read, written = np.ones(n), 0, 0
    while values.size > 1:
        sums = np.zeros(blocks_for(values.size, THREADS))
        found = simt.profile(gpu_numba.reduce_sum_tree_kernel[sums.size, THREADS], values, sums)
        read, written = read + found.global_load.unique_bytes, written + found.global_store.unique_bytes
        values = sums
    assert (read, written - 8) == (whole.bytes_read, whole.bytes_written)


SECTORS_A_REQUEST = {
    ("cumsum_columns", "float64"): 8,
    ("cumsum_rows_chunked", "float64"): 8,
    ("cumsum_rows_serial", "float64"): 32,
    ("cumsum_columns", "float32"): 4,
    ("cumsum_rows_chunked", "float32"): 4,
    ("cumsum_rows_serial", "float32"): 32,
}


@pytest.mark.parametrize(("name", "dtype"), SECTORS_A_REQUEST)
def test_neighbouring_threads_on_neighbouring_elements_need_few_sectors(name, dtype):
    shape = (128, 192)
    found, sectors = profile_of_scan(name, shape, dtype), SECTORS_A_REQUEST[name, dtype]
    for counts, compulsory in (
        (found.global_load, cost.cumsum_rows(shape, dtype).bytes_read),
        (found.global_store, cost.cumsum_rows(shape, dtype).bytes_written),
    ):
        assert counts.requests == 128 * 192 // 32
        assert counts.sectors_per_request == sectors
        assert counts.unique_bytes == compulsory
        if name != "cumsum_rows_serial":
            assert counts.sectors == compulsory // SECTOR
    assert found.barriers == 0


def test_a_row_by_chunks_pays_with_additions():
    """Five steps of a scan and the carry for each element, where a serial sum has one addition."""
    serial, chunked = (profile_of_scan(f"cumsum_rows_{idea}", (64, 64)) for idea in ("serial", "chunked"))
    assert serial.flops.total == cost.cumsum_rows((64, 64)).flops
    assert 5 * serial.flops.total < chunked.flops.total <= 6 * serial.flops.total
