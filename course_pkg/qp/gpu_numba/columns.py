"""Updates by one thread for each unknown: it reads a row of Q, a column of Q, or a column with x in shared memory."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.launch import blocks_for
from course_pkg.qp.checks import check_update
from course_pkg.qp.gpu_numba.finish import finish_row
from course_pkg.qp.tuning import THREADS_PER_BLOCK


@cuda.jit
def update_naive_kernel(Q, h, shift, x, out, parts):
    """One thread per row of Q: the 32 threads of a warp read 32 rows, so each request touches 32 sectors."""
    i, n = np.uint32(cuda.grid(1)), np.uint32(x.size)
    if i < n:
        zero = x.dtype.type(0)
        plus = minus = zero
        for j in range(n):
            q = Q[i, j]
            plus += max(q, zero) * x[j]
            minus += max(-q, zero) * x[j]
        finish_row(i, plus, minus, h[i], shift, x, out, parts)


def update_naive(Q, h, shift, x, out, parts):
    """Compute one update and the parts F_i on the GPU, a thread per row; Q is read once, no synchronisation.

    Parameters
    ----------
    Q : device array, shape (n, n)
    h, shift, x, out, parts : device array, shape (n,)

    Examples
    --------
    >>> Q, h, shift, x = map(cuda.to_device, (np.eye(2), np.array([-3.0, 1.0]), np.zeros(2), np.ones(2)))
    >>> out, parts = cuda.device_array(2), cuda.device_array(2)
    >>> update_naive(Q, h, shift, x, out, parts); out.copy_to_host(), parts.copy_to_host()
    (array([3., 0.]), array([-2.5,  1.5]))
    """
    _by_threads(update_naive_kernel, Q, h, shift, x, out, parts)


@cuda.jit
def update_columns_kernel(Q, h, shift, x, out, parts):
    """As naive, but a thread reads its column, which equals its row: the 32 threads of a warp read 32 neighbours."""
    i, n = np.uint32(cuda.grid(1)), np.uint32(x.size)
    if i < n:
        zero = x.dtype.type(0)
        plus = minus = zero
        for j in range(n):
            q = Q[j, i]
            plus += max(q, zero) * x[j]
            minus += max(-q, zero) * x[j]
        finish_row(i, plus, minus, h[i], shift, x, out, parts)


def update_columns(Q, h, shift, x, out, parts):
    """As :func:`update_naive`, but each thread reads a column of Q, which is symmetric: all accesses are coalesced.

    Examples
    --------
    >>> Q, h, shift, x = map(cuda.to_device, (np.eye(2), np.array([-3.0, 1.0]), np.zeros(2), np.ones(2)))
    >>> out, parts = cuda.device_array(2), cuda.device_array(2)
    >>> update_columns(Q, h, shift, x, out, parts); out.copy_to_host()
    array([3., 0.])
    """
    _by_threads(update_columns_kernel, Q, h, shift, x, out, parts)


@cuda.jit
def update_staged_kernel(Q, h, shift, x, out, parts):
    """As columns, but x and h come through shared memory: x in tiles, because a whole x need not fit.

    Every thread needs every x_j. Only one thread needs each h_i, so for h shared memory gains nothing.
    """
    tile = cuda.shared.array(THREADS_PER_BLOCK, x.dtype)
    own_h = cuda.shared.array(THREADS_PER_BLOCK, x.dtype)
    i, n, t = np.uint32(cuda.grid(1)), np.uint32(x.size), np.uint32(cuda.threadIdx.x)
    zero = x.dtype.type(0)
    plus = minus = zero
    if i < n:
        own_h[t] = h[i]
    for first in range(np.uint32(0), n, np.uint32(THREADS_PER_BLOCK)):
        mine = np.uint32(first + t)
        if mine < n:
            tile[t] = x[mine]
        cuda.syncthreads()
        if i < n:
            for k in range(min(np.uint32(THREADS_PER_BLOCK), np.uint32(n - first))):
                q = Q[np.uint32(first + k), i]
                plus += max(q, zero) * tile[k]
                minus += max(-q, zero) * tile[k]
        cuda.syncthreads()
    if i < n:
        finish_row(i, plus, minus, own_h[t], shift, x, out, parts)


def update_staged(Q, h, shift, x, out, parts):
    """As :func:`update_columns`, with x and h staged in shared memory as the document does; 4 kB for x in float64.

    Examples
    --------
    >>> Q, h, shift, x = map(cuda.to_device, (np.eye(2), np.array([-3.0, 1.0]), np.zeros(2), np.ones(2)))
    >>> out, parts = cuda.device_array(2), cuda.device_array(2)
    >>> update_staged(Q, h, shift, x, out, parts); out.copy_to_host()
    array([3., 0.])
    """
    _by_threads(update_staged_kernel, Q, h, shift, x, out, parts)


def _by_threads(kernel, Q, h, shift, x, out, parts):
    check_update(Q, h, shift, x, out, parts, device=True)
    kernel[blocks_for(x.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](Q, h, shift, x, out, parts)
