"""Kernels of the kinds that learners bring: graphs, tables of data, texts, statistics and models that are trained."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.witness.cases.flow import some_matrix

cases = Cases()
N, BLOCK = 100, 64


@cuda.jit
def brought_breadth_first(indptr, indices, level, new_level, now):
    """A vertex that is not reached yet looks for a neighbour that is."""
    vertex = cuda.grid(1)
    if vertex >= level.size:
        return
    new_level[vertex] = level[vertex]
    if level[vertex] < 0:
        for k in range(indptr[vertex], indptr[vertex + 1]):
            if level[indices[k]] == now:
                new_level[vertex] = now + 1
                break


@cuda.jit
def brought_rank_of_pages(indptr, indices, degree, rank, new_rank, damping):
    page = cuda.grid(1)
    n = rank.size
    if page < n:
        total = 0.0
        for k in range(indptr[page], indptr[page + 1]):
            source = indices[k]
            total += rank[source] / degree[source]
        new_rank[page] = (1.0 - damping) / n + damping * total


@cuda.jit
def brought_shortest_paths(distance, k):
    """Floyd and Warshall's step: is the way through vertex k shorter?"""
    j, i = cuda.grid(2)
    n = distance.shape[0]
    if i < n and j < n:
        through = distance[i, k] + distance[k, j]
        if through < distance[i, j]:
            distance[i, j] = through


def graph(n=200):
    """Return a graph as rows of neighbours, and the vertices' levels, of which only a few are known."""
    indptr, indices, *_ = some_matrix(n)
    level = np.full(n, -1, "int32")
    level[::9] = 3
    return indptr, indices, level


def distances(n=30):
    """Return a matrix of distances, with 0 on the diagonal."""
    return numbers((n, n), "float32") ** 6 * (1 - np.eye(n, dtype="float32"))


cases.add(
    brought_breadth_first,
    4,
    BLOCK,
    lambda: (*graph(), zeros(200, "int32"), 3),
    "a step of a breadth-first search: a row that is left early",
    data_dependent=True,
)
cases.add(
    brought_rank_of_pages,
    4,
    BLOCK,
    lambda: (*graph()[:2], 1.0 + numbers(200, "int32"), numbers(200), zeros(200), 0.85),
    "ranks of pages: a division in a row of a sparse matrix",
    data_dependent=True,
)
cases.add(
    brought_shortest_paths,
    (2, 4),
    (16, 8),
    lambda: (distances(), 7),
    "shortest paths through one vertex: the result is stored where it is better",
    data_dependent=True,
)


@cuda.jit
def brought_standardize(table, out):
    """One block per column: mean and deviation by sums in shared memory."""
    sums = cuda.shared.array(BLOCK, np.float64)
    squares = cuda.shared.array(BLOCK, np.float64)
    t, column, rows = cuda.threadIdx.x, cuda.blockIdx.x, table.shape[0]
    a, b = 0.0, 0.0
    for row in range(t, rows, BLOCK):
        value = table[row, column]
        a += value
        b += value * value
    sums[t], squares[t] = a, b
    cuda.syncthreads()
    half = BLOCK // 2
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
            squares[t] += squares[t + half]
        cuda.syncthreads()
        half //= 2
    mean = sums[0] / rows
    deviation = math.sqrt(squares[0] / rows - mean * mean)
    for row in range(t, rows, BLOCK):
        out[row, column] = (table[row, column] - mean) / deviation


@cuda.jit
def brought_logistic(x, y, weights, gradient):
    """One row per thread; its part of the gradient is added by atomics."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        z = 0.0
        for k in range(x.shape[1]):
            z += x[row, k] * weights[k]
        error = 1.0 / (1.0 + math.exp(-z)) - y[row]
        for k in range(x.shape[1]):
            cuda.atomic.add(gradient, k, error * x[row, k])


@cuda.jit
def brought_vote(distance, labels, limit, winner):
    """The class that most of the near points have."""
    votes = cuda.local.array(4, np.int32)
    i = cuda.grid(1)
    if i >= winner.size:
        return
    for c in range(4):
        votes[c] = 0
    for j in range(labels.size):
        if distance[i, j] < limit:
            votes[labels[j]] += 1
    best = 0
    for c in range(1, 4):
        if votes[c] > votes[best]:
            best = c
    winner[i] = best


@cuda.jit
def brought_interpolation(knots, values, points, out):
    i = cuda.grid(1)
    if i < points.size:
        x = points[i]
        k = 0
        while k < knots.size - 2 and knots[k + 1] <= x:
            k += 1
        share = (x - knots[k]) / (knots[k + 1] - knots[k])
        out[i] = values[k] + share * (values[k + 1] - values[k])


@cuda.jit
def brought_elimination(matrix, right, k):
    """One step of Gaussian elimination: each thread makes one element below the pivot zero."""
    row = cuda.grid(1) + k + 1
    n = matrix.shape[0]
    if row < n:
        factor = matrix[row, k] / matrix[k, k]
        for column in range(k, n):
            matrix[row, column] -= factor * matrix[k, column]
        right[row] -= factor * right[k]


cases.add(
    brought_standardize,
    5,
    BLOCK,
    lambda: (numbers((N, 5)), zeros((N, 5))),
    "columns of a table: two sums of a block at once, then a second pass",
)
cases.add(
    brought_logistic,
    2,
    BLOCK,
    lambda: (numbers((N, 6), "float32"), numbers(N, "float32", 1), numbers(6, "float32", 2), zeros(6)),
    "a gradient: exp, a reciprocal, atomics on doubles",
)
cases.add(
    brought_vote,
    2,
    32,
    lambda: (numbers((50, 40), "float32"), numbers(40, "int32", 1) % 4, np.float32(1.3), zeros(50, "int32")),
    "votes in a local array whose index was loaded",
    data_dependent=True,
)
cases.add(
    brought_interpolation,
    2,
    BLOCK,
    lambda: (np.linspace(1, 2, 12), numbers(12), numbers(N, seed=1), zeros(N)),
    "a search from the left, then a line between two knots",
    data_dependent=True,
)
cases.add(
    brought_elimination,
    1,
    32,
    lambda: (numbers((24, 24)), numbers(24, seed=1), 3),
    "a step of Gauss' elimination: rows that are changed in place",
)


@cuda.jit
def brought_hash(text, words, hashes):
    """Fowler, Noll and Vo's hash of words of one length."""
    i = cuda.grid(1)
    if i < hashes.size:
        value = np.uint32(2166136261)
        for k in range(words):
            value = np.uint32(value ^ np.uint32(text[i, k]))
            value = np.uint32(value * np.uint32(16777619))
        hashes[i] = value


@cuda.jit
def brought_runs(x, begins, length):
    """Where a run of equal numbers begins, and how long it is."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    if i > 0 and x[i] == x[i - 1]:
        begins[i] = 0
        return
    begins[i] = 1
    end = i + 1
    while end < x.size and x[end] == x[i]:
        end += 1
    length[i] = end - i


cases.add(
    brought_hash,
    2,
    BLOCK,
    lambda: (numbers((N, 9), "uint8"), 9, zeros(N, "uint32")),
    "a hash of bytes in a loop that carries one number",
)
cases.add(
    brought_runs,
    2,
    BLOCK,
    lambda: (numbers(N, "int32") // 40, zeros(N, "int32"), zeros(N, "int32")),
    "runs of equal numbers: a branch that returns, then a while loop with two conditions",
    data_dependent=True,
)
