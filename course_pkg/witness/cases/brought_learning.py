"""Kernels of the kinds that learners bring: rows that are normalised, attention, layers with channels, and trees."""

import math

import numpy as np
from numba import float32

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
THREADS, TILE, PADDED = 128, 16, 17


@cuda.jit
def brought_softmax_of_rows(x, out):
    """A block normalises a row: the largest number, the sum of exponentials, the quotients."""
    buffer = cuda.shared.array(THREADS, dtype=float32)
    row, tid = cuda.blockIdx.x, cuda.threadIdx.x
    cols = x.shape[1]
    largest = float32(-math.inf)
    for j in range(tid, cols, cuda.blockDim.x):
        largest = max(largest, x[row, j])
    buffer[tid] = largest
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if tid < s:
            buffer[tid] = max(buffer[tid], buffer[tid + s])
        cuda.syncthreads()
        s >>= 1
    largest = buffer[0]
    cuda.syncthreads()
    total = float32(0.0)
    for j in range(tid, cols, cuda.blockDim.x):
        e = math.exp(x[row, j] - largest)
        out[row, j] = e
        total += e
    buffer[tid] = total
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if tid < s:
            buffer[tid] += buffer[tid + s]
        cuda.syncthreads()
        s >>= 1
    for j in range(tid, cols, cuda.blockDim.x):
        out[row, j] /= buffer[0]


cases.add(
    brought_softmax_of_rows,
    9,
    THREADS,
    lambda: (numbers((9, 200), "float32"), zeros((9, 200), "float32")),
    "softmax with a block for each row: two trees in one shared array",
    data_dependent=True,
)


@cuda.jit(device=True)
def brought_sum_of_lanes(value):
    """The sum over a warp, in each of its lanes."""
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(0xFFFFFFFF, value, offset)
    return value


@cuda.jit
def brought_layer_norm(x, gamma, beta, out, eps):
    """A warp normalises a row to mean 0 and variance 1."""
    lane = cuda.threadIdx.x
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if row >= x.shape[0]:
        return
    n = x.shape[1]
    total = float32(0.0)
    for j in range(lane, n, 32):
        total += x[row, j]
    mean = brought_sum_of_lanes(total) / n
    squares = float32(0.0)
    for j in range(lane, n, 32):
        d = x[row, j] - mean
        squares += d * d
    variance = brought_sum_of_lanes(squares) / n
    scale = 1.0 / math.sqrt(variance + eps)
    for j in range(lane, n, 32):
        out[row, j] = (x[row, j] - mean) * scale * gamma[j] + beta[j]


cases.add(
    brought_layer_norm,
    6,
    (32, 4),
    lambda: (
        numbers((22, 70), "float32"),
        numbers(70, "float32", 1),
        numbers(70, "float32", 2),
        zeros((22, 70), "float32"),
        1e-5,
    ),
    "a warp for each row: shuffles in a device function, which an integer turns into doubles",
    data_dependent=True,
)


@cuda.jit
def brought_attention(queries, keys, scores):
    """Scaled products of queries and keys by tiles; later keys are masked."""
    q = cuda.shared.array((TILE, PADDED), float32)
    k = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE + tx
    row = cuda.blockIdx.y * TILE + ty
    head = cuda.blockIdx.z
    length, width = queries.shape[1], queries.shape[2]
    acc = float32(0.0)
    for start in range(0, width, TILE):
        if row < length and start + tx < width:
            q[ty, tx] = queries[head, row, start + tx]
        else:
            q[ty, tx] = 0.0
        key = cuda.blockIdx.x * TILE + ty
        if key < length and start + tx < width:
            k[ty, tx] = keys[head, key, start + tx]
        else:
            k[ty, tx] = 0.0
        cuda.syncthreads()
        for j in range(TILE):
            acc += q[ty, j] * k[tx, j]
        cuda.syncthreads()
    if row < length and col < length:
        if col <= row:
            scores[head, row, col] = acc / math.sqrt(width)
        else:
            scores[head, row, col] = -1e9


cases.add(
    brought_attention,
    (3, 3, 2),
    (TILE, TILE),
    lambda: (
        numbers((2, 40, 24), "float32"),
        numbers((2, 40, 24), "float32", 1),
        zeros((2, 40, 40), "float32"),
    ),
    "scores of attention: padded tiles, heads along z, a causal mask",
)


@cuda.jit
def brought_channels(x, weight, bias, y, stride, padding):
    """A layer of a network: a convolution over all channels, with padding; z counts images and channels."""
    ow, oh, z = cuda.grid(3)
    n, c_out = z // y.shape[1], z % y.shape[1]
    if n >= y.shape[0] or oh >= y.shape[2] or ow >= y.shape[3]:
        return
    acc = bias[c_out]
    for c in range(x.shape[1]):
        for i in range(weight.shape[2]):
            ih = oh * stride - padding + i
            if ih < 0 or ih >= x.shape[2]:
                continue
            for j in range(weight.shape[3]):
                iw = ow * stride - padding + j
                if iw >= 0 and iw < x.shape[3]:
                    acc += x[n, c, ih, iw] * weight[c_out, c, i, j]
    y[n, c_out, oh, ow] = acc


cases.add(
    brought_channels,
    (2, 2, 3),
    (8, 8, 4),
    lambda: (
        numbers((2, 3, 19, 22), "float32"),
        numbers((5, 3, 3, 3), "float32", 1),
        numbers(5, "float32", 2),
        zeros((2, 5, 10, 11), "float32"),
        2,
        1,
    ),
    "a convolution with channels, stride and padding on a grid of three dimensions",
    data_dependent=True,
)

NODE = np.dtype(
    [("feature", np.int32), ("threshold", np.float32), ("left", np.int32), ("right", np.int32)], align=True
)


@cuda.jit
def brought_trees(samples, nodes, leaves, roots, predictions):
    """The mean answer of several decision trees; a node whose feature is negative is a leaf."""
    i = cuda.grid(1)
    if i >= samples.shape[0]:
        return
    total = 0.0
    for t in range(roots.shape[0]):
        node = roots[t]
        while nodes[node].feature >= 0:
            if samples[i, nodes[node].feature] <= nodes[node].threshold:  # noqa: SIM108
                node = nodes[node].left
            else:
                node = nodes[node].right
        total += leaves[node]
    predictions[i] = total / roots.shape[0]


def forest(trees=3, depth=4, features=6):
    """Return nodes, values and roots of binary trees, some of whose branches end early."""
    size = 2 ** (depth + 1) - 1
    nodes = np.zeros(trees * size, NODE)
    rng = np.random.default_rng(7)
    for k in range(trees * size):
        first, own = k - k % size, k % size
        inner = 2 * own + 2 < size and (own < 3 or rng.random() < 0.7)
        nodes[k]["feature"] = rng.integers(features) if inner else -1
        nodes[k]["threshold"] = 1 + rng.random()
        nodes[k]["left"], nodes[k]["right"] = first + 2 * own + 1, first + 2 * own + 2
    return nodes, numbers(trees * size, "float32"), np.arange(0, trees * size, size, dtype=np.int32)


cases.add(
    brought_trees,
    3,
    64,
    lambda: (numbers((150, 6), "float32"), *forest(), zeros(150, "float32")),
    "records of a tree, walked until a leaf is met",
    data_dependent=True,
)
