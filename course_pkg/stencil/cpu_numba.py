"""Stencils compiled by Numba, on all cores: vectorised along x, and in 3-D blocked for the cache.

In 3-D a plane of a large grid exceeds a core's cache. Each plane is needed three times, for itself and for both
neighbouring planes, and would be read from memory each time. So y is cut into tiles of several rows. The rows of a tile
in one plane are a strip, and a thread walks along z within a tile, strip by strip. Three strips fit in the cache, so
each strip is read from memory once. Only the rows beside a tile are read again, with the next tile (G. Rivera, C.-W.
Tseng, Tiling optimizations for 3D scientific computations, SC 2000).

Arguments, shapes and equations are those of ``reference.py``. Arrays are C-contiguous, float64 or float32, all of one
precision, in host memory. Every function raises ``CourseError``, before anything is written, when an argument does
not fit.
"""

from numba import get_num_threads, prange
from numba.extending import register_jitable

from course_pkg.core.parallel import parallel
from course_pkg.stencil.checks import check_laplacian, check_step, check_work

# Room for three strips of u: half of 1 MiB, a common size of a core's L2. The other half is for out.
CACHE_BYTES = 2**19
LEAST_ROWS = 8  # fewest rows of a tile, which also reads two rows of its neighbours


def _tile_rows(u):
    """Return the number of rows of a tile, such that three strips stay in the cache and all tiles are about equal."""
    _, ny, nx = u.shape
    most = max(LEAST_ROWS, CACHE_BYTES // (3 * nx * u.itemsize) - 2)
    tiles = -(-ny // most)
    return -(-ny // tiles)


# register_jitable: compiled with the kernel that calls it, and still callable from Python
@register_jitable
def _laplacian_row(u, out, k, j):
    nz, ny, nx = u.shape
    six = u.dtype.type(6)

    def less_across(total, i):  # subtract the neighbours in y and z that exist
        if j > 0:
            total -= u[k, j - 1, i]
        if j < ny - 1:
            total -= u[k, j + 1, i]
        if k > 0:
            total -= u[k - 1, j, i]
        if k < nz - 1:
            total -= u[k + 1, j, i]
        return total

    out[k, j, 0] = less_across(six * u[k, j, 0] - u[k, j, 1], 0)
    if 0 < k < nz - 1 and 0 < j < ny - 1:
        for i in range(1, nx - 1):  # without a branch, so that the compiler can vectorise the loop
            total = six * u[k, j, i] - u[k, j, i - 1] - u[k, j, i + 1]
            out[k, j, i] = total - u[k, j - 1, i] - u[k, j + 1, i] - u[k - 1, j, i] - u[k + 1, j, i]
    else:
        for i in range(1, nx - 1):
            out[k, j, i] = less_across(six * u[k, j, i] - u[k, j, i - 1] - u[k, j, i + 1], i)
    out[k, j, nx - 1] = less_across(six * u[k, j, nx - 1] - u[k, j, nx - 2], nx - 1)


@parallel(fastmath={"contract"})
def _laplacian(u, out, rows=1, threads=1):
    nz, ny, _ = u.shape
    strips = nz * -(-ny // rows)  # numbered along z, then tile by tile; each thread takes an equal share
    for thread in prange(threads):
        for strip in range(thread * strips // threads, (thread + 1) * strips // threads):
            k, first = strip % nz, strip // nz * rows
            for j in range(first, min(first + rows, ny)):
                _laplacian_row(u, out, k, j)


def laplacian(u, out):
    """Compute the 7-point Laplacian ``out = A u``; one read and one write per point, except for the rows beside tiles.

    Examples
    --------
    >>> u, out = np.ones((3, 3, 4)), np.empty((3, 3, 4))
    >>> laplacian(u, out); out[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    check_laplacian(u, out, device=False)
    _laplacian(u, out, _tile_rows(u), get_num_threads())


# error_model="numpy", because the compiler cannot vectorise a division that may raise an exception
@parallel(fastmath={"contract"}, error_model="numpy")
def _diffusion_step_2d(T, Cp, factor, out):
    ny, nx = T.shape
    four = T.dtype.type(4)
    for j in prange(ny):
        if j == 0 or j == ny - 1:
            out[j, :] = T[j, :]
        else:
            out[j, 0] = T[j, 0]
            for i in range(1, nx - 1):
                total = T[j, i - 1] + T[j, i + 1] + T[j - 1, i] + T[j + 1, i] - four * T[j, i]
                out[j, i] = T[j, i] + factor * total / Cp[j, i]
            out[j, nx - 1] = T[j, nx - 1]


def diffusion_step_2d(T, Cp, lam, dt, h, out):
    """Compute one fused diffusion step: T and Cp are read once, ``out`` is written once.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), np.empty((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d(T, Cp, 1.0, 0.1, 1.0, out); out[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    check_step(2, T, Cp, lam, dt, h, out, device=False)
    _diffusion_step_2d(T, Cp, T.dtype.type(dt * lam / h**2), out)


@register_jitable
def _diffusion_row(T, Cp, factor, out, k, j):
    nz, ny, nx = T.shape
    six = T.dtype.type(6)
    if k == 0 or k == nz - 1 or j == 0 or j == ny - 1:
        for i in range(nx):
            out[k, j, i] = T[k, j, i]
    else:
        out[k, j, 0] = T[k, j, 0]
        for i in range(1, nx - 1):
            total = T[k, j, i - 1] + T[k, j, i + 1] + T[k, j - 1, i] + T[k, j + 1, i]
            total += T[k - 1, j, i] + T[k + 1, j, i] - six * T[k, j, i]
            out[k, j, i] = T[k, j, i] + factor * total / Cp[k, j, i]
        out[k, j, nx - 1] = T[k, j, nx - 1]


@parallel(fastmath={"contract"}, error_model="numpy")
def _diffusion_step_3d(T, Cp, factor, out, rows=1, threads=1):
    nz, ny, _ = T.shape
    strips = nz * -(-ny // rows)
    for thread in prange(threads):
        for strip in range(thread * strips // threads, (thread + 1) * strips // threads):
            k, first = strip % nz, strip // nz * rows
            for j in range(first, min(first + rows, ny)):
                _diffusion_row(T, Cp, factor, out, k, j)


def diffusion_step_3d(T, Cp, lam, dt, h, out):
    """Compute one fused diffusion step in three dimensions; two reads and one write per point.

    Examples
    --------
    >>> T, Cp, out = np.zeros((3, 3, 4)), np.ones((3, 3, 4)), np.empty((3, 3, 4))
    >>> T[1, 1, 1] = 1.0
    >>> diffusion_step_3d(T, Cp, 1.0, 0.1, 1.0, out); out[1, 1].round(6)
    array([0. , 0.4, 0.1, 0. ])
    """
    check_step(3, T, Cp, lam, dt, h, out, device=False)
    _diffusion_step_3d(T, Cp, T.dtype.type(dt * lam / h**2), out, _tile_rows(T), get_num_threads())


@parallel(fastmath={"contract"}, error_model="numpy")
def _flux(T, minus_lam_over_h, qx, qy):
    ny, nx = T.shape
    for j in prange(ny):
        for i in range(nx - 1):
            qx[j, i] = minus_lam_over_h * (T[j, i + 1] - T[j, i])
    for j in prange(ny - 1):
        for i in range(nx):
            qy[j, i] = minus_lam_over_h * (T[j + 1, i] - T[j, i])


@parallel(fastmath={"contract"}, error_model="numpy")
def _divergence(qx, qy, Cp, over_h, dTdt):
    ny, nx = Cp.shape
    for j in prange(ny):
        for i in range(nx):
            if 0 < j < ny - 1 and 0 < i < nx - 1:
                dTdt[j, i] = -over_h * (qx[j, i] - qx[j, i - 1] + qy[j, i] - qy[j - 1, i]) / Cp[j, i]
            else:
                dTdt[j, i] = 0


@parallel(fastmath={"contract"})
def _update(T, dt, dTdt, out):
    for j in prange(T.shape[0]):
        for i in range(T.shape[1]):
            out[j, i] = T[j, i] + dt * dTdt[j, i]


def diffusion_step_2d_four_statements(T, Cp, lam, dt, h, out, work):
    """Compute the same step in four statements; 11 passes over memory.

    ``work`` holds ``qx`` (ny, nx - 1), ``qy`` (ny - 1, nx) and ``dTdt`` (ny, nx).

    Examples
    --------
    >>> from course_pkg.stencil import reference
    >>> T, Cp, out = np.zeros((3, 4)), np.ones((3, 4)), np.empty((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d_four_statements(T, Cp, 1.0, 0.1, 1.0, out, reference.work_arrays_2d(T)); out[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    check_step(2, T, Cp, lam, dt, h, out, device=False)
    check_work(T, Cp, out, work, device=False)
    qx, qy, dTdt = work
    real = T.dtype.type
    _flux(T, real(-lam / h), qx, qy)
    _divergence(qx, qy, Cp, real(1 / h), dTdt)
    _update(T, real(dt), dTdt, out)
