"""The directions that a pass leaves behind for the next one: as many as a block holds, even if the pass was shorter.

New directions must be conjugate to the last s ones, however many passes these come from. So a shorter pass keeps the
youngest directions of the pass before it, beside its own: its block is as full as any other, and a pass of any length
may follow. A pass may make its directions by eigenvectors, which mix old and young ones; a rotation tells them apart.
"""

import numpy as np

from course_pkg.sstep.projection import Projection


class Directions:
    """The order of the directions in the old block, by age; it is found when a shorter pass asks for it.

    Examples
    --------
    >>> directions = Directions()
    >>> alone = Projection(np.array([[0.5], [1.0]]), np.array([3.0, 4.0]), 1.0, 1)  # a fresh vector after one old one
    >>> directions.coefficients(alone, s=1, length=1)[0]
    array([[0.5],
           [1. ]])
    """

    def __init__(self):
        # the old block's size, its number of directions kept from before, and the coefficients of those made
        self.room, self.before, self.made = 0, 0, np.zeros((0, 0))

    def coefficients(self, found: Projection, s: int, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients C and a of a pass in the shapes of whole blocks, for ``project_block``.

        Parameters
        ----------
        found : Projection
            From ``length`` fresh vectors and, unless there is no old block, s old ones.
        s, length : int
            Number of vectors for which blocks have room, and number of vectors of this pass.

        Returns
        -------
        C : ndarray, shape (2 s, s)
        a : ndarray, shape (2 s,)

        Examples
        --------
        >>> one = Projection(np.array([[0.5]]), np.array([3.0]), 1.0, 1)
        >>> Directions().coefficients(one, s=2, length=1)  # blocks of 2, but a pass of 1
        (array([[0. , 0. ],
               [0. , 0. ],
               [0.5, 0. ],
               [0. , 0. ]]), array([0., 0., 3., 0.]))
        """
        old = len(found.a) - length
        made, stays = found.C[:, : found.kept], np.zeros((old, 0))
        if length < s:
            made = made @ by_age(made[old:])
            if old:
                stays = self._order()[:, -(s - found.kept) :]
        before, C, a = stays.shape[1], np.zeros((2 * s, s)), np.zeros(2 * s)
        every = slice(before, before + found.kept)
        C[:old, :before], C[:old, every], C[s : s + length, every] = stays, made[:old], made[old:]
        a[:old], a[s : s + length] = found.a[:old], found.a[old:]
        self.room, self.before, self.made = s, before, made[old:]
        return C, a

    def _order(self):
        """Return the matrix by which the directions of the old block are multiplied: then the oldest come first."""
        kept = self.made.shape[1]
        order = np.zeros((self.room, self.before + kept))
        order[: self.before, : self.before] = np.eye(self.before)
        order[self.before : self.before + kept, self.before :] = by_age(self.made)
        return order


def by_age(F) -> np.ndarray:
    """Return the rotation T for which ``F T`` is zero below its diagonal, counted from the lower right corner.

    Columns of F say how directions are made of the fresh vectors S_0, S_1, …, each of which takes one more product
    with A. After the rotation, the first direction is made of the fewest products, and so on.

    Examples
    --------
    >>> F = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> bool(abs((F @ by_age(F))[1, 0]) < 1e-12)
    True
    """
    return np.linalg.qr(F[::-1].T)[0][:, ::-1]


def drift(G, s: int) -> float:
    """Return how far the old directions are from conjugate: the largest distance of an eigenvalue of their G from 1.

    They were made conjugate and of A-norm 1. If A is ill-conditioned, rounding errors grow in the recurrences that
    carry them and their products with A, until G may have negative eigenvalues although A has none.

    Examples
    --------
    >>> drift(np.diag([1.0, 1.25, 9.0]), 1)
    0.25
    """
    old = G[: len(G) - s, : len(G) - s]
    used = np.diag(old) != 0
    w = np.linalg.eigvalsh(old[np.ix_(used, used)])
    return float(np.abs(w - 1).max()) if len(w) else 0.0
