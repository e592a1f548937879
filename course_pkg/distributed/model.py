"""The time of an iteration on any number of ranks: its work times coefficients that are fitted to measurements.

::

    t = kernels + reductions + max(0, halo - kernels that run during the halo exchange)
    kernels = byte_s · bytes + sweep_s · sweeps                  of the rank with the most points
    reduction = reduction_s + ⌈log₂ ranks⌉ · (round_s + round_byte_s · bytes)
    halo = halo_s + halo_byte_s · bytes

Each message costs a latency and a time per byte (R. W. Hockney, Parallel Computing 20, 1994). A sum over all ranks
takes ⌈log₂ ranks⌉ rounds of messages (R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19,
2005). ``reduction_s`` is the cost of a reduction that even a single rank pays: its parts are added, and a small system
is solved, by the GPU or by a host that waits for the sums.

The coefficients are fitted by least squares of *relative* errors, which also gives their covariance: the scatter of the
measurements about the fit, times the inverse of the normal equations. So a prediction has an uncertainty. If the
measurements do not determine a coefficient, an error names it; nothing is guessed.

The interval of a crossover follows from that covariance alone. It says how sure the latencies, the bandwidths and the
kernels' times are, but not what the model leaves out, such as a kernel that reaches a smaller share of the bandwidth
than those that were measured, or a network that slows down when all ranks use it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from course_pkg.core import CourseError
from course_pkg.core.checks import require_positive
from course_pkg.distributed.work import COEFFICIENTS, Work

LEVEL = 0.95  # confidence level of all uncertainties
MOST_TURNS = 30  # most repetitions of the fit, each with a new choice of the hidden halos
GPUS = tuple(
    range(1, 1025)
)  # any number of ranks: ⌈planes / ranks⌉ planes on the fullest, ⌈log₂ ranks⌉ rounds


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted coefficients and their uncertainties.

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
        """Half the width of a confidence interval, in standard deviations."""
        return float(student.ppf((1 + LEVEL) / 2, self.freedom))

    def uncertainty(self, name: str) -> float:
        """Return half the width of a coefficient's 95% confidence interval, in seconds."""
        i = COEFFICIENTS.index(name)
        return self.quantile * float(np.sqrt(self.covariance[i, i]))

    def predict(self, work: Work) -> tuple[float, float]:
        """Return the seconds of an iteration, and half the width of the 95% interval for one measurement of it."""
        x = work.row(self.theta)
        seconds = float(x @ self.theta)
        return seconds, self.quantile * float(
            np.sqrt(x @ self.covariance @ x + (self.scatter * seconds) ** 2)
        )

    def gain(self, slow: Work, fast: Work, ratio: float = 1.0) -> tuple[float, float]:
        """Return the seconds that ``ratio`` iterations of ``fast`` save over one of ``slow``, and the uncertainty.

        The uncertainty is half the width of the 95% interval. Both times come from the same coefficients, so much of
        the coefficients' uncertainty cancels.
        """
        theta = self.theta
        x = slow.row(theta) - ratio * fast.row(theta)
        return float(x @ theta), self.quantile * float(np.sqrt(x @ self.covariance @ x))

    def ratio(self, one: Work, other: Work) -> tuple[float, float]:
        """Return how many times as long ``one`` takes as ``other``, and the uncertainty, as for :meth:`gain`."""
        theta = self.theta
        rows = [work.row(theta) for work in (one, other)]
        seconds = [float(row @ theta) for row in rows]
        # relative errors: to first order, their difference counts
        x = rows[0] / seconds[0] - rows[1] / seconds[1]
        value = seconds[0] / seconds[1]
        return value, value * self.quantile * float(np.sqrt(x @ self.covariance @ x))


