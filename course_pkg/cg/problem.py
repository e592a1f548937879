"""Poisson's equation on a box: the 7-point Laplacian, zero outside the grid, and a right-hand side of ones."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from course_pkg.core import CourseError
from course_pkg.core.checks import FLOATS, require_count
from course_pkg.stencil import reference
from course_pkg.stencil.problem import LARGE_EDGE, SMALL_EDGE

PUBLISHED = {
    SMALL_EDGE: 514,
    LARGE_EDGE: 2101,
}  # edge of the cube: number of iterations to a relative residual of 1e-6, as the s-step paper publishes it


@dataclass(frozen=True)
class PoissonProblem:
    """Find x with ``A x = b``, where ``A`` has 6 on the diagonal and -1 for each neighbour that exists.

    Attributes
    ----------
    b : ndarray, shape (nz, ny, nx)
        Right-hand side, in host memory.

    Examples
    --------
    >>> p = PoissonProblem.ones((3, 3, 3))
    >>> p.matvec(p.b)[1, 1]  # 6 minus the neighbours that exist
    array([1., 0., 1.])
    >>> p.matrix().shape
    (27, 27)
    """

    b: np.ndarray

    @classmethod
    def ones(cls, shape, dtype="float64") -> "PoissonProblem":
        """Return the problem with ``b = 1`` on a grid of (nz, ny, nx) points; one number means a cube.

        The s-step paper uses this problem. ``PUBLISHED`` has the iterations that it takes on two cubes.
        """
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,) * 3
        require_count(**{f"shape[{i}]": n for i, n in enumerate(shape)})
        if np.dtype(dtype).name not in FLOATS:
            raise CourseError(f"dtype is {dtype}: the fields are {' or '.join(FLOATS)}.")
        if len(shape) != 3 or min(shape) < 3:
            raise CourseError(f"shape is {shape}: pass three sizes of at least 3, or one for a cube.")
        return cls(np.ones(shape, dtype))

    def matvec(self, u):
        """Return ``A u`` for a grid or a vector, in its shape; host memory."""
        grid = np.ascontiguousarray(u).reshape(self.b.shape)
        out = np.empty_like(grid)
        reference.laplacian(grid, out)
        return out.reshape(u.shape)

    def matrix(self) -> csr_array:
        """Return A in compressed rows (CSR), in the dtype of b and with indices of 32 bits; host memory.

        Points are numbered along x, then y, then z. Of b, only the shape and the dtype matter. There are nearly 7
        entries per point, of 12 bytes each in float64. Planes are made one by one, so little further memory is needed.

        Raises
        ------
        CourseError
            If the entries are too many for 32 bits: from about 674³ points on.
        """
        nz, ny, nx = self.b.shape
        plane, points = ny * nx, nz * ny * nx
        entries = 7 * points - 2 * (points // nz + points // ny + points // nx)
        if entries > np.iinfo(np.int32).max:
            raise CourseError(
                f"A has {entries} entries, too many for 32-bit indices: use matvec, which needs no matrix."
            )
        first, inner, last = (self._rows(below, above) for below, above in ((0, 1), (1, 1), (1, 0)))
        data, indices = np.empty(entries, self.b.dtype), np.empty(entries, np.int32)
        indptr = np.zeros(points + 1, np.int32)
        end = 0
        for k in range(nz):
            values, columns, ends = first if k == 0 else last if k == nz - 1 else inner
            begin, end = end, end + values.size
            data[begin:end] = values
            np.add(columns, np.int32(k * plane), out=indices[begin:end])
            np.add(ends, np.int32(begin), out=indptr[k * plane + 1 : (k + 1) * plane + 1])
        return csr_array((data, indices, indptr), shape=(points, points))

    def _rows(self, below, above):
        """Return values, columns and row ends of one plane of the grid, counted from the first point of the plane."""
        _, ny, nx = self.b.shape
        to_neighbour = np.array([-ny * nx, -nx, -1, 0, 1, nx, ny * nx], np.int32)
        exists = np.ones((ny, nx, 7), bool)
        exists[..., 0], exists[..., 6] = below, above
        exists[0, :, 1] = exists[:, 0, 2] = exists[:, -1, 4] = exists[-1, :, 5] = False
        columns = np.arange(ny * nx, dtype=np.int32).reshape(ny, nx, 1) + to_neighbour
        values = np.broadcast_to(np.where(to_neighbour == 0, 6, -1).astype(self.b.dtype), columns.shape)
        return values[exists], columns[exists], np.cumsum(exists.sum(axis=2), dtype=np.int32)
