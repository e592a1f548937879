"""Bases of a Krylov space of s dimensions: each is a recurrence for vectors S_j, j = 0 … s - 1.

With the operator ``B = M A`` (M applies the inverse of the preconditioner), S_0 = M r, and for every basis

    S_{j+1} = a_j (B S_j - c_j S_j) - g_j S_{j-1}

==========  ==========================  =================  ===========  ======================================
basis       a_j                         c_j                g_j          what must be known of the spectrum
==========  ==========================  =================  ===========  ======================================
monomial    1                           0                  0            nothing; S_j = B^j S_0
chebyshev   1/h for j = 0, then 2/h     c                  0, then 1    an interval that holds all of it
newton      4 / (hi - lo)               the j-th shift     0            such an interval; ``leja`` gives the shifts
==========  ==========================  =================  ===========  ======================================

Here, c and h are the centre and the half-width of the interval [lo, hi]. On this interval, Chebyshev polynomials
stay between -1 and 1. Outside it, they grow faster than any other polynomial of the same degree with this property.

Sources: W. D. Joubert, G. F. Carey, Parallelizable restarted iterative methods for nonsymmetric linear systems. Part I:
Theory, Intern. J. Comput. Math. 44, 1992 (Chebyshev); Z. Bai, D. Hu, L. Reichel, A Newton basis GMRES implementation,
IMA J. Numer. Anal. 14, 1994 (Newton, with Leja's order); E. Carson, Communication-avoiding Krylov subspace methods in
theory and practice, PhD thesis, Berkeley 2015 (both, for conjugate gradients).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from course_pkg.core import CourseError

BASES = ("chebyshev", "newton", "monomial")


@dataclass(frozen=True)
class Basis:
    """The coefficients of a recurrence: one a, one c and one g for each product with the operator except the last.

    Attributes
    ----------
    name : str
        One of ``BASES``.
    a, c, g : tuple of float, each of s - 1 numbers

    Examples
    --------
    >>> basis("chebyshev", 3, (0.0, 4.0))
    Basis(name='chebyshev', a=(0.5, 1.0), c=(2.0, 2.0), g=(0.0, 1.0))
    """

    name: str
    a: tuple[float, ...]
    c: tuple[float, ...]
    g: tuple[float, ...]

    @property
    def s(self) -> int:
        """Number of vectors."""
        return len(self.a) + 1


def basis(name: str, s: int, bounds=None) -> Basis:
    """Return the recurrence of a basis of s vectors.

    Parameters
    ----------
    name : str
        ``"chebyshev"``, ``"newton"`` or ``"monomial"``.
    s : int
    bounds : (float, float), optional
        An interval that contains all eigenvalues of ``M A``; the monomial basis needs none.

    Raises
    ------
    CourseError
        If the name is unknown, or if the basis needs bounds and they are not an interval of positive length.

    Examples
    --------
    >>> basis("monomial", 3).a
    (1.0, 1.0)
    >>> basis("newton", 2, (0.0, 4.0)).a
    (1.0,)
    """
    if name not in BASES:
        raise CourseError(f"basis is {name!r}: choose from {', '.join(BASES)}.")
    steps = s - 1
    if name == "monomial":
        return Basis(name, (1.0,) * steps, (0.0,) * steps, (0.0,) * steps)
    lo, hi = check_bounds(bounds)
    centre, half = (hi + lo) / 2, (hi - lo) / 2
    if name == "newton":
        return Basis(name, (2 / half,) * steps, _leja(s, lo, hi)[:steps], (0.0,) * steps)
    a = (1 / half,) + (2 / half,) * (steps - 1)
    return Basis(name, a[:steps], (centre,) * steps, ((0.0,) + (1.0,) * (steps - 1))[:steps])


def check_bounds(bounds) -> tuple[float, float]:
    """Return (lo, hi) as floats; raise unless they are finite, lo is at least 0, and hi is larger.

    Examples
    --------
    >>> check_bounds((4, 1))
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: bounds is (4, 1): pass (lo, hi) with 0 ≤ lo < hi, both finite.
    """
    try:
        lo, hi = map(float, bounds)
    except (TypeError, ValueError):
        lo, hi = np.nan, np.nan
    if not (np.isfinite(hi) and 0 <= lo < hi):
        raise CourseError(f"bounds is {bounds!r}: pass (lo, hi) with 0 ≤ lo < hi, both finite.")
    return lo, hi


def leja(s: int, lo: float, hi: float) -> list[float]:
    """Return the s Chebyshev points of [lo, hi] in Leja's order: each is the one farthest from those before it.

    "Farthest" means that the product of the distances is largest. If the points were in ascending order, products of
    the first few factors would be very small at one end of the interval, very large at the other.

    Examples
    --------
    >>> [round(x, 3) for x in leja(3, -1.0, 1.0)]
    [0.866, -0.866, 0.0]
    """
    points = list((hi + lo) / 2 + (hi - lo) / 2 * np.cos((2 * np.arange(1, s + 1) - 1) * np.pi / (2 * s)))
    chosen = [points.pop(int(np.argmax(np.abs(points))))]
    while points:
        far = [np.sum(np.log(np.abs(p - np.array(chosen)))) for p in points]
        chosen.append(points.pop(int(np.argmax(far))))
    return [float(p) for p in chosen]


@lru_cache(maxsize=64)
def _leja(s, lo, hi):
    return tuple(leja(s, lo, hi))


def values(chosen: Basis, t) -> np.ndarray:
    """Return the values of a basis's polynomials at the points t: row j holds the factor of S_j for each eigenvalue t.

    Examples
    --------
    >>> values(basis("chebyshev", 3, (-0.0, 2.0)), [0.0, 2.0])
    array([[ 1.,  1.],
           [-1.,  1.],
           [ 1.,  1.]])
    """
    t = np.asarray(t, float)
    rows = [np.ones_like(t)]
    for j, (a, c, g) in enumerate(zip(chosen.a, chosen.c, chosen.g, strict=True)):
        rows.append(a * (t - c) * rows[j] - g * (rows[j - 1] if j else 0.0))
    return np.array(rows)
