"""Filters of pictures: grey values, a box, edges, a median, a bilateral filter, a histogram and its equalization."""

import math

import numpy as np
from numba import cuda, float32, uint8

RADIUS = 1
TILE = 16
PADDED = TILE + 2 * RADIUS
K = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], dtype=np.float32)


@cuda.jit(device=True, inline=True)
def clamp(v, low, high):
    return max(low, min(v, high))


@cuda.jit
def grey(rgb, out):
    row, col = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    r, g, b = rgb[row, col]
    out[row, col] = uint8(round(0.299 * r + 0.587 * g + 0.114 * b))


@cuda.jit("void(uint8[:, :], uint8[:, :])")
def box(image, out):
    tile = cuda.shared.array((PADDED, PADDED), dtype=uint8)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0, y0 = cuda.blockIdx.x * TILE - RADIUS, cuda.blockIdx.y * TILE - RADIUS
    height, width = image.shape
    for j in range(ty, PADDED, TILE):
        for i in range(tx, PADDED, TILE):
            tile[j, i] = image[clamp(y0 + j, 0, height - 1), clamp(x0 + i, 0, width - 1)]
    cuda.syncthreads()
    x, y = cuda.grid(2)
    if x < width and y < height:
        total = np.int32(0)
        for dy in range(2 * RADIUS + 1):
            for dx in range(2 * RADIUS + 1):
                total += tile[ty + dy, tx + dx]
        out[y, x] = total // ((2 * RADIUS + 1) ** 2)


@cuda.jit
def edges(image, out):
    """Sobel's filter; the mask is a constant array of the module."""
    mask = cuda.const.array_like(K)
    x, y = cuda.grid(2)
    if 1 <= x < image.shape[1] - 1 and 1 <= y < image.shape[0] - 1:
        gx = float32(0.0)
        gy = float32(0.0)
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                v = image[y + dy, x + dx]
                gx += mask[dy + 1, dx + 1] * v
                gy += mask[dx + 1, dy + 1] * v
        out[y, x] = math.sqrt(gx * gx + gy * gy)


@cuda.jit
def median(image, out):
    window = cuda.local.array(9, uint8)
    x, y = cuda.grid(2)
    if x == 0 or y == 0 or x >= image.shape[1] - 1 or y >= image.shape[0] - 1:
        return
    for k in range(9):
        window[k] = image[y - 1 + k // 3, x - 1 + k % 3]
    for i in range(5):
        least = i
        for j in range(i + 1, 9):
            if window[j] < window[least]:
                least = j
        window[i], window[least] = window[least], window[i]
    out[y, x] = window[4]


@cuda.jit(fastmath=True)
def bilateral(image, out, sigma_s, sigma_r):
    x, y = cuda.grid(2)
    h, w = image.shape
    if x < w and y < h:
        centre, total, weights = image[y, x], 0.0, 0.0
        for j in range(max(0, y - 2), min(h, y + 3)):
            for i in range(max(0, x - 2), min(w, x + 3)):
                d2 = (i - x) ** 2 + (j - y) ** 2
                dv = float(image[j, i]) - float(centre)
                weight = math.exp(-d2 / (2 * sigma_s**2) - dv * dv / (2 * sigma_r**2))
                total += weight * image[j, i]
                weights += weight
        out[y, x] = total / weights


@cuda.jit
def histogram(image, bins):
    mine = cuda.shared.array(256, np.int32)
    t = cuda.threadIdx.x
    for k in range(t, 256, cuda.blockDim.x):
        mine[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), image.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, image[i], 1)
    cuda.syncthreads()
    for k in range(t, 256, cuda.blockDim.x):
        if mine[k]:
            cuda.atomic.add(bins, k, mine[k])


def main():
    rng = np.random.default_rng(1)
    rgb = rng.integers(0, 256, (45, 37, 3), dtype=np.uint8)
    blocks, threads = ((37 + 15) // 16, (45 + 15) // 16), (16, 16)
    stream = cuda.stream()
    picture = cuda.device_array((45, 37), np.uint8, stream=stream)
    grey[blocks[::-1], threads, stream](cuda.to_device(rgb, stream=stream), picture)
    image = picture.copy_to_host(stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(image, np.round(rgb @ np.array([0.299, 0.587, 0.114])).astype(np.uint8))
    padded = np.pad(image, 1, mode="edge").astype(np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    out = np.zeros_like(image)
    box[blocks, threads](image, out)
    np.testing.assert_array_equal(out, windows.sum(axis=(2, 3)) // 9)
    inner = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (3, 3))
    gradient = np.zeros((45, 37), np.float32)
    edges[blocks, threads](image, gradient)
    gx, gy = (inner * K).sum(axis=(2, 3)), (inner * K.T).sum(axis=(2, 3))
    np.testing.assert_allclose(gradient[1:-1, 1:-1], np.hypot(gx, gy), rtol=1e-5)
    median[blocks, threads](image, out)
    np.testing.assert_array_equal(out[1:-1, 1:-1], np.median(inner, axis=(2, 3)))
    smooth = np.zeros((45, 37))
    bilateral[blocks, threads](image, smooth, 2.0, 30.0)
    assert smooth.min() >= 0 and smooth.max() <= 255 and smooth.std() < image.std()
    bins = np.zeros(256, np.int32)
    histogram[4, 128](image.ravel(), bins)
    np.testing.assert_array_equal(bins, np.bincount(image.ravel(), minlength=256))


if __name__ == "__main__":
    main()
