"""What an iteration, or a message, asks of a rank: the numbers that the model's coefficients are multiplied by."""

from dataclasses import dataclass
from math import ceil, log2, prod

import numpy as np

from course_pkg.cg.variants import VARIANTS as FUSED
from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.sstep.variants import VARIANTS

COEFFICIENTS = ("byte_s", "sweep_s", "reduction_s", "halo_s", "halo_byte_s", "round_s", "round_byte_s")
BYTE, HALO, HALO_BYTE = (COEFFICIENTS.index(name) for name in ("byte_s", "halo_s", "halo_byte_s"))
# fields that are read and written while the halo travels: by the product, and by the second kernel of fused methods
PRODUCT_FIELDS, ADVANCE_FIELDS = 2, 5
ON_GPUS = ("cg_two_kernel", "cg_deferred_x")


@dataclass(frozen=True)
class Work:
    """What one iteration, or one message, asks of the rank with the most points.

    Attributes
    ----------
    bytes, sweeps : float
        What kernels move, and how many sweeps over vectors there are.
    reductions : float
        Sums over all ranks.
    halos, halo_bytes : float
        Exchanges of halos, and the bytes that they bring.
    rounds, round_bytes : float
        Of the reductions: how often messages follow each other, and the sum of their bytes.
    hidden_bytes : float
        What kernels move while a halo travels; 0 if nothing does.

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

        Methods are those of ``sstep``, and of ``cg`` those of two kernels.
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
        """Return the work of an exchange that brings so many bytes, while nothing is computed.

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
        """Return by what each coefficient is multiplied, where the halo is hidden as these coefficients say.

        Without coefficients, no halo is hidden.
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
    """Return reductions, numbers in them, and sweeps, of an iteration."""
    if method == "pcg":
        return 2, 3, 8  # a product, a copy, three dots and three updates
    if method == "pfcg":
        return 1, 9, 4
    if method in ON_GPUS:
        return 2, 2, 2
    if method not in ("pcg_sstep", "pcg_sstep_moments"):
        raise CourseError(
            f"There is no model of {method!r}: choose pcg, pfcg, pcg_sstep_moments, pcg_sstep, {' or '.join(ON_GPUS)}."
        )
    if s is None or s < 1:
        raise CourseError(f"s is {s}: pass the iterations of a pass, at least 1.")
    numbers = (2 * s + 1) ** 2 if method == "pcg_sstep" else 2 * s + 1
    return 1 / s, numbers / s, (s + 3) / s
