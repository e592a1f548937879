"""Kernels of the kinds that learners bring: transforms of signals and pictures, gates, and a factorised matrix."""

import math

import numpy as np
from numba import complex64, float32, float64, uint32

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
LENGTH, BITS, SIZE, PADDED = 128, 7, 24, 25
BASIS = np.array(
    [
        [math.sqrt((1 if k == 0 else 2) / 8) * math.cos((2 * x + 1) * k * math.pi / 16) for x in range(8)]
        for k in range(8)
    ],
    np.float32,
)


@cuda.jit
def brought_butterflies(signals, spectra):
    """A fast Fourier transform of 128 numbers by each block: bits in reverse order, then seven stages."""
    data = cuda.shared.array(LENGTH, complex64)
    tid, row = cuda.threadIdx.x, cuda.blockIdx.x
    for k in range(tid, LENGTH, cuda.blockDim.x):
        data[cuda.brev(uint32(k)) >> (32 - BITS)] = signals[row, k]
    cuda.syncthreads()
    half = 1
    while half < LENGTH:
        place = tid % half
        upper = (tid // half) * 2 * half + place
        angle = -math.pi * place / half
        twiddle = complex(math.cos(angle), math.sin(angle))
        a = data[upper]
        b = twiddle * data[upper + half]
        data[upper] = a + b
        data[upper + half] = a - b
        cuda.syncthreads()
        half *= 2
    spectra[row, tid] = data[tid]
    spectra[row, tid + LENGTH // 2] = data[tid + LENGTH // 2]


cases.add(
    brought_butterflies,
    3,
    LENGTH // 2,
    lambda: (numbers((3, LENGTH), "complex64"), zeros((3, LENGTH), "complex64")),
    "a fast Fourier transform in shared memory: complex numbers, reversed bits",
)


@cuda.jit
def brought_cosines(picture, quantum, coefficients):
    """The cosine transform of tiles of 8 x 8 pixels, with quantised coefficients, as in JPEG."""
    basis = cuda.const.array_like(BASIS)
    tile = cuda.shared.array((8, 8), float32)
    rows = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    tile[ty, tx] = float32(picture[y, x]) - 128
    cuda.syncthreads()
    total = float32(0)
    for k in range(8):
        total += tile[ty, k] * basis[tx, k]
    rows[ty, tx] = total
    cuda.syncthreads()
    total = float32(0)
    for k in range(8):
        total += basis[ty, k] * rows[k, tx]
    coefficients[y, x] = round(total / quantum[ty, tx])


cases.add(
    brought_cosines,
    (6, 4),
    (8, 8),
    lambda: (numbers((32, 48), "uint8"), numbers((8, 8), "uint8", 1), zeros((32, 48), "int16")),
    "a cosine transform: constants whose index differs between lanes, two shared tiles",
)


@cuda.jit
def brought_controlled_gate(state, gate, control, target):
    """Apply a gate to one qubit of a state if another one is set; a thread changes a pair of amplitudes."""
    i = cuda.grid(1)
    if i >= state.size >> 1:
        return
    low = i & ((1 << target) - 1)
    zero = ((i >> target) << (target + 1)) | low
    one = zero | (1 << target)
    if (zero >> control) & 1 == 0:
        return
    a, b = state[zero], state[one]
    state[zero] = gate[0, 0] * a + gate[0, 1] * b
    state[one] = gate[1, 0] * a + gate[1, 1] * b


cases.add(
    brought_controlled_gate,
    2,
    128,
    lambda: (numbers(512, "complex128"), numbers((2, 2), "complex128", 1), 6, 3),
    "a gate of a quantum computer: pairs of complex amplitudes, chosen by bits",
)


@cuda.jit
def brought_cholesky(matrices, factors):
    """A block factorises a small matrix in shared memory, column by column; a thread owns a row."""
    a = cuda.shared.array((SIZE, PADDED), float64)
    row, system = cuda.threadIdx.x, cuda.blockIdx.x
    n = matrices.shape[1]
    if row < n:
        for j in range(n):
            a[row, j] = matrices[system, row, j]
    cuda.syncthreads()
    for k in range(n):
        if row == k:
            a[k, k] = math.sqrt(a[k, k])
        cuda.syncthreads()
        if k < row < n:
            a[row, k] /= a[k, k]
        cuda.syncthreads()
        if k < row < n:
            for j in range(k + 1, row + 1):
                a[row, j] -= a[row, k] * a[j, k]
        cuda.syncthreads()
    if row < n:
        for j in range(n):
            factors[system, row, j] = a[row, j] if j <= row else 0.0


def definite_matrices(n=3):
    """Return symmetric, positive definite matrices, and places for their factors."""
    root = numbers((n, SIZE, SIZE))
    return root @ root.transpose(0, 2, 1) + 5 * np.eye(SIZE), zeros((n, SIZE, SIZE))


cases.add(
    brought_cholesky,
    3,
    32,
    definite_matrices,
    "a factorisation in shared memory: three barriers for each column",
    data_dependent=True,
)
