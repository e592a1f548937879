"""What an iteration of conjugate gradient reads, writes, multiplies and exchanges, container by container.

There are two ways of counting. The fusion document counts elements and multiplications of each *container*, and ignores
the boundary. :class:`Count` holds such numbers; their sums give the document's table for any grid and stencil. A
:class:`~course_pkg.core.Cost` counts bytes, additions and multiplications; :func:`cost` computes it, and the course
compares its measurements with it. Both follow from the program and from the kernels that its containers share.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from course_pkg.cg.fusion import BASELINE, MAP_AND_STENCIL, Plan, cut, plan
from course_pkg.cg.program import POINTS, conjugate_gradient
from course_pkg.core import Cost, CourseError
from course_pkg.core.checks import require_count


@dataclass(frozen=True)
class Count:
    """Elements that a container moves, its multiplications, and the elements that GPUs exchange.

    Attributes
    ----------
    reads : int
        Elements read without any cache.
    reads_reused : int
        Elements read if neighbours always come from a cache.
    writes : int
    multiplications : int
        The document's flops.
    halo : int
        Elements that a GPU with two neighbours receives in each iteration.

    Examples
    --------
    >>> (Count(reads=2, writes=1) + Count(reads=7, writes=1)).reads
    9
    """

    reads: int = 0
    reads_reused: int = 0
    writes: int = 0
    multiplications: int = 0
    halo: int = 0

    def __add__(self, other: "Count") -> "Count":
        if not isinstance(other, Count):
            return NotImplemented
        return Count(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def intensity(self) -> float:
        """Multiplications per element read with full reuse: the document's arithmetic intensity."""
        return self.multiplications / self.reads_reused

    def allocating(self, fields: int) -> "Count":
        """Return this count for a CPU that first reads the cache lines of ``fields`` writes (write-allocate)."""
        points = self.writes // fields if fields else 0
        return Count(
            self.reads + fields * points,
            self.reads_reused + fields * points,
            self.writes,
            self.multiplications,
            self.halo,
        )


def count(plan_or_kernel, shape) -> Count:
    """Return the count of a kernel, or of all kernels of a plan, by the rules of the fusion document.

    Parameters
    ----------
    plan_or_kernel : Plan or Kernel
    shape : (nz, ny, nx)
        Shape of the grid, or of the part that one GPU has.

    Raises
    ------
    CourseError
        If the plan cannot run.

    Examples
    --------
    >>> found = count(BASELINE, (10, 10, 10))
    >>> found.reads_reused, found.writes, found.halo
    (10000, 4000, 200)
    """
    if isinstance(plan_or_kernel, Plan):
        plan_or_kernel.require_legal()
        return sum((count(k, shape) for k in plan_or_kernel.kernels), Count())
    kernel, m = plan_or_kernel, _points(shape)
    return Count(
        reads=m * sum(kernel.points if around else 1 for around in kernel.reads.values()),
        reads_reused=m * len(kernel.reads),
        writes=m * len(kernel.writes),
        multiplications=m * sum(c.multiplications * prod(_sites(c, kernel)) for c in kernel.containers),
        halo=2 * _face(shape) * len(kernel.halo),
    )


def update_p(shape) -> Count:
    """Count the map ``p = r + beta p``: two fields in, one out, one multiplication per point.

    Examples
    --------
    >>> update_p((10, 10, 10)).reads, update_p((10, 10, 10)).writes
    (2000, 1000)
    """
    return _container("updateP", shape)


def matvec(shape, points: int = POINTS) -> Count:
    """Count the stencil ``s = A p`` with ``points`` coefficients; a GPU needs a face of p from each adjacent GPU.

    Examples
    --------
    >>> found = matvec((10, 10, 10))
    >>> found.reads, found.reads_reused, found.halo
    (7000, 1000, 200)
    """
    return _container("matVec", shape, points)


def dot(shape, *, same: bool = False) -> Count:
    """Count the reduction ``<a, b>``, or ``<a, a>`` when both are the ``same`` field.

    Examples
    --------
    >>> dot((10, 10, 10)).reads, dot((10, 10, 10), same=True).reads
    (2000, 1000)
    """
    return _container("dot rr" if same else "dot pAp", shape)


def update_x_and_r(shape) -> Count:
    """Count the map ``x += alpha p; r -= alpha s``: four fields in, two out, two multiplications per point.

    Examples
    --------
    >>> update_x_and_r((10, 10, 10)).reads, update_x_and_r((10, 10, 10)).writes
    (4000, 2000)
    """
    return _container("updateXandR", shape)


def map_and_stencil(shape, points: int = POINTS) -> Count:
    """Count the document's steps 2 and 3, the update of p and ``s = A p``, as two containers.

    Examples
    --------
    >>> map_and_stencil((10, 10, 10)).reads_reused
    3000
    """
    return update_p(shape) + matvec(shape, points)


