"""What a thread of a marching kernel reads and writes, step by step."""

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.stencil.gpu_numba import laplacian_flat_kernel, laplacian_marching_kernel
from course_pkg.witness.marches import march_of

NX, NY, NZ = 32, 3, 6
PLANE = NX * NY * 8


@pytest.fixture(scope="module")
def marched():
    sizes = map(np.uint32, (NX, NY, NZ, 4))
    return simt.profile(
        laplacian_marching_kernel[(1, 1, 2), (NX, NY)], np.ones(NX * NY * NZ), *sizes, np.empty(NX * NY * NZ)
    )


def test_each_plane_of_a_chunk_is_read_once_and_one_ahead(marched):
    reads, writes = march_of(marched, "u", "out", PLANE, lane=5)
    assert reads == [(0, 0), (0, 1), (1, 2), (2, 3), (3, 4)]
    assert writes == [(1, 0), (2, 1), (3, 2), (4, 3)]


def test_the_next_chunk_reads_the_plane_below_it_again(marched):
    reads, writes = march_of(marched, "u", "out", PLANE, block=1)
    assert reads == [(0, 3), (0, 4), (0, 5)] and writes == [(1, 4), (2, 5)]


def test_a_kernel_that_does_not_march_has_one_step():
    sizes = map(np.uint32, (NX, NY, NZ))
    p = simt.profile(
        laplacian_flat_kernel[(1, 1, 3), (NX, NY, 2)], np.ones(NX * NY * NZ), *sizes, np.empty(NX * NY * NZ)
    )
    reads, writes = march_of(p, "u", "out", PLANE, block=1)
    assert writes == [(1, 2)] and {plane for _, plane in reads} == {1, 2, 3}


def test_a_thread_that_writes_nothing_has_no_march(marched):
    with pytest.raises(simt.SimtError, match="writes nothing to nowhere"):
        march_of(marched, "u", "nowhere", PLANE)
