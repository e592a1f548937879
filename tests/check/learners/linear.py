"""Dense and sparse matrices: transposes, products, Gauss, Jacobi, CSR and ELL, batches, kernels of distances."""

import math

import numpy as np
from numba import cuda, float32, float64, void

TPB = 16
PADDED = TPB + 1


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((TPB, PADDED), float32)
    x = cuda.blockIdx.x * TPB + cuda.threadIdx.x
    y = cuda.blockIdx.y * TPB + cuda.threadIdx.y
    if y < a.shape[0] and x < a.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TPB + cuda.threadIdx.x
    y = cuda.blockIdx.x * TPB + cuda.threadIdx.y
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit(void(float32[:, ::1], float32[:, ::1], float32[:, ::1]))
def matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tmp = float32(0.0)
    for i in range((A.shape[1] + TPB - 1) // TPB):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and tx + i * TPB < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and ty + i * TPB < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


@cuda.jit
def eliminate(a, k):
    """One step of Gauss: rows below k, without pivots. Each row's factor is kept in column k by another launch."""
    i, j = cuda.grid(2)
    if k < i < a.shape[0] and k < j < a.shape[1]:
        a[i, j] -= a[i, k] / a[k, k] * a[k, j]


@cuda.jit
def lu_in_one(a):
    """LU of a small matrix by one block, column by column."""
    t = cuda.threadIdx.x
    n = a.shape[0]
    for k in range(n):
        if k < t < n:
            a[t, k] /= a[k, k]
        cuda.syncthreads()
        if k < t < n:
            for j in range(k + 1, n):
                a[t, j] -= a[t, k] * a[k, j]
        cuda.syncthreads()


@cuda.jit
def jacobi(A, b, x, new, change):
    i = cuda.grid(1)
    if i >= b.size:
        return
    s = b[i]
    row = A[i]
    for j in range(row.size):
        if j != i:
            s -= row[j] * x[j]
    new[i] = s / row[i]
    cuda.atomic.max(change, 0, abs(new[i] - x[i]))


@cuda.jit
def csr_vector(indptr, indices, data, x, y):
    """A warp for each row."""
    warp, lane = cuda.grid(1) // 32, cuda.laneid
    if warp < y.size:
        s = float64(0)
        for k in range(indptr[warp] + lane, indptr[warp + 1], 32):
            s += data[k] * x[indices[k]]
        offset = 16
        while offset > 0:
            s += cuda.shfl_down_sync(0xFFFFFFFF, s, offset)
            offset //= 2
        if lane == 0:
            y[warp] = s


@cuda.jit
def ell(columns, values, x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        s = 0.0
        for k in range(columns.shape[1]):
            c = columns[i, k]
            if c < 0:
                break
            s += values[i, k] * x[c]
        y[i] = s


@cuda.jit
def batch_norm(x, gamma, beta, out, eps):
    """A block for each feature."""
    total = cuda.shared.array(64, float64)
    square = cuda.shared.array(64, float64)
    t, feature = cuda.threadIdx.x, cuda.blockIdx.x
    s = q = 0.0
    for i in range(t, x.shape[0], cuda.blockDim.x):
        s += x[i, feature]
        q += x[i, feature] ** 2
    total[t], square[t] = s, q
    step = cuda.blockDim.x >> 1
    while step:
        cuda.syncthreads()
        if t < step:
            total[t] += total[t + step]
            square[t] += square[t + step]
        step >>= 1
    cuda.syncthreads()
    mean = total[0] / x.shape[0]
    scale = gamma[feature] / (square[0] / x.shape[0] - mean * mean + eps) ** 0.5
    for i in range(t, x.shape[0], cuda.blockDim.x):
        out[i, feature] = (x[i, feature] - mean) * scale + beta[feature]


@cuda.jit
def rbf(a, b, gamma, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        d = 0.0
        for u, v in zip(a[i], b[j]):  # noqa: B905 (Numba has no strict=)
            d += (u - v) ** 2
        out[i, j] = math.exp(-gamma * d)


def main():
    rng = np.random.default_rng(3)
    a = rng.random((35, 50), dtype=np.float32)
    out = cuda.device_array((50, 35), dtype=np.float32)
    transpose[(4, 3), (TPB, TPB)](a, out)
    np.testing.assert_array_equal(out.copy_to_host(), a.T)
    c = np.zeros((35, 35), np.float32)
    matmul[(3, 3), (TPB, TPB)](a, np.ascontiguousarray(a.T), c)
    np.testing.assert_allclose(c, a @ a.T, rtol=1e-5)
    m = rng.random((20, 20)) + 20 * np.eye(20)
    upper = m.copy()
    for k in range(19):
        eliminate[(2, 2), (16, 16)](upper, k)
    np.testing.assert_allclose(np.prod(np.diag(upper)), np.linalg.det(m))
    lu = m.copy()
    lu_in_one[1, 32](lu)
    np.testing.assert_allclose((np.tril(lu, -1) + np.eye(20)) @ np.triu(lu), m)
    b, x = rng.random(20), np.zeros(20)
    for _ in range(30):
        new, change = np.zeros(20), np.zeros(1)
        jacobi[1, 32](m, b, x, new, change)
        x = new
        if change[0] < 1e-12:
            break
    np.testing.assert_allclose(m @ x, b)
    mask = rng.random((20, 20)) < 0.3
    sparse = m * mask
    indptr = np.concatenate([[0], mask.sum(axis=1).cumsum()]).astype(np.int32)
    y = np.zeros(20)
    csr_vector[5, 128](indptr, np.nonzero(mask)[1].astype(np.int32), sparse[mask], b, y)
    np.testing.assert_allclose(y, sparse @ b)
    columns, values = np.full((20, 20), -1, np.int32), np.zeros((20, 20))
    for i in range(20):
        c = np.flatnonzero(mask[i])
        columns[i, : c.size], values[i, : c.size] = c, sparse[i, c]
    ell.forall(20)(columns, values, b, y)
    np.testing.assert_allclose(y, sparse @ b)
    data, gamma, beta = rng.random((90, 7)), rng.random(7), rng.random(7)
    normal = np.zeros_like(data)
    batch_norm[7, 64](data, gamma, beta, normal, 1e-5)
    np.testing.assert_allclose(normal, (data - data.mean(0)) / np.sqrt(data.var(0) + 1e-5) * gamma + beta)
    gram = np.zeros((90, 20))
    rbf[(6, 2), (16, 16)](data, data[:20].copy(), 0.5, gram)
    np.testing.assert_allclose(gram, np.exp(-0.5 * ((data[:, None] - data[:20]) ** 2).sum(axis=2)))


if __name__ == "__main__":
    main()
