"""Kernels of the kinds that learners bring: clusters, boxes, neighbours, random walks, strings and steps in time."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()


@cuda.jit
def brought_assign(points, centres, labels):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best, nearest = -1, 1e30
        for k in range(centres.shape[0]):
            dx = points[i, 0] - centres[k, 0]
            dy = points[i, 1] - centres[k, 1]
            distance = dx * dx + dy * dy
            if distance < nearest:
                nearest, best = distance, k
        labels[i] = best


@cuda.jit
def brought_gather(points, labels, sums, counts):
    i = cuda.grid(1)
    if i < points.shape[0]:
        k = labels[i]
        cuda.atomic.add(sums, (k, 0), points[i, 0])
        cuda.atomic.add(sums, (k, 1), points[i, 1])
        cuda.atomic.add(counts, k, 1)


for dtype in ("float32", "float64"):
    cases.add(
        brought_assign,
        3,
        64,
        lambda dtype=dtype: (numbers((150, 2), dtype), numbers((5, 2), dtype, 1), zeros(150, "int32")),
        "k-means: the nearest centre",
        name=f"brought_assign_{dtype}",
    )
cases.add(
    brought_gather,
    3,
    64,
    lambda: (numbers((150, 2)), numbers(150, "int32", 1) % 4, zeros((4, 2)), zeros(4, "int32")),
    "k-means: sums of the clusters by atomics",
)


@cuda.jit(device=True)
def brought_overlap(a, b):
    """Return the area of the intersection of two boxes, divided by the area of their union."""
    left, top = max(a[0], b[0]), max(a[1], b[1])
    right, bottom = min(a[2], b[2]), min(a[3], b[3])
    width, height = max(right - left, np.float32(0)), max(bottom - top, np.float32(0))
    common = width * height
    area_a = (a[2] - a[0]) * (a[3] - a[1])
    area_b = (b[2] - b[0]) * (b[3] - b[1])
    return common / (area_a + area_b - common)


@cuda.jit
def brought_suppression(boxes, limit, masks):
    """For each box and each block of 32 boxes, a mask of the later boxes that overlap with it by more than a limit."""
    part = cuda.shared.array((32, 4), np.float32)
    first_row, first_column = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    rows = min(boxes.shape[0] - first_row, 32)
    columns = min(boxes.shape[0] - first_column, 32)
    t = cuda.threadIdx.x
    if t < columns:
        for k in range(4):
            part[t, k] = boxes[first_column + t, k]
    cuda.syncthreads()
    if t < rows:
        bits, start = 0, 0
        if first_row == first_column:
            start = t + 1
        for j in range(start, columns):
            if brought_overlap(boxes[first_row + t], part[j]) > limit:
                bits |= 1 << j
        masks[first_row + t, cuda.blockIdx.x] = bits


@cuda.jit
def brought_suppressed(boxes, scores, limit, keep):
    """A box is dropped if a better one overlaps it; the search ends as soon as such a box is found."""
    i = cuda.grid(1)
    if i >= boxes.shape[0]:
        return
    keep[i] = 1
    for j in range(boxes.shape[0]):
        if scores[j] > scores[i]:
            width = min(boxes[i, 2], boxes[j, 2]) - max(boxes[i, 0], boxes[j, 0])
            height = min(boxes[i, 3], boxes[j, 3]) - max(boxes[i, 1], boxes[j, 1])
            if width > 0 and height > 0 and width * height > limit:
                keep[i] = 0
                return


def boxes(n=50):
    """Return boxes as left, top, right and bottom."""
    corners = 4 * numbers((n, 2), "float32")
    return np.concatenate([corners, corners + numbers((n, 2), "float32", 1)], axis=1)


cases.add(
    brought_suppression,
    (2, 2),
    32,
    lambda: (boxes(), np.float32(0.3), zeros((50, 2), "int64")),
    "boxes that overlap: rows of arrays passed to a device function",
    data_dependent=True,
)
cases.add(
    brought_suppressed,
    2,
    32,
    lambda: (boxes(), numbers(50, "float32", 2), np.float32(0.4), zeros(50, "int32")),
    "boxes that overlap: a search that returns early",
    data_dependent=True,
)


@cuda.jit
def brought_neighbours(points, queries, distances, places):
    """The three nearest points, kept sorted in local arrays."""
    best = cuda.local.array(3, np.float64)
    best_place = cuda.local.array(3, np.int32)
    i = cuda.grid(1)
    if i < queries.size:
        for k in range(3):
            best[k] = 1e30
            best_place[k] = -1
        for j in range(points.size):
            distance = abs(points[j] - queries[i])
            k = 2
            if distance < best[k]:
                while k > 0 and best[k - 1] > distance:
                    best[k] = best[k - 1]
                    best_place[k] = best_place[k - 1]
                    k -= 1
                best[k] = distance
                best_place[k] = j
        for k in range(3):
            distances[i, k] = best[k]
            places[i, k] = best_place[k]


cases.add(
    brought_neighbours,
    2,
    32,
    lambda: (numbers(40), numbers(60, seed=1), zeros((60, 3)), zeros((60, 3), "int32")),
    "nearest neighbours by insertion into local arrays",
    data_dependent=True,
)


@cuda.jit
def brought_pi(seeds, counts, draws):
    """Count random points in a circle; a linear congruential generator draws them."""
    i = cuda.grid(1)
    if i < seeds.size:
        state = seeds[i]
        inside = 0
        for _ in range(draws):
            state = (state * np.uint32(1664525) + np.uint32(1013904223)) & np.uint32(0xFFFFFFFF)
            x = (state >> 8) / 16777216.0
            state = (state * np.uint32(1664525) + np.uint32(1013904223)) & np.uint32(0xFFFFFFFF)
            y = (state >> 8) / 16777216.0
            if x * x + y * y <= 1.0:
                inside += 1
        counts[i] = inside


@cuda.jit
def brought_haversine(latitude, longitude, lat0, lon0, kilometres):
    i = cuda.grid(1)
    if i < latitude.size:
        dlat = math.sin((latitude[i] - lat0) / 2.0)
        dlon = math.sin((longitude[i] - lon0) / 2.0)
        a = dlat * dlat + math.cos(lat0) * math.cos(latitude[i]) * dlon * dlon
        kilometres[i] = 2.0 * 6371.0 * math.asin(math.sqrt(a))


@cuda.jit(device=True)
def brought_slope(x, v):
    return -x - 0.1 * v


@cuda.jit
def brought_oscillators(places, speeds, dt, steps):
    """Runge and Kutta's method of second order, one oscillator per thread."""
    i = cuda.grid(1)
    if i < places.size:
        x, v = places[i], speeds[i]
        for _ in range(steps):
            middle_x = x + 0.5 * dt * v
            middle_v = v + 0.5 * dt * brought_slope(x, v)
            x += dt * middle_v
            v += dt * brought_slope(middle_x, middle_v)
        places[i] = x
        speeds[i] = v


