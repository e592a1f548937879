"""Kernels of the kinds that people publish: rows, columns and slices as arrays of their own, and loops over them."""

import math

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda

OFFSETS = ((-1, 0), (1, 0), (0, -1), (0, 1))


@cuda.jit(device=True)
def distance(p, q):
    total = 0.0
    for k in range(p.shape[0]):
        total += (p[k] - q[k]) ** 2
    return total


@cuda.jit
def dot(a, b):
    total = 0.0
    for x, y in zip(a, b):  # noqa: B905  (Numba knows no strict=)
        total += x * y
    return total


def nearest_centre(points, centres, label):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best, at = float("inf"), -1
        for c in range(centres.shape[0]):
            d = distance(points[i], centres[c])
            if d < best:
                best = d
                at = c
        label[i] = at


def nearest(points, centres):
    return ((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def product_by_rows_and_columns(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = dot(a[i, :], b[:, j])


def row_sums(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        total = 0.0
        for v in a[i]:
            total += v
        out[i] = total


def weighted_row(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        for j, v in enumerate(a[i], 1):
            out[i] += j * v


def moving_average(x, out, width):
    i = cuda.grid(1)
    if i < out.size:
        window = x[i : i + width]
        total = 0.0
        for v in window:
            total += v
        out[i] = total / len(window)


def reversed_copy(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[::-1][i]


def every_other(x, out):
    i = cuda.grid(1)
    even, odd = x[::2], x[1::2]
    if i < even.size:
        out[i] = even[i] - odd[i]


def central_differences(x, out):
    i = cuda.grid(1)
    inner = out[1:-1]
    if i < inner.size:
        inner[i] = x[2:][i] - x[:-2][i]


def transposed(a, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a.T[i, j]


def unpacked_points(p, out):
    i = cuda.grid(1)
    if i < p.shape[0]:
        x, y, z = p[i]
        out[i] = math.sqrt(x * x + y * y + z * z)


def filled_rows(out, value):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, :] = value
        out[i, 1:3] = (1.0, 2.0)


def local_histogram(x, out):
    i = cuda.grid(1)
    count = cuda.local.array(4, np.int32)
    count[:] = 0
    if i < x.shape[0]:
        for v in x[i]:
            count[int(v) % 4] += 1
        for k, n in enumerate(count):
            out[i, k] = n


def plane_of_a_block(a, out):
    plane = a[cuda.blockIdx.x]
    t = cuda.threadIdx.x
    if t < plane.shape[0]:
        out[cuda.blockIdx.x, t] = plane[t, 0] + plane[t, -1]


def rows_of_a_tile(a, out):
    tile = cuda.shared.array((8, 8), np.float64)
    y, x = cuda.threadIdx.y, cuda.threadIdx.x
    row = tile[y]
    row[x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[:, y][x]


def halves_of_dynamic_memory(x, out):
    memory = cuda.shared.array(0, np.float64)
    first, second = memory[: cuda.blockDim.x], memory[cuda.blockDim.x :]
    t = cuda.threadIdx.x
    first[t] = x[t]
    second[t] = 2 * x[t]
    cuda.syncthreads()
    other = cuda.blockDim.x - 1 - t
    out[t] = first[other] + second[other]


def neighbours_by_table(a, out):
    i, j = cuda.grid(2)
    m, n = a.shape
    if 0 < i < m - 1 and 0 < j < n - 1:
        for di, dj in OFFSETS:
            out[i, j] += a[i + di, j + dj]


def one_neighbour_each(a, out):
    i = cuda.grid(1)
    if i < out.size:
        di, dj = OFFSETS[i % 4]
        out[i] = a[1 + di, 1 + dj]


def lists_of_steps(a, out):
    i = cuda.grid(1)
    if i < out.size:
        for step in [1, 2, 4]:
            out[i] += a[(i + step) % a.size]


def scanned_by_indices(a, out):
    if cuda.grid(1) == 0:
        for i, j in np.ndindex(a.shape):
            out[i] += a[i, j]


def rows_without_an_end(a, out):
    i = cuda.grid(1)
    for r in range(i, a.shape[0], cuda.gridsize(1)):
        row = a[r]
        out[r] = row[0] * row[-1]


def a_number_in_an_array(x, total, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / total[()]


def a_middle_axis(a, out):
    i = cuda.grid(1)
    if i < a.shape[1]:
        part = a[:, i, :]
        for u in range(part.shape[0]):
            for v in range(part.shape[1]):
                out[i] += part[u, v]


def statistics_of_rows(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i, 0] = a[i].sum()
        out[i, 1] = np.mean(a[i])
        out[i, 2] = a[i].argmax()


A, B, X = numbers(6, 7), numbers(7, 5), numbers(24)
P3 = numbers(4, 3, 5)
PUBLISHED = [
    Idiom(nearest_centre, 2, 32, lambda: {"points": numbers(40, 3), "centres": numbers(5, 3) + 0.5, "label": zeros(40)},
          lambda a: {"label": nearest(a["points"], a["centres"])}),
    Idiom(product_by_rows_and_columns, (1, 1), (8, 8), lambda: {"a": A, "b": B, "c": np.zeros((6, 5))},
          lambda a: {"c": A @ B}),
    Idiom(row_sums, 1, 32, lambda: {"a": A, "out": np.zeros(6)}, lambda a: {"out": A.sum(axis=1)}),
    Idiom(weighted_row, 1, 32, lambda: {"a": A, "out": np.zeros(6)}, lambda a: {"out": A @ np.arange(1, 8)}),
    Idiom(moving_average, 1, 32, lambda: {"x": X, "out": np.zeros(24), "width": 4},
          lambda a: {"out": np.array([X[i : i + 4].mean() for i in range(24)])}),
    Idiom(reversed_copy, 1, 32, lambda: {"x": X, "out": np.zeros(24)}, lambda a: {"out": X[::-1]}),
    Idiom(every_other, 1, 32, lambda: {"x": X, "out": np.zeros(12)}, lambda a: {"out": X[::2] - X[1::2]}),
    Idiom(central_differences, 1, 32, lambda: {"x": X, "out": np.zeros(24)},
          lambda a: {"out": np.r_[0, X[2:] - X[:-2], 0]},
          (("inner[i] = x[2:][i]", "out[1:][(i + 1) // 2] = x[2:][i]"),)),
    Idiom(transposed, (1, 1), (8, 8), lambda: {"a": A, "out": np.zeros((7, 6))}, lambda a: {"out": A.T}),
    Idiom(unpacked_points, 1, 32, lambda: {"p": numbers(9, 3), "out": np.zeros(9)},
          lambda a: {"out": np.sqrt((numbers(9, 3) ** 2).sum(axis=1))}),
    Idiom(filled_rows, 1, 32, lambda: {"out": np.zeros((6, 4)), "value": 7.0},
          lambda a: {"out": np.tile([7.0, 1, 2, 7], (6, 1))},
          (("out[i, :] = value", "out[i // 2, :] = value"),)),
    Idiom(local_histogram, 1, 32, lambda: {"x": numbers(6, 9), "out": zeros(6, 4)},
          lambda a: {"out": np.array([np.bincount(r.astype(int) % 4, minlength=4) for r in numbers(6, 9)])}),
    Idiom(plane_of_a_block, 4, 32, lambda: {"a": P3, "out": np.zeros((4, 3))},
          lambda a: {"out": P3[:, :, 0] + P3[:, :, -1]}),
    Idiom(rows_of_a_tile, 1, (8, 8), lambda: {"a": numbers(8, 8), "out": np.zeros((8, 8))},
          lambda a: {"out": numbers(8, 8).T}, (("    cuda.syncthreads()\n", ""),)),
    Idiom(halves_of_dynamic_memory, 1, 64, lambda: {"x": numbers(64), "out": np.zeros(64)},
          lambda a: {"out": 3 * numbers(64)[::-1]}, (("    cuda.syncthreads()\n", ""),), shared_bytes=1024),
    Idiom(neighbours_by_table, (1, 1), (8, 8), lambda: {"a": A, "out": np.zeros((6, 7))},
          lambda a: {"out": np.pad(A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:], 1)}),
    Idiom(one_neighbour_each, 1, 32, lambda: {"a": A, "out": np.zeros(8)},
          lambda a: {"out": np.tile([A[0, 1], A[2, 1], A[1, 0], A[1, 2]], 2)}),
    Idiom(lists_of_steps, 1, 32, lambda: {"a": X, "out": np.zeros(24)},
          lambda a: {"out": sum(np.roll(X, -s) for s in (1, 2, 4))}),
    Idiom(scanned_by_indices, 1, 32, lambda: {"a": A, "out": np.zeros(6)}, lambda a: {"out": A.sum(axis=1)}),
    Idiom(rows_without_an_end, 2, 2, lambda: {"a": numbers(9, 3), "out": np.zeros(9)},
          lambda a: {"out": numbers(9, 3)[:, 0] * numbers(9, 3)[:, -1]}),
    Idiom(a_number_in_an_array, 1, 32, lambda: {"x": X, "total": np.array(4.0), "out": np.zeros(24)},
          lambda a: {"out": X / 4}),
    Idiom(a_middle_axis, 1, 32, lambda: {"a": P3, "out": np.zeros(3)}, lambda a: {"out": P3.sum(axis=(0, 2))}),
    Idiom(statistics_of_rows, 1, 32, lambda: {"a": A, "out": np.zeros((6, 3))},
          lambda a: {"out": np.stack([A.sum(axis=1), A.mean(axis=1), A.argmax(axis=1)], axis=1)}),
]  # fmt: skip
