"""Conjugate gradient of ``cg/gpu_numba`` on several GPUs: its solver, on the fields of ``gpu_fields.py``."""

from math import prod

from course_pkg.cg.gpu_numba import ITERATIONS, Solver
from course_pkg.cg.gpu_numba.solver import solution
from course_pkg.core import CourseError, Solution
from course_pkg.distributed.gpu_fields import RankWorkspace
from course_pkg.distributed.links import Link

METHODS = tuple(name for name, iteration in ITERATIONS.items() if not iteration.stores_s)


class RankSolver(Solver):
    """Conjugate gradient on one rank among several, two iterations at a time; arguments as for :func:`solve`.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import cuda
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> def two(comm):
    ...     solver = RankSolver("two_kernel", cuda.to_device(np.ones((4, 4, 4))), (8, 4, 4), Staged(comm))
    ...     solver.two()
    ...     solver.look()
    ...     return solver.done
    >>> Serial(2).run(two)
    [2, 2]
    """

    def __init__(self, method: str, b, grid, link: Link, x0=None, *, overlap=True, maxiter=None, **stops):
        if method not in METHODS:
            raise CourseError(f"{method} runs on one GPU only: choose {' or '.join(METHODS)}.")
        link.comm.agree("the shape of the grid", *grid)
        self.grid, self.link, self.overlap = tuple(grid), link, overlap
        most = 10 * prod(grid) if maxiter is None else maxiter
        super().__init__(ITERATIONS[method], b, x0, maxiter=most, **stops)

    def _workspace(self, b) -> RankWorkspace:
        kind = {"swaps_p": self.iteration.swaps_p, "stores_s": self.iteration.stores_s}
        return RankWorkspace(b, self.link, self.grid, overlap=self.overlap, **kind)

    def graph(self):
        """Return a function that queues two iterations; if a CUDA graph can hold the link's messages, in one call."""
        return super().graph() if self.link.captures else self.some

    def look(self) -> None:
        """Wait for the device, and record its iterations since the last look."""
        self.link.finish()
        super().look()


def solve(method: str, b, grid, link: Link, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None) -> Solution:
    """Solve ``A x = b`` with the 7-point Laplacian on several GPUs; all ranks call it.

    Parameters
    ----------
    method : str
        ``"two_kernel"`` or ``"deferred_x"``.
    b, x0 : device array, shape (planes of this rank, ny, nx)
        This rank's slab, at least 3 planes; x0 may be None.
    grid : (nz, ny, nx)
        The size of the whole grid, the same on all ranks.
    link : Link
    rtol, atol, maxiter
        As in ``cg/reference.py``; norms are those of the whole vectors.

    Returns
    -------
    Solution
        x is this rank's slab, a new device array; everything else is the same on all ranks.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import cuda
    >>> from course_pkg.distributed.links import Staged
    >>> from course_pkg.distributed.serial import Serial
    >>> b = cuda.to_device(np.ones((4, 4, 4)))
    >>> [found.iterations for found in Serial(2).run(lambda comm: solve("two_kernel", b, (8, 4, 4), Staged(comm)))]
    [11, 11]
    """
    return solution(RankSolver(method, b, grid, link, x0, rtol=rtol, atol=atol, maxiter=maxiter))
