"""Checks of arguments that the CPU and the GPU files of this topic share."""

from course_pkg.core import CourseError
from course_pkg.core.checks import (
    byte_range,
    require_arrays,
    require_count,
    require_distinct,
    require_ndim,
    require_positive,
    require_shape,
)

MOST_POINTS = 2**32
INTERIOR = 3  # points in each direction: a stencil needs at least one point between two boundaries


def check_laplacian(u, out, *, device: bool) -> None:
    """Check the arguments of a Laplacian: two different grids of three dimensions, in one memory space."""
    require_arrays(device=device, u=u, out=out)
    require_ndim(3, least=INTERIOR, u=u)
    require_distinct(u=u, out=out)


def check_step(ndim: int, T, Cp, lam, dt, h, out, *, device: bool) -> None:
    """Check the arguments of a diffusion step: three different grids, and positive numbers."""
    require_arrays(device=device, T=T, Cp=Cp, out=out)
    require_ndim(ndim, least=INTERIOR, T=T)
    require_distinct(T=T, Cp=Cp, out=out)
    require_positive(lam=lam, dt=dt, h=h)


def check_work(T, Cp, out, work, *, device: bool) -> None:
    """Check the three fields between the four statements: shapes, the precision of ``T``, and separate memory."""
    if not isinstance(work, (tuple, list)) or len(work) != 3:
        raise CourseError(
            "work must hold three arrays, qx, qy and dTdt: reference.work_arrays_2d(T) makes them."
        )
    qx, qy, dTdt = work
    ny, nx = T.shape
    for name, array, shape in (("qx", qx, (ny, nx - 1)), ("qy", qy, (ny - 1, nx)), ("dTdt", dTdt, (ny, nx))):
        require_arrays(device=device, dtypes=(str(T.dtype),), **{name: array})
        require_shape(shape, **{name: array})
    require_distinct(T=T, Cp=Cp, out=out, qx=qx)
    require_distinct(T=T, Cp=Cp, out=out, qx=qx, qy=qy)
    require_distinct(T=T, Cp=Cp, out=out, qx=qx, qy=qy, dTdt=dTdt)


def check_cross(u, halo, out, *, device: bool) -> None:
    """Check the arguments of a mean over a cross: two different planes, and a halo of at least one point."""
    require_arrays(device=device, u=u, out=out)
    require_ndim(2, u=u)
    require_distinct(u=u, out=out)
    require_count(halo=halo)
    if halo < 1:
        raise CourseError("halo is 0: a cross reaches at least one point to each side.")


def check_points(u, name: str = "u", instead: str = "laplacian_naive") -> None:
    """Check that 32-bit offsets reach every point; ``instead`` names a variant without this limit."""
    if u.size >= MOST_POINTS:
        raise CourseError(
            f"{name} has {u.size} points, too many for this variant's 32-bit offsets: use {instead}."
        )


def check_pairs(*grids) -> None:
    """Check that the pairs of points along x begin at multiples of their size."""
    for grid in grids:
        if grid.shape[-1] % 2:
            raise CourseError(
                f"nx is {grid.shape[-1]}: pairs of points need rows of even length; use the marching variant, "
                "or pad by one."
            )
        if byte_range(grid)[0] % (2 * grid.dtype.itemsize):
            raise CourseError(
                f"The address of a grid is {byte_range(grid)[0] % 256} bytes behind a multiple of 256, but pairs of "
                f"points must begin at multiples of {2 * grid.dtype.itemsize} bytes: pass a whole array, not a slice."
            )
