"""The timeline of an iteration by the model: when each rank computes, waits for its halo, and waits for a sum."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.distributed.partition import Slab
from course_pkg.distributed.work import COEFFICIENTS, PRODUCT_FIELDS, Work

PRODUCT, HALO_WAIT, BOUNDARY, VECTORS, SUM = (
    "product",
    "waits for its halo",
    "boundary",
    "vectors",
    "waits for a sum",
)
HALO = "halo"  # the halo is in transit
BOUNDARY_FIELDS = 3  # accesses per halo point: read it, and read and write the point that it changes


@dataclass(frozen=True)
class Span:
    """What a rank does from one time to another.

    Attributes
    ----------
    kind : str
        One of this module's names.
    start, end : float
        In seconds.

    Examples
    --------
    >>> Span(PRODUCT, 0.0, 2e-6).end
    2e-06
    """

    kind: str
    start: float
    end: float


def machine(**known: float) -> dict[str, float]:
    """Return the model's coefficients: the given ones, and 0 for all others.

    Parameters
    ----------
    **known : float
        Coefficients in seconds, by their names in ``work.COEFFICIENTS``.

    Raises
    ------
    CourseError
        If a name is not that of a coefficient.

    Examples
    --------
    >>> machine(round_s=5e-6)["byte_s"]
    0.0
    """
    if unknown := sorted(set(known) - set(COEFFICIENTS)):
        raise CourseError(f"{', '.join(unknown)} is no coefficient: choose from {', '.join(COEFFICIENTS)}.")
    return {name: float(known.get(name, 0.0)) for name in COEFFICIENTS}


def timeline(
    method: str,
    grid,
    ranks: int,
    coefficients: Mapping[str, float],
    *,
    s: int | None = None,
    overlap: bool = True,
    iterations: int = 4,
    shown=None,
) -> dict[int, list[Span]]:
    """Return, for each rank, a list of the spans of some iterations.

    All ranks begin together. At each sum, every rank waits for the slowest one. The first and the last rank have only
    one neighbour, and some slabs have one plane less than others. Such ranks have less to do, so they wait longer.

    Parameters
    ----------
    method : str
        A method of ``sstep``.
    grid : (nz, ny, nx)
    ranks : int
    coefficients : dict of str to float
        Seconds, from :class:`~course_pkg.distributed.model.Fit` or :func:`machine`.
    overlap : bool
        Whether the product is computed during the halo exchange.
    iterations : int
        A multiple of s.
    shown : sequence of int, optional
        The ranks whose spans are returned; by default, all.

    Raises
    ------
    CourseError
        If the number of iterations is not a multiple of s.

    Notes
    -----
    A rank with two neighbours and the largest slab takes the time of ``Fit.predict``, plus the time of the boundary,
    which the model leaves out.

    Examples
    --------
    >>> alone = timeline("pcg", (8, 8, 8), 1, machine(byte_s=1e-12, reduction_s=1e-6), iterations=1)
    >>> [span.kind for span in alone[0]]
    ['product', 'vectors', 'waits for a sum', 'vectors', 'waits for a sum']
    """
    require_count(ranks=ranks, iterations=iterations)
    theta = machine(**coefficients)
    rounds = iterations // (s or 1)
    if iterations % (s or 1):
        raise CourseError(f"{iterations} iterations are no whole rounds of {s}: pass a multiple of {s}.")
    whole = Work.of(method, grid, ranks, s)
    stretches = round(whole.reductions * (s or 1))  # between sums, in a round
    sum_s = theta["reduction_s"] + (
        whole.rounds * theta["round_s"] + whole.round_bytes * theta["round_byte_s"]
    ) / max(whole.reductions, 1e-300)
    wanted = range(ranks) if shown is None else shown
    lanes = {rank: _Lane(Slab(tuple(grid), rank, ranks), whole, theta, overlap) for rank in range(ranks)}
    for _ in range(rounds):
        for stretch in range(stretches):
            for lane in lanes.values():
                for _ in range((s or 1) if stretch == 0 else 0):
                    lane.product()
                lane.vectors((s or 1) / stretches)
            last = max(lane.now for lane in lanes.values())
            for lane in lanes.values():
                lane.until(SUM, last + sum_s)
    return {rank: lanes[rank].spans for rank in wanted}


class _Lane:
    """The spans of one rank so far."""

    def __init__(self, slab: Slab, whole: Work, theta, overlap: bool):
        points, most = slab.shape[0], -(-slab.grid[0] // slab.ranks)
        share = points / most
        neighbours = sum(peer is not None for peer in (slab.below, slab.above))
        itemsize = whole.hidden_bytes / (PRODUCT_FIELDS * most * slab.plane) if whole.hidden_bytes else 8.0
        self.product_s = PRODUCT_FIELDS * points * slab.plane * itemsize * theta["byte_s"]
        halo_bytes = neighbours * slab.plane * itemsize
        self.halo_s = theta["halo_s"] + halo_bytes * theta["halo_byte_s"] if neighbours else 0.0
        self.boundary_s = BOUNDARY_FIELDS * halo_bytes * theta["byte_s"]
        kernels = share * whole.bytes * theta["byte_s"] + whole.sweeps * theta["sweep_s"]
        self.vectors_s, self.overlap = kernels - self.product_s, overlap
        self.now, self.spans = 0.0, []

    def until(self, kind: str, end: float) -> None:
        """Append a span that lasts until ``end``; if that time is past, do nothing."""
        if end > self.now:
            self.spans.append(Span(kind, self.now, end))
            self.now = end

    def product(self) -> None:
        """Append the product, during the halo exchange or after it."""
        begun = self.now
        if self.halo_s:
            self.spans.append(Span(HALO, begun, begun + self.halo_s))
        if not self.overlap:
            self.until(HALO_WAIT, begun + self.halo_s)
        self.until(PRODUCT, self.now + self.product_s)
        self.until(HALO_WAIT, begun + self.halo_s)
        self.until(BOUNDARY, self.now + self.boundary_s)

    def vectors(self, iterations: float) -> None:
        """Append the work on vectors of a number of iterations."""
        self.until(VECTORS, self.now + iterations * self.vectors_s)


def seconds(spans) -> float:
    """Return the time in seconds at which the last span ends.

    Examples
    --------
    >>> seconds([Span(PRODUCT, 0.0, 1.0), Span(HALO, 0.0, 2.0)])
    2.0
    """
    return float(np.max([span.end for span in spans]))
