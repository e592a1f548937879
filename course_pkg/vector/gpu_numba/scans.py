"""Cumulative sums as CUDA kernels: each element needs the one before it, which is a loop-carried dependence.

The variants differ in how the loops are divided among threads, and so in which elements a warp reads at the same time.
Sums are accumulated in float64.
"""

from course_pkg import cuda
from course_pkg.core.access import WARP
from course_pkg.core.limits import ALL_LANES
from course_pkg.device.launch import blocks_for
from course_pkg.vector.checks import check_cumsum

LINES_PER_BLOCK = 64  # columns or rows per block: few, so that every multiprocessor gets a block
BLOCK_CHUNKED = (WARP, 8)  # one warp per row, eight rows


@cuda.jit
def cumsum_columns_kernel(a, out):
    """One thread per column. The loop is serial, but at each step a warp reads 32 neighbours of a row."""
    x = cuda.grid(1)
    if x < a.shape[1]:
        total = 0.0
        for y in range(a.shape[0]):
            total += a[y, x]
            out[y, x] = total


def cumsum_columns(a, out):
    """Compute ``out[y, x] = sum(a[:y + 1, x])`` on the GPU; one read and one write per element, no synchronisation.

    At each step a warp asks for 32 neighbours of a row, so every fetched sector is used completely. There is one thread
    per column: an array with few columns leaves most of the GPU idle.

    Examples
    --------
    >>> a, out = cuda.to_device(np.ones((2, 3))), cuda.device_array((2, 3))
    >>> cumsum_columns(a, out); out.copy_to_host()
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    check_cumsum(a, out, device=True)
    cumsum_columns_kernel[blocks_for(a.shape[1], LINES_PER_BLOCK), LINES_PER_BLOCK](a, out)


@cuda.jit
def cumsum_rows_serial_kernel(a, out):
    """As cumsum_columns, but one thread per row: at each step a warp reads 32 elements that lie a row apart."""
    y = cuda.grid(1)
    if y < a.shape[0]:
        total = 0.0
        for x in range(a.shape[1]):
            total += a[y, x]
            out[y, x] = total


def cumsum_rows_serial(a, out):
    """Compute ``out[y, x] = sum(a[y, :x + 1])`` on the GPU, one thread per row; no synchronisation.

    With a perfect cache this is one read and one write per element. But at each step a warp asks for one element from
    each of 32 rows. These lie in 32 sectors, and only one element of each sector is used. The next element of a sector
    is used one step later, if the cache still holds the sector.

    Examples
    --------
    >>> a, out = cuda.to_device(np.ones((2, 3))), cuda.device_array((2, 3))
    >>> cumsum_rows_serial(a, out); out.copy_to_host()
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """
    check_cumsum(a, out, device=True)
    cumsum_rows_serial_kernel[blocks_for(a.shape[0], LINES_PER_BLOCK), LINES_PER_BLOCK](a, out)


@cuda.jit(device=True)
def warp_cumsum(value):
    """Return, in each lane, the sum of ``value`` over this lane and those below it: five shuffles.

    Source: W. D. Hillis, G. L. Steele, Data Parallel Algorithms, Communications of the ACM 29 (1986).
    """
    for k in range(5):
        below = cuda.shfl_up_sync(ALL_LANES, value, 1 << k)
        if cuda.laneid >= 1 << k:
            value += below
    return value


@cuda.jit
def cumsum_rows_chunked_kernel(a, out):
    """As cumsum_rows_serial, but one warp per row: it reads 32 neighbours, sums them by shuffles, carries the total."""
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
    """Compute ``out[y, x] = sum(a[y, :x + 1])`` on the GPU, one warp per row; one read and one write per element.

    Each 32 elements are added in the order of a tree, so the last digit may differ from that of a serial sum. Host and
    device are not synchronised.

    Examples
    --------
    >>> a, out = cuda.to_device(np.ones((2, 100))), cuda.device_array((2, 100))
    >>> cumsum_rows_chunked(a, out); out.copy_to_host()[0, [0, 31, 32, 99]]  # 32 elements at a time
    array([  1.,  32.,  33., 100.])
    """
    check_cumsum(a, out, device=True)
    cumsum_rows_chunked_kernel[blocks_for(a.shape[0], BLOCK_CHUNKED[1]), BLOCK_CHUNKED](a, out)
