"""Updates of a block: one sweep computes the new block, and multiplies it by alpha while its rows are in registers.

Kernels:
    update_block_kernel          P = Q + P_old beta, x += P alpha, r -= A P alpha: a thread per row
    project_block_kernel         Z C and Z a, Z the vectors of both blocks: a thread per row
    update_block_warps_kernel    as update_block, but a warp for 32 rows: lane j makes vector j of each row
    project_block_warps_kernel   as project_block, but a warp for 32 rows

A row is one point of all vectors. A library needs one call that makes the new block, and another that reads it again to
multiply it by alpha. Here each vector is read once and written once. All threads read the same coefficient at the same
time, from shared memory. A row needs 2 s registers of 64 bits for each block. If that is too much for one thread, a
warp shares its rows, and each lane keeps the coefficients of one vector in registers instead. Offsets are unsigned
numbers of 32 bits.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.sstep.checks import check_block, check_small
from course_pkg.sstep.tuning import BLOCKS_WARPS, MOST_BY_THREADS, THREADS, TOGETHER

PITCH = WARP + 1  # between the vectors that lanes make in shared memory, so that lanes use different banks


@cache
def add_products(s):
    """Return the device function that multiplies s numbers of a row by s × s coefficients and adds to s sums."""
    fours = s - s % 4

    @cuda.jit(device=True)
    def add(block, first, n, i, B, sums):
        """Multiply vectors ``first`` to ``first + s - 1`` by the rows of B; four loads are in flight at a time.

        Each loaded number has its own name: an array would lie in local memory unless both loops were unrolled.
        """
        for k in range(0, fours, 4):
            at, c = np.uint32(np.uint32(first + np.uint32(k)) * n + i), k * s
            p, q = block[at], block[np.uint32(at + n)]
            v, w = block[np.uint32(at + np.uint32(2 * n))], block[np.uint32(at + np.uint32(3 * n))]
            for j in range(s):
                sums[j] += p * B[c + j]
                sums[j] += q * B[c + s + j]
                sums[j] += v * B[c + 2 * s + j]
                sums[j] += w * B[c + 3 * s + j]
        for k in range(fours, s):
            p = block[np.uint32(np.uint32(first + np.uint32(k)) * n + i)]
            for j in range(s):
                sums[j] += p * B[k * s + j]

    return add


@cache
def update_block_kernel(s):
    """Return the kernel for s vectors: beta in shared memory, the fresh row in registers."""
    squared, add = s * s, add_products(s)  # Numba needs one name for the size of a shared array

    @cuda.jit
    def update_block(old, fresh, beta, alpha, x, r, out):
        """Move x and r while a row's new numbers are in registers, so that the new block is not read again.

        The s vectors and their products with A take turns, so that a thread keeps s numbers at a time, not 2 s.
        """
        B, along = cuda.shared.array(squared, np.float64), cuda.shared.array(s, np.float64)
        row = cuda.local.array(s, np.float64)
        n, t, i = np.uint32(x.size), np.uint32(cuda.threadIdx.x), np.uint32(cuda.grid(1))
        for k in range(t, np.uint32(squared), np.uint32(THREADS)):
            B[k] = beta[np.uint32(k // np.uint32(s)), np.uint32(k % np.uint32(s))]
        if t < s:
            along[t] = alpha[t]
        cuda.syncthreads()
        if i < n:
            for half in range(2):
                for j in range(s):
                    row[j] = fresh[np.uint32(np.uint32(half * s + j) * n + i)]
                move = x[i] if half == 0 else r[i]
                add(old, np.uint32(half * s), n, i, B, row)
                for j in range(s):
                    out[np.uint32(np.uint32(half * s + j) * n + i)] = row[j]
                    move += row[j] * along[j] if half == 0 else -row[j] * along[j]
                if half == 0:
                    x[i] = move
                else:
                    r[i] = move

    return update_block


@cache
def project_block_kernel(s):
    """Return the kernel for s old and s fresh vectors; a thread loads its whole row before it computes."""
    both, coefficients = 2 * s, 2 * s * s

    @cuda.jit
    def project_block(old, fresh, C, a, x, r, out):
        """As update_block, but the fresh vectors have coefficients, too: the same bytes, and twice as many products."""
        B, along = cuda.shared.array(coefficients, np.float64), cuda.shared.array(both, np.float64)
        z = cuda.local.array(both, np.float64)
        n, t, i = np.uint32(x.size), np.uint32(cuda.threadIdx.x), np.uint32(cuda.grid(1))
        for k in range(t, np.uint32(coefficients), np.uint32(THREADS)):
            B[k] = C[np.uint32(k % np.uint32(both)), np.uint32(k // np.uint32(both))]
        if t < both:
            along[t] = a[t]
        cuda.syncthreads()
        if i < n:
            for half in range(2):
                for k in range(s):
                    at = np.uint32(np.uint32(half * s + k) * n + i)
                    z[k] = old[at]
                    z[s + k] = fresh[at]
                before, move = x[i] if half == 0 else r[i], 0.0
                for k in range(both):
                    move += z[k] * along[k]
                for j in range(s):
                    new = 0.0
                    for k in range(both):
                        new += z[k] * B[j * both + k]
                    out[np.uint32(np.uint32(half * s + j) * n + i)] = new
                if half == 0:
                    x[i] = before + move
                else:
                    r[i] = before - move

    return project_block


@cache
def rows_by_warp(s, whole):
    """Return the device function with which a warp makes 32 rows of s new vectors.

    If ``whole``, each vector has 2 s coefficients; otherwise it has s, and its fresh vector is added unchanged.
    """
    terms = 2 * s if whole else s

    @cuda.jit(device=True)
    def rows(tile, made, c, lane):
        """Let lane j put vector j, ``Σ_k Z[row, k] c[k]``, into ``made``, for ``TOGETHER`` rows at a time.

        All lanes read the same ``tile[k, row]`` at once. Rows of ``made`` are 33 numbers apart, so lanes use different
        banks.
        """
        sums = cuda.local.array(TOGETHER, np.float64)
        for first in range(0, WARP, TOGETHER):
            for u in range(TOGETHER):
                sums[u] = 0.0
            for k in range(terms):
                for u in range(TOGETHER):
                    sums[u] += tile[k, first + u] * c[k]
            if lane < s:
                for u in range(TOGETHER):
                    fresh = 0.0 if whole else tile[s + lane, first + u]
                    made[lane, first + u] = fresh + sums[u]
        cuda.syncwarp()

    return rows


@cache
def stage_by_warp(s):
    """Return the device function with which each lane copies its row of both blocks to shared memory."""

    @cuda.jit(device=True)
    def stage(old, fresh, half, n, at, tile, lane):
        """All loads of a half are in flight before one is used; ``tile[k, lane]`` is vector k of the lane's row."""
        for k in range(s):
            place = np.uint32(np.uint32(half * s + k) * n + at)
            tile[k, lane] = old[place]
            tile[s + k, lane] = fresh[place]
        cuda.syncwarp()

    return stage


