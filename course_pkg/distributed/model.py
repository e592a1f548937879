"""The time of an iteration on any number of ranks: its work times coefficients that are fitted to measurements.

    t = kernels + reductions + what the halo takes longer than the product beside which it travels
    kernels = byte_s · bytes + sweep_s · sweeps                  of the rank with the most points
    reduction = reduction_s + ⌈log₂ ranks⌉ · (round_s + round_byte_s · bytes)
    halo = halo_s + halo_byte_s · bytes

Each message costs a latency and a time per byte (R. W. Hockney, Parallel Computing 20, 1994); a sum over all ranks
takes as many rounds of messages as the ranks can be halved (R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform.
Comput. Appl. 19, 2005). ``reduction_s`` is what a reduction costs on one rank already: the host waits for its sums, and
solves a small system.

The coefficients follow by least squares of *relative* errors, with their covariance. So a prediction has an
uncertainty, and a coefficient about which the measurements say nothing is named instead of guessed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from course_pkg.core import CourseError
from course_pkg.core.checks import require_positive
from course_pkg.distributed.work import COEFFICIENTS, Work

LEVEL = 0.95  # of all uncertainties
MOST_TURNS = 30  # of choosing where the halo is hidden
GPUS = tuple(2**k for k in range(11))  # 1 to 1,024


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted coefficients, and how certain they are.

    Attributes
    ----------
    coefficients : dict of str to float
        Seconds for each of ``COEFFICIENTS``.
    covariance : ndarray, shape (7, 7)
    scatter : float
        Standard deviation of the relative error of a measurement.
    freedom : int
        Measurements minus coefficients.
    at_zero : tuple of str
        Coefficients that the measurements would make negative: they are 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> true = np.array([2.5e-13, 2e-6, 1e-5, 5e-6, 4e-12, 3e-6, 1e-10])
    >>> works = [Work.of("pcg_sstep", (edge,) * 3, ranks, s) for edge in (64, 128, 250) for s in (1, 2, 4, 8)
    ...          for ranks in (1, 2)]
    >>> works += [Work.halo(8.0 * n) for n in (1, 10**4, 10**6)] + [Work.allreduce(n, 2) for n in (1, 100, 10**4)]
    >>> found = fit((w, w.row(true) @ true * rng.normal(1, 0.01)) for w in works)
    >>> bool(abs(found.coefficients["byte_s"] / 2.5e-13 - 1) < 0.05), round(found.scatter, 2)
    (True, 0.01)
    """

    coefficients: dict[str, float]
    covariance: np.ndarray
    scatter: float
    freedom: int
    at_zero: tuple[str, ...] = ()

    @property
    def theta(self) -> np.ndarray:
        """The coefficients as an array."""
        return np.array([self.coefficients[name] for name in COEFFICIENTS])

    @property
    def quantile(self) -> float:
        """How many standard deviations an uncertainty spans, on each side."""
        return float(student.ppf((1 + LEVEL) / 2, self.freedom))

    def uncertainty(self, name: str) -> float:
        """Return half the width of a coefficient's interval of 95 %, in seconds."""
        i = COEFFICIENTS.index(name)
        return self.quantile * float(np.sqrt(self.covariance[i, i]))

    def predict(self, work: Work) -> tuple[float, float]:
        """Return the seconds of an iteration and half the width of the interval of 95 % for one measurement of it."""
        x = work.row(self.theta)
        seconds = float(x @ self.theta)
        return seconds, self.quantile * float(
            np.sqrt(x @ self.covariance @ x + (self.scatter * seconds) ** 2)
        )

    def gain(self, slow: Work, fast: Work, ratio: float = 1.0) -> tuple[float, float]:
        """Return by how many seconds ``ratio`` iterations of one are faster than one of the other, and half the width.

        The coefficients are the same in both, so much of their uncertainty cancels.
        """
        theta = self.theta
        x = slow.row(theta) - ratio * fast.row(theta)
        return float(x @ theta), self.quantile * float(np.sqrt(x @ self.covariance @ x))


