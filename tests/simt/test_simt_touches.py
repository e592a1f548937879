"""Who touched what, read off a profile, is what the kernel's source says."""

import numpy as np
from numba import float64

from course_pkg import cuda, simt
from course_pkg.simt.report.touches import touches


@cuda.jit
def reverse_in_blocks(a, out):
    spare = cuda.shared.array(3, float64)
    tile = cuda.shared.array(4, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    spare[0] = 1.0
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[3 - t]


@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    cuda.atomic.add(out, (x, y), a[y, x])


def table(found):
    return sorted(zip(found.block.tolist(), found.thread.tolist(), found.element.tolist(), strict=True))


def by_place(kernel, launch, *arguments):
    found = touches(simt.profile(kernel[launch], *arguments))
    return {(t.space, t.kind, t.array): t for t in found}


def test_global_and_shared_elements_of_each_thread():
    found = by_place(reverse_in_blocks, (2, 4), np.arange(8.0), np.zeros(8))
    assert table(found["global", "load", "a"]) == [(b, t, 4 * b + t) for b in range(2) for t in range(4)]
    assert table(found["global", "store", "out"]) == [(b, t, 4 * b + t) for b in range(2) for t in range(4)]
    assert table(found["shared", "store", "tile"]) == [(b, t, t) for b in range(2) for t in range(4)]
    assert table(found["shared", "load", "tile"]) == [(b, t, 3 - t) for b in range(2) for t in range(4)]
    assert found["shared", "load", "tile"].shape == (4,)
    assert found["shared", "store", "spare"].element.tolist() == [0] * 8


def test_two_dimensions_and_atomics():
    found = by_place(transpose, ((1, 1), (3, 2)), np.arange(6.0).reshape(2, 3), np.zeros((3, 2)))
    assert found["global", "load", "a"].shape == (2, 3)
    assert table(found["global", "load", "a"]) == [(0, n, n) for n in range(6)]
    assert table(found["global", "atomic", "out"]) == [(0, n, 2 * (n % 3) + n // 3) for n in range(6)]
