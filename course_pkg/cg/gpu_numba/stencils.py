"""The kernels of conjugate gradient that contain the stencil: threads march along z, with two points each.

Kernels:
    matvec_kernel        s = A p
    matvec_dot_kernel    as matvec, plus the block's part of <p, s>
    map_stencil_kernel   p2 = r + beta p1 and s = A p2: p2 at the neighbours is computed again, not read
    search_kernel        as map_stencil, plus the block's part of <p2, A p2>, but A p2 is not stored
    advance_kernel       r = r - alpha A p2, with A p2 computed once more; x = x + alpha p2; the part of <r, r>
    residual_kernel      r = b - A x, and the part of <r, r>: before the first iteration and after the last

Fields are vectors of ``pitch`` elements per row: the first nx are the grid's, and the others stay zero. Points outside
the grid are zero. Kernels with a *halo* work on a part of a grid: its first and last plane belong to other GPUs, and
are only read. When the solver has stopped, kernels change nothing. ``stencil/gpu_numba/marching.py`` explains how
threads march, ``stencil/gpu_numba/indexing.py`` the casts ``np.uint32``, and ``cg/reference.py`` the step numbers.
"""

from functools import cache

import numpy as np

from course_pkg import cuda
from course_pkg.cg.gpu_numba.scalars import ALPHA, ALPHA_OLD, BETA, RUNNING, STOPPED
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.device.sums import leave_total


