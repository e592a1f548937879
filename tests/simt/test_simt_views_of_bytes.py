"""Views of an array as smaller elements: ``a.view(np.int32)`` of float64. Each small element is watched by itself."""

import numpy as np
import pytest

from course_pkg import cuda, simt


@cuda.jit
def halves(a, out):
    i = cuda.grid(1)
    words = a.view(np.uint32)
    if i < words.size:
        out[i] = words[i]
        words[i] = i


@cuda.jit
def bytes_in_shared_memory(a, out):
    tile = cuda.shared.array((4, 8), np.float64)
    row, column = cuda.threadIdx.y, cuda.threadIdx.x
    tile[row, column] = a[row, column]
    cuda.syncthreads()
    seen = tile.view(np.uint8)
    for k in range(8):
        out[row, column, k] = seen[row, 8 * column + k]


@cuda.jit
def bytes_of_a_thread(a, out):
    i = cuda.grid(1)
    one = cuda.local.array(1, np.float64)
    one[0] = a[i]
    for k, byte in enumerate(one.view(np.uint8)):
        out[i, k] = byte


@cuda.jit
def two_views(a, out):
    i = cuda.grid(1)
    a.view(np.int32)[i] = i
    out[i // 2] = a[i // 2]


@cuda.jit
def both_halves(a):
    a.view(np.int32)[2 * cuda.grid(1) // 4] = cuda.grid(1)


@cuda.jit
def unwritten_half(out):
    i = cuda.threadIdx.x
    tile = cuda.shared.array(32, np.float64)
    words = tile.view(np.int32)
    words[2 * i] = i
    out[i] = words[2 * i + 1]


def test_threads_may_write_the_halves_of_an_element():
    a = np.random.default_rng(0).random(50)
    words, out = a.view(np.uint32).copy(), np.zeros(100, np.uint32)
    profile = simt.profile(halves[4, 32], a, out)
    assert not profile.hazards
    np.testing.assert_array_equal(out, words)
    np.testing.assert_array_equal(a.view(np.uint32), np.arange(100))
    assert (profile.global_load.sectors, profile.global_store.sectors) == (13, 2 * 13)


def test_bytes_of_shared_and_local_memory():
    a, out = np.random.default_rng(0).random((4, 8)), np.zeros((4, 8, 8), np.uint8)
    assert not simt.profile(bytes_in_shared_memory[1, (8, 4)], a, out).hazards
    np.testing.assert_array_equal(out, a.view(np.uint8).reshape(4, 8, 8))
    out[:] = 0
    assert not simt.profile(bytes_of_a_thread[1, 32], a.reshape(32), out.reshape(32, 8)).hazards
    np.testing.assert_array_equal(out, a.view(np.uint8).reshape(4, 8, 8))


@pytest.mark.parametrize("kernel", [two_views, both_halves])
def test_a_race_between_an_element_and_a_part_of_it_is_found(kernel):
    arguments = (np.zeros(16), np.zeros(16))[: len(kernel.program.parameters)]
    assert {h.kind for h in simt.profile(kernel[1, 32], *arguments).hazards} == {"race"}


def test_the_unwritten_half_of_an_element_is_found():
    assert [h.kind for h in simt.profile(unwritten_half[1, 32], np.zeros(32, np.int32)).hazards] == [
        "uninitialised"
    ]


def test_the_units_of_a_launch_are_those_of_its_own_kernel():
    """A kernel that sees no part of an element keeps one record for each element."""

    @cuda.jit
    def whole(a):
        a[cuda.grid(1)] = 1.0

    a = np.zeros(32)
    for kernel in (halves[1, 64], whole[1, 32], halves[1, 64]):
        arguments = (a, np.zeros(64, np.uint32))[: len(kernel.kernel.program.parameters)]
        assert not simt.profile(kernel, *arguments).hazards
