"""Where the time of a solve goes: each phase by itself; what belongs to none is the scalar work of the host."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

PRODUCT, HALO, PRECONDITION = "product", "waiting for halos", "preconditioner"
UPDATES, SUMS, ALLREDUCE, SCALARS = "vector updates", "dots", "reductions", "scalar work"
NAMES = (PRODUCT, HALO, PRECONDITION, UPDATES, SUMS, ALLREDUCE, SCALARS)


class Phases:
    """Adds up the seconds of each phase; a phase inside another stops the outer one's clock.

    Attributes
    ----------
    seconds : dict of str to float
        They add up to the time between ``restart`` and the last phase's end.

    Examples
    --------
    >>> phases = Phases()
    >>> with phases(SUMS), phases(ALLREDUCE):
    ...     pass
    >>> sorted(phases.read()) == sorted(NAMES)
    True
    """

    def __init__(self, clock=time.perf_counter):
        self.clock = clock
        self.restart()

    def restart(self) -> None:
        """Forget what was added up; from now on it is scalar work that is done."""
        self.seconds = dict.fromkeys(NAMES, 0.0)
        self._open, self._since = [SCALARS], self.clock()

    def _turn(self) -> None:
        now = self.clock()
        self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def read(self) -> dict[str, float]:
        """Return the seconds of each phase so far."""
        self._turn()
        return dict(self.seconds)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count the time inside as a phase's."""
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()
