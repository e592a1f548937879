"""The streaming operations as CUDA kernels.

Variants by idea:
    copy, scale, add, triad   one element a thread, neighbouring threads on neighbouring elements
    copy_two                  two elements a thread, a block apart: twice the bytes in flight for each thread
    dot                       a sum in each block through shared memory, then a second launch over the blocks' sums
    horner                    the traffic of copy with any amount of arithmetic, compiled for each degree

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in GPU memory. Every function raises ``CourseError``, before anything is written, when an argument does
not fit; a launch does not synchronise.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.core.checks import require_count, require_number
from course_pkg.vector.checks import check_dot, check_stream

THREADS_PER_BLOCK = 256
DOT_BLOCKS = 1024


@cuda.jit
def copy_kernel(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def copy(a, out):
    """Compute ``out = a`` on the GPU; one read and one write an element, no synchronisation."""
    check_stream(device=True, a=a, out=out)
    copy_kernel[_blocks(a.size), THREADS_PER_BLOCK](a, out)


@cuda.jit
def copy_two_kernel(a, out):
    i = 2 * cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = i + cuda.blockDim.x
    if j < out.size:
        first = a[i]  # both loads are under way before the first store waits for one
        second = a[j]
        out[i] = first
        out[j] = second
    elif i < out.size:
        out[i] = a[i]


def copy_two(a, out):
    """Compute ``out = a`` on the GPU, two elements a thread; one read and one write an element."""
    check_stream(device=True, a=a, out=out)
    copy_two_kernel[_blocks((a.size + 1) // 2), THREADS_PER_BLOCK](a, out)


@cuda.jit
def scale_kernel(a, s, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = s * a[i]


def scale(a, s, out):
    """Compute ``out = s * a`` on the GPU; one read and one write an element, no synchronisation."""
    require_number(s=s)
    check_stream(device=True, a=a, out=out)
    scale_kernel[_blocks(a.size), THREADS_PER_BLOCK](a, a.dtype.type(s), out)


@cuda.jit
def add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def add(a, b, out):
    """Compute ``out = a + b`` on the GPU; two reads and one write an element, no synchronisation."""
    check_stream(device=True, a=a, b=b, out=out)
    add_kernel[_blocks(a.size), THREADS_PER_BLOCK](a, b, out)


@cuda.jit
def triad_kernel(a, b, s, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + s * b[i]


def triad(a, b, s, out):
    """Compute ``out = a + s * b`` on the GPU; two reads and one write an element, no synchronisation."""
    require_number(s=s)
    check_stream(device=True, a=a, b=b, out=out)
    triad_kernel[_blocks(a.size), THREADS_PER_BLOCK](a, b, a.dtype.type(s), out)


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


def partial_sums():
    """Return device memory for the blocks' sums of :func:`dot`, to be used by many calls."""
    return cuda.device_array(DOT_BLOCKS, np.float64)


def dot(a, b, out, partial=None):
    """Compute ``out[0] = sum(a * b)`` on the GPU; two reads an element, two launches, no synchronisation.

    Parameters
    ----------
    a, b : device array, shape (n,)
    out : device array, shape (1,)
    partial : device array from :func:`partial_sums`, optional
        Allocated here when it is not given.
    """
    check_dot(a, b, out, device=True)
    if partial is None:
        partial = partial_sums()
    blocks = min(partial.size, _blocks(a.size))
    partial = partial[:blocks]
    dot_kernel[blocks, THREADS_PER_BLOCK](a, b, partial)
    sum_kernel[1, THREADS_PER_BLOCK](partial, out)


@cache
def horner_kernel(degree):
    """Return the kernel for one degree: known when it is compiled, the chain is unrolled (up to about 128)."""

    @cuda.jit
    def kernel(a, one, out):
        i = cuda.grid(1)
        if i < out.size:
            x = a[i]
            y = one
            for _ in range(degree):
                y = one + x * y
            out[i] = y

    return kernel


def horner(a, degree, out):
    """Compute ``out = 1 + a (1 + a (1 + …))``; one read and one write an element, ``degree`` multiply-adds."""
    require_count(degree=degree)
    check_stream(device=True, a=a, out=out)
    horner_kernel(degree)[_blocks(a.size), THREADS_PER_BLOCK](a, a.dtype.type(1), out)


def _blocks(n):
    return (n + THREADS_PER_BLOCK - 1) // THREADS_PER_BLOCK
