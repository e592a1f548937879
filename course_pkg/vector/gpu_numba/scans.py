"""Cumulative sums as CUDA kernels: each element needs the one before it, a dependence carried by the loop.

Variants by idea:
    cumsum_columns        along y, one thread a column: serial in each column, yet neighbouring threads read neighbours
    cumsum_rows_serial    along x, one thread a row: neighbouring threads read elements a row apart
    cumsum_rows_chunked   along x, one warp a row: 32 elements at a time by shuffles, their sum carried to the next 32

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in GPU memory; sums are accumulated in float64. Every function raises ``CourseError``, before anything is
written, when an argument does not fit; a launch does not synchronise.
"""

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.core.limits import ALL_LANES
from course_pkg.device.launch import blocks_for
from course_pkg.vector.checks import check_cumsum

LINES_PER_BLOCK = 64  # few, so that the columns or rows of one array still reach every multiprocessor
BLOCK_CHUNKED = (WARP, 8)  # a warp a row


@cuda.jit
def cumsum_columns_kernel(a, out):
    x = cuda.grid(1)
    if x < a.shape[1]:
        total = 0.0
        for y in range(a.shape[0]):
            total += a[y, x]
            out[y, x] = total


def cumsum_columns(a, out):
    """Compute ``out[y, x] = sum(a[:y + 1, x])`` on the GPU; one read and one write an element, no synchronisation.

    A warp asks for 32 neighbours in a row at each step, so every sector that is fetched is used whole. The columns are
    all the parallelism there is: an array with few of them leaves the GPU idle.
    """
    check_cumsum(a, out, device=True)
    cumsum_columns_kernel[blocks_for(a.shape[1], LINES_PER_BLOCK), LINES_PER_BLOCK](a, out)


@cuda.jit
def cumsum_rows_serial_kernel(a, out):
    y = cuda.grid(1)
    if y < a.shape[0]:
        total = 0.0
        for x in range(a.shape[1]):
            total += a[y, x]
            out[y, x] = total


def cumsum_rows_serial(a, out):
    """Compute ``out[y, x] = sum(a[y, :x + 1])`` on the GPU, a row a thread; no synchronisation.

    One read and one write an element where the cache is perfect. But a warp asks for elements of 32 rows at a time: for
    32 sectors, of which it uses one element each until it comes back for the next.
    """
    check_cumsum(a, out, device=True)
    cumsum_rows_serial_kernel[blocks_for(a.shape[0], LINES_PER_BLOCK), LINES_PER_BLOCK](a, out)


@cuda.jit(device=True)
def warp_cumsum(value):
    """Return, in each lane, the sum of ``value`` over this lane and those below it: five shuffles.

    W. D. Hillis, G. L. Steele, Data Parallel Algorithms, Communications of the ACM 29 (1986).
    """
    for k in range(5):
        below = cuda.shfl_up_sync(ALL_LANES, value, 1 << k)
        if cuda.laneid >= 1 << k:
            value += below
    return value


@cuda.jit
def cumsum_rows_chunked_kernel(a, out):
    y = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if y < a.shape[0]:  # true for a whole warp or for none of it
        carry = 0.0
        for start in range(0, a.shape[1], WARP):
            x = start + cuda.threadIdx.x
            value = 0.0
            if x < a.shape[1]:
                value = a[y, x]
            total = carry + warp_cumsum(value)
            if x < a.shape[1]:
                out[y, x] = total
            carry = cuda.shfl_sync(ALL_LANES, total, WARP - 1)


def cumsum_rows_chunked(a, out):
    """Compute ``out[y, x] = sum(a[y, :x + 1])`` on the GPU, a row a warp; one read and one write an element.

    Within 32 elements the order is that of a tree, so that the last digit may differ from a serial sum's. Nothing
    synchronises.
    """
    check_cumsum(a, out, device=True)
    cumsum_rows_chunked_kernel[blocks_for(a.shape[0], BLOCK_CHUNKED[1]), BLOCK_CHUNKED](a, out)