@cache
def update_block_warps_kernel(s):
    """Return the kernel for s vectors; a block is one warp, which takes 32 rows at a time."""
    rows, stage, both = rows_by_warp(s, False), stage_by_warp(s), 2 * s

    @cuda.jit
    def update_block_warps(old, fresh, beta, alpha, x, r, out):
        """As update_block, but lane j keeps column j of beta in registers, and the rows pass through shared memory."""
        tile, made = cuda.shared.array((both, WARP), np.float64), cuda.shared.array((s, PITCH), np.float64)
        c, n, lane = cuda.local.array(s, np.float64), np.uint32(x.size), np.uint32(cuda.threadIdx.x)
        for k in range(s):
            c[k] = beta[k, min(lane, np.uint32(s - 1))]
        for base in range(np.uint32(cuda.blockIdx.x * WARP), n, np.uint32(cuda.gridDim.x * WARP)):
            i = np.uint32(base + lane)
            for half in range(2):
                stage(old, fresh, half, n, min(i, np.uint32(n - 1)), tile, lane)
                rows(tile, made, c, lane)
                move = 0.0
                if i < n:
                    for j in range(s):
                        new = made[j, lane]
                        out[np.uint32(np.uint32(half * s + j) * n + i)] = new
                        move += new * alpha[j]
                    if half == 0:
                        x[i] += move
                    else:
                        r[i] -= move

    return update_block_warps


