"""Steps 9 and 2 as the fusion document counts them: one thread a point, every neighbour read where it is needed.

Variants by idea:
    update_p_flat_kernel      p2 = r + beta p1
    map_stencil_flat_kernel   the same, and s = A p2, where p2 at each of the seven points is computed again

The stencil alone is ``laplacian_flat_kernel`` of the stencil topic. Grids are seen as vectors, rows without gaps;
offsets have 32 bits. The methods of ``methods.py`` use kernels that march instead.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.stencil.gpu_numba.indexing import point


@cuda.jit
def update_p_flat_kernel(r, p1, beta, nx, ny, nz, p2):
    i, j, k, c = point(nx, ny)
    if i < nx and j < ny and k < nz:
        p2[c] = r[c] + beta * p1[c]


@cuda.jit
def map_stencil_flat_kernel(r, p1, beta, nx, ny, nz, p2, s):
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
