"""Sums as CUDA kernels: many threads, one number.

Variants by idea:
    reduce_sum_tree         one element a thread, a tree in shared memory, one sum a block; again over the blocks' sums
    reduce_sum_shuffle      the same, but warps sum by shuffles and only one number a warp goes through shared memory
    reduce_sum_grid_stride  a fixed number of blocks: each thread sums a share in a register before any thread waits
    dot                     the inner product: the share in a register, then the tree

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in GPU memory; sums are accumulated in float64. Nothing depends on which block comes first, so the last
digit is the same in every run. Every function raises ``CourseError``, before anything is written, when an argument
does not fit; a launch does not synchronise.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.core.checks import require_count
from course_pkg.device.launch import blocks_for
from course_pkg.device.sums import block_total
from course_pkg.vector.checks import check_dot, check_partial, check_reduce_sum
from course_pkg.vector.cost import sums_kept
from course_pkg.vector.tuning import THREADS_PER_BLOCK

# of dot and of reduce_sum_grid_stride: enough to keep every multiprocessor of a large GPU busy
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
    """Sum this block's elements, one a thread, into ``partial[blockIdx.x]``."""
    i = cuda.grid(1)
    value = 0.0
    if i < a.size:
        value = a[i]
    total = block_sum(value)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = total


def reduce_sum_tree(a, out, partial=None):
    """Compute ``out[0] = sum(a)`` on the GPU by trees in shared memory; no synchronisation.

    Each launch leaves one sum for 256 elements: 2^28 elements take four launches and, in float64, 1.008 passes.
    A block passes nine barriers, and at each step of the tree half of the threads that worked retire.

    Parameters
    ----------
    a : device array, shape (n,)
    out : device array, shape (1,)
    partial : device array, float64, from ``partial_sums(n)``, optional
        Allocated here when it is not given.
    """
    _sum_of_sums(reduce_sum_tree_kernel, a, out, partial)


@cuda.jit
def reduce_sum_shuffle_kernel(a, partial):
    """Sum this block's elements, one a thread, into ``partial[blockIdx.x]``."""
    i = cuda.grid(1)
    value = 0.0
    if i < a.size:
        value = a[i]
    total = block_total(value)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = total


def reduce_sum_shuffle(a, out, partial=None):
    """Compute ``out[0] = sum(a)`` on the GPU by shuffles; launches, passes and arguments of ``reduce_sum_tree``.

    A block passes one barrier in place of nine.
    """
    _sum_of_sums(reduce_sum_shuffle_kernel, a, out, partial)


@cuda.jit
def reduce_sum_grid_stride_kernel(a, partial):
    """Sum this block's share of ``a``, a grid apart for each thread, into ``partial[blockIdx.x]``."""
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    total = block_total(total)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = total


def reduce_sum_grid_stride(a, out, partial=None):
    """Compute ``out[0] = sum(a)`` on the GPU, most of it in registers; one pass, two launches, no synchronisation.

    Arguments are those of ``reduce_sum_tree``; a shorter ``partial``, of at least one element, means fewer blocks.
    """
    check_reduce_sum(a, out, device=True)
    partial = _checked_partial(partial, 1, a=a, out=out)
    blocks = min(DOT_BLOCKS, partial.size, blocks_for(a.size, THREADS_PER_BLOCK))
    partial = partial[:blocks]
    reduce_sum_grid_stride_kernel[blocks, THREADS_PER_BLOCK](a, partial)
    reduce_sum_grid_stride_kernel[1, THREADS_PER_BLOCK](partial, out)


@cuda.jit
def dot_kernel(a, b, partial):
    """Sum ``a * b`` over this block's share into ``partial[blockIdx.x]``."""
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i] * b[i]
    total = block_sum(total)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = total


@cuda.jit
def sum_kernel(partial, out):
    """Sum the blocks' sums; one block, so that the order, and with it the last digit, is always the same."""
    total = 0.0
    for i in range(cuda.threadIdx.x, partial.size, THREADS_PER_BLOCK):
        total += partial[i]
    total = block_sum(total)
    if cuda.threadIdx.x == 0:
        out[0] = total


def dot(a, b, out, partial=None):
    """Compute ``out[0] = sum(a * b)`` on the GPU; two reads an element, two launches, no synchronisation.

    Parameters
    ----------
    a, b : device array, shape (n,)
    out : device array, shape (1,)
    partial : device array, float64, from :func:`partial_sums`, optional
        Allocated here when it is not given.
    """
    check_dot(a, b, out, device=True)
    partial = _checked_partial(partial, 1, a=a, b=b, out=out)
    blocks = min(DOT_BLOCKS, partial.size, blocks_for(a.size, THREADS_PER_BLOCK))
    partial = partial[:blocks]
    dot_kernel[blocks, THREADS_PER_BLOCK](a, b, partial)
    sum_kernel[1, THREADS_PER_BLOCK](partial, out)


def partial_sums(n=1):
    """Return device memory for the blocks' sums of any sum here over up to ``n`` elements, to be used by many calls.

    :func:`dot` and ``reduce_sum_grid_stride`` need no ``n``: they have ``DOT_BLOCKS`` blocks at most.
    """
    require_count(n=n)
    return cuda.device_array(max(DOT_BLOCKS, sums_kept(n, THREADS_PER_BLOCK)), np.float64)


def _sum_of_sums(kernel, a, out, partial):
    """Launch the kernel over ``a``, then over the blocks' sums, until one block is left and writes ``out``.

    One block for all sums would be one launch less; but it would read 2^20 of them alone, on one multiprocessor.
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