def fit(observations: Iterable[tuple[Work, float]], held: Mapping[str, float] | None = None) -> Fit:
    """Fit the coefficients to measured times, by least squares of relative errors.

    Parameters
    ----------
    observations : iterable of (Work, float)
        Work, and the seconds that it took.
    held : dict of str to float, optional
        Coefficients that are known otherwise: they are not fitted, and count as certain.

    Raises
    ------
    CourseError
        If the measurements do not determine a coefficient; the sentence names it, and says what to measure.

    Notes
    -----
    Whether a halo is hidden depends on the coefficients; so rows are chosen, coefficients fitted, and rows chosen again
    until nothing changes.

    Examples
    --------
    >>> fit([(Work.halo(8.0), 1e-6)])
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: 1 measurements do not determine 7 coefficients: measure at least 8.
    """
    observations = list(observations)
    works, times = [w for w, _ in observations], np.array([t for _, t in observations], float)
    held = dict(held or {})
    if unknown := set(held) - set(COEFFICIENTS):
        raise CourseError(f"There is no coefficient {min(unknown)}: choose of {', '.join(COEFFICIENTS)}.")
    sought = np.array([name not in held for name in COEFFICIENTS])
    known = np.array([held.get(name, 0.0) for name in COEFFICIENTS])
    count = int(sought.sum())
    if len(works) <= count:
        raise CourseError(
            f"{len(works)} measurements do not determine {count} coefficients: measure at least {count + 1}."
        )
    for seconds in times:
        require_positive(seconds=float(seconds))
    theta, before = None, None
    for _ in range(MOST_TURNS):
        X = np.array([w.row(theta) for w in works]) / times[:, None]
        if before is not None and np.array_equal(X, before):
            break
        theta, before = known.copy(), X
        theta[sought] = _least_squares(X[:, sought], 1 - X @ known, np.array(COEFFICIENTS)[sought])
    free = X[:, sought]
    scale = np.linalg.norm(free, axis=0)
    inverse = np.zeros((len(COEFFICIENTS),) * 2)
    inverse[np.ix_(sought, sought)] = np.linalg.inv((free / scale).T @ (free / scale)) / np.outer(
        scale, scale
    )
    freedom = len(works) - count
    variance = float(np.sum((X @ theta - 1) ** 2)) / freedom
    found = dict(zip(COEFFICIENTS, map(float, theta), strict=True))
    zero = tuple(name for name, value in found.items() if value == 0 and name not in held)
    return Fit(found, variance * inverse, float(np.sqrt(variance)), freedom, zero)


def _least_squares(X, y, names) -> np.ndarray:
    """Return the coefficients, none negative, that bring all products nearest to y."""
    scale = np.linalg.norm(X, axis=0)
    _check_determined(X, scale, names)
    free = np.ones(X.shape[1], bool)
    while True:
        theta = np.zeros(X.shape[1])
        theta[free] = np.linalg.lstsq(X[:, free] / scale[free], y, rcond=None)[0] / scale[free]
        if not (theta < 0).any():
            return theta
        free[np.argmin(theta * scale)] = False


def _check_determined(X, scale, names) -> None:
    unseen = scale == 0
    if not unseen.any():
        _, sizes, V = np.linalg.svd(X / scale, full_matrices=False)
        lost = V[sizes < 1e-10 * sizes[0]]
        unseen = (np.abs(lost) > 1e-6).any(axis=0)
    if unseen.any():
        lost = ", ".join(name for name, missing in zip(names, unseen, strict=True) if missing)
        raise CourseError(
            f"The measurements do not determine {lost}: add grids of several sizes, several s, and messages of "
            "several sizes between 2 ranks or more."
        )


@dataclass(frozen=True)
class Crossover:
    """From how many ranks on a method by s steps is faster, and within which bounds.

    Attributes
    ----------
    ranks : int or None
        The first number of ranks, of those asked for, at which it is predicted to be faster; None if at none.
    earliest, latest : int or None
        The first number at which it may be faster, and the first at which it surely is, at 95 %.

    Examples
    --------
    >>> Crossover(64, 32, None).latest is None
    True
    """

    ranks: int | None
    earliest: int | None
    latest: int | None


def crossover(
    found: Fit,
    grid: Sequence[int],
    s: int,
    *,
    slow: str = "pcg",
    fast: str = "pcg_sstep",
    ratio: float = 1.0,
    counts: Iterable[int] = GPUS,
    weak: bool = False,
) -> Crossover:
    """Predict from how many ranks on the method of s steps is faster.

    Parameters
    ----------
    grid : (nz, ny, nx)
        Of the whole problem; with ``weak``, of each rank.
    slow, fast : str
        Methods of ``sstep``.
    ratio : float
        Iterations of ``fast`` over those of ``slow``.
    counts : iterable of int
        Numbers of ranks, rising; those with more ranks than planes are left out.

    Examples
    --------
    >>> theta = dict(zip(COEFFICIENTS, (2.5e-13, 2e-6, 1e-5, 5e-6, 4e-12, 3e-6, 1e-10)))
    >>> certain = Fit(theta, np.zeros((7, 7)), 0.0, 10)
    >>> crossover(certain, (250, 250, 250), s=2, slow="pfcg", fast="pcg_sstep_moments").ranks
    1
    """
    require_positive(ratio=ratio)
    first: list[int | None] = [None, None, None]
    for ranks in counts:
        whole = (grid[0] * ranks, *grid[1:]) if weak else tuple(grid)
        if whole[0] < ranks:
            break
        gain, half = found.gain(Work.of(slow, whole, ranks), Work.of(fast, whole, ranks, s), ratio)
        for i, value in enumerate((gain, gain + half, gain - half)):
            if first[i] is None and value > 0:
                first[i] = ranks
    return Crossover(*first)