def map_stencil_fused(shape, points: int = POINTS) -> Count:
    """Count the document's steps 2 and 3 as one kernel: ``p2 = r + beta p1`` at each stencil point, then ``s = A p2``.

    For each coefficient there is one more multiplication, by ``beta``. The halo consists of two fields, r and p1.

    Examples
    --------
    >>> found = map_stencil_fused((10, 10, 10))
    >>> found.reads_reused, found.multiplications, found.halo
    (2000, 14000, 400)
    """
    fused = plan(conjugate_gradient(points), MAP_AND_STENCIL)
    return count(fused.kernels[0], shape)


def halo(shape, gpus: int, fields: int = 1) -> list[int]:
    """Return the elements that each of ``gpus`` GPUs receives, for a grid that is cut along z.

    The first and the last GPU have one neighbour, the others have two; a single GPU has none.

    Examples
    --------
    >>> halo((12, 10, 10), gpus=3)
    [100, 200, 100]
    """
    require_count(gpus=gpus, fields=fields)
    if gpus < 1 or gpus > shape[0]:
        raise CourseError(f"gpus is {gpus}: choose 1 to {shape[0]}, the number of planes of the grid.")
    if gpus == 1:
        return [0]
    face = fields * _face(shape)
    return [face, *[2 * face] * (gpus - 2), face]


def cost(chosen: Plan, shape, dtype="float64") -> Cost:
    """Return the bytes and flops of one iteration of a plan; if the plan has two iterations, their mean.

    Parameters
    ----------
    chosen : Plan
    shape : (nz, ny, nx)
    dtype : str
        Type of each field for which the program gives no width.

    Raises
    ------
    CourseError
        If the plan cannot run.

    Notes
    -----
    Neighbours are assumed to come from a cache. The Laplacian takes one flop for each stencil point that lies in the
    grid. A map that is fused into it is evaluated at each of these points. The count assumes one thread per point: a
    marching kernel keeps p2 of some neighbours and does fewer flops, as ``course verify counters`` shows.

    Examples
    --------
    >>> cost(BASELINE, (10, 10, 10)).bytes / 1000  # bytes per point
    112.0
    """
    chosen.require_legal()
    read, written = chosen.moved(np.dtype(dtype).itemsize)
    flops, points = sum(_flops(k, shape) for k in chosen.kernels), _points(shape)
    return Cost(int(read * points), int(written * points), flops // chosen.program.iterations)


def with_matrix(shape, dtype="float64") -> Cost:
    """Return the bytes and flops of an iteration with a stored matrix: those of the baseline plus those of the matrix.

    The matrix is stored as CSR: a value and a 32-bit column index for each entry, and for each row the 32-bit index
    of its first entry.

    Examples
    --------
    >>> shape = (100, 100, 100)
    >>> with_matrix(shape).bytes / cost(BASELINE, shape).bytes  # the matrix costs 0.78 of what the fields do
    1.77...
    """
    points, itemsize = prod(shape), np.dtype(dtype).itemsize
    entries = 7 * points - 2 * sum(points // n for n in shape)
    matrix = Cost(bytes_read=(itemsize + 4) * entries + 4 * points, flops=2 * entries)
    fields = cost(BASELINE, shape, dtype)
    vectors = Cost(fields.bytes_read, fields.bytes_written, 10 * points)
    return matrix + vectors


def flops_inside(chosen: Plan) -> int:
    """Return the flops of a plan per point far from the boundary, where every point has all its neighbours.

    Examples
    --------
    >>> flops_inside(BASELINE)
    17
    """
    return sum(c.flops * prod(_sites(c, k)) for k in chosen.kernels for c in k.containers)


def _container(name, shape, points=POINTS) -> Count:
    program = conjugate_gradient(points)
    alone = plan(program, cut(program, [c.name for c in program.containers]))
    return count(next(k for k in alone.kernels if k.containers[0].name == name), shape)


def _sites(container, kernel) -> tuple[int, ...]:
    """Return at how many points a thread evaluates a container, and how many points it reads for each of them."""
    return (
        kernel.points if container.name in kernel.spread else 1,
        kernel.points if container.kind == "stencil" else 1,
    )


def _flops(kernel, shape) -> int:
    m = _points(shape)
    inside = kernel.points * m - sum(2 * m // n for n in shape)  # a point on a face lacks a neighbour
    return sum(c.flops * (m if _sites(c, kernel) == (1, 1) else inside) for c in kernel.containers)


def _points(shape) -> int:
    return prod(shape)


def _face(shape) -> int:
    return prod(shape[1:])
