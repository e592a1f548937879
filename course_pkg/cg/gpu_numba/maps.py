"""The containers of the fusion document without a stencil, as CUDA kernels; two numbers per thread.

Kernels:
    update_p_kernel             p = r + beta p
    update_x_and_r_kernel       x = x + alpha p, r = r - alpha s
    update_x_and_r_dot_kernel   as update_x_and_r, plus the block's part of <r, r>, so r is not read again
    dot_kernel                  the block's part of <a, b>
    add_kernel                  x = x + factor p, after the last iteration
    fill_kernel                 the same number everywhere
    copy_rows_kernel            rows of one pitch into rows of another

Fields are vectors of an even number of elements. Their rows end in gaps, which are zero and stay zero. When the solver
has stopped, kernels change nothing. Steps are numbered as ``cg/reference.py`` explains.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.cg.gpu_numba.scalars import ALPHA, BETA, RUNNING, STOPPED
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.device.sums import leave_total

THREADS_MAP = 256
DOT_BLOCKS = 1024  # enough to keep every multiprocessor of a large GPU busy


@cuda.jit(device=True)
def pair_number():
    """Return the offset of this thread's pair in a vector."""
    return np.uint32(2 * np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))


@cuda.jit
def update_p_kernel(r, state, p):
    """Step 9 of the iteration before: the simplest map; one access moves two numbers."""
    c = pair_number()
    if c < p.size and state[STOPPED] == RUNNING:
        beta = p.dtype.type(state[BETA])
        r0, r1 = load_pair(r, c)
        p0, p1 = load_pair(p, c)
        store_pair(p, c, r0 + beta * p0, r1 + beta * p1)


@cuda.jit
def update_x_and_r_kernel(p, s, state, x, r):
    """As update_p, but steps 5 and 6: two maps share a kernel, because neither needs the other's result."""
    c = pair_number()
    if c < x.size and state[STOPPED] == RUNNING:
        alpha = x.dtype.type(state[ALPHA])
        x0, x1 = load_pair(x, c)
        p0, p1 = load_pair(p, c)
        store_pair(x, c, x0 + alpha * p0, x1 + alpha * p1)
        r0, r1 = load_pair(r, c)
        s0, s1 = load_pair(s, c)
        store_pair(r, c, r0 - alpha * s0, r1 - alpha * s1)


@cuda.jit
def update_x_and_r_dot_kernel(p, s, state, x, r, partial):
    """As update_x_and_r, plus the block's part of step 8: r is still in a register, so it is not read again."""
    c, total = pair_number(), 0.0
    if c < x.size and state[STOPPED] == RUNNING:
        alpha = x.dtype.type(state[ALPHA])
        x0, x1 = load_pair(x, c)
        p0, p1 = load_pair(p, c)
        store_pair(x, c, x0 + alpha * p0, x1 + alpha * p1)
        r0, r1 = load_pair(r, c)
        s0, s1 = load_pair(s, c)
        r0, r1 = r0 - alpha * s0, r1 - alpha * s1
        store_pair(r, c, r0, r1)
        total = np.float64(r0) * np.float64(r0) + np.float64(r1) * np.float64(r1)
    leave_total(total, partial)


@cuda.jit
def dot_kernel(a, b, partial):
    """Only the block's part of step 3 or 8: each thread sums its share in a register before it waits for others."""
    total = 0.0
    for i in range(2 * cuda.grid(1), a.size, 2 * cuda.gridsize(1)):
        a0, a1 = load_pair(a, i)
        b0, b1 = load_pair(b, i)
        total += np.float64(a0) * np.float64(b0) + np.float64(a1) * np.float64(b1)
    leave_total(total, partial)


@cuda.jit
def add_kernel(p, factor, x):
    """Compute ``x = x + factor p``: the deferred update of x that is left after an odd number of iterations."""
    c = pair_number()
    if c < x.size:
        x0, x1 = load_pair(x, c)
        p0, p1 = load_pair(p, c)
        store_pair(x, c, x0 + factor * p0, x1 + factor * p1)


@cuda.jit
def fill_kernel(value, out):
    """Write the same number everywhere, two elements per store."""
    c = pair_number()
    if c < out.size:
        store_pair(out, c, value, value)


@cuda.jit
def copy_rows_kernel(source, source_pitch, nx, out, out_pitch):
    """Copy the first nx elements of each row. A block takes whole rows, because the pitches may differ."""
    for row in range(cuda.blockIdx.x, source.size // source_pitch, cuda.gridDim.x):
        for i in range(cuda.threadIdx.x, nx, cuda.blockDim.x):
            out[row * out_pitch + i] = source[row * source_pitch + i]
