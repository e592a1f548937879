"""The streaming operations as CUDA kernels: neighbouring threads take neighbouring elements."""

from functools import cache

from course_pkg import cuda
from course_pkg.core.checks import require_count, require_number
from course_pkg.device.launch import blocks_for
from course_pkg.vector.checks import check_copy_strided, check_stream
from course_pkg.vector.tuning import THREADS_PER_BLOCK


@cuda.jit
def copy_kernel(a, out):
    """One element per thread: the 32 threads of a warp read 32 neighbours, so every fetched byte is used."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def copy(a, out):
    """Compute ``out = a`` on the GPU; one read and one write per element, no synchronisation.

    Examples
    --------
    >>> a, out = cuda.to_device(np.array([1.0, 2.0])), cuda.device_array(2)
    >>> copy(a, out); out.copy_to_host()
    array([1., 2.])
    """
    check_stream(device=True, a=a, out=out)
    copy_kernel[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, out)


@cuda.jit
def copy_two_kernel(a, out):
    """As copy, but two elements per thread: it requests both before it waits, so more bytes are in flight."""
    i = 2 * cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = i + cuda.blockDim.x
    if j < out.size:
        first = a[i]  # both loads are issued before the first store has to wait for one of them
        second = a[j]
        out[i] = first
        out[j] = second
    elif i < out.size:
        out[i] = a[i]


def copy_two(a, out):
    """Compute ``out = a`` on the GPU, two elements per thread; one read and one write per element.

    Examples
    --------
    >>> a, out = cuda.to_device(np.array([1.0, 2.0, 3.0])), cuda.device_array(3)
    >>> copy_two(a, out); out.copy_to_host()
    array([1., 2., 3.])
    """
    check_stream(device=True, a=a, out=out)
    copy_two_kernel[blocks_for((a.size + 1) // 2, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, out)


@cuda.jit
def copy_strided_kernel(a, stride, out):
    """As copy, but with gaps between the elements that are read: the same bytes are used, and more are fetched."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[stride * i]


def copy_strided(a, stride, out):
    """Compute ``out[i] = a[stride * i]`` on the GPU; no synchronisation.

    Examples
    --------
    >>> a, out = cuda.to_device(np.arange(7.0)), cuda.device_array(3)
    >>> copy_strided(a, 3, out); out.copy_to_host()
    array([0., 3., 6.])
    """
    check_copy_strided(a, stride, out, device=True)
    copy_strided_kernel[blocks_for(out.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, stride, out)


@cuda.jit
def scale_kernel(a, s, out):
    """As copy, with one multiplication per element: the traffic is the same."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = s * a[i]


def scale(a, s, out):
    """Compute ``out = s * a`` on the GPU; one read and one write per element, no synchronisation.

    Examples
    --------
    >>> a, out = cuda.to_device(np.array([1.0, 2.0])), cuda.device_array(2)
    >>> scale(a, 3.0, out); out.copy_to_host()
    array([3., 6.])
    """
    require_number(s=s)
    check_stream(device=True, a=a, out=out)
    scale_kernel[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, a.dtype.type(s), out)


@cuda.jit
def add_kernel(a, b, out):
    """As scale, but a second vector is read: half as much traffic again as a copy."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def add(a, b, out):
    """Compute ``out = a + b`` on the GPU; two reads and one write per element, no synchronisation.

    Examples
    --------
    >>> a, out = cuda.to_device(np.array([1.0, 2.0])), cuda.device_array(2)
    >>> add(a, a, out); out.copy_to_host()
    array([2., 4.])
    """
    check_stream(device=True, a=a, b=b, out=out)
    add_kernel[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, b, out)


@cuda.jit
def triad_kernel(a, b, s, out):
    """As add, with one more multiplication per element: the traffic is the same."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + s * b[i]


def triad(a, b, s, out):
    """Compute ``out = a + s * b`` on the GPU; two reads and one write per element, no synchronisation.

    Examples
    --------
    >>> a, b = cuda.to_device(np.array([1.0, 2.0])), cuda.to_device(np.array([10.0, 20.0]))
    >>> out = cuda.device_array(2)
    >>> triad(a, b, 3.0, out); out.copy_to_host()
    array([31., 62.])
    """
    require_number(s=s)
    check_stream(device=True, a=a, b=b, out=out)
    triad_kernel[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, b, a.dtype.type(s), out)


@cache
def horner_kernel(degree):
    """Return the kernel for one degree. The compiler knows the degree and unrolls the loop (up to about 128 steps)."""

    @cuda.jit
    def kernel(a, one, out):
        """As copy, with ``degree`` multiply-adds per element: the traffic is the same, only the arithmetic grows."""
        i = cuda.grid(1)
        if i < out.size:
            x = a[i]
            y = one
            for _ in range(degree):
                y = one + x * y
            out[i] = y

    return kernel


def horner(a, degree, out):
    """Compute ``out = 1 + a (1 + a (1 + …))``; one read and one write per element, ``degree`` multiply-adds.

    Examples
    --------
    >>> a, out = cuda.to_device(np.array([2.0, 10.0])), cuda.device_array(2)
    >>> horner(a, 3, out); out.copy_to_host()  # 1 + 2 + 4 + 8
    array([  15., 1111.])
    """
    require_count(degree=degree)
    check_stream(device=True, a=a, out=out)
    horner_kernel(degree)[blocks_for(a.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](a, a.dtype.type(1), out)
