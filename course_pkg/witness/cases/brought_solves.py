"""Kernels of the kinds that learners bring: many small matrices, and rows that wait for the level before."""

import math

import numpy as np
from numba import float32, float64

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()


@cuda.jit
def brought_inverses(matrices, inverses):
    """The inverses of matrices of three rows, by cofactors; a singular matrix gets zeros."""
    i = cuda.grid(1)
    if i < matrices.shape[0]:
        m = matrices[i]
        c0 = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
        c1 = m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
        c2 = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
        det = m[0, 0] * c0 + m[0, 1] * c1 + m[0, 2] * c2
        if abs(det) < 1e-10:
            for r in range(3):
                for c in range(3):
                    inverses[i, r, c] = 0
            return
        f = 1.0 / det
        inverses[i, 0, 0] = c0 * f
        inverses[i, 1, 0] = c1 * f
        inverses[i, 2, 0] = c2 * f
        inverses[i, 0, 1] = (m[0, 2] * m[2, 1] - m[0, 1] * m[2, 2]) * f
        inverses[i, 1, 1] = (m[0, 0] * m[2, 2] - m[0, 2] * m[2, 0]) * f
        inverses[i, 2, 1] = (m[0, 1] * m[2, 0] - m[0, 0] * m[2, 1]) * f
        inverses[i, 0, 2] = (m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]) * f
        inverses[i, 1, 2] = (m[0, 2] * m[1, 0] - m[0, 0] * m[1, 2]) * f
        inverses[i, 2, 2] = (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]) * f


def some_singular(n):
    """Return matrices of three rows; each seventh is zero."""
    matrices = numbers((n, 3, 3)) - 1.5
    matrices[::7] = 0
    return matrices


cases.add(
    brought_inverses,
    3,
    64,
    lambda: (some_singular(140), zeros((140, 3, 3))),
    "inverses by cofactors: a row of the array has a name, and a few threads leave early",
)


@cuda.jit(device=True)
def brought_pivot(a, k):
    """The row with the largest number in column k, at or below row k."""
    best = k
    for i in range(k + 1, 4):
        if abs(a[i, k]) > abs(a[best, k]):
            best = i
    return best


@cuda.jit
def brought_four_equations(matrices, right, x):
    """Gaussian elimination with pivots, one system of four equations per thread."""
    t = cuda.grid(1)
    if t >= matrices.shape[0]:
        return
    a = cuda.local.array((4, 4), float32)
    b = cuda.local.array(4, float32)
    for i in range(4):
        b[i] = right[t, i]
        for j in range(4):
            a[i, j] = matrices[t, i, j]
    for k in range(4):
        p = brought_pivot(a, k)
        if p != k:
            for j in range(4):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, 4):
            f = a[i, k] / a[k, k]
            for j in range(k, 4):
                a[i, j] -= f * a[k, j]
            b[i] -= f * b[k]
    for i in range(3, -1, -1):
        s = b[i]
        for j in range(i + 1, 4):
            s -= a[i, j] * b[j]
        b[i] = s / a[i, i]
        x[t, i] = b[i]


cases.add(
    brought_four_equations,
    2,
    64,
    lambda: (numbers((100, 4, 4), "float32"), numbers((100, 4), "float32", 1), zeros((100, 4), "float32")),
    "elimination with pivots: rows of a local array are exchanged, whose place depends on data",
)


@cuda.jit
def brought_eigenvalues(tensors, values, sweeps):
    """The eigenvalues of symmetric matrices of three rows, by Jacobi's rotations."""
    i = cuda.grid(1)
    if i >= len(tensors):
        return
    a = cuda.local.array((3, 3), float64)
    for p in range(3):
        for q in range(3):
            a[p, q] = tensors[i, p, q]
    for _ in range(sweeps):
        off = a[0, 1] ** 2 + a[0, 2] ** 2 + a[1, 2] ** 2
        if off < 1e-20:
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if abs(a[p, q]) > 1e-15:
                    theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                    sign = 1.0 if theta >= 0 else -1.0
                    t = sign / (abs(theta) + math.sqrt(theta * theta + 1.0))
                    c = 1.0 / math.sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(3):
                        akp, akq = a[k, p], a[k, q]
                        a[k, p] = c * akp - s * akq
                        a[k, q] = s * akp + c * akq
                    for k in range(3):
                        apk, aqk = a[p, k], a[q, k]
                        a[p, k] = c * apk - s * aqk
                        a[q, k] = s * apk + c * aqk
    for p in range(3):
        values[i, p] = a[p, p]


def symmetric(n):
    """Return symmetric matrices of three rows; each fifth is diagonal."""
    a = numbers((n, 3, 3))
    a[::5] *= np.eye(3)
    return a + a.transpose(0, 2, 1)


cases.add(
    brought_eigenvalues,
    2,
    32,
    lambda: (symmetric(60), zeros((60, 3)), 8),
    "Jacobi's rotations: sweeps that end when a thread's matrix is diagonal",
    data_dependent=True,
)


@cuda.jit
def brought_orthogonal(vectors, k, products):
    """A step of Gram and Schmidt: a block takes column k out of one of the later columns."""
    part = cuda.shared.array(64, float64)
    norm = cuda.shared.array(64, float64)
    j = k + 1 + cuda.blockIdx.x
    tid = cuda.threadIdx.x
    n = vectors.shape[0]
    s = 0.0
    d = 0.0
    i = tid
    while i < n:
        s += vectors[i, k] * vectors[i, j]
        d += vectors[i, k] * vectors[i, k]
        i += cuda.blockDim.x
    part[tid] = s
    norm[tid] = d
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step != 0:
        if tid < step:
            part[tid] += part[tid + step]
            norm[tid] += norm[tid + step]
        cuda.syncthreads()
        step //= 2
    r = part[0] / norm[0]
    if tid == 0:
        products[j] = r
    i = tid
    while i < n:
        vectors[i, j] -= r * vectors[i, k]
        i += cuda.blockDim.x


cases.add(
    brought_orthogonal,
    6,
    64,
    lambda: (numbers((150, 9)), 2, zeros(9)),
    "Gram and Schmidt: two sums in one tree, columns with a stride, in place",
)


@cuda.jit
def brought_level(rows, indptr, indices, data, b, x):
    """Solve the rows of a sparse triangular matrix that need only rows of earlier levels."""
    t = cuda.grid(1)
    if t >= rows.size:
        return
    row = rows[t]
    s = b[row]
    diagonal = 1.0
    for k in range(indptr[row], indptr[row + 1]):
        col = indices[k]
        if col == row:
            diagonal = data[k]
        else:
            s -= data[k] * x[col]
    x[row] = s / diagonal


def lower_level(n=120, solved=50):
    """Return a level of a lower triangular matrix whose first rows are solved, and the matrix, right side and x."""
    rng = np.random.default_rng(9)
    columns = [np.append(np.sort(rng.choice(solved, rng.integers(0, 7), replace=False)), i) for i in range(n)]
    indptr = np.append(0, np.cumsum([len(c) for c in columns]))
    indices = np.concatenate(columns).astype(np.int32)
    x = np.append(numbers(solved), np.zeros(n - solved))
    rows = rng.permutation(np.arange(solved, n))
    return rows, indptr.astype(np.int32), indices, numbers(len(indices)), numbers(n, "float64", 1), x


cases.add(
    brought_level,
    3,
    32,
    lower_level,
    "a level of a sparse triangular system: row numbers of 64 bits, a branch for the diagonal",
    data_dependent=True,
)
