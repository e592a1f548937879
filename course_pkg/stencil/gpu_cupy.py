"""Stencils by CuPy, as array statements: every operation is a kernel of its own and makes a temporary.

The diffusion steps are the reference's: it uses operators and slices alone, and so runs on CuPy arrays as it is.
"""

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error

from course_pkg.stencil import reference
from course_pkg.stencil.checks import check_laplacian, check_step, check_work


def laplacian(u, out):
    """Compute the 7-point Laplacian ``out = A u`` by seven array operations."""
    check_laplacian(u, out, device=True)
    cp.multiply(u, 6, out=out)
    out[:, :, 1:] -= u[:, :, :-1]
    out[:, :, :-1] -= u[:, :, 1:]
    out[:, 1:] -= u[:, :-1]
    out[:, :-1] -= u[:, 1:]
    out[1:] -= u[:-1]
    out[:-1] -= u[1:]


def diffusion_step_2d(T, Cp, lam, dt, h, out):
    """Compute the step in array operations; :func:`cost.diffusion_step_arrays` counts their passes."""
    check_step(2, T, Cp, lam, dt, h, out, device=True)
    reference.diffusion_step_2d(T, Cp, lam, dt, h, out)


def diffusion_step_3d(T, Cp, lam, dt, h, out):
    """Compute the step of :func:`diffusion_step_2d` in three dimensions."""
    check_step(3, T, Cp, lam, dt, h, out, device=True)
    reference.diffusion_step_3d(T, Cp, lam, dt, h, out)


def diffusion_step_2d_four_statements(T, Cp, lam, dt, h, out, work):
    """Compute the diffusion step in four array statements; :func:`cost.diffusion_step_2d_arrays` counts them."""
    check_step(2, T, Cp, lam, dt, h, out, device=True)
    check_work(T, Cp, out, work, device=True)
    reference.diffusion_step_2d_four_statements(T, Cp, lam, dt, h, out, work)
