"""How long the next pass of the stable method is: s iterations, or fewer if so few are left.

A whole pass may do up to s - 1 iterations too many. In a long solve this is little, and nothing is done about it. In a
short one, the norms of the residual at the beginnings of passes say how fast it falls, and so how many iterations are
left. If the end is near, a sum of its own asks for the norm of today, and the next pass is only as long as needed.

Two rules bound what a wrong guess costs. Shorter passes end where a whole one would have ended, at the latest, so the
method never takes more iterations than with whole passes. And after ``SPARE`` extra reductions, all passes are whole.
"""

from math import ceil, log

MUCH = 0.04  # a pass that is shorter than this share of the iterations before it is always whole
NEAR = 1.5  # look at the norm if fewer iterations seem to be left than this many times what a whole pass would do
BACK = 8  # iterations over which the residual's fall is measured: its norm may rise from one to the next
SPARE = 6  # most extra reductions of a solve
TRIES = 2  # shorter passes one after another; the next one ends where a whole pass would have ended


class Pace:
    """What is known of the residual's fall, and the lengths of passes that follow from it.

    Parameters
    ----------
    target : float
        The norm to reach.

    Examples
    --------
    >>> pace = Pace(target=1e-4)
    >>> for iterations, norm in ((0, 1.0), (8, 1e-1), (16, 1e-2)):
    ...     pace.note(iterations, norm)
    >>> pace.looks(24, s=8)  # 1e-3 is expected, and 8 iterations are left
    True
    >>> pace.note(24, 8e-4)  # so it is
    >>> pace.length(24, s=8)
    7
    """

    def __init__(self, target: float):
        self.target, self.known = target, []
        self.begun, self.tries, self.spare, self.looked = 0, 0, SPARE, 0

    def begin(self, iterations: int) -> None:
        """Say that a whole pass would begin after so many iterations.

        Examples
        --------
        >>> pace = Pace(1e-6)
        >>> pace.begin(5)
        >>> pace.rest(7, s=8)
        6
        """
        self.begun, self.tries = iterations, 0

    def rest(self, iterations: int, s: int) -> int:
        """Return the number of iterations until a whole pass would end.

        Examples
        --------
        >>> Pace(1e-6).rest(16, s=8), Pace(1e-6).rest(19, s=8)
        (8, 5)
        """
        return s - (iterations - self.begun) % s

    def note(self, iterations: int, norm: float) -> None:
        """Keep the norm of the residual after so many iterations.

        Examples
        --------
        >>> pace = Pace(1e-6)
        >>> pace.note(0, 2.0); pace.note(0, 1.0)  # the true norm after the updated one
        >>> pace.known
        [(0, 1.0)]
        """
        if self.known and self.known[-1][0] == iterations:
            self.known.pop()
        self.known.append((iterations, norm))

    def left(self, iterations: int) -> float:
        """Return how many iterations seem to be left; infinity if nothing is known of the residual's fall.

        Examples
        --------
        >>> pace = Pace(1e-3)
        >>> pace.note(0, 1.0); pace.left(0)
        inf
        >>> pace.note(10, 1e-1); pace.left(16)
        14.0
        """
        if len(self.known) < 2:
            return float("inf")
        after, norm = self.known[-1]
        past = [point for point in self.known[:-1] if after - point[0] >= BACK] or self.known[:1]
        before, larger = past[-1]
        if not 0 < norm < larger:
            return float("inf")
        return round(
            (after - before) * log(norm / self.target) / log(larger / norm) - (iterations - after), 9
        )

    def looks(self, iterations: int, s: int) -> bool:
        """Return whether a reduction of its own should ask for the norm before the next pass.

        Examples
        --------
        >>> pace = Pace(1e-4)
        >>> pace.note(0, 1.0); pace.note(100, 1e-2)
        >>> pace.looks(196, s=2), pace.looks(196, s=16)  # a pass of 2 is short in any case
        (False, True)
        """
        rest = self.rest(iterations, s)
        if rest == s:
            self.tries = 0
        found = self._may(iterations, rest) and not self._knows(iterations)
        found = found and self.left(iterations) < NEAR * rest
        self.spare, self.looked = self.spare - found, self.looked + found
        return found

    def length(self, iterations: int, s: int) -> int:
        """Return the length of the next pass: whole, or shorter if the norm of today is known and little is left.

        Examples
        --------
        >>> pace = Pace(1e-4)
        >>> pace.note(0, 1.0); pace.note(16, 1e-3)
        >>> pace.length(16, s=16), pace.length(16, s=4)
        (6, 4)
        """
        rest = self.rest(iterations, s)
        wanted = max(1.0, self.left(iterations))
        if not (self._may(iterations, rest) and self._knows(iterations) and wanted <= rest - 1):
            return rest
        self.spare, self.tries = self.spare - 1, self.tries + 1
        return ceil(wanted)

    def _may(self, iterations, rest):
        return rest - 1 > MUCH * iterations and self.spare > 0 and self.tries < TRIES

    def _knows(self, iterations):
        return bool(self.known) and self.known[-1][0] == iterations
