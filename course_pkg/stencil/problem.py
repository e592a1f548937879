"""Heat in a plate or a block whose heat capacity varies from point to point."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS, require_count

# edges of the two cubes of the s-step paper, which suites of several topics measure
SMALL_EDGE, LARGE_EDGE = 250, 1000


@dataclass(frozen=True)
class HeatProblem:
    """One explicit step of ``Cp dT/dt = div(lam grad T)`` on a uniform grid; the boundary keeps its temperature.

    Attributes
    ----------
    T, Cp : ndarray, shape (ny, nx) or (nz, ny, nx)
        Temperature (the unknown field) and heat capacity (a known field); host memory, x is contiguous.
    lam : float
        Thermal conductivity.
    h : float
        Grid spacing, the same in all directions.
    dt : float
        Time step: 0.9 times the largest stable one.

    Examples
    --------
    >>> p = HeatProblem.random((64, 64), seed=1)
    >>> p.T.shape, p.lam, p.h == 1 / 63, 0 < p.dt < p.h**2
    ((64, 64), 1.0, True, True)
    """

    T: np.ndarray
    Cp: np.ndarray
    lam: float
    h: float
    dt: float

    @classmethod
    def random(cls, shape, dtype="float64", seed: int = 0) -> "HeatProblem":
        """Draw T from [0, 1) and Cp from [1, 2) and choose a stable time step."""
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        require_count(**{f"shape[{i}]": n for i, n in enumerate(shape)})
        if np.dtype(dtype).name not in FLOATS:
            raise CourseError(f"dtype is {dtype}: the fields are {' or '.join(FLOATS)}.")
        if len(shape) not in (2, 3) or min(shape) < 3:
            raise CourseError(f"shape is {shape}: pass 2 or 3 sizes of at least 3, such as (512, 512).")
        rng = np.random.default_rng(seed)
        T = rng.random(shape, dtype=dtype)
        Cp = 1 + rng.random(shape, dtype=dtype)
        lam, h = 1.0, 1.0 / (shape[-1] - 1)
        return cls(T, Cp, lam, h, 0.9 * h**2 * float(Cp.min()) / (2 * len(shape) * lam))

    def arguments(self):
        """Return ``T, Cp, lam, dt, h``, in the order of every diffusion step."""
        return self.T, self.Cp, self.lam, self.dt, self.h
