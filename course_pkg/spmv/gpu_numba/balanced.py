"""The product by tiles of equal work: every block has the same number of nonzeros and ends of rows together.

First, a block puts the products of its nonzeros into shared memory; neighbouring threads load neighbouring nonzeros.
Then the block sums row by row. If a row continues in the next tile, its partial sum goes to ``carry``, together with
the number of the tile in which the row ends. A second launch adds these sums. Nothing depends on which block comes
first, so the last digit is the same in every run.

Source: D. Merrill and M. Garland, Merge-based parallel sparse matrix-vector multiplication, SC 2016. There each thread
walks along its share of rows and nonzeros; here only tiles are cut in this way.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.access import WARP
from course_pkg.core.checks import require_arrays, require_distinct, require_ndim
from course_pkg.core.limits import ALL_LANES
from course_pkg.device.launch import blocks_for
from course_pkg.spmv.checks import check_product
from course_pkg.spmv.formats import CsrBalanced
from course_pkg.spmv.tuning import LONG_ROW, THREADS_PER_BLOCK


@cuda.jit(device=True)
def sum_of_row(products, first, last):
    """Return the sum of ``products[first:last]``, where each lane has a row of its own; the whole warp must call it.

    A lane adds up a short row by itself. Long rows are added up one after the other, each by all lanes of the warp.
    """
    lane = np.uint32(cuda.threadIdx.x % WARP)
    total = products.dtype.type(0)
    is_long = np.uint32(last - first) > LONG_ROW
    if not is_long:
        for k in range(first, last):
            total += products[k]
    waiting = cuda.ballot_sync(ALL_LANES, is_long)
    while waiting != 0:
        owner = cuda.ffs(waiting) - 1
        begin = np.uint32(cuda.shfl_sync(ALL_LANES, np.int32(first), owner))
        end = np.uint32(cuda.shfl_sync(ALL_LANES, np.int32(last), owner))
        part = products.dtype.type(0)
        for k in range(np.uint32(begin + lane), end, np.uint32(WARP)):
            part += products[k]
        for step in range(5):
            part += cuda.shfl_xor_sync(ALL_LANES, part, 16 >> step)
        if lane == owner:
            total = part
        waiting &= waiting - 1
    return total


@cuda.jit(device=True)
def load_products(products, begin, end, items, indices, data, x):
    """Put ``data[k] * x[indices[k]]`` of the nonzeros from ``begin`` to ``end`` into shared memory.

    Beyond the end, a thread loads the last nonzero once more. So there is no branch between the loads, and a thread
    issues all ``items`` loads before the first one has arrived.
    """
    if begin < end:
        last = np.uint32(end - 1)
        for j in range(items):
            slot = np.uint32(cuda.threadIdx.x + j * THREADS_PER_BLOCK)
            k = min(np.uint32(begin + slot), last)
            # each nonzero is read only once, so it is marked to be evicted first, and x stays in the caches
            products[slot] = cuda.ldcs(data, k) * x[np.uint32(cuda.ldcs(indices, k))]


@cache
def spmv_csr_balanced_kernel(items):
    """Return the kernel for tiles of ``items`` times 256 nonzeros and ends of rows."""
    tile = items * THREADS_PER_BLOCK

    @cuda.jit
    def spmv_csr_balanced(indptr, indices, data, tile_rows, x, y, carry):
        """As spmv_csr_vector, but blocks share out nonzeros instead of rows, so that a long row delays nobody.

        Products pass through shared memory: neighbours load neighbouring nonzeros, of whatever row; sums go by rows.
        """
        products = cuda.shared.array(tile, y.dtype)
        b, rows = np.uint32(cuda.blockIdx.x), np.uint32(y.size)
        next_b = np.uint32(b + 1)
        first_row, last_row = np.uint32(tile_rows[b]), np.uint32(tile_rows[next_b])
        begin = np.uint32(b * tile - first_row)
        end = min(np.uint32(next_b * tile - last_row), np.uint32(data.size))
        load_products(products, begin, end, items, indices, data, x)
        cuda.syncthreads()
        for start in range(first_row, np.uint32(last_row + 1), np.uint32(THREADS_PER_BLOCK)):
            row = np.uint32(start + cuda.threadIdx.x)
            first = last = behind = np.uint32(0)
            if row <= last_row and row < rows:
                behind = np.uint32(indptr[np.uint32(row + 1)])
                first = np.uint32(max(np.uint32(indptr[row]), begin) - begin)
                last = np.uint32(min(behind, end) - begin)
            total = sum_of_row(products, first, last)
            if row < last_row:
                cuda.stcs(y, row, total)
            elif row == last_row:
                carry[b] = total  # the row ends in a later tile, which writes y[row]
                carry[np.uint32(b + cuda.gridDim.x)] = np.uint32(np.uint32(behind + row) // np.uint32(tile))

    return spmv_csr_balanced


@cuda.jit
def add_carries_kernel(tile_rows, carry, y):
    """Add the partial sums that tiles carry over to their rows; one thread takes all neighbouring tiles of a row.

    The time of this launch is that of its longest chain of dependent loads. So the tile in which each row ends has been
    stored before. The loop then knows its number of trips, and can load ahead.
    """
    b, tiles = np.uint32(cuda.grid(1)), np.uint32(carry.size // 2)
    if b < tiles:
        before, row = np.uint32(tile_rows[b]), np.uint32(tile_rows[np.uint32(b + 1)])
        total, end = y.dtype.type(carry[b]), np.uint32(carry[np.uint32(b + tiles)])
        if row < y.size and (b == 0 or before != row):
            found = y[row]
            for k in range(np.uint32(b + 1), end):
                total += y.dtype.type(carry[np.uint32(k)])
            y[row] = found + total


def spmv_csr_balanced(A, x, y, carry=None):
    """Compute ``y = A x`` on the GPU by tiles of equal work; two launches, no synchronisation.

    Parameters
    ----------
    A : CsrBalanced, in GPU memory
        Its tile is a multiple of 256.
    x, y : device array, shape (columns,) and (rows,)
    carry : device array, float64, from :func:`carries`, optional
        By default, it is allocated here.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = CsrBalanced.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]]))).to_device()
    >>> x, y = cuda.to_device(np.array([10.0, 1.0])), cuda.device_array(2)
    >>> spmv_csr_balanced(A, x, y); y.copy_to_host()
    array([41.,  2.])
    """
    check_product(A, x, y, CsrBalanced, device=True)
    if A.tile % THREADS_PER_BLOCK:
        raise CourseError(f"A.tile is {A.tile}: the kernel takes a multiple of {THREADS_PER_BLOCK} items.")
    tiles = A.tile_rows.size - 1
    if carry is None:
        carry = carries(A)
    require_arrays(device=True, dtypes=("float64",), carry=carry)
    require_ndim(1, carry=carry)
    if carry.size < 2 * tiles:
        raise CourseError(f"carry has {carry.size} elements but needs {2 * tiles}: make it with carries(A).")
    require_distinct(x=x, y=y, carry=carry)
    carry, kernel = carry[: 2 * tiles], spmv_csr_balanced_kernel(A.tile // THREADS_PER_BLOCK)
    kernel[tiles, THREADS_PER_BLOCK](A.indptr, A.indices, A.data, A.tile_rows, x, y, carry)
    add_carries_kernel[blocks_for(tiles, THREADS_PER_BLOCK), THREADS_PER_BLOCK](A.tile_rows, carry, y)


def carries(A):
    """Return device memory for the sums that tiles carry over, followed by the tiles in which their rows end.

    Many calls may use it, one after the other.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> carries(CsrBalanced.from_scipy(sp.csr_array(np.ones((100, 100))), tile=256)).size
    80
    """
    return cuda.device_array(2 * (A.tile_rows.size - 1), np.float64)
