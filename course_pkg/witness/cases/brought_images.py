"""Kernels of the kinds that learners bring: images, their filters and histograms."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
BLOCK, BINS = (16, 8), 32
HEIGHT, WIDTH = 21, 40
GRID = (3, 3)


def image(dtype="float32", seed=2027):
    """Return a grey picture."""
    return numbers((HEIGHT, WIDTH), dtype, seed)


@cuda.jit
def brought_grey(rgb, grey):
    x, y = cuda.grid(2)
    if y < grey.shape[0] and x < grey.shape[1]:
        red, green, blue = rgb[y, x, 0], rgb[y, x, 1], rgb[y, x, 2]
        grey[y, x] = 0.299 * red + 0.587 * green + 0.114 * blue


cases.add(
    brought_grey,
    GRID,
    BLOCK,
    lambda: (numbers((HEIGHT, WIDTH, 3), "uint8"), zeros((HEIGHT, WIDTH))),
    "three bytes of a pixel and three coefficients",
)


@cuda.jit
def brought_convolution(picture, mask, out):
    x, y = cuda.grid(2)
    if y >= picture.shape[0] or x >= picture.shape[1]:
        return
    reach = mask.shape[0] // 2
    total = np.float32(0.0)
    for k in range(mask.shape[0]):
        for m in range(mask.shape[1]):
            i, j = y + k - reach, x + m - reach
            if i >= 0 and i < picture.shape[0] and j >= 0 and j < picture.shape[1]:
                total += mask[k, m] * picture[i, j]
    out[y, x] = total


cases.add(
    brought_convolution,
    GRID,
    BLOCK,
    lambda: (image(), numbers((3, 3), "float32", 1), zeros((HEIGHT, WIDTH), "float32")),
    "a mask of any size, and a test for each neighbour",
)


@cuda.jit
def brought_row_filter(signal, taps, out):
    """A filter along a signal; each block's part with its halo lies in shared memory."""
    part = cuda.shared.array(72, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t + 4] = signal[i]
    if t < 4:
        part[t] = signal[i - 4] if i >= 4 else np.float32(0)
        part[t + 68] = signal[i + 64] if i + 64 < signal.size else np.float32(0)
    cuda.syncthreads()
    total = np.float32(0.0)
    for k in range(9):
        total += taps[k] * part[t + k]
    out[i] = total


cases.add(
    brought_row_filter,
    4,
    64,
    lambda: (numbers(256, "float32"), numbers(9, "float32", 1), zeros(256, "float32")),
    "a convolution of nine taps in shared memory",
)


@cuda.jit
def brought_sobel(picture, out):
    x, y = cuda.grid(2)
    if 0 < x < picture.shape[1] - 1 and 0 < y < picture.shape[0] - 1:
        across = (
            picture[y - 1, x + 1]
            + 2 * picture[y, x + 1]
            + picture[y + 1, x + 1]
            - picture[y - 1, x - 1]
            - 2 * picture[y, x - 1]
            - picture[y + 1, x - 1]
        )
        down = (
            picture[y + 1, x - 1]
            + 2 * picture[y + 1, x]
            + picture[y + 1, x + 1]
            - picture[y - 1, x - 1]
            - 2 * picture[y - 1, x]
            - picture[y - 1, x + 1]
        )
        out[y, x] = math.sqrt(across * across + down * down)


for dtype in ("float32", "float64"):
    cases.add(
        brought_sobel,
        GRID,
        BLOCK,
        lambda dtype=dtype: (image(dtype), zeros((HEIGHT, WIDTH), dtype)),
        "eight neighbours, some used twice, and the root of a sum of squares",
        name=f"brought_sobel_{dtype}",
    )


