"""The kernels of conjugate gradient with r and p in float32: those of the two-kernel method, with half the bytes.

Kernels:
    search_mixed_kernel    p2 = r + beta p1, and the block's part of <p2, A p2>, without storing A p2
    advance_mixed_kernel   r = r - alpha A p2, y = y + alpha p2, and the part of <r, r>
    gather_kernel          in an update: x = x + scale y, y = 0
    refresh_kernel         in an update: r = (b - A x) / scale, and the part of its <r, r>

r, p and y are float32; b, x and all sums are float64. ``A p`` is computed in float32, as a sum of differences between
p and each neighbour. Where p is smooth, six times p minus the sum of its neighbours would lose nearly all digits of
float32. A difference of two close numbers has no rounding error, so the method takes as many iterations as in float64.

Layout and marching are those of ``stencils.py``. ``reliable.py`` explains when updates run.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.cg.gpu_numba.maps import pair_number
from course_pkg.cg.gpu_numba.scalars import ALPHA, BETA, PAUSED, RUNNING, SCALE, STOPPED
from course_pkg.cg.gpu_numba.stencils import around, column, direction
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.device.sums import leave_total


@cuda.jit(device=True)
def squares(a, b, c):
    """Return ``a² + b² + c²`` in float64."""
    a64, b64, c64 = np.float64(a), np.float64(b), np.float64(c)
    return a64 * a64 + b64 * b64 + c64 * c64


@cuda.jit(device=True)
def differences(u, c, centre0, centre1, i, j, nx, pitch, ny):
    """Return, for each point of the pair at offset c, the sum of u minus its neighbours in the plane."""
    zero = u.dtype.type(0)
    west = east = north0 = north1 = south0 = south1 = zero
    if j > 0:
        north0, north1 = load_pair(u, np.uint32(c - pitch))
    if np.uint32(j + 1) < ny:
        south0, south1 = load_pair(u, np.uint32(c + pitch))
    if i > 0:
        west = u[np.uint32(c - 1)]
    if np.uint32(i + 2) < nx:
        east = u[np.uint32(c + 2)]
    inner = centre0 - centre1
    s0 = (centre0 - west) + inner + ((centre0 - north0) + (centre0 - south0))
    s1 = (centre1 - east) - inner + ((centre1 - north1) + (centre1 - south1))
    return s0, s1


# with 40 registers, three blocks of 512 threads run at the same time on a multiprocessor of 65,536
@cuda.jit(max_registers=40)
def search_mixed_kernel(r, p1, state, nx, pitch, ny, nz, planes, shift, p2, partial):
    """Steps 9, 2 and 3. <p2, A p2> is the sum of the squared differences over all pairs of neighbours.

    So each point needs only three neighbours, those with the smaller x, y and z, and no digits cancel in a sum of
    positive terms. Points outside the grid are zero. Each thread requests r and p1 one plane ahead.
    """
    i, j, first, last, c = column(pitch, ny, nz, planes, shift)
    total = 0.0
    if i < nx and j < ny and state[STOPPED] == RUNNING:
        beta, plane, zero = r.dtype.type(state[BETA]), np.uint32(pitch * ny), r.dtype.type(0)
        below0 = below1 = zero
        if first > 0:
            below0, below1 = direction(r, p1, beta, np.uint32(c - plane))
        r0, r1 = load_pair(r, c)
        p0, p1_ = load_pair(p1, c)
        for k in range(first, last):
            centre0, centre1 = r0 + beta * p0, r1 + beta * p1_
            west = north0 = north1 = zero
            if np.uint32(k + 1) < last:
                r0, r1 = load_pair(r, np.uint32(c + plane))
                p0, p1_ = load_pair(p1, np.uint32(c + plane))
            if j > 0:
                north0, north1 = direction(r, p1, beta, np.uint32(c - pitch))
            if i > 0:
                west = r[np.uint32(c - 1)] + beta * p1[np.uint32(c - 1)]
            store_pair(p2, c, centre0, centre1)
            total += squares(centre0 - west, centre0 - north0, centre0 - below0)
            total += squares(centre1 - centre0, centre1 - north1, centre1 - below1)
            if np.uint32(j + 1) == ny:
                total += squares(centre0, centre1, zero)
            if np.uint32(k + 1) == nz:
                total += squares(centre0, centre1, zero)
            # in a row of odd length, centre1 of the last pair is this zero already
            if np.uint32(i + 2) == nx:
                total += squares(centre1, zero, zero)
            below0, below1 = centre0, centre1
            c = np.uint32(c + plane)
    leave_total(total, partial)


@cuda.jit
def advance_mixed_kernel(p, state, nx, pitch, ny, nz, planes, shift, y, r, partial):
    """As search_mixed, but A p2 is used for steps 6 and 8, and step 5 adds to y instead of x."""
    i, j, first, last, c = column(pitch, ny, nz, planes, shift)
    total = 0.0
    if i < nx and j < ny and state[STOPPED] == RUNNING:
        alpha, plane = p.dtype.type(state[ALPHA]), np.uint32(pitch * ny)
        below0 = below1 = p.dtype.type(0)
        if first > 0:
            below0, below1 = load_pair(p, np.uint32(c - plane))
        centre0, centre1 = load_pair(p, c)
        for k in range(first, last):
            above0 = above1 = p.dtype.type(0)
            if np.uint32(k + 1) < nz:
                above0, above1 = load_pair(p, np.uint32(c + plane))
            r0, r1 = load_pair(r, c)
            y0, y1 = load_pair(y, c)
            s0, s1 = differences(p, c, centre0, centre1, i, j, nx, pitch, ny)
            r0 -= alpha * (s0 + ((centre0 - below0) + (centre0 - above0)))
            if np.uint32(i + 1) < nx:  # otherwise r1 lies behind a row of odd length
                r1 -= alpha * (s1 + ((centre1 - below1) + (centre1 - above1)))
            store_pair(r, c, r0, r1)
            store_pair(y, c, y0 + alpha * centre0, y1 + alpha * centre1)
            total += np.float64(r0) * np.float64(r0) + np.float64(r1) * np.float64(r1)
            below0, below1, centre0, centre1 = centre0, centre1, above0, above1
            c = np.uint32(c + plane)
    leave_total(total, partial)


@cuda.jit
def gather_kernel(state, x, y):
    """Add to x the sum that the iterations since the last update collected in y, and set y to zero."""
    c = pair_number()
    if c < x.size and state[STOPPED] == PAUSED:
        scale, zero = state[SCALE], y.dtype.type(0)
        x0, x1 = load_pair(x, c)
        y0, y1 = load_pair(y, c)
        store_pair(x, c, x0 + scale * np.float64(y0), x1 + scale * np.float64(y1))
        store_pair(y, c, zero, zero)


@cuda.jit
def refresh_kernel(b, x, state, nx, pitch, ny, nz, planes, shift, r, partial):
    """As ``residual_kernel``, but in an update: r is divided by a power of two, and rounded only when it is stored."""
    i, j, first, last, c = column(pitch, ny, nz, planes, shift)
    total = 0.0
    if i < nx and j < ny and state[STOPPED] == PAUSED:
        six, plane, inverse = x.dtype.type(6), np.uint32(pitch * ny), 1.0 / state[SCALE]
        below0 = below1 = x.dtype.type(0)
        if first > 0:
            below0, below1 = load_pair(x, np.uint32(c - plane))
        centre0, centre1 = load_pair(x, c)
        for k in range(first, last):
            above0 = above1 = x.dtype.type(0)
            if np.uint32(k + 1) < nz:
                above0, above1 = load_pair(x, np.uint32(c + plane))
            beside0, beside1 = around(x, c, i, j, nx, pitch, ny)
            at = np.uint32(np.uint32(np.uint32(k * ny) + j) * nx + i)
            r0 = inverse * (b[at] - (six * centre0 - below0 - above0 - centre1 - beside0))
            r1 = x.dtype.type(0)
            if np.uint32(i + 1) < nx:
                r1 = inverse * (b[np.uint32(at + 1)] - (six * centre1 - below1 - above1 - centre0 - beside1))
            store_pair(r, c, r0, r1)
            total += r0 * r0 + r1 * r1
            below0, below1, centre0, centre1 = centre0, centre1, above0, above1
            c = np.uint32(c + plane)
    leave_total(total, partial)
