"""Steps 9 and 2 as the fusion document counts them: each thread computes one point and reads all its neighbours.

Kernels:
    update_p_flat_kernel      p2 = r + beta p1
    map_stencil_flat_kernel   as update_p, plus s = A p2; p2 is computed again at each of the seven points

The stencil alone is ``laplacian_flat_kernel`` of the stencil topic. Grids are seen as vectors without gaps between
their rows, with offsets of 32 bits (``stencil/gpu_numba/indexing.py``). The methods of ``methods.py`` use kernels that
march instead. Steps are numbered as ``cg/reference.py`` explains.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.stencil.gpu_numba.indexing import point


@cuda.jit
def update_p_flat_kernel(r, p1, beta, nx, ny, nz, p2):
    """Step 9 alone, with the threads and the index arithmetic of the stencil, so that the two can be compared."""
    i, j, k, c = point(nx, ny)
    if i < nx and j < ny and k < nz:
        p2[c] = r[c] + beta * p1[c]


@cuda.jit
def map_stencil_flat_kernel(r, p1, beta, nx, ny, nz, p2, s):
    """As update_p_flat, plus step 2: p2 of neighbours may not be written yet, so it is computed again from r and p1."""
    i, j, k, c = point(nx, ny)
    plane = np.uint32(nx * ny)
    if i < nx and j < ny and k < nz:
        centre = r[c] + beta * p1[c]
        total = r.dtype.type(6) * centre
        if i > 0:
            total -= r[np.uint32(c - 1)] + beta * p1[np.uint32(c - 1)]
        if np.uint32(i + 1) < nx:
            total -= r[np.uint32(c + 1)] + beta * p1[np.uint32(c + 1)]
        if j > 0:
            total -= r[np.uint32(c - nx)] + beta * p1[np.uint32(c - nx)]
        if np.uint32(j + 1) < ny:
            total -= r[np.uint32(c + nx)] + beta * p1[np.uint32(c + nx)]
        if k > 0:
            total -= r[np.uint32(c - plane)] + beta * p1[np.uint32(c - plane)]
        if np.uint32(k + 1) < nz:
            total -= r[np.uint32(c + plane)] + beta * p1[np.uint32(c + plane)]
        p2[c] = centre
        s[c] = total