@cuda.jit
def brought_matches(text, pattern, found):
    i = cuda.grid(1)
    if i <= text.size - pattern.size:
        for k in range(pattern.size):
            if text[i + k] != pattern[k]:
                return
        found[i] = 1


@cuda.jit
def brought_pair_energy(places, energies, cutoff, width):
    """Lennard-Jones energies in a periodic box, without pairs beyond the cutoff."""
    i = cuda.grid(1)
    if i >= places.shape[0]:
        return
    total = 0.0
    for j in range(places.shape[0]):
        if j == i:
            continue
        squared = 0.0
        for k in range(3):
            d = places[i, k] - places[j, k]
            if d > width / 2:
                d -= width
            elif d < -width / 2:
                d += width
            squared += d * d
        if squared < cutoff * cutoff:
            sixth = 1.0 / (squared * squared * squared)
            total += 4.0 * (sixth * sixth - sixth)
    energies[i] = total


@cuda.jit
def brought_paths(costs, total, row):
    """One row of a table of cheapest paths, computed from the row before."""
    j = cuda.grid(1)
    columns = costs.shape[1]
    if j < columns:
        best = total[row - 1, j]
        if j > 0:
            best = min(best, total[row - 1, j - 1])
        if j < columns - 1:
            best = min(best, total[row - 1, j + 1])
        total[row, j] = best + costs[row, j]


N = 100
cases.add(
    brought_pi, 2, 64, lambda: (numbers(N, "uint32"), zeros(N, "int32"), 10), "random points in a circle"
)
cases.add(
    brought_haversine,
    2,
    64,
    lambda: (numbers(N), numbers(N, seed=1), 0.9, 0.1, zeros(N)),
    "distances on a sphere: sin, cos, asin",
)
cases.add(
    brought_oscillators, 2, 64, lambda: (numbers(N), numbers(N, seed=1), 0.01, 7), "steps of an oscillator"
)
cases.add(
    brought_matches,
    2,
    64,
    lambda: (numbers(N, "uint8") % 3, np.array([1, 2, 1], "uint8"), zeros(N, "int8")),
    "a word in a text: the first letter that differs ends the thread",
    data_dependent=True,
)
cases.add(
    brought_pair_energy,
    2,
    32,
    lambda: (5 * numbers((40, 3)), zeros(40), 2.5, 5.0),
    "pairs within a cutoff: continue, nested branches, a division",
    data_dependent=True,
)
cases.add(
    brought_paths,
    2,
    64,
    lambda: (numbers((4, N)), numbers((4, N), seed=1), 2),
    "cheapest of three neighbours, two of them behind a test",
)
