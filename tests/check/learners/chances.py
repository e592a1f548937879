"""Random numbers, options, fractals, clusters, neighbours, rays, Fourier; two of them are wrong."""

import cmath
import math
from enum import IntEnum

import numpy as np
from numba import complex128, cuda, float32, float64, int64
from numba.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
)

TAPS = 7
CENTRES = 4


class Kind(IntEnum):
    CALL = 0
    PUT = 1


@cuda.jit
def count_inside(states, trials, hits):
    i = cuda.grid(1)
    inside = 0
    for _ in range(trials):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x**2 + y**2 <= 1.0:
            inside += 1
    hits[i] = inside


@cuda.jit
def asian_option(states, s0, strike, r, sigma, dt, steps, payoff):
    i = cuda.grid(1)
    if i >= payoff.shape[0]:
        return
    s, total = s0, 0.0
    for _ in range(steps):
        s *= math.exp(
            (r - 0.5 * sigma**2) * dt + sigma * math.sqrt(dt) * xoroshiro128p_normal_float64(states, i)
        )
        total += s
    payoff[i] = max(total / steps - strike, 0.0)


@cuda.jit(device=True)
def normal_cdf(d):
    return 0.5 * math.erfc(-d / math.sqrt(2.0))


@cuda.jit
def black_scholes(s, x, t, r, v, kind, price):
    i = cuda.grid(1)
    if i < s.size:
        root = math.sqrt(t[i])
        d1 = (math.log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / (v * root)
        d2 = d1 - v * root
        later = x[i] * math.exp(-r * t[i])
        if kind == Kind.CALL:
            price[i] = s[i] * normal_cdf(d1) - later * normal_cdf(d2)
        else:
            price[i] = later * normal_cdf(-d2) - s[i] * normal_cdf(-d1)


@cuda.jit(device=True)
def escape(c, most):
    z = 0j
    for n in range(most):
        z = z * z + c
        if (z.real * z.real + z.imag * z.imag) >= 4:
            return n
    return most


@cuda.jit
def mandelbrot(low, high, image, most):
    startx, starty = cuda.grid(2)
    gridx, gridy = cuda.gridDim.x * cuda.blockDim.x, cuda.gridDim.y * cuda.blockDim.y
    step_x = (high.real - low.real) / image.shape[1]
    step_y = (high.imag - low.imag) / image.shape[0]
    for x in range(startx, image.shape[1], gridx):
        for y in range(starty, image.shape[0], gridy):
            image[y, x] = escape(complex(low.real + x * step_x, low.imag + y * step_y), most)


@cuda.jit
def convolve(signal, taps, out):
    i = cuda.grid(1)
    if i < out.size:
        s = float32(0)
        for k in range(TAPS):
            at = i + k - TAPS // 2
            s += taps[k] * (signal[at] if 0 <= at < signal.size else float32(0))
        out[i] = s


@cuda.jit
def assign_clusters(points, centres, label, sums, counts):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best, nearest = math.inf, int64(-1)
        for c in range(CENTRES):
            d = 0.0
            for k in range(points.shape[1]):
                d += (points[i, k] - centres[c, k]) ** 2
            if d < best:
                best, nearest = d, c
        label[i] = nearest
        for k in range(points.shape[1]):
            cuda.atomic.add(sums, (nearest, k), points[i, k])
        cuda.atomic.add(counts, nearest, 1)


@cuda.jit
def move_centres(points, label, centres):
    """Wrong: all threads of a cluster add to its centre without an atomic."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        for k in range(points.shape[1]):
            centres[label[i], k] += points[i, k]


@cuda.jit
def nearest(train, query, k, out):
    i = cuda.grid(1)
    if i >= query.shape[0]:
        return
    dist = cuda.local.array(8, float64)
    which = cuda.local.array(8, int64)
    for j in range(k):
        dist[j], which[j] = np.inf, -1
    for t in range(train.shape[0]):
        d = abs(train[t] - query[i])
        j = k - 1
        if d >= dist[j]:
            continue
        while j > 0 and dist[j - 1] > d:
            dist[j], which[j] = dist[j - 1], which[j - 1]
            j -= 1
        dist[j], which[j] = d, t
    for j in range(k):
        out[i, j] = which[j]


@cuda.jit(device=True)
def scene(p):
    x, y, z = p
    return min(math.sqrt(x * x + y * y + (z - 3) ** 2) - 1.0, y + 1.5)


@cuda.jit
def march(image, most):
    col, row = cuda.grid(2)
    h, w = image.shape
    if col < w and row < h:
        u, v = 2 * col / w - 1, 1 - 2 * row / h
        norm = math.sqrt(u * u + v * v + 1)
        direction = (u / norm, v / norm, 1 / norm)
        depth = 0.0
        for _ in range(most):
            d = scene((depth * direction[0], depth * direction[1], depth * direction[2]))
            if d < 1e-4 or depth > 20:
                break
            depth += d
        image[row, col] = depth if depth <= 20 else math.nan


@cuda.jit
def fft(x, n):
    """Radix 2 in shared memory, by one block of n / 2 threads."""
    s = cuda.shared.array(64, complex128)
    t = cuda.threadIdx.x
    bits = int64(math.log2(n) + 0.5)
    for at in (int64(t), t + n // 2):
        r = 0
        left = at
        for _ in range(bits):
            r, left = 2 * r + (left & 1), left >> 1
        s[r] = x[at]
    half = 1
    while half < n:
        cuda.syncthreads()
        k = t & (half - 1)
        i = 2 * (t - k) + k
        turned = cmath.exp(-1j * math.pi * k / half) * s[i + half]
        s[i], s[i + half] = s[i] + turned, s[i] - turned
        half *= 2
    cuda.syncthreads()
    x[t], x[t + n // 2] = s[t], s[t + n // 2]


@cuda.jit
def rule30(old, new):
    """Wrong: the last thread reads beyond the row."""
    i = cuda.grid(1)
    if i < old.size:
        left = old[i - 1] if i else 0
        new[i] = left ^ (old[i] | old[i + 1])


def main():
    rng = np.random.default_rng(5)
    states = create_xoroshiro128p_states(64, seed=7)
    hits = np.zeros(64, np.int64)
    count_inside[2, 32](states, 50, hits)
    assert abs(4 * hits.mean() / 50 - math.pi) < 0.15
    payoff = cuda.pinned_array(64)
    asian_option[2, 32](states, 100.0, 95.0, 0.03, 0.2, 0.1, 10, payoff)
    assert payoff.min() >= 0 and 3 < payoff.mean() < 20
    s, x, t = rng.uniform(5, 30, 100), rng.uniform(1, 100, 100), rng.uniform(0.25, 10, 100)
    call, put = np.zeros(100), np.zeros(100)
    black_scholes[4, 32](s, x, t, 0.02, 0.3, Kind.CALL.value, call)
    black_scholes[4, 32](s, x, t, 0.02, 0.3, Kind.PUT.value, put)
    np.testing.assert_allclose(call - put, s - x * np.exp(-0.02 * t))
    image = np.zeros((30, 40), np.uint8)
    mandelbrot[(2, 2), (16, 8)](-2 - 1j, 1 + 1j, image, 20)
    c = np.linspace(-2, 1, 40, endpoint=False) + 1j * np.linspace(-1, 1, 30, endpoint=False)[:, None]
    z, want = np.zeros_like(c), np.full(c.shape, 20)
    for n in range(20):
        z = np.where(want < 20, z, z * z + c)
        want[(want == 20) & (abs(z) ** 2 >= 4)] = n
    assert (image == want).mean() > 0.99
    signal, taps = rng.random(200, dtype=np.float32), rng.random(TAPS, dtype=np.float32)
    out = np.zeros(200, np.float32)
    convolve.forall(200)(signal, taps, out)
    np.testing.assert_allclose(out, np.convolve(signal, taps[::-1], "same"), rtol=1e-5)
    points, centres = rng.random((90, 2)), rng.random((CENTRES, 2))
    label, sums, counts = np.zeros(90, np.int64), np.zeros((CENTRES, 2)), np.zeros(CENTRES, np.int64)
    assign_clusters[3, 32](points, centres, label, sums, counts)
    np.testing.assert_array_equal(label, ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1))
    np.testing.assert_array_equal(counts, np.bincount(label, minlength=CENTRES))
    move_centres[3, 32](points, label, np.zeros_like(centres))
    train, query = rng.random(50), rng.random(20)
    out = np.zeros((20, 3), np.int64)
    nearest[1, 32](train, query, 3, out)
    np.testing.assert_array_equal(out, np.argsort(abs(train - query[:, None]), axis=1)[:, :3])
    depth = np.zeros((16, 16))
    march[(2, 2), (8, 8)](depth, 60)
    assert abs(depth[8, 8] - 2) < 1e-3
    wave = rng.random(64) + 1j * rng.random(64)
    turned = wave.copy()
    fft[1, 32](turned, 64)
    np.testing.assert_allclose(turned, np.fft.fft(wave))
    cells = np.zeros(64, np.uint8)
    rule30[1, 64](cells, np.zeros_like(cells))


if __name__ == "__main__":
    main()
