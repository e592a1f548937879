"""The streaming operations as CUDA kernels.

Variants by idea:
    copy, scale, add, triad   one element a thread, neighbouring threads on neighbouring elements
    copy_two                  two elements a thread, a block apart: twice the bytes in flight for each thread
    horner                    the traffic of copy with any amount of arithmetic, compiled for each degree

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in GPU memory. Every function raises ``CourseError``, before anything is written, when an argument does
not fit; a launch does not synchronise.
"""

from functools import cache

from course_pkg import cuda
from course_pkg.core.checks import require_count, require_number
from course_pkg.device.launch import blocks_for
from course_pkg.vector.checks import check_stream
from course_pkg.vector.tuning import THREADS_PER_BLOCK


@cuda.jit
def copy_kernel(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def copy(a, out):
    """Compute ``out = a`` on the GPU; one read and one write an element, no synchronisation."""
    check_stream(device=True, a=a, out=out)
    copy_kernel[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, out)


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
    copy_two_kernel[blocks_for((a.size + 1) // 2, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, out)


@cuda.jit
def scale_kernel(a, s, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = s * a[i]


def scale(a, s, out):
    """Compute ``out = s * a`` on the GPU; one read and one write an element, no synchronisation."""
    require_number(s=s)
    check_stream(device=True, a=a, out=out)
    scale_kernel[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, a.dtype.type(s), out)


@cuda.jit
def add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def add(a, b, out):
    """Compute ``out = a + b`` on the GPU; two reads and one write an element, no synchronisation."""
    check_stream(device=True, a=a, b=b, out=out)
    add_kernel[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, b, out)


@cuda.jit
def triad_kernel(a, b, s, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + s * b[i]


def triad(a, b, s, out):
    """Compute ``out = a + s * b`` on the GPU; two reads and one write an element, no synchronisation."""
    require_number(s=s)
    check_stream(device=True, a=a, b=b, out=out)
    triad_kernel[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, b, a.dtype.type(s), out)


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
    horner_kernel(degree)[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, a.dtype.type(1), out)
