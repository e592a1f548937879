"""Stencils by CuPy: as array statements, as an element-wise kernel, and as a kernel in CUDA C++.

In array statements each operation is a kernel of its own and makes a temporary. The diffusion steps call the functions
of ``reference.py``, which run on CuPy arrays unchanged, because they use only operators and slices.
"""

from functools import cache
from importlib.resources import files

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error

from course_pkg.stencil import reference
from course_pkg.stencil.checks import (
    check_laplacian,
    check_pairs,
    check_points,
    check_step,
    check_work,
)
from course_pkg.stencil.tuning import planes_for


def laplacian(u, out):
    """Compute the 7-point Laplacian ``out = A u`` by seven array operations.

    Examples
    --------
    >>> u, out = cp.ones((3, 3, 4)), cp.empty((3, 3, 4))
    >>> laplacian(u, out); out[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    check_laplacian(u, out, device=True)
    cp.multiply(u, 6, out=out)
    out[:, :, 1:] -= u[:, :, :-1]
    out[:, :, :-1] -= u[:, :, 1:]
    out[:, 1:] -= u[:, :-1]
    out[:, :-1] -= u[:, 1:]
    out[1:] -= u[:-1]
    out[:-1] -= u[1:]


_elementwise = cp.ElementwiseKernel(
    "raw T u, uint32 nx, uint32 ny, uint32 nz",
    "T out",
    """
    unsigned c = i, x = c % nx, row = c / nx, y = row % ny, z = row / ny, plane = nx * ny;
    T west = x > 0 ? u[c - 1] : (T)0, east = x + 1 < nx ? u[c + 1] : (T)0;
    T north = y > 0 ? u[c - nx] : (T)0, south = y + 1 < ny ? u[c + nx] : (T)0;
    T below = z > 0 ? u[c - plane] : (T)0, above = z + 1 < nz ? u[c + plane] : (T)0;
    out = 6 * u[c] - west - east - north - south - below - above
    """,
    "laplacian_elementwise",
)


def laplacian_elementwise(u, out):
    """Compute the 7-point Laplacian by one element-wise kernel, which finds x, y and z of a point by two divisions.

    Examples
    --------
    >>> u, out = cp.ones((3, 3, 4)), cp.empty((3, 3, 4))
    >>> laplacian_elementwise(u, out); out[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    check_laplacian(u, out, device=True)
    check_points(u)
    nz, ny, nx = u.shape
    _elementwise(u.reshape(u.size), nx, ny, nz, out.reshape(out.size))


WIDTH, ROWS = 32, 8  # threads of a block along x and y


@cache
def _vectorised(dtype):
    source = files("course_pkg.stencil").joinpath("laplacian_vectorised.cu").read_text(encoding="utf-8")
    name = f"laplacian_vectorised<{'double' if dtype == 'float64' else 'float'}>"
    module = cp.RawModule(code=source, options=("-std=c++17",), name_expressions=(name,))
    return module.get_function(name)


def laplacian_vectorised(u, out):
    """Compute the 7-point Laplacian by ``laplacian_vectorised.cu``: pairs, a queue in registers, shuffles.

    Examples
    --------
    >>> u, out = cp.ones((3, 3, 4)), cp.empty((3, 3, 4))
    >>> laplacian_vectorised(u, out); out[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 0., 1.])
    """
    check_laplacian(u, out, device=True)
    check_points(u)
    check_pairs(u, out)
    nz, ny, nx = u.shape
    planes = planes_for(u)
    blocks = tuple(-(-n // step) for n, step in ((nx, 2 * WIDTH), (ny, ROWS), (nz, planes)))
    sizes = (cp.uint32(n) for n in (nx, ny, nz, planes))
    _vectorised(u.dtype.name)(blocks, (WIDTH, ROWS), (u, out, *sizes))


def diffusion_step_2d(T, Cp, lam, dt, h, out):
    """Compute the step in array operations; :func:`cost.diffusion_step_arrays` counts their passes.

    Examples
    --------
    >>> T, Cp, out = cp.zeros((3, 4)), cp.ones((3, 4)), cp.empty((3, 4))
    >>> T[1, 1] = 1.0
    >>> diffusion_step_2d(T, Cp, 1.0, 0.1, 1.0, out); out[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    check_step(2, T, Cp, lam, dt, h, out, device=True)
    reference.diffusion_step_2d(T, Cp, lam, dt, h, out)


def diffusion_step_3d(T, Cp, lam, dt, h, out):
    """Compute the step of :func:`diffusion_step_2d` in three dimensions.

    Examples
    --------
    >>> T, Cp, out = cp.zeros((3, 3, 4)), cp.ones((3, 3, 4)), cp.empty((3, 3, 4))
    >>> T[1, 1, 1] = 1.0
    >>> diffusion_step_3d(T, Cp, 1.0, 0.1, 1.0, out); out[1, 1].round(6)
    array([0. , 0.4, 0.1, 0. ])
    """
    check_step(3, T, Cp, lam, dt, h, out, device=True)
    reference.diffusion_step_3d(T, Cp, lam, dt, h, out)


def diffusion_step_2d_four_statements(T, Cp, lam, dt, h, out, work):
    """Compute the diffusion step in four array statements; :func:`cost.diffusion_step_2d_arrays` counts them.

    Examples
    --------
    >>> T, Cp, out = cp.zeros((3, 4)), cp.ones((3, 4)), cp.empty((3, 4))
    >>> T[1, 1] = 1.0
    >>> work = reference.work_arrays_2d(T, cp.empty_like)
    >>> diffusion_step_2d_four_statements(T, Cp, 1.0, 0.1, 1.0, out, work); out[1].round(6)
    array([0. , 0.6, 0.1, 0. ])
    """
    check_step(2, T, Cp, lam, dt, h, out, device=True)
    check_work(T, Cp, out, work, device=True)
    reference.diffusion_step_2d_four_statements(T, Cp, lam, dt, h, out, work)
