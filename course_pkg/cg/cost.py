"""What an iteration of conjugate gradient reads, writes, multiplies and exchanges, container by container.

Two conventions, side by side. The *containers* of the fusion document count elements, one multiplication a flop, and no
boundary; :class:`Count` holds such numbers, and sums of them give the document's table for any grid and stencil. A
:class:`~course_pkg.core.Cost` counts bytes, additions and multiplications; with :func:`iteration` it is what the course
measures against.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from course_pkg.core import Cost, CourseError
from course_pkg.core.checks import require_count

POINTS = 7  # of the stencil


@dataclass(frozen=True)
class Count:
    """Elements that a container moves, its multiplications, and what a GPU exchanges with its neighbours.

    Attributes
    ----------
    reads : int
        Elements read if no cache kept a neighbour.
    reads_reused : int
        Elements read if a cache keeps every neighbour.
    writes : int
    multiplications : int
        The document's flops.
    halo : int
        Elements that a GPU between two others receives in an iteration.
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
        """Multiplications for each element read, with full reuse: the document's arithmetic intensity."""
        return self.multiplications / self.reads_reused

    def allocating(self, fields: int) -> "Count":
        """Return this count where ``fields`` writes read their cache line first (write-allocate)."""
        points = self.writes // fields if fields else 0
        return Count(
            self.reads + fields * points,
            self.reads_reused + fields * points,
            self.writes,
            self.multiplications,
            self.halo,
        )


def update_p(shape) -> Count:
    """Count the map ``p = r + beta p``: two fields in, one out, one multiplication a point."""
    m = _points(shape)
    return Count(reads=2 * m, reads_reused=2 * m, writes=m, multiplications=m)


def matvec(shape, points: int = POINTS) -> Count:
    """Count the stencil ``s = A p`` with ``points`` coefficients; each GPU needs a face of p from either neighbour."""
    m = _points(shape)
    return Count(points * m, m, m, points * m, halo=2 * _face(shape))


def dot(shape, *, same: bool = False) -> Count:
    """Count the reduction ``<a, b>``, or ``<a, a>`` when both are the ``same`` field."""
    m = _points(shape)
    read = m if same else 2 * m
    return Count(read, read, 0, m)


def update_x_and_r(shape) -> Count:
    """Count the map ``x += alpha p; r -= alpha s``: four fields in, two out, two multiplications a point."""
    m = _points(shape)
    return Count(4 * m, 4 * m, 2 * m, 2 * m)


def map_and_stencil(shape, points: int = POINTS) -> Count:
    """Count steps 2 and 3 as the two containers of the baseline."""
    return update_p(shape) + matvec(shape, points)


def map_stencil_fused(shape, points: int = POINTS) -> Count:
    """Count steps 2 and 3 as one kernel: ``p2 = r + beta p1`` at each of the stencil's points, then ``s = A p2``.

    Every coefficient's multiplication takes one for ``beta`` with it. The halo is of two fields, r and p1.
    """
    m = _points(shape)
    return Count(2 * points * m, 2 * m, 2 * m, 2 * points * m, halo=4 * _face(shape))


def halo(shape, gpus: int, fields: int = 1) -> list[int]:
    """Return the elements that each of ``gpus`` GPUs receives, for a grid that is cut along z.

    The first and the last GPU have one neighbour, those between have two; a single GPU has none.
    """
    require_count(gpus=gpus, fields=fields)
    if gpus < 1 or gpus > shape[0]:
        raise CourseError(f"gpus is {gpus}: between 1 and the {shape[0]} planes of the grid can share it.")
    if gpus == 1:
        return [0]
    face = fields * _face(shape)
    return [face, *[2 * face] * (gpus - 2), face]


# fields read and written by each kernel of an iteration, whatever the stencil: neighbours come from a cache
PASSES = {
    # updateP reads r, p, writes p; matVec reads p, writes s; dot p, s; updateXandR x, p, r, s -> x, r; dot r
    "cg_baseline": (2 + 1 + 2 + 4 + 1, 1 + 1 + 2),
    # steps 2 and 3 together: r, p1 -> p2, s
    "cg_map_stencil_fused": (2 + 2 + 4 + 1, 2 + 2),
    # updateP; matVec with <p, s>; updateXandR with <r, r>
    "cg_fused_dots": (2 + 1 + 4, 1 + 1 + 2),
    # r, p1 -> p2 with <p2, A p2>; then p2, x, r -> x, r with A p2 once more
    "cg_two_kernel": (2 + 3, 1 + 2),
}


def iteration(variant: str, shape, dtype="float64") -> Cost:
    """Return what one iteration of a variant moves and computes.

    Parameters
    ----------
    variant : str
        One of ``PASSES``.
    shape : (nz, ny, nx)

    Notes
    -----
    Neighbours are taken to come from a cache. Flops: two dots, three updates of two flops each, and the Laplacian, once
    or (``cg_two_kernel``) twice.
    """
    if variant not in PASSES:
        raise CourseError(f"No variant of CG is called {variant!r}: choose from {', '.join(PASSES)}.")
    reads, writes = PASSES[variant]
    size = _points(shape) * np.dtype(dtype).itemsize
    stencils = 2 if variant == "cg_two_kernel" else 1
    flops = (2 * 2 + 3 * 2) * _points(shape) + stencils * _laplacian_flops(shape)
    return Cost(bytes_read=reads * size, bytes_written=writes * size, flops=flops)


def _laplacian_flops(shape) -> int:
    m = _points(shape)
    return 7 * m - sum(2 * m // n for n in shape)


def _points(shape) -> int:
    return prod(shape)


def _face(shape) -> int:
    return prod(shape[1:])