def fit(
    observations: Iterable[tuple[Work, float]], held: Mapping[str, float | tuple[float, float]] | None = None
) -> Fit:
    """Fit the coefficients to measured times, by least squares of relative errors.

    Parameters
    ----------
    observations : iterable of (Work, float)
        Pairs of a work and the seconds that it took.
    held : dict of str to float or (float, float), optional
        Coefficients that are not fitted, because they are already known: exactly, or with a standard error, which then
        counts in the uncertainties of all coefficients.

    Raises
    ------
    CourseError
        If the measurements do not determine a coefficient; the message names it, and says what to measure.

    Notes
    -----
    Whether a halo is hidden depends on the coefficients. So the fit is repeated: each time, the latest coefficients
    decide which halos are hidden, until this no longer changes.

    Examples
    --------
    >>> fit([(Work.halo(8.0), 1e-6)])
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: 1 measurements do not determine 7 coefficients: measure at least 8.
    """
    observations = list(observations)
    works, times = [w for w, _ in observations], np.array([t for _, t in observations], float)
    held = {name: (value, 0.0) if np.ndim(value) == 0 else value for name, value in (held or {}).items()}
    if unknown := set(held) - set(COEFFICIENTS):
        raise CourseError(f"There is no coefficient {min(unknown)}: choose of {', '.join(COEFFICIENTS)}.")
    sought = np.array([name not in held for name in COEFFICIENTS])
    known, errors = np.array([held.get(name, (0.0, 0.0)) for name in COEFFICIENTS], float).T
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
    # if a held coefficient were larger, the fitted ones would change by this much to make up for it
    follows = np.diag(~sought * 1.0) - inverse @ X.T @ X @ np.diag(~sought * 1.0)
    covariance = variance * inverse + (follows * errors**2) @ follows.T
    found = dict(zip(COEFFICIENTS, map(float, theta), strict=True))
    zero = tuple(name for name, value in found.items() if value == 0 and name not in held)
    return Fit(found, covariance, float(np.sqrt(variance)), freedom, zero)


def _least_squares(X, y, names) -> np.ndarray:
    """Return a least-squares solution; as long as a coefficient is negative, set the most negative one to 0."""
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
    """The number of ranks from which an s-step method is faster, with bounds.

    Attributes
    ----------
    ranks : int or None
        The smallest of the given numbers of ranks from which on it is predicted to be faster; None if there is none.
    earliest, latest : int or None
        With 95% confidence, the method is not faster on fewer ranks than ``earliest``, and is faster from ``latest``
        on.

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
    """Predict the number of ranks from which the s-step method is faster.

    Parameters
    ----------
    grid : (nz, ny, nx)
        The grid of the whole problem; with ``weak``, the grid of each rank.
    slow, fast : str
        Methods of ``sstep``.
    ratio : float
        Iterations of ``fast`` over those of ``slow``.
    counts : iterable of int
        Numbers of ranks, in rising order; a number larger than that of the planes is skipped.

    Examples
    --------
    >>> theta = dict(zip(COEFFICIENTS, (2.5e-13, 2e-6, 1e-5, 5e-6, 4e-12, 3e-6, 1e-10)))
    >>> certain = Fit(theta, np.zeros((7, 7)), 0.0, 10)
    >>> crossover(certain, (250, 250, 250), s=2, slow="pfcg", fast="pcg_sstep_moments").ranks
    1
    """
    require_positive(ratio=ratio)
    tried, faster = [], []
    for ranks in counts:
        whole = (grid[0] * ranks, *grid[1:]) if weak else tuple(grid)
        if whole[0] < ranks:
            break
        gain, half = found.gain(Work.of(slow, whole, ranks), Work.of(fast, whole, ranks, s), ratio)
        tried.append(ranks)
        faster.append((gain > 0, gain + half > 0, gain - half > 0))
    return Crossover(
        *(_lasting(tried, column) for column in (zip(*faster, strict=True) if faster else [()] * 3))
    )


def _lasting(counts: Sequence[int], true: Sequence[bool]) -> int | None:
    """Return the first of the counts from which on all are true; None if the last is not."""
    k = len(counts)
    while k and true[k - 1]:
        k -= 1
    return counts[k] if k < len(counts) else None