@cuda.jit
def brought_median(picture, out):
    """The median of nine pixels, sorted in a local array by exchanges."""
    window = cuda.local.array(9, np.float32)
    x, y = cuda.grid(2)
    if x < 1 or y < 1 or x >= picture.shape[1] - 1 or y >= picture.shape[0] - 1:
        return
    for i in range(3):
        for j in range(3):
            window[3 * i + j] = picture[y + i - 1, x + j - 1]
    for i in range(9):
        for j in range(i + 1, 9):
            if window[j] < window[i]:
                kept = window[i]
                window[i] = window[j]
                window[j] = kept
    out[y, x] = window[4]


cases.add(
    brought_median,
    GRID,
    BLOCK,
    lambda: (image(), zeros((HEIGHT, WIDTH), "float32")),
    "a median of nine: loops of known lengths around a local array",
)


@cuda.jit
def brought_resize(picture, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        across = np.float32(x) * (picture.shape[1] - 1) / (out.shape[1] - 1)
        down = np.float32(y) * (picture.shape[0] - 1) / (out.shape[0] - 1)
        left, top = int(across), int(down)
        right, below = min(left + 1, picture.shape[1] - 1), min(top + 1, picture.shape[0] - 1)
        u, v = across - left, down - top
        upper = picture[top, left] * (1 - u) + picture[top, right] * u
        lower = picture[below, left] * (1 - u) + picture[below, right] * u
        out[y, x] = upper * (1 - v) + lower * v


cases.add(
    brought_resize,
    GRID,
    BLOCK,
    lambda: (numbers((13, 17)), zeros((HEIGHT, WIDTH))),
    "bilinear interpolation between four pixels",
)


@cuda.jit
def brought_histogram(values, counts):
    own = cuda.shared.array(BINS, np.int32)
    t = cuda.threadIdx.x
    if t < BINS:
        own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i] % BINS, 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, own[t])


cases.add(
    brought_histogram,
    3,
    64,
    lambda: (numbers(500, "int32"), zeros(BINS, "int32")),
    "each block's histogram is added to that of the grid",
)


@cuda.jit
def brought_histogram_of_floats(values, low, high, counts):
    i = cuda.grid(1)
    if i < values.size:
        place = int((values[i] - low) / (high - low) * counts.size)
        if place >= 0 and place < counts.size:
            cuda.atomic.add(counts, place, 1)


cases.add(
    brought_histogram_of_floats,
    4,
    128,
    lambda: (numbers(500, "float32"), np.float32(1.0), np.float32(2.0), zeros(10, "int32")),
    "the bin of a float by a division",
)


@cuda.jit
def brought_bilateral(picture, out, space, colour):
    x, y = cuda.grid(2)
    if x >= picture.shape[1] or y >= picture.shape[0]:
        return
    centre = picture[y, x]
    total, weights = 0.0, 0.0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            i = min(max(y + dy, 0), picture.shape[0] - 1)
            j = min(max(x + dx, 0), picture.shape[1] - 1)
            difference = picture[i, j] - centre
            weight = math.exp(-(dx * dx + dy * dy) / space - difference * difference / colour)
            total += weight * picture[i, j]
            weights += weight
    out[y, x] = total / weights


cases.add(
    brought_bilateral,
    GRID,
    BLOCK,
    lambda: (image("float64"), zeros((HEIGHT, WIDTH)), 2.0, 0.1),
    "nine weights by exp, clamped neighbours",
)


@cuda.jit
def brought_dilation(picture, out, reach):
    x, y = cuda.grid(2)
    if x < picture.shape[1] and y < picture.shape[0]:
        largest = picture[y, x]
        for i in range(max(0, y - reach), min(picture.shape[0], y + reach + 1)):
            for j in range(max(0, x - reach), min(picture.shape[1], x + reach + 1)):
                largest = max(largest, picture[i, j])
        out[y, x] = largest


cases.add(
    brought_dilation,
    GRID,
    BLOCK,
    lambda: (image("uint8"), zeros((HEIGHT, WIDTH), "uint8"), 2),
    "the largest of a window that is cut at the boundary",
    data_dependent=True,
)
