"""Sums as CUDA kernels: many threads compute one number.

First, each block adds up a share of the vector and writes one partial sum. Then a second launch adds up the partial
sums. All sums are accumulated in float64. The result does not depend on which block comes first, so its last digit is
the same in every run.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.core.checks import require_count
from course_pkg.device.launch import blocks_for
from course_pkg.device.sums import block_total
from course_pkg.vector.checks import check_dot, check_partial, check_reduce_sum
from course_pkg.vector.cost import sums_kept
from course_pkg.vector.tuning import THREADS_PER_BLOCK

# blocks of dot and of reduce_sum_grid_stride: enough to keep every multiprocessor of a large GPU busy
DOT_BLOCKS = 1024


@cuda.jit(device=True)
def block_sum(value):
    """Return, in thread 0, the sum of ``value`` over the block: a tree in shared memory."""
    tile = cuda.shared.array(THREADS_PER_BLOCK, np.float64)
    t = cuda.threadIdx.x
    tile[t] = value
    cuda.syncthreads()
    half = THREADS_PER_BLOCK // 2
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    return tile[0]


@cuda.jit
def reduce_sum_tree_kernel(a, partial):
    """Sum this block's elements, one per thread, into ``partial[blockIdx.x]``, by a tree in shared memory."""
    i = cuda.grid(1)
    value = 0.0
    if i < a.size:
        value = a[i]
    total = block_sum(value)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = total


def reduce_sum_tree(a, out, partial=None):
    """Compute ``out[0] = sum(a)`` on the GPU by trees in shared memory; no synchronisation.

    Each launch reduces 256 elements to one sum, so 2^28 elements take four launches and, in float64, 1.008 passes. A
    block waits at nine barriers, and after each step of the tree only half of the working threads go on.

    Parameters
    ----------
    a : device array, shape (n,)
    out : device array, shape (1,)
    partial : device array, float64, from ``partial_sums(n)``, optional
        Allocated here when it is not given.

    Examples
    --------
    >>> a, out = cuda.to_device(np.arange(1000.0)), cuda.device_array(1)
    >>> reduce_sum_tree(a, out); out.copy_to_host()
    array([499500.])
    """
    _sum_of_sums(reduce_sum_tree_kernel, a, out, partial)


@cuda.jit
def reduce_sum_shuffle_kernel(a, partial):
    """As reduce_sum_tree, but lanes of a warp exchange registers by shuffles: one barrier instead of nine."""
    i = cuda.grid(1)
    value = 0.0
    if i < a.size:
        value = a[i]
    total = block_total(value)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = total


def reduce_sum_shuffle(a, out, partial=None):
    """Compute ``out[0] = sum(a)`` on the GPU by shuffles.

    Launches, passes and arguments are those of ``reduce_sum_tree``, but a block waits at one barrier instead of nine.

    Examples
    --------
    >>> a, out = cuda.to_device(np.arange(1000.0)), cuda.device_array(1)
    >>> reduce_sum_shuffle(a, out); out.copy_to_host()
    array([499500.])
    """
    _sum_of_sums(reduce_sum_shuffle_kernel, a, out, partial)


@cuda.jit
def reduce_sum_grid_stride_kernel(a, partial):
    """As reduce_sum_shuffle, but each thread first sums many elements that lie one grid apart: one barrier for all."""
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    total = block_total(total)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = total


def reduce_sum_grid_stride(a, out, partial=None):
    """Compute ``out[0] = sum(a)`` on the GPU, most of it in registers; one sweep, two launches, no synchronisation.

    Arguments are those of ``reduce_sum_tree``. If ``partial`` is shorter (one element is enough), fewer blocks run.

    Examples
    --------
    >>> a, out, partial = cuda.to_device(np.arange(1000.0)), cuda.device_array(1), partial_sums()
    >>> reduce_sum_grid_stride(a, out, partial[:2]); out.copy_to_host()  # by two blocks
    array([499500.])
    """
    check_reduce_sum(a, out, device=True)
    partial = _checked_partial(partial, 1, a=a, out=out)
    blocks = min(DOT_BLOCKS, partial.size, blocks_for(a.size, THREADS_PER_BLOCK))
    partial = partial[:blocks]
    reduce_sum_grid_stride_kernel[blocks, THREADS_PER_BLOCK](a, partial)
    reduce_sum_grid_stride_kernel[1, THREADS_PER_BLOCK](partial, out)


@cuda.jit
def dot_kernel(a, b, partial):
    """As reduce_sum_grid_stride, but for ``a * b``: two vectors are read. The block sums by a tree, not by shuffles."""
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i] * b[i]
    total = block_sum(total)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = total


@cuda.jit
def sum_kernel(partial, out):
    """Add up the blocks' sums in a single block, so that the order, and so the last digit, is always the same."""
    total = 0.0
    for i in range(cuda.threadIdx.x, partial.size, THREADS_PER_BLOCK):
        total += partial[i]
    total = block_sum(total)
    if cuda.threadIdx.x == 0:
        out[0] = total


def dot(a, b, out, partial=None):
    """Compute ``out[0] = sum(a * b)`` on the GPU; two reads per element, two launches, no synchronisation.

    Parameters
    ----------
    a, b : device array, shape (n,)
    out : device array, shape (1,)
    partial : device array, float64, from :func:`partial_sums`, optional
        Allocated here when it is not given.

    Examples
    --------
    >>> a, out = cuda.to_device(np.array([3.0, 4.0])), cuda.device_array(1)
    >>> dot(a, a, out); out.copy_to_host()
    array([25.])
    """
    check_dot(a, b, out, device=True)
    partial = _checked_partial(partial, 1, a=a, b=b, out=out)
    blocks = min(DOT_BLOCKS, partial.size, blocks_for(a.size, THREADS_PER_BLOCK))
    partial = partial[:blocks]
    dot_kernel[blocks, THREADS_PER_BLOCK](a, b, partial)
    sum_kernel[1, THREADS_PER_BLOCK](partial, out)


def partial_sums(n=1):
    """Return device memory for the blocks' sums, enough for any sum of this file over up to ``n`` elements.

    Many calls may use it, one after the other. :func:`dot` and ``reduce_sum_grid_stride`` need no ``n``, because they
    have ``DOT_BLOCKS`` blocks at most.

    Examples
    --------
    >>> partial = partial_sums(2**20)
    >>> partial.size, partial.dtype
    (4112, dtype('float64'))
    """
    require_count(n=n)
    return cuda.device_array(max(DOT_BLOCKS, sums_kept(n, THREADS_PER_BLOCK)), np.float64)


def _sum_of_sums(kernel, a, out, partial):
    """Launch the kernel over ``a``, then over the blocks' sums, until one block is left and writes ``out``.

    A single block for all partial sums would save a launch, but then one multiprocessor would have to read up to 2^20
    numbers.
    """
    check_reduce_sum(a, out, device=True)
    partial = _checked_partial(partial, sums_kept(a.size, THREADS_PER_BLOCK), a=a, out=out)
    values, begin = a, 0
    while (blocks := blocks_for(values.size, THREADS_PER_BLOCK)) > 1:
        sums = partial[begin : begin + blocks]
        kernel[blocks, THREADS_PER_BLOCK](values, sums)
        values, begin = sums, begin + blocks
    kernel[1, THREADS_PER_BLOCK](values, out)


def _checked_partial(partial, least, **arrays):
    if partial is None:
        return cuda.device_array(max(DOT_BLOCKS, least), np.float64)
    check_partial(partial, least, **arrays)
    return partial
