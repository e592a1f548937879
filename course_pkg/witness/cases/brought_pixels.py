"""Kernels of the kinds that learners bring: pixels that are converted, thinned, labelled, contoured, and followed."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
BLOCK = (16, 16)


@cuda.jit(device=True)
def brought_clip(value):
    """An integer, limited to a byte."""
    if value < 0:
        return 0
    if value > 255:
        return 255
    return value


@cuda.jit
def brought_yuv_to_rgb(luma, blue, red, rgb):
    """A video frame with one pair of colour differences for each two by two pixels, in integers."""
    x, y = cuda.grid(2)
    height, width = luma.shape
    if x < width and y < height:
        c = luma[y, x] - 16
        d = blue[y // 2, x // 2] - 128
        e = red[y // 2, x // 2] - 128
        rgb[y, x, 0] = brought_clip((298 * c + 409 * e + 128) >> 8)
        rgb[y, x, 1] = brought_clip((298 * c - 100 * d - 208 * e + 128) >> 8)
        rgb[y, x, 2] = brought_clip((298 * c + 516 * d + 128) >> 8)


def plane(height, width, seed):
    """Return random bytes."""
    return np.random.default_rng(seed).integers(0, 256, (height, width)).astype(np.uint8)


cases.add(
    brought_yuv_to_rgb,
    (3, 2),
    BLOCK,
    lambda: (plane(30, 44, 1), plane(15, 22, 2), plane(15, 22, 3), zeros((30, 44, 3), "uint8")),
    "a frame with halved colours: bytes become integers, and a function with two early returns",
)


@cuda.jit
def brought_contours(field, level, kinds, segments):
    """The kind of each square between four points of a field, as marching squares need it."""
    i, j = cuda.grid(2)
    rows, cols = field.shape
    if i >= rows - 1 or j >= cols - 1:
        return
    kind = 0
    if field[i, j] > level:
        kind |= 1
    if field[i, j + 1] > level:
        kind |= 2
    if field[i + 1, j + 1] > level:
        kind |= 4
    if field[i + 1, j] > level:
        kind |= 8
    kinds[i, j] = kind
    if kind == 5 or kind == 10:
        cuda.atomic.add(segments, 0, 2)
    elif kind != 0 and kind != 15:
        cuda.atomic.add(segments, 0, 1)


cases.add(
    brought_contours,
    (2, 3),
    BLOCK,
    lambda: (numbers((30, 41), "float64"), 1.5, zeros((29, 40), "uint8"), zeros(1, "int32")),
    "marching squares: the first index of the grid counts rows, bits are set one by one",
)


@cuda.jit
def brought_labels(picture, labels, new_labels, changed):
    """Each pixel of an object takes the smallest label among itself and its four neighbours."""
    row, col = cuda.grid(2)
    if row >= picture.shape[0] or col >= picture.shape[1]:
        return
    if picture[row, col] == 0:
        new_labels[row, col] = 0
        return
    smallest = labels[row, col]
    for k in range(4):
        dr = (k == 0) - (k == 1)
        dc = (k == 2) - (k == 3)
        r = row + dr
        c = col + dc
        if r >= 0 and r < picture.shape[0] and c >= 0 and c < picture.shape[1]:  # noqa: SIM102
            if picture[r, c] != 0 and labels[r, c] < smallest:
                smallest = labels[r, c]
    new_labels[row, col] = smallest
    if smallest != labels[row, col]:
        changed[0] = 1


cases.add(
    brought_labels,
    (2, 3),
    BLOCK,
    lambda: (
        (plane(25, 37, 4) > 90).astype(np.uint8),
        np.arange(1, 25 * 37 + 1, dtype=np.int32).reshape(25, 37),
        zeros((25, 37), "int32"),
        zeros(1, "int32"),
    ),
    "connected components: differences of comparisons as steps, a flag that many threads set",
)


@cuda.jit
def brought_thinning(gx, gy, low, high, out):
    """Keep a pixel if its gradient is the largest along its direction; mark it as weak or strong, as Canny does."""
    x, y = cuda.grid(2)
    h, w = gx.shape
    if x < 1 or y < 1 or x >= w - 1 or y >= h - 1:
        return
    m = math.sqrt(gx[y, x] ** 2 + gy[y, x] ** 2)
    angle = math.atan2(gy[y, x], gx[y, x]) * 180.0 / math.pi
    if angle < 0:
        angle += 180.0
    if angle < 22.5 or angle >= 157.5:
        dx, dy = 1, 0
    elif angle < 67.5:
        dx, dy = 1, 1
    elif angle < 112.5:
        dx, dy = 0, 1
    else:
        dx, dy = -1, 1
    ahead = math.sqrt(gx[y + dy, x + dx] ** 2 + gy[y + dy, x + dx] ** 2)
    behind = math.sqrt(gx[y - dy, x - dx] ** 2 + gy[y - dy, x - dx] ** 2)
    if m >= ahead and m >= behind:
        if m > high:
            out[y, x] = 255
        elif m > low:
            out[y, x] = 128


cases.add(
    brought_thinning,
    (3, 2),
    BLOCK,
    lambda: (
        numbers((28, 40), "float32") - np.float32(1.5),
        numbers((28, 40), "float32", 1) - np.float32(1.5),
        0.3,
        0.5,
        zeros((28, 40), "uint8"),
    ),
    "Canny's thinning: neighbours along an angle, thresholds in double precision",
)


@cuda.jit
def brought_optical_flow(before, after, u, v, radius):
    """Lucas and Kanade's motion of each pixel: sums over a window, and a system of two equations."""
    x, y = cuda.grid(2)
    if x < radius + 1 or x >= before.shape[1] - radius - 1:
        return
    if y < radius + 1 or y >= before.shape[0] - radius - 1:
        return
    a = b = d = p = q = 0.0
    for j in range(-radius, radius + 1):
        for i in range(-radius, radius + 1):
            ix = (before[y + j, x + i + 1] - before[y + j, x + i - 1]) / 2
            iy = (before[y + j + 1, x + i] - before[y + j - 1, x + i]) / 2
            it = after[y + j, x + i] - before[y + j, x + i]
            a += ix * ix
            b += ix * iy
            d += iy * iy
            p -= ix * it
            q -= iy * it
    det = a * d - b * b
    if abs(det) > 1e-6:
        u[y, x] = (d * p - b * q) / det
        v[y, x] = (a * q - b * p) / det


cases.add(
    brought_optical_flow,
    (2, 2),
    BLOCK,
    lambda: (
        numbers((24, 29), "float32"),
        numbers((24, 29), "float32", 1),
        zeros((24, 29), "float32"),
        zeros((24, 29), "float32"),
        2,
    ),
    "motion between two pictures: single precision summed in double precision, over a window",
)