@cache
def project_block_warps_kernel(s):
    """Return the kernel for s old and s fresh vectors; a block is one warp, which takes 32 rows at a time."""
    rows, stage, both = rows_by_warp(s, True), stage_by_warp(s), 2 * s

    @cuda.jit
    def project_block_warps(old, fresh, C, a, x, r, out):
        """As update_block_warps, but fresh vectors have coefficients, too; x and r are updated from the staged rows."""
        tile, made = cuda.shared.array((both, WARP), np.float64), cuda.shared.array((s, PITCH), np.float64)
        c, n, lane = cuda.local.array(both, np.float64), np.uint32(x.size), np.uint32(cuda.threadIdx.x)
        for k in range(both):
            c[k] = C[k, min(lane, np.uint32(s - 1))]
        for base in range(np.uint32(cuda.blockIdx.x * WARP), n, np.uint32(cuda.gridDim.x * WARP)):
            i = np.uint32(base + lane)
            for half in range(2):
                stage(old, fresh, half, n, min(i, np.uint32(n - 1)), tile, lane)
                rows(tile, made, c, lane)
                if i < n:
                    move = 0.0
                    for k in range(both):
                        move += tile[k, lane] * a[k]
                    for j in range(s):
                        out[np.uint32(np.uint32(half * s + j) * n + i)] = made[j, lane]
                    if half == 0:
                        x[i] += move
                    else:
                        r[i] -= move

    return project_block_warps


def _launch(by_threads, by_warps, s, n, *arguments, warps, stream):
    if warps if warps is not None else s > MOST_BY_THREADS:
        by_warps(s)[min(BLOCKS_WARPS, -(-n // WARP)), WARP, stream](*arguments)
    else:
        by_threads(s)[-(-n // THREADS), THREADS, stream](*arguments)


def update_block(old, fresh, beta, alpha, x, r, out, warps=None, stream=0):
    """Compute ``P = Q + P_old beta`` for both halves, ``x += P alpha`` and ``r -= A P alpha`` on the GPU; one sweep.

    Parameters
    ----------
    old, fresh, out : device array, shape (2 s, n)
        ``out`` may be ``fresh`` or ``old``.
    beta, alpha : device array, float64, shape (s, s) and (s,)
    x, r : device array, shape (n,)
    warps : bool, optional
        Whether a warp shares its rows; by default it does for s above 16.
    stream : stream, optional
        By default, the default stream.

    Examples
    --------
    >>> old, fresh, x, r = (cuda.to_device(np.ones(shape)) for shape in ((2, 3), (2, 3), 3, 3))
    >>> beta, alpha = cuda.to_device(np.array([[2.0]])), cuda.to_device(np.array([0.5]))
    >>> update_block(old, fresh, beta, alpha, x, r, fresh)
    >>> fresh.copy_to_host()[0], x.copy_to_host(), r.copy_to_host()
    (array([3., 3., 3.]), array([2.5, 2.5, 2.5]), array([-0.5, -0.5, -0.5]))
    """
    s = check_block(old, r, fresh=fresh, out=out, x=x, device=True)
    check_small(s, device=True, beta=beta, alpha=alpha)
    flat = [block.reshape(block.size) for block in (old, fresh, out)]
    arguments = (*flat[:2], beta, alpha, x, r, flat[2])
    _launch(update_block_kernel, update_block_warps_kernel, s, r.size, *arguments, warps=warps, stream=stream)


def project_block(old, fresh, C, a, x, r, out, warps=None, stream=0):
    """Compute ``Z C`` for both halves, ``x += Z a`` and ``r -= A Z a`` on the GPU; one sweep, no synchronisation.

    Parameters
    ----------
    old, fresh, out : device array, shape (2 s, n)
        ``out`` may be ``fresh`` or ``old``.
    C, a : device array, float64, shape (2 s, s) and (2 s,)
    x, r : device array, shape (n,)
    warps : bool, optional
        Whether a warp shares its rows; by default it does for s above 16.
    stream : stream, optional
        By default, the default stream.

    Examples
    --------
    >>> old, fresh, x, r = (cuda.to_device(np.ones(shape)) for shape in ((2, 3), (2, 3), 3, 3))
    >>> C, a = cuda.to_device(np.array([[2.0], [1.0]])), cuda.to_device(np.array([0.5, 0.25]))
    >>> project_block(old, fresh, C, a, x, r, fresh)
    >>> fresh.copy_to_host()[0], x.copy_to_host(), r.copy_to_host()
    (array([3., 3., 3.]), array([1.75, 1.75, 1.75]), array([0.25, 0.25, 0.25]))
    """
    s = check_block(old, r, fresh=fresh, out=out, x=x, device=True)
    check_small(s, device=True, C=C, a=a)
    flat = [block.reshape(block.size) for block in (old, fresh, out)]
    arguments = (*flat[:2], C, a, x, r, flat[2])
    _launch(
        project_block_kernel, project_block_warps_kernel, s, r.size, *arguments, warps=warps, stream=stream
    )
