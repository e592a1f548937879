"""The maps between the products of a preconditioner, as CUDA kernels; two numbers per thread.

Kernels:
    divide_kernel        out = r / d
    scale_kernel         out = a r
    add_kernel           x = x + change
    difference_kernel    out = d (y - x): the residual at x, if one step of Jacobi's method takes x to y
    advance_kernel       p = a (y - x) + b p, x = x + p: a step of Chebyshev's method

A vector of odd length ends with a single number, which the last thread takes by itself. Vectors begin at a multiple of
16 bytes, as ``checks.py`` demands.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.device.launch import blocks_for
from course_pkg.device.pairs import load_pair, store_pair

THREADS = 256


@cuda.jit(device=True)
def pair_number():
    """Return the offset of this thread's pair in a vector."""
    return np.uint32(2 * np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))


@cuda.jit
def divide_kernel(d, r, out):
    """Apply the Jacobi preconditioner: divide each residual by its diagonal element, as a map without neighbours."""
    i = pair_number()
    if np.uint32(i + 1) < out.size:
        d0, d1 = load_pair(d, i)
        r0, r1 = load_pair(r, i)
        store_pair(out, i, r0 / d0, r1 / d1)
    elif i < out.size:
        out[i] = r[i] / d[i]


@cuda.jit
def scale_kernel(a, r, out):
    """As divide, but by one number for all; with a = 1 it is a copy."""
    i = pair_number()
    if np.uint32(i + 1) < out.size:
        r0, r1 = load_pair(r, i)
        store_pair(out, i, a * r0, a * r1)
    elif i < out.size:
        out[i] = a * r[i]


@cuda.jit
def add_kernel(change, x):
    """As scale, but x is updated in place, to add the correction of a coarser level."""
    i = pair_number()
    if np.uint32(i + 1) < x.size:
        c0, c1 = load_pair(change, i)
        x0, x1 = load_pair(x, i)
        store_pair(x, i, x0 + c0, x1 + c1)
    elif i < x.size:
        x[i] += change[i]


@cuda.jit
def difference_kernel(d, y, x, out):
    """As divide, but multiply d by y - x; ``out`` may be y, because a thread reads y only where it writes."""
    i = pair_number()
    if np.uint32(i + 1) < out.size:
        d0, d1 = load_pair(d, i)
        y0, y1 = load_pair(y, i)
        x0, x1 = load_pair(x, i)
        store_pair(out, i, d0 * (y0 - x0), d1 * (y1 - x1))
    elif i < out.size:
        out[i] = d[i] * (y[i] - x[i])


@cuda.jit
def advance_kernel(y, a, b, p, x):
    """As add, but the kernel also computes the change, p, so p is not read again to be added to x."""
    i = pair_number()
    if np.uint32(i + 1) < x.size:
        y0, y1 = load_pair(y, i)
        x0, x1 = load_pair(x, i)
        p0, p1 = load_pair(p, i)
        p0, p1 = a * (y0 - x0) + b * p0, a * (y1 - x1) + b * p1
        store_pair(p, i, p0, p1)
        store_pair(x, i, x0 + p0, x1 + p1)
    elif i < x.size:
        p[i] = a * (y[i] - x[i]) + b * p[i]
        x[i] += p[i]


def launch(kernel, n, *arguments) -> None:
    """Launch a map over n numbers; no synchronisation."""
    kernel[blocks_for(n, THREADS, width=2), THREADS](*arguments)
