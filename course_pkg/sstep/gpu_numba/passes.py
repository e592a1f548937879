"""The scalar work of a pass of s iterations on the GPU, so that the host need not wait for the sums of a pass.

Kernels:
    gram_pass_kernel      both coefficients of pcg_sstep from a Gram matrix of 2 s directions
    moments_pass_kernel   both coefficients of pcg_sstep_moments from 2 s moments

Each is one block of threads, and its matrices are in shared memory. A matrix H is scaled to unit diagonal. Elimination
of its rows turns it into the inverse of its Cholesky factor: H = L Lᵀ, and all that follows is made of L⁻¹.

Where a pass is not as it must be, the kernel stops the solve with ``ASKED`` or ``BROKEN``, and the host goes on, by
``projection.py`` or ``scalar_work.py``, which can do more: they leave out directions that have become dependent.
"""

from functools import cache
from math import inf, sqrt

import numpy as np

from course_pkg import cuda
from course_pkg.sstep import scalars
from course_pkg.sstep.projection import SAFE
from course_pkg.sstep.scalars import ASKED, BROKEN, ITERATION, RUNNING, STOPPED
from course_pkg.sstep.tuning import THREADS_PASS

goes_on = cuda.jit(device=True)(scalars.goes_on)


@cuda.jit(device=True)
def eliminate(work, size, t):
    """Turn H = L Lᵀ, in the upper triangle of ``work``, into L⁻¹ in the lower one; return whether H is definite.

    ``work`` has ``size`` rows and one more column, for a right-hand side, which is multiplied by L⁻¹. Row k and the
    column below it are free once row k is eliminated, so L⁻¹ grows where H was. ``t`` is the thread's number.
    """
    wide = size + 1
    for k in range(size):
        pivot = work[k, k]  # all threads read the same number, and so leave together
        if not pivot > 0.0:
            return False
        scale = 1.0 / sqrt(pivot)
        for e in range(t, (size - 1 - k) * wide, THREADS_PASS):
            i, j = k + 1 + e // wide, e % wide
            factor = work[k, i] * scale
            if j == k:
                work[i, k] = -factor * scale
            elif j < k or j >= i:
                work[i, j] -= factor * (work[k, j] * scale)
        cuda.syncthreads()
        if t < k or t == size:  # row k is scaled when no thread reads it any more
            work[k, t] *= scale
        elif t == k:
            work[k, k] = scale
    cuda.syncthreads()
    return True


