"""Many small problems solved at once, a block for each: accelerated projected gradients, with Q in registers.

As ``batch``, but each block goes on until its own problem meets the tolerance, and then makes place for another one.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.core.limits import ALL_LANES
from course_pkg.device.sums import warp_sum
from course_pkg.qp.checks import check_solved_batch
from course_pkg.qp.tuning import COLUMNS, MOST_GRADIENT_STEPS

MOST_WARPS = 4 * COLUMNS[-1] // WARP  # of a block


@cuda.jit(device=True)
def leave_largest(value, of_warps):
    """Write the largest ``value`` of each warp, of numbers that are not negative."""
    t = np.uint32(np.uint32(cuda.threadIdx.y * cuda.blockDim.x) + np.uint32(cuda.threadIdx.x))
    for k in range(5):
        value = max(value, cuda.shfl_down_sync(ALL_LANES, value, 16 >> k))
    if t % WARP == 0:
        of_warps[t // WARP] = value


@cuda.jit(device=True)
def leave_sum(value, of_warps):
    """Write the sum of ``value`` of each warp."""
    t = np.uint32(np.uint32(cuda.threadIdx.y * cuda.blockDim.x) + np.uint32(cuda.threadIdx.x))
    value = warp_sum(value)
    if t % WARP == 0:
        of_warps[t // WARP] = value


@cuda.jit(device=True)
def largest_of(of_warps):
    """Return the largest number that the warps of the block have left, in every thread alike."""
    largest = of_warps[0]
    for w in range(1, cuda.blockDim.x * cuda.blockDim.y // WARP):
        largest = max(largest, of_warps[w])
    return largest


@cuda.jit(device=True)
def sum_of(of_warps):
    """Return the sum of what the warps of the block have left, in every thread alike."""
    total = of_warps[0]
    for w in range(1, cuda.blockDim.x * cuda.blockDim.y // WARP):
        total += of_warps[w]
    return total


@cache
def apg_batch_kernel(columns):
    """Return the kernel for problems of at most ``2 * columns`` unknowns; two threads share a row, as in ``batch``."""
    most = 2 * columns

    @cuda.jit
    def apg_batch(Q, h, out, norms, taken, rtol, maxiter):
        """A block per problem: one product of Q with the new x in each step, and three barriers."""
        now, sums = cuda.shared.array(most, h.dtype), cuda.shared.array(most, h.dtype)
        norms_of, slopes_of = cuda.shared.array(MOST_WARPS, h.dtype), cuda.shared.array(MOST_WARPS, h.dtype)
        q = cuda.local.array(columns, h.dtype)
        p, n = np.uint32(cuda.blockIdx.x), np.uint32(h.shape[1])
        i, half = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
        first, zero, one, last = np.uint32(half * columns), h.dtype.type(0), h.dtype.type(1), np.uint32(n - 1)
        row, mine = min(i, last), half == 0 and i < n
        size = zero
        for k in range(columns):  # down a column, so that neighbours read neighbours: Q is symmetric
            j = np.uint32(first + np.uint32(k))
            q[k] = Q[p, min(j, last), row] if j < n else zero
            size += abs(q[k])
        h_i = h[p, row]
        if half == 1 and i < most:
            sums[i] = size
        cuda.syncthreads()
        leave_largest(size + sums[i] if mine else zero, norms_of)
        leave_largest(abs(h_i), slopes_of)
        cuda.syncthreads()
        largest_row, largest_h = largest_of(norms_of), largest_of(slopes_of)
        # no eigenvalue exceeds the largest row sum of |Q|
        length = one / largest_row if largest_row > zero else one
        x_i = y_i = new = Qx_i = Qy_i = since = zero
        steps, over = np.uint32(0), False
        while steps < maxiter and not over:
            if half == 0 and i < most:
                new = max(y_i - length * (Qy_i + h_i), zero) if i < n else zero
                now[i] = new
            cuda.syncthreads()
            product = residual = uphill = zero
            for k in range(columns):
                product += q[k] * now[np.uint32(first + np.uint32(k))]
            if half == 1 and i < most:
                sums[i] = product
            cuda.syncthreads()
            if mine:
                product += sums[i]
                residual, uphill = abs(min(new, product + h_i)), (y_i - new) * (new - x_i)
            leave_largest(residual, norms_of)
            leave_sum(uphill, slopes_of)
            cuda.syncthreads()
            norm, slope = largest_of(norms_of), sum_of(slopes_of)
            since = zero if slope > zero else since  # the momentum leads uphill: begin anew
            momentum = since / (since + h.dtype.type(3))
            y_i, Qy_i = new + momentum * (new - x_i), product + momentum * (product - Qx_i)
            x_i, Qx_i = new, product
            since += one
            steps = np.uint32(steps + np.uint32(1))
            over = not norm > rtol * largest_h  # also if it is not a number
        if mine:
            out[p, i] = x_i
        if half == 0 and i == 0:
            norms[p] = norm
            taken[p] = steps

    return apg_batch


def apg_batch(Q, h, out, norms, taken, rtol=1e-6, maxiter=MOST_GRADIENT_STEPS):
    """Solve many problems on the GPU, a block for each; Q is read once, no synchronisation.

    Parameters
    ----------
    Q : device array, shape (problems, n, n)
        n is at most 128.
    h, out : device array, shape (problems, n)
    norms : device array, shape (problems,)
        The KKT residuals ``‖min(x, ∇F)‖∞`` at the end; a problem is solved if its own is at most ``rtol ‖h‖∞``.
    taken : device array, uint32, shape (problems,)
        Steps that each problem took.

    Examples
    --------
    >>> Q, h = cuda.to_device(np.full((2, 1, 1), 2.0)), cuda.to_device(np.array([[-3.0], [1.0]]))
    >>> out, norms, taken = cuda.device_array((2, 1)), cuda.device_array(2), cuda.device_array(2, np.uint32)
    >>> apg_batch(Q, h, out, norms, taken); out.copy_to_host().T
    array([[1.5, 0. ]])
    """
    check_solved_batch(Q, h, out, norms, taken, rtol, maxiter, device=True)
    columns = next(c for c in COLUMNS if 2 * c >= h.shape[1])
    kernel = apg_batch_kernel(columns)[h.shape[0], (max(2 * columns, WARP), 2)]
    kernel(Q, h, out, norms, taken, np.dtype(h.dtype).type(rtol), np.uint32(maxiter))