@cuda.jit(device=True)
def column(pitch, ny, nz, planes, shift):
    """Return this thread's column of pairs: i, j, its first plane, the plane after its last, and its first offset.

    Blocks along y are numbered strip by strip, with ``1 << shift`` blocks per strip: see ``marches.py``. A division
    instead of the shift would occupy registers during the whole march.
    """
    chunk = np.uint32(np.uint32(cuda.blockIdx.y) >> shift)
    row = np.uint32(np.uint32(cuda.blockIdx.y) - np.uint32(chunk << shift))
    row = np.uint32(np.uint32(np.uint32(cuda.blockIdx.z) << shift) + row)
    i = np.uint32(2 * np.uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
    j = np.uint32(row * cuda.blockDim.y + cuda.threadIdx.y)
    first = np.uint32(chunk * planes)
    last = min(np.uint32(first + planes), nz)
    return i, j, first, last, np.uint32(np.uint32(np.uint32(first * ny) + j) * pitch + i)


@cuda.jit(device=True)
def without_halo(first, last, c, plane, nz):
    """Return a column's first plane, end and offset in a part of nz planes; the first and the last are halo."""
    return np.uint32(first + 1), min(np.uint32(last + 1), np.uint32(nz - 1)), np.uint32(c + plane)


@cuda.jit(device=True)
def around(u, c, i, j, nx, pitch, ny):
    """Return, for each point of the pair at offset c, the sum of its neighbours in the plane outside the pair."""
    zero = u.dtype.type(0)
    north0 = north1 = south0 = south1 = zero
    if j > 0:
        north0, north1 = load_pair(u, np.uint32(c - pitch))
    if np.uint32(j + 1) < ny:
        south0, south1 = load_pair(u, np.uint32(c + pitch))
    west = u[np.uint32(c - 1)] if i > 0 else zero
    east = u[np.uint32(c + 2)] if np.uint32(i + 2) < nx else zero
    return west + north0 + south0, east + north1 + south1


@cuda.jit(device=True)
def direction(r, p1, beta, c):
    """Return the pair of ``r + beta p1`` at offset c."""
    r0, r1 = load_pair(r, c)
    p0, p1_ = load_pair(p1, c)
    return r0 + beta * p0, r1 + beta * p1_


@cuda.jit(device=True)
def around_direction(r, p1, beta, c, i, j, nx, pitch, ny):
    """Return the same as :func:`around` for the field ``r + beta p1``, which need not be in memory."""
    zero = r.dtype.type(0)
    north0 = north1 = south0 = south1 = west = east = zero
    if j > 0:
        north0, north1 = direction(r, p1, beta, np.uint32(c - pitch))
    if np.uint32(j + 1) < ny:
        south0, south1 = direction(r, p1, beta, np.uint32(c + pitch))
    if i > 0:
        west = r[np.uint32(c - 1)] + beta * p1[np.uint32(c - 1)]
    if np.uint32(i + 2) < nx:
        east = r[np.uint32(c + 2)] + beta * p1[np.uint32(c + 2)]
    return west + north0 + south0, east + north1 + south1


@cuda.jit
def matvec_kernel(p, state, nx, pitch, ny, nz, planes, shift, s):
    """Step 2: as ``laplacian_vectorised_kernel``, but with gaps between rows: each begins with a pair for any nx."""
    i, j, first, last, c = column(pitch, ny, nz, planes, shift)
    if i < nx and j < ny and state[STOPPED] == RUNNING:
        six, plane = p.dtype.type(6), np.uint32(pitch * ny)
        below0 = below1 = p.dtype.type(0)
        if first > 0:
            below0, below1 = load_pair(p, np.uint32(c - plane))
        centre0, centre1 = load_pair(p, c)
        for k in range(first, last):
            above0 = above1 = p.dtype.type(0)
            if np.uint32(k + 1) < nz:
                above0, above1 = load_pair(p, np.uint32(c + plane))
            beside0, beside1 = around(p, c, i, j, nx, pitch, ny)
            s0 = six * centre0 - below0 - above0 - centre1 - beside0
            s1 = six * centre1 - below1 - above1 - centre0 - beside1
            if np.uint32(i + 1) == nx:
                s1 = p.dtype.type(0)  # behind a row of odd length
            store_pair(s, c, s0, s1)
            below0, below1, centre0, centre1 = centre0, centre1, above0, above1
            c = np.uint32(c + plane)


@cuda.jit
def matvec_dot_kernel(p, state, nx, pitch, ny, nz, planes, shift, s, partial):
    """As matvec, plus the block's part of step 3: p and s are in registers, so the sum does not read them again."""
    i, j, first, last, c = column(pitch, ny, nz, planes, shift)
    total = 0.0
    if i < nx and j < ny and state[STOPPED] == RUNNING:
        six, plane = p.dtype.type(6), np.uint32(pitch * ny)
        below0 = below1 = p.dtype.type(0)
        if first > 0:
            below0, below1 = load_pair(p, np.uint32(c - plane))
        centre0, centre1 = load_pair(p, c)
        for k in range(first, last):
            above0 = above1 = p.dtype.type(0)
            if np.uint32(k + 1) < nz:
                above0, above1 = load_pair(p, np.uint32(c + plane))
            beside0, beside1 = around(p, c, i, j, nx, pitch, ny)
            s0 = six * centre0 - below0 - above0 - centre1 - beside0
            s1 = six * centre1 - below1 - above1 - centre0 - beside1
            if np.uint32(i + 1) == nx:
                s1 = p.dtype.type(0)  # behind a row of odd length
            store_pair(s, c, s0, s1)
            total += np.float64(centre0) * np.float64(s0) + np.float64(centre1) * np.float64(s1)
            below0, below1, centre0, centre1 = centre0, centre1, above0, above1
            c = np.uint32(c + plane)
    leave_total(total, partial)


@cuda.jit
def map_stencil_kernel(r, p1, state, nx, pitch, ny, nz, planes, shift, p2, s):
    """As matvec, but with step 9: p2 of neighbours may not be written yet, so it is computed again from r and p1."""
    i, j, first, last, c = column(pitch, ny, nz, planes, shift)
    if i < nx and j < ny and state[STOPPED] == RUNNING:
        beta, six, plane = r.dtype.type(state[BETA]), r.dtype.type(6), np.uint32(pitch * ny)
        below0 = below1 = r.dtype.type(0)
        if first > 0:
            below0, below1 = direction(r, p1, beta, np.uint32(c - plane))
        centre0, centre1 = direction(r, p1, beta, c)
        for k in range(first, last):
            above0 = above1 = r.dtype.type(0)
            if np.uint32(k + 1) < nz:
                above0, above1 = direction(r, p1, beta, np.uint32(c + plane))
            beside0, beside1 = around_direction(r, p1, beta, c, i, j, nx, pitch, ny)
            store_pair(p2, c, centre0, centre1)
            s0 = six * centre0 - below0 - above0 - centre1 - beside0
            s1 = six * centre1 - below1 - above1 - centre0 - beside1
            if np.uint32(i + 1) == nx:
                s1 = r.dtype.type(0)  # behind a row of odd length
            store_pair(s, c, s0, s1)
            below0, below1, centre0, centre1 = centre0, centre1, above0, above1
            c = np.uint32(c + plane)


@cache
def search_kernel_of(halo):
    """Return the search kernel for a grid, or for a part of one that has a halo."""

    # without this number, the compiler takes 44 registers and loads a plane only when needed; with 56, it loads early
    @cuda.jit(max_registers=56)
    def search_kernel(r, p1, state, nx, pitch, ny, nz, planes, shift, p2, partial):
        """As map_stencil, but with the block's part of step 3 instead of s: A p2 is used for the sum and not stored.

        Two fields are read and only one is written, so more loads must be in flight: before a thread computes a plane,
        it requests r and p1 of the plane after the next one.
        """
        i, j, first, last, c = column(pitch, ny, nz, planes, shift)
        total = 0.0
        if halo:
            first, last, c = without_halo(first, last, c, np.uint32(pitch * ny), nz)
        if i < nx and j < ny and state[STOPPED] == RUNNING:
            beta, six, plane = r.dtype.type(state[BETA]), r.dtype.type(6), np.uint32(pitch * ny)
            below0 = below1 = r0 = r1 = p0 = p1_ = r.dtype.type(0)
            if first > 0:
                below0, below1 = direction(r, p1, beta, np.uint32(c - plane))
                if halo and first == 1:  # the halo of p2 is computed here, too, so it need not be sent
                    store_pair(p2, np.uint32(c - plane), below0, below1)
            centre0, centre1 = direction(r, p1, beta, c)
            if np.uint32(first + 1) < nz:
                r0, r1 = load_pair(r, np.uint32(c + plane))
                p0, p1_ = load_pair(p1, np.uint32(c + plane))
            top = min(last, np.uint32(nz - 1))
            for k in range(first, last):
                above0, above1 = r0 + beta * p0, r1 + beta * p1_
                r0 = r1 = p0 = p1_ = r.dtype.type(0)
                if np.uint32(k + 1) < top:
                    r0, r1 = load_pair(r, np.uint32(c + plane + plane))
                    p0, p1_ = load_pair(p1, np.uint32(c + plane + plane))
                beside0, beside1 = around_direction(r, p1, beta, c, i, j, nx, pitch, ny)
                store_pair(p2, c, centre0, centre1)
                if halo and np.uint32(k + 2) == nz:
                    store_pair(p2, np.uint32(c + plane), above0, above1)
                s0 = six * centre0 - below0 - above0 - centre1 - beside0
                s1 = six * centre1 - below1 - above1 - centre0 - beside1
                total += np.float64(centre0) * np.float64(s0) + np.float64(centre1) * np.float64(s1)
                below0, below1, centre0, centre1 = centre0, centre1, above0, above1
                c = np.uint32(c + plane)
        leave_total(total, partial)

    return search_kernel


search_kernel = search_kernel_of(halo=False)


@cache
def advance_kernel(terms, halo=False):
    """Return the kernel that adds ``terms`` directions to x: none, one (p2), or two (also p1 of the last iteration)."""

    @cuda.jit
    def advance(p2, p1, state, nx, pitch, ny, nz, planes, shift, x, r, partial):
        """As matvec, but steps 6 and 8 use A p2 at once, so it is not stored. The kernel also does step 5."""
        i, j, first, last, c = column(pitch, ny, nz, planes, shift)
        total = 0.0
        if halo:
            first, last, c = without_halo(first, last, c, np.uint32(pitch * ny), nz)
        if i < nx and j < ny and state[STOPPED] == RUNNING:
            alpha, six, plane = p2.dtype.type(state[ALPHA]), p2.dtype.type(6), np.uint32(pitch * ny)
            below0 = below1 = p2.dtype.type(0)
            if first > 0:
                below0, below1 = load_pair(p2, np.uint32(c - plane))
            centre0, centre1 = load_pair(p2, c)
            for k in range(first, last):
                above0 = above1 = p2.dtype.type(0)
                if np.uint32(k + 1) < nz:
                    above0, above1 = load_pair(p2, np.uint32(c + plane))
                beside0, beside1 = around(p2, c, i, j, nx, pitch, ny)
                r0, r1 = load_pair(r, c)
                r0 -= alpha * (six * centre0 - below0 - above0 - centre1 - beside0)
                if np.uint32(i + 1) < nx:  # otherwise r1 lies behind a row of odd length
                    r1 -= alpha * (six * centre1 - below1 - above1 - centre0 - beside1)
                store_pair(r, c, r0, r1)
                total += np.float64(r0) * np.float64(r0) + np.float64(r1) * np.float64(r1)
                if terms > 0:
                    x0, x1 = load_pair(x, c)
                    if terms > 1:
                        alpha_old = p2.dtype.type(state[ALPHA_OLD])
                        old0, old1 = load_pair(p1, c)
                        x0, x1 = x0 + alpha_old * old0, x1 + alpha_old * old1
                    store_pair(x, c, x0 + alpha * centre0, x1 + alpha * centre1)
                below0, below1, centre0, centre1 = centre0, centre1, above0, above1
                c = np.uint32(c + plane)
        leave_total(total, partial)

    return advance


@cache
def residual_kernel_of(halo):
    """Return the residual kernel, for a whole grid or for a part of one; x and r of a part have a halo, b has none."""
    before = 1 if halo else 0  # planes of x that b does not have

    @cuda.jit
    def residual_kernel(b, x, nx, pitch, ny, nz, planes, shift, r, partial):
        """As matvec, but for step 1 and the final check. The rows of b have no gaps, so b has an offset of its own."""
        i, j, first, last, c = column(pitch, ny, nz, planes, shift)
        total = 0.0
        if halo:
            first, last, c = without_halo(first, last, c, np.uint32(pitch * ny), nz)
        if i < nx and j < ny:
            six, plane = x.dtype.type(6), np.uint32(pitch * ny)
            below0 = below1 = x.dtype.type(0)
            if first > 0:
                below0, below1 = load_pair(x, np.uint32(c - plane))
            centre0, centre1 = load_pair(x, c)
            for k in range(first, last):
                above0 = above1 = x.dtype.type(0)
                if np.uint32(k + 1) < nz:
                    above0, above1 = load_pair(x, np.uint32(c + plane))
                beside0, beside1 = around(x, c, i, j, nx, pitch, ny)
                at = np.uint32(np.uint32(np.uint32(np.uint32(k - before) * ny) + j) * nx + i)
                r0 = b[at] - (six * centre0 - below0 - above0 - centre1 - beside0)
                r1 = x.dtype.type(0)
                if np.uint32(i + 1) < nx:
                    r1 = b[np.uint32(at + 1)] - (six * centre1 - below1 - above1 - centre0 - beside1)
                store_pair(r, c, r0, r1)
                total += np.float64(r0) * np.float64(r0) + np.float64(r1) * np.float64(r1)
                below0, below1, centre0, centre1 = centre0, centre1, above0, above1
                c = np.uint32(c + plane)
        leave_total(total, partial)

    return residual_kernel


residual_kernel = residual_kernel_of(halo=False)
