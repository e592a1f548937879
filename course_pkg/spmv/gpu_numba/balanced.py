"""The product by tiles of equal work: every block has equally many nonzeros and ends of rows, whatever the rows are.

First, a block puts the products of its nonzeros into shared memory, all loads side by side. Then it adds them up row by
row. A row that goes on in the next tile leaves its sum in ``carry``, and a second launch adds these sums. Nothing
depends on which block comes first, so the last digit is the same in every run.

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

    A lane adds up a short row alone. The long ones of the warp come one after the other, each by all lanes.
    """
    lane = cuda.threadIdx.x % WARP
    total = products.dtype.type(0)
    is_long = last - first > LONG_ROW
    if not is_long:
        for k in range(first, last):
            total += products[k]
    waiting = cuda.ballot_sync(ALL_LANES, is_long)
    while waiting != 0:
        owner = cuda.ffs(waiting) - 1
        begin = cuda.shfl_sync(ALL_LANES, first, owner)
        end = cuda.shfl_sync(ALL_LANES, last, owner)
        part = products.dtype.type(0)
        for k in range(begin + lane, end, WARP):
            part += products[k]
        for step in range(5):
            part += cuda.shfl_xor_sync(ALL_LANES, part, 16 >> step)
        if lane == owner:
            total = part
        waiting &= waiting - 1
    return total


@cache
def spmv_csr_balanced_kernel(items):
    """Return the kernel for tiles of ``items`` times 256 nonzeros and ends of rows."""
    tile = items * THREADS_PER_BLOCK

    @cuda.jit
    def spmv_csr_balanced(indptr, indices, data, tile_rows, x, y, carry):
        """A block per tile: products of neighbouring nonzeros by neighbouring threads, then a thread per row."""
        products = cuda.shared.array(tile, y.dtype)
        t, b, rows = cuda.threadIdx.x, cuda.blockIdx.x, y.size
        first_row, last_row = tile_rows[b], tile_rows[b + 1]
        begin = b * tile - first_row
        end = min((b + 1) * tile - last_row, data.size)
        if begin < end:
            for j in range(items):  # beyond the end, the last nonzero once more: no branch between the loads
                k = np.uint32(min(begin + j * THREADS_PER_BLOCK + t, end - 1))
                products[j * THREADS_PER_BLOCK + t] = data[k] * x[np.uint32(indices[k])]
        cuda.syncthreads()
        for start in range(first_row, last_row + 1, THREADS_PER_BLOCK):
            row, first, last = start + t, 0, 0
            if row <= last_row and row < rows:
                first = max(indptr[row], begin) - begin
                last = min(indptr[row + 1], end) - begin
            total = sum_of_row(products, first, last)
            if row < last_row:
                y[row] = total
            elif row == last_row:
                carry[b] = total  # the row ends in a later tile, which writes y[row]

    return spmv_csr_balanced


@cuda.jit
def add_carries_kernel(tile_rows, carry, y):
    """Add what tiles carried into the rows in which they end: one thread for all neighbouring tiles of one row."""
    b = cuda.grid(1)
    if b < carry.size:
        row = tile_rows[b + 1]
        if row < y.size and (b == 0 or tile_rows[b] != row):
            total = y.dtype.type(0)
            while b < carry.size and tile_rows[b + 1] == row:
                total += y.dtype.type(carry[b])
                b += 1
            y[row] += total


def spmv_csr_balanced(A, x, y, carry=None):
    """Compute ``y = A x`` on the GPU by tiles of equal work; two launches, no synchronisation.

    Parameters
    ----------
    A : CsrBalanced, in GPU memory
        Its tile is a multiple of 256.
    x, y : device array, shape (columns,) and (rows,)
    carry : device array, float64, from :func:`carries`, optional
        Allocated here when it is not given.

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
    if carry.size < tiles:
        raise CourseError(f"carry has {carry.size} elements but needs {tiles}: make it with carries(A).")
    require_distinct(x=x, y=y, carry=carry)
    carry, kernel = carry[:tiles], spmv_csr_balanced_kernel(A.tile // THREADS_PER_BLOCK)
    kernel[tiles, THREADS_PER_BLOCK](A.indptr, A.indices, A.data, A.tile_rows, x, y, carry)
    add_carries_kernel[blocks_for(tiles, THREADS_PER_BLOCK), THREADS_PER_BLOCK](A.tile_rows, carry, y)


def carries(A):
    """Return device memory for the sums that tiles carry over; many calls may use it, one after the other.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> carries(CsrBalanced.from_scipy(sp.csr_array(np.ones((100, 100))), tile=256)).size
    40
    """
    return cuda.device_array(A.tile_rows.size - 1, np.float64)
