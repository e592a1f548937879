"""Kernels of the kinds that learners bring: layers of networks, forwards and backwards, and the most similar rows."""

import math

import numpy as np
from numba import float32, float64, int32

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
THREADS, BEST = 64, 4


@cuda.jit(device=True)
def brought_sigmoid(x):
    """The logistic function."""
    return 1.0 / (1.0 + math.exp(-x))


@cuda.jit
def brought_memory_cell(x, h, c, wx, wh, bias, h_new, c_new):
    """A step of long short-term memory: a thread computes the four gates of one unit of one sample."""
    sample, unit = cuda.grid(2)
    if sample < h.shape[0] and unit < h.shape[1]:
        units = h.shape[1]
        gates = cuda.local.array(4, float32)
        for g in range(4):
            acc = bias[g * units + unit]
            for k in range(x.shape[1]):
                acc += x[sample, k] * wx[k, g * units + unit]
            for k in range(units):
                acc += h[sample, k] * wh[k, g * units + unit]
            gates[g] = acc
        keep = brought_sigmoid(gates[0])
        enter = brought_sigmoid(gates[1])
        leave = brought_sigmoid(gates[2])
        cell = keep * c[sample, unit] + enter * math.tanh(gates[3])
        c_new[sample, unit] = cell
        h_new[sample, unit] = leave * math.tanh(cell)


cases.add(
    brought_memory_cell,
    (2, 2),
    (8, 16),
    lambda: (
        numbers((12, 10), "float32") - np.float32(1.5),
        numbers((12, 20), "float32", 1) - np.float32(1.5),
        numbers((12, 20), "float32", 2),
        numbers((10, 80), "float32", 3) - np.float32(1.5),
        numbers((20, 80), "float32", 4) - np.float32(1.5),
        numbers(80, "float32", 5) - np.float32(1.5),
        zeros((12, 20), "float32"),
        zeros((12, 20), "float32"),
    ),
    "long short-term memory: samples along x, four gates in a local array, a sigmoid of doubles",
)


@cuda.jit
def brought_normal_backwards(x, gradient, gamma, eps, dx, dgamma, dbeta):
    """The gradients of a normalisation over a batch; a block computes those of one feature."""
    first = cuda.shared.array(THREADS, float64)
    second = cuda.shared.array(THREADS, float64)
    f = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    n = x.shape[0]
    s = 0.0
    s2 = 0.0
    for i in range(tid, n, THREADS):
        s += x[i, f]
        s2 += x[i, f] ** 2
    first[tid] = s
    second[tid] = s2
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if tid < half:
            first[tid] += first[tid + half]
            second[tid] += second[tid + half]
        cuda.syncthreads()
        half //= 2
    mean = first[0] / n
    inverse = 1.0 / math.sqrt(second[0] / n - mean * mean + eps)
    cuda.syncthreads()
    s = 0.0
    s2 = 0.0
    for i in range(tid, n, THREADS):
        s += gradient[i, f]
        s2 += gradient[i, f] * (x[i, f] - mean) * inverse
    first[tid] = s
    second[tid] = s2
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if tid < half:
            first[tid] += first[tid + half]
            second[tid] += second[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        dbeta[f] = first[0]
        dgamma[f] = second[0]
    for i in range(tid, n, THREADS):
        normal = (x[i, f] - mean) * inverse
        dx[i, f] = gamma[f] * inverse / n * (n * gradient[i, f] - first[0] - normal * second[0])


cases.add(
    brought_normal_backwards,
    7,
    THREADS,
    lambda: (
        numbers((90, 7), "float32"),
        numbers((90, 7), "float32", 1),
        numbers(7, "float32", 2),
        1e-5,
        zeros((90, 7), "float32"),
        zeros(7, "float32"),
        zeros(7, "float32"),
    ),
    "gradients of a normalised batch: two trees with two sums each, single precision in doubles",
    data_dependent=True,
)


@cuda.jit
def brought_largest_of_windows(x, out, places, size, stride):
    """The largest number of each window and its place, for each image and channel."""
    i, j, z = cuda.grid(3)
    channels = x.shape[1]
    if i >= out.shape[2] or j >= out.shape[3] or z >= x.shape[0] * channels:
        return
    n = z // channels
    c = z % channels
    largest = -1e30
    place = -1
    for di in range(size):
        for dj in range(size):
            r = i * stride + di
            s = j * stride + dj
            if r < x.shape[2] and s < x.shape[3]:
                value = x[n, c, r, s]
                if value > largest:
                    largest = value
                    place = r * x.shape[3] + s
    out[n, c, i, j] = largest
    places[n, c, i, j] = place


cases.add(
    brought_largest_of_windows,
    (2, 2, 2),
    (8, 8, 4),
    lambda: (
        numbers((2, 3, 20, 23), "float32"),
        zeros((2, 3, 10, 12), "float32"),
        zeros((2, 3, 10, 12), "int64"),
        3,
        2,
    ),
    "pooling with places: rows along x, a division by the number of channels",
)


@cuda.jit
def brought_embedding_backwards(tokens, gradient, table_gradient, padding):
    """Add the gradient of each word of a text to its row of a table."""
    k, word = cuda.grid(2)
    if word < tokens.size and k < gradient.shape[2]:
        text = word // tokens.shape[1]
        place = word % tokens.shape[1]
        token = tokens[text, place]
        if token != padding:
            cuda.atomic.add(table_gradient, (token, k), gradient[text, place, k])


cases.add(
    brought_embedding_backwards,
    (2, 8),
    (16, 8),
    lambda: (
        np.random.default_rng(2).integers(0, 12, (5, 11)),
        numbers((5, 11, 20), "float32"),
        zeros((12, 20), "float32"),
        0,
    ),
    "an embedding's gradient: atomics in rows that equal words share",
)


@cuda.jit
def brought_most_similar(rows, queries, scores, places):
    """The rows with the greatest cosines to each query, inserted into a sorted local list."""
    q = cuda.grid(1)
    if q >= queries.shape[0]:
        return
    best = cuda.local.array(BEST, float32)
    which = cuda.local.array(BEST, int32)
    for k in range(BEST):
        best[k] = -2.0
        which[k] = -1
    for i in range(rows.shape[0]):
        dot = 0.0
        a = 0.0
        b = 0.0
        for d in range(rows.shape[1]):
            dot += rows[i, d] * queries[q, d]
            a += rows[i, d] ** 2
            b += queries[q, d] ** 2
        score = dot / (math.sqrt(a) * math.sqrt(b))
        if score <= best[BEST - 1]:
            continue
        k = BEST - 1
        while k > 0 and best[k - 1] < score:
            best[k] = best[k - 1]
            which[k] = which[k - 1]
            k -= 1
        best[k] = score
        which[k] = i
    for k in range(BEST):
        scores[q, k] = best[k]
        places[q, k] = which[k]


cases.add(
    brought_most_similar,
    2,
    32,
    lambda: (
        numbers((40, 6), "float32") - np.float32(1.5),
        numbers((45, 6), "float32", 1) - np.float32(1.5),
        zeros((45, BEST), "float32"),
        zeros((45, BEST), "int32"),
    ),
    "the best cosines: insertion into local arrays, lengths computed anew in each trip",
    data_dependent=True,
)
