"""Checks of arguments that the CPU and the GPU files of this topic share."""

from course_pkg.core.checks import (
    require_arrays,
    require_distinct,
    require_ndim,
    require_positive,
    require_shape,
)


def check_laplacian(u, out, *, device: bool) -> None:
    """Check the arguments of a Laplacian: two different grids of three dimensions, in one memory space."""
    require_arrays(device=device, u=u, out=out)
    require_ndim(3, u=u)
    require_distinct(u=u, out=out)


def check_step(ndim: int, T, Cp, lam, dt, h, out, *, device: bool) -> None:
    """Check the arguments of a diffusion step: three different grids, and positive numbers."""
    require_arrays(device=device, T=T, Cp=Cp, out=out)
    require_ndim(ndim, T=T)
    require_distinct(T=T, Cp=Cp, out=out)
    require_positive(lam=lam, dt=dt, h=h)


def check_work(T, qx, qy, dTdt, *, device: bool) -> None:
    """Check the fields between the four statements: each has its own shape."""
    ny, nx = T.shape
    for name, array, shape in (("qx", qx, (ny, nx - 1)), ("qy", qy, (ny - 1, nx)), ("dTdt", dTdt, (ny, nx))):
        require_arrays(device=device, **{name: array})
        require_shape(shape, **{name: array})
