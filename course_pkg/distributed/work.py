"""The work of a rank in an iteration or a message: the numbers by which the model's coefficients are multiplied."""

from dataclasses import dataclass
from math import ceil, log2, prod

import numpy as np

from course_pkg.cg.variants import VARIANTS as FUSED
from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.sstep.variants import VARIANTS

COEFFICIENTS = ("byte_s", "sweep_s", "reduction_s", "halo_s", "halo_byte_s", "round_s", "round_byte_s")
BYTE, HALO, HALO_BYTE = (COEFFICIENTS.index(name) for name in ("byte_s", "halo_s", "halo_byte_s"))
# fields that are read and written during a halo exchange: by the product, and by the second kernel of fused methods
PRODUCT_FIELDS, ADVANCE_FIELDS = 2, 5
ON_GPUS = ("cg_two_kernel", "cg_deferred_x")
KNOWN = ("pcg", "pfcg", "pcg_sstep_moments", "pcg_sstep", *ON_GPUS)


@dataclass(frozen=True)
class Work:
    """The work of one iteration, or of one message, on the rank with the most points.

    Attributes
    ----------
    bytes, sweeps : float
        Bytes that kernels move, and number of sweeps over vectors.
    reductions : float
        Number of sums over all ranks.
    halos, halo_bytes : float
        Number of halo exchanges, and the bytes that the rank receives in them.
    rounds, round_bytes : float
        Rounds of messages in all reductions, and the bytes of a message added up over these rounds.
    hidden_bytes : float
        Bytes that kernels move during halo exchanges; 0 if nothing is computed in that time.

    Examples
    --------
    >>> one, many = (Work.of("pcg", (250, 250, 250), ranks) for ranks in (1, 64))
    >>> one.halos, many.halos, many.halo_bytes, many.rounds  # two planes of 250² numbers; two reductions
    (0, 1, 1000000, 12)
    """

    bytes: float = 0.0
    sweeps: float = 0.0
    reductions: float = 0.0
    halos: float = 0.0
    halo_bytes: float = 0.0
    rounds: float = 0.0
    round_bytes: float = 0.0
    hidden_bytes: float = 0.0

    @classmethod
    def of(cls, method: str, grid, ranks: int, s: int | None = None, dtype="float64", overlap=True) -> "Work":
        """Return the work of an iteration of a method on a grid of slabs, without a preconditioner.

        ``method`` is a method of ``sstep``, or a method of ``cg`` that has two kernels per iteration.
        """
        require_count(ranks=ranks)
        nz = grid[0]
        if not 1 <= ranks <= nz:
            raise CourseError(f"{nz} planes cannot be divided among {ranks} ranks.")
        count, numbers, sweeps = _messages(method, s)
        itemsize, plane = np.dtype(dtype).itemsize, prod(grid[1:])
        points = ceil(nz / ranks) * plane
        fused = method in ON_GPUS
        its_cost = (
            FUSED[method].cost((1, 1, points), dtype)
            if fused
            else VARIANTS[method].cost(points, **({"s": s} if s else {}), dtype=dtype)
        )
        rounds = ceil(log2(ranks))
        return cls(
            bytes=its_cost.bytes,
            sweeps=sweeps,
            reductions=count,
            halos=int(ranks > 1),
            halo_bytes=min(ranks - 1, 2) * plane * itemsize,
            rounds=count * rounds,
            round_bytes=8 * numbers * rounds,
            hidden_bytes=(ADVANCE_FIELDS if fused else PRODUCT_FIELDS) * points * itemsize
            if overlap and ranks > 1
            else 0.0,
        )

    @classmethod
    def halo(cls, nbytes: float) -> "Work":
        """Return the work of a halo exchange of ``nbytes`` received bytes, during which nothing is computed.

        Examples
        --------
        >>> Work.halo(800).halo_bytes
        800
        """
        return cls(halos=1, halo_bytes=nbytes)

    @classmethod
    def allreduce(cls, numbers: int, ranks: int) -> "Work":
        """Return the work of the messages of one sum over all ranks.

        Examples
        --------
        >>> one = Work.allreduce(3, 8)
        >>> one.rounds, one.round_bytes
        (3, 72)
        """
        rounds = ceil(log2(ranks))
        return cls(rounds=rounds, round_bytes=8 * numbers * rounds)

    def row(self, theta=None) -> np.ndarray:
        """Return the factor of each coefficient in the time of this work.

        The coefficients ``theta`` decide which of two times counts: that of the halo, or that of the kernels which run
        during its exchange. Without ``theta``, both count.
        """
        x = np.array([getattr(self, name) for name in _FIELDS], float)
        if theta is None or not self.hidden_bytes:
            return x
        if self.halos * theta[HALO] + self.halo_bytes * theta[HALO_BYTE] <= self.hidden_bytes * theta[BYTE]:
            x[[HALO, HALO_BYTE]] = 0.0
        else:
            x[BYTE] -= self.hidden_bytes
        return x


_FIELDS = ("bytes", "sweeps", "reductions", "halos", "halo_bytes", "rounds", "round_bytes")  # as COEFFICIENTS


def _messages(method: str, s: int | None) -> tuple[float, float, float]:
    """Return the number of reductions per iteration, the numbers that they add up, and the sweeps over vectors."""
    if method == "pcg":
        return 2, 3, 8  # a product, a copy, three dots and three updates
    if method == "pfcg":
        return 1, 9, 4
    if method in ON_GPUS:
        return 2, 2, 2
    if method not in ("pcg_sstep", "pcg_sstep_moments"):
        raise CourseError(f"There is no model of {method!r}: choose {', '.join(KNOWN[:-1])} or {KNOWN[-1]}.")
    if s is None or s < 1:
        raise CourseError(f"s is {s}: pass the iterations of a pass, at least 1.")
    numbers = (2 * s + 1) ** 2 if method == "pcg_sstep" else 2 * s + 1
    return 1 / s, numbers / s, (s + 3) / s
