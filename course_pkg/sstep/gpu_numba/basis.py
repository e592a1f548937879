"""The next vector of a basis: in one sweep with the product by the Laplacian, or from a product in memory.

Kernels:
    laplacian_recurrence_kernel   product = A current, and next = a (product - c current) - g previous: one sweep
    recurrence_kernel             next, from a product in memory; methods also use it for every a u + b v

Without fusion, the product is written, and then read again together with ``current``. The fused kernel still has it in
a register when the recurrence needs it. How threads march is explained in ``cg/gpu_numba/stencils.py``.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.cg.gpu_numba import Marches
from course_pkg.cg.gpu_numba.stencils import around, column
from course_pkg.core import CourseError
from course_pkg.core.checks import require_arrays, require_distinct, require_ndim
from course_pkg.device.launch import blocks_for
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.sstep.checks import check_recurrence
from course_pkg.sstep.tuning import THREADS


@cache
def laplacian_recurrence_kernel(terms):
    """Return the kernel for ``terms``: 0 the product alone, 1 a recurrence without ``previous``, 2 one with it."""

    @cuda.jit
    def laplacian_recurrence(previous, current, a, c, g, nx, pitch, ny, nz, planes, shift, product, out):
        """As ``matvec_kernel`` of cg, but the recurrence uses the product while it is in a register."""
        i, j, first, last, k = column(pitch, ny, nz, planes, shift)
        if i < nx and j < ny:
            six, plane = current.dtype.type(6), np.uint32(pitch * ny)
            below0 = below1 = current.dtype.type(0)
            if first > 0:
                below0, below1 = load_pair(current, np.uint32(k - plane))
            centre0, centre1 = load_pair(current, k)
            for z in range(first, last):
                above0 = above1 = before0 = before1 = current.dtype.type(0)
                if np.uint32(z + 1) < nz:
                    above0, above1 = load_pair(current, np.uint32(k + plane))
                if terms == 2:
                    before0, before1 = load_pair(previous, k)
                beside0, beside1 = around(current, k, i, j, nx, pitch, ny)
                s0 = six * centre0 - below0 - above0 - centre1 - beside0
                s1 = six * centre1 - below1 - above1 - centre0 - beside1
                if np.uint32(i + 1) == nx:
                    s1 = current.dtype.type(0)  # behind a row of odd length
                store_pair(product, k, s0, s1)
                if terms == 1:
                    store_pair(out, k, a * (s0 - c * centre0), a * (s1 - c * centre1))
                elif terms == 2:
                    store_pair(
                        out, k, a * (s0 - c * centre0) - g * before0, a * (s1 - c * centre1) - g * before1
                    )
                below0, below1, centre0, centre1 = centre0, centre1, above0, above1
                k = np.uint32(k + plane)

    return laplacian_recurrence


def laplacian_recurrence(previous, current, a, c, g, product, out=None, nx=None, stream=0):
    """Compute ``product = A current`` and ``out = a (product - c current) - g previous`` on the GPU; one sweep.

    Parameters
    ----------
    previous, current, product, out : device array, shape (nz, ny, pitch)
        Without ``out``, only the product is computed. ``previous`` is read only if g is not 0. The pitch is even.
    a, c, g : float
    nx : int, optional
        Number of points of a row that belong to the grid, by default all; the points behind them are zero.
    stream : stream, optional
        By default, the default stream.

    Examples
    --------
    >>> u = cuda.to_device(np.ones((3, 3, 4)))
    >>> product, out = cuda.device_array((3, 3, 4)), cuda.device_array((3, 3, 4))
    >>> laplacian_recurrence(u, u, 1.0, 1.0, 0.0, product, out); out.copy_to_host()[1, 1]
    array([ 0., -1., -1.,  0.])
    """
    results = {"product": product} if out is None else {"product": product, "out": out}
    require_arrays(device=True, previous=previous, current=current, **results)
    require_ndim(3, least=3, current=current)
    for name, result in results.items():
        require_distinct(current=current, **{name: result})
    shape, pitch = current.shape, current.shape[2]
    nx = pitch if nx is None else int(nx)
    if pitch % 2 or not 3 <= nx <= pitch:
        raise CourseError(
            f"Rows have {pitch} numbers, {nx} of them of the grid: the pitch must be even, nx at least 3."
        )
    terms = 0 if out is None else 1 if g == 0 else 2
    real, n = np.dtype(current.dtype).type, current.size
    march = Marches.on(shape, current.dtype.itemsize).stencil
    flat = [v.reshape(n) for v in (previous, current, product, product if out is None else out)]
    sizes = tuple(np.uint32(v) for v in (nx, pitch, shape[1], shape[0], march.planes, march.shift))
    laplacian_recurrence_kernel(terms)[march.blocks(shape), march.block, stream](
        *flat[:2], real(a), real(c), real(g), *sizes, *flat[2:]
    )


@cuda.jit
def recurrence_kernel(previous, current, product, a, c, g, out):
    """A map of three vectors, one number per thread. If c or g is 0, it does not read the vector that belongs to it."""
    i, zero = np.uint32(cuda.grid(1)), out.dtype.type(0)
    if i < out.size:
        found = product[i]
        if c != zero:
            found -= c * current[i]
        found *= a
        if g != zero:
            found -= g * previous[i]
        out[i] = found


def recurrence(previous, current, product, a, c, g, out, stream=0):
    """Compute ``out = a (product - c current) - g previous`` on the GPU; no synchronisation.

    Parameters
    ----------
    previous, current, product, out : device array, shape (n,)
        ``out`` may be one of the others.
    a, c, g : float
    stream : stream, optional
        By default, the default stream.

    Examples
    --------
    >>> u, product, out = (cuda.to_device(np.array(v)) for v in ([1.0, 1.0], [3.0, 5.0], [0.0, 0.0]))
    >>> recurrence(u, u, product, 2.0, 1.0, 1.0, out); out.copy_to_host()
    array([3., 7.])
    """
    check_recurrence(previous, current, product, out, device=True)
    real = np.dtype(out.dtype).type
    recurrence_kernel[blocks_for(out.size, THREADS), THREADS, stream](
        previous, current, product, real(a), real(c), real(g), out
    )
