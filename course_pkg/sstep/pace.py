"""How long the next pass of the stable method is: s iterations, or fewer if so few are left.

A whole pass may do up to s - 1 iterations too many. In a long solve this is little, and nothing is done about it. In a
short one, the norms of the residual say how fast it falls, and so how many iterations are left. The Gram matrix of a
pass tells them for each iteration within it, at no cost (``projection.residuals``). Where it does not, and where the
residual seems small enough, a sum of its own asks for the norm of today.

The residual of conjugate gradients does not fall evenly: it may nearly stand still and then drop. So the first shorter
pass is chosen to do little too much even if the residual falls ``FAST`` times as fast as before; the next one is meant
to be the last. If such a pass falls short, the next does the share ``MUCH`` of the iterations so far, at least.

Two rules bound what a wrong guess costs. Shorter passes end where a whole one would have ended, at the latest, so the
method never takes more iterations than with whole passes. And after ``SPARE`` extra reductions, all passes are whole.
"""

from math import ceil, inf, log

MUCH = 0.04  # a pass of at most this share of the iterations so far is not worth shortening
FAST = 2.0  # the residual may begin to fall this many times faster than before
BACK = 12  # iterations over which the residual's fall is measured: its norm may rise from one to the next
SPARE = 6  # most extra reductions of a solve


class Pace:
    """What is known of the residual's fall, and the lengths of passes that follow from it.

    Parameters
    ----------
    target : float
        The norm to reach.
    spare : int, optional
        Most extra reductions of the solve; with 0, all passes are whole.

    Attributes
    ----------
    looked : int
        Number of reductions that asked for a norm.

    Examples
    --------
    >>> pace = Pace(target=1e-4)
    >>> for iterations, norm in ((0, 1.0), (8, 1e-1), (16, 1e-2)):
    ...     pace.note(iterations, norm)
    >>> pace.looks(24, s=8)  # 1e-3 is expected, and 8 iterations are left
    True
    >>> pace.note(24, 1e-3)  # so it is; if the residual falls twice as fast from here on, 4 are left
    >>> pace.length(24, s=8)
    4
    """

    def __init__(self, target: float, spare: int = SPARE):
        self.target, self.known = target, []
        self.begun, self.meant, self.spare, self.looked = 0, False, spare, 0

    def begin(self, iterations: int) -> None:
        """Say that a whole pass would begin after so many iterations.

        Examples
        --------
        >>> pace = Pace(1e-6)
        >>> pace.begin(5)
        >>> pace.rest(7, s=8)
        6
        """
        self.begun, self.meant = iterations, False

    def rest(self, iterations: int, s: int) -> int:
        """Return the number of iterations until a whole pass would end.

        Examples
        --------
        >>> Pace(1e-6).rest(16, s=8), Pace(1e-6).rest(19, s=8)
        (8, 5)
        """
        return s - (iterations - self.begun) % s

    def note(self, iterations: int, *norms: float) -> None:
        """Keep the norm of the residual after so many iterations, and those after the following ones.

        Examples
        --------
        >>> pace = Pace(1e-6)
        >>> pace.note(0, 2.0); pace.note(0, 1.0, 0.5)  # the true norm after the updated one
        >>> pace.known
        [(0, 1.0), (1, 0.5)]
        """
        if self.known and self.known[-1][0] == iterations:
            self.known.pop()
        self.known += [(iterations + k, norm) for k, norm in enumerate(norms)]

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
            return inf
        after, norm = self.known[-1]
        past = [point for point in self.known[:-1] if after - point[0] >= BACK] or self.known[:1]
        before, larger = past[-1]
        if not 0 < norm < larger:
            return inf
        return round(
            (after - before) * log(norm / self.target) / log(larger / norm) - (iterations - after), 9
        )

    def matters(self, iterations: int, s: int) -> bool:
        """Return whether a shorter pass would save more than a few iterations, and reductions are left for it.

        Examples
        --------
        >>> pace = Pace(1e-6)
        >>> pace.matters(96, s=2), pace.matters(96, s=16)
        (False, True)
        """
        return self.rest(iterations, s) - 1 > MUCH * iterations and self.spare > 0

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
            self.meant = False
        found = self.matters(iterations, s) and self._age(iterations) > 0
        if found:
            near = 0.0 if self._age(iterations) == 1 else FAST * rest
            found = self.left(iterations) < near
        self.spare, self.looked = self.spare - found, self.looked + found
        return found

    def length(self, iterations: int, s: int) -> int:
        """Return the length of the next pass: whole, or shorter if the norm of today is known and little is left.

        Examples
        --------
        >>> pace = Pace(1e-4)
        >>> pace.note(0, 1.0); pace.note(16, 1e-3)
        >>> pace.length(16, s=16), pace.length(16, s=2)  # 16 / 3 iterations seem to be left, or half as many
        (3, 2)
        """
        rest, little = self.rest(iterations, s), int(MUCH * iterations)
        left = max(1.0, self.left(iterations))
        unknown = left == inf and rest == s
        if self._age(iterations) > 1 or not self.matters(iterations, s) or unknown:
            return rest
        wanted = little + 1 if left == inf else ceil(left)
        if rest == s:  # the first shorter pass
            wanted = min(wanted, ceil(left / FAST) + little)
        elif self.meant:  # the pass before was meant to be the last
            wanted = max(wanted, little + 1)
        if wanted >= rest:
            return rest
        self.spare, self.meant = self.spare - 1, wanted >= left
        return wanted

    def surely(self, iterations: int, s: int, most: int) -> int:
        """Return how many whole passes have to be done, even if the residual begins to fall ``FAST`` times as fast.

        It is at most ``most``, and 0 if a shorter pass is or may be due. If none can be due, it is at least 1.

        Examples
        --------
        >>> pace = Pace(1e-6)
        >>> pace.note(0, 1.0); pace.note(96, 1e-2)
        >>> pace.surely(96, s=16, most=8)  # 192 iterations seem to be left, so 96 are; a pass after 64 may be shorter
        5
        >>> pace.surely(96, s=16, most=4), pace.surely(272, s=16, most=8), pace.surely(272, s=2, most=8)
        (4, 0, 4)
        """
        if self.rest(iterations, s) < s:
            return 0
        shorter = self.matters(iterations, s)
        left = self.left(iterations)
        if left == inf:
            return min(1, most)
        (began, first), (after, norm) = self.known[0], self.known[-1]
        if first > norm:  # the residual may be falling more slowly just now than in the whole solve
            mean = (after - began) * log(norm / self.target) / log(first / norm) - (iterations - after)
            left = min(left, mean)
        passes = int((left / FAST - FAST * s) // s) + 1 if shorter else max(1, int(left / FAST // s))
        return max(0, min(most, passes))

    def _age(self, iterations):
        """Return how many iterations ago a norm was known."""
        return iterations - self.known[-1][0] if self.known else inf
