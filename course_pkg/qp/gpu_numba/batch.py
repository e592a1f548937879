"""Many small problems at once, a block for each: Q is read once into registers, and stays there for all iterations."""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.core.checks import require_count
from course_pkg.core.errors import CourseError
from course_pkg.qp.checks import check_update
from course_pkg.qp.tuning import COLUMNS


@cache
def update_batch_kernel(columns):
    """Return the kernel for problems of at most ``2 * columns`` unknowns.

    Two threads share a row, each with ``columns`` of its entries in registers. They are in different warps, so that the
    lanes of a warp need the same x_j at the same time.
    """
    most = 2 * columns

    @cuda.jit
    def update_batch(Q, h, shift, x, out, parts, iterations):
        """A block per problem: x goes from thread to thread through shared memory, and nothing else moves."""
        now, sums = cuda.shared.array(most, x.dtype), cuda.shared.array((2, most), x.dtype)
        q = cuda.local.array(columns, x.dtype)
        p, n = np.uint32(cuda.blockIdx.x), np.uint32(x.shape[1])
        i, half = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
        first, zero, last = np.uint32(half * columns), x.dtype.type(0), np.uint32(n - 1)
        row = min(i, last)
        for k in range(columns):  # down a column, so that neighbours read neighbours: Q is symmetric
            j = np.uint32(first + np.uint32(k))
            q[k] = Q[p, min(j, last), row] if j < n else zero
        h_i, r_i, x_i, part = h[p, row], shift[p, row], x[p, row], zero
        if half == 0 and i < most:
            now[i] = x_i if i < n else zero
        for _ in range(iterations):
            cuda.syncthreads()
            plus = minus = zero
            for k in range(columns):
                # split after multiplying: otherwise the compiler keeps max(q, 0) and max(-q, 0), in twice the registers
                product = q[k] * now[np.uint32(first + np.uint32(k))]
                plus += max(product, zero)
                minus += max(-product, zero)
            if half == 1 and i < most:
                sums[0, i] = plus
                sums[1, i] = minus
            cuda.syncthreads()
            if half == 0 and i < n:
                plus += sums[0, i]
                minus += sums[1, i]
                shifted = r_i * x_i
                part = x_i * (x.dtype.type(0.5) * (plus - minus) + h_i)
                ratio = (max(-h_i, zero) + minus + shifted) / (max(h_i, zero) + plus + shifted)
                x_i = x_i * ratio if x_i > zero else zero
                now[i] = x_i
        if half == 0 and i < n:
            out[p, i] = x_i
            parts[p, i] = part

    return update_batch


def update_batch(Q, h, shift, x, out, parts, iterations=1):
    """Compute ``iterations`` updates of many problems on the GPU, a block for each; Q is read once, no synchronisation.

    Parameters
    ----------
    Q : device array, shape (problems, n, n)
        n is at most 128.
    h, shift, x, out, parts : device array, shape (problems, n)
        ``parts`` are the F_i before the last update.

    Examples
    --------
    >>> Q, h, shift, x = (cuda.to_device(np.full((2, 1), value)) for value in (1.0, -3.0, 0.0, 1.0))
    >>> Q = Q.reshape((2, 1, 1))
    >>> out, parts = cuda.device_array((2, 1)), cuda.device_array((2, 1))
    >>> update_batch(Q, h, shift, x, out, parts, iterations=2); out.copy_to_host().T
    array([[3., 3.]])
    """
    check_update(Q, h, shift, x, out, parts, device=True, batch=True)
    require_count(iterations=iterations)
    if iterations < 1:
        raise CourseError("iterations is 0: ask for at least 1 update.")
    n = x.shape[1]
    columns = next(c for c in COLUMNS if 2 * c >= n)
    threads = max(2 * columns, WARP), 2  # some have no row: they write the zeros beyond x
    update_batch_kernel(columns)[x.shape[0], threads](Q, h, shift, x, out, parts, np.int32(iterations))