@cache
def gram_pass_kernel(s):
    """Return the kernel for passes of s iterations after the first."""
    m, wide = 2 * s, 2 * s + 1

    @cuda.jit
    def gram_pass(G, state, history, grams, C, a):
        """As gram_scalars, but for 2 s directions: a block shares the rows of one elimination.

        G stays for the host in ``grams``, at the number of the pass since it looked last.
        """
        work, d = cuda.shared.array((m, wide), np.float64), cuda.shared.array(m, np.float64)
        squares, goes = cuda.shared.array(m, np.float64), cuda.shared.array(1, np.int32)
        t, running, number = cuda.threadIdx.x, state[STOPPED] == RUNNING, int(state[ITERATION]) // s
        coefficient = 0.0
        if t == 0:
            goes[0] = 0
        if running:
            for e in range(t, wide * wide, THREADS_PASS):
                grams[number, e // wide, e % wide] = G[e // wide, e % wide]
            if t < m:
                diagonal = G[t, t]
                d[t] = 1.0 / sqrt(diagonal) if diagonal > 0.0 else 0.0  # 0: an old direction that was dropped
            cuda.syncthreads()
            for e in range(t, m * wide, THREADS_PASS):
                i, j = e // wide, e % wide
                if j == m:
                    work[i, m] = d[i] * G[i, m]
                elif j > i:
                    work[i, j] = d[i] * G[i, j] * d[j]
                elif j == i:
                    work[i, i] = 1.0
            cuda.syncthreads()
            definite = eliminate(work, m, t)
            if definite and t < m:
                total = 0.0
                for k in range(t, m):
                    coefficient += work[k, t] * work[k, m]
                    total += work[k, t] * work[k, t]
                coefficient *= d[t]
                diagonal = G[t, t]
                whole = 0.0 < diagonal < inf or (diagonal == 0.0 and t < s)
                squares[t] = total if whole and abs(coefficient) < inf else inf
            cuda.syncthreads()
            if t == 0:
                condition = 0.0  # at most the size of H times the sum of squares of L⁻¹
                for k in range(m):
                    condition += m * squares[k] if definite else inf
                sound = condition * SAFE <= 1.0
                goes[0] = goes_on(G[m, m], G[s, m], G[s, s], sound, ASKED, s, state, history)
        cuda.syncthreads()
        for e in range(t, m * s, THREADS_PASS):
            i, j = e // s, e % s
            C[i, j] = d[i] * work[s + j, i] if goes[0] and i <= s + j else 0.0
        if t < m:
            a[t] = coefficient if goes[0] else 0.0

    return gram_pass


@cache
def moments_pass_kernel(s):
    """Return the kernel for passes of s iterations after the first."""
    wide, count = s + 1, 2 * s - 1

    @cuda.jit
    def moments_pass(mu, state, history, W, alpha, beta):
        """As gram_pass, but the matrix W of the last pass and its alpha lead to those of this one (steps 7 to 17).

        W and alpha are those of the last pass before, and of this one afterwards.
        """
        work, scaled = cuda.shared.array((s, wide), np.float64), cuda.shared.array(s, np.float64)
        lags, goes = cuda.shared.array(count, np.float64), cuda.shared.array(1, np.int32)
        half, coupled = cuda.shared.array((s, s), np.float64), cuda.shared.array((s, s), np.float64)
        t, running = cuda.threadIdx.x, state[STOPPED] == RUNNING
        coefficient = 0.0
        if t == 0:
            goes[0] = 0
            for k in range(count):  # Pᵀ A Q of the last directions: one by one
                lags[k] = 0.0
            for i in range(s):
                known = mu[i]
                for j in range(i):
                    known += lags[s - 1 + j] * alpha[s - 1 - i + j]
                lags[s - 1 + i] = -known / alpha[s - 1] if running else 0.0
        if t < s:
            scaled[t], work[t, s] = 1.0 / sqrt(W[t, t]), 0.0
        cuda.syncthreads()
        definite = running and _scaled_elimination(W, scaled, work, s, t)
        cuda.syncthreads()
        if definite:
            for e in range(t, s * s, THREADS_PASS):  # L⁻¹ D C
                i, j, total = e // s, e % s, 0.0
                for k in range(i + 1):
                    total -= work[i, k] * scaled[k] * lags[k + j]
                half[i, j] = total
            cuda.syncthreads()
            for e in range(t, s * s, THREADS_PASS):  # beta = D L⁻ᵀ L⁻¹ D C
                i, j, total = e // s, e % s, 0.0
                for k in range(i, s):
                    total += work[k, i] * half[k, j]
                coupled[i, j] = scaled[i] * total
            cuda.syncthreads()
            for e in range(t, s * s, THREADS_PASS):  # W = M - C beta, which is M - (L⁻¹ D C)ᵀ (L⁻¹ D C)
                i, j = e // s, e % s
                total = mu[i + j + 1]
                for k in range(s):
                    total -= half[k, i] * half[k, j]
                W[i, j] = total
            cuda.syncthreads()
            if t < s:
                scaled[t] = 1.0 / sqrt(W[t, t]) if W[t, t] > 0.0 else 0.0
                work[t, s] = scaled[t] * mu[t]
            cuda.syncthreads()
            definite = _scaled_elimination(W, scaled, work, s, t)
            if definite and t < s:
                for k in range(t, s):
                    coefficient += work[k, t] * work[k, s]
                coefficient *= scaled[t]
        if t == 0 and running:
            goes[0] = goes_on(mu[2 * s], mu[0], mu[1], definite, BROKEN, s, state, history)
        cuda.syncthreads()
        for e in range(t, s * s, THREADS_PASS):
            beta[e // s, e % s] = coupled[e // s, e % s] if goes[0] else 0.0
        if t < s:
            alpha[t] = coefficient if goes[0] else 0.0

    return moments_pass


@cuda.jit(device=True)
def _scaled_elimination(W, scaled, work, size, t):
    """Copy W, scaled to unit diagonal, to ``work``, and eliminate its rows; return whether W is definite."""
    for e in range(t, size * size, THREADS_PASS):
        i, j = e // size, e % size
        if j >= i:
            work[i, j] = scaled[i] * W[i, j] * scaled[j] if j > i or not scaled[i] > 0.0 else 1.0
    cuda.syncthreads()
    return eliminate(work, size, t)
