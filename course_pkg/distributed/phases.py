"""The time of a solve by phases. Time outside of all other phases counts as scalar work of the host."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

PRODUCT, HALO, PRECONDITION = "product", "waiting for halos", "preconditioner"
UPDATES, SUMS, ALLREDUCE, SCALARS = "vector updates", "dots", "reductions", "scalar work"
NAMES = (PRODUCT, HALO, PRECONDITION, UPDATES, SUMS, ALLREDUCE, SCALARS)


class Phases:
    """Adds up the seconds of each phase. While an inner phase runs, the clock of the outer phase stops.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.
    apart : bool
        Whether each phase is to be timed by itself, so no launch may span several phases.

    Attributes
    ----------
    seconds : dict of str to float
        Seconds of each phase. They add up to the time from ``restart`` to the end of the last phase.

    Examples
    --------
    >>> phases = Phases()
    >>> with phases(SUMS), phases(ALLREDUCE):
    ...     pass
    >>> sorted(phases.read()) == sorted(NAMES)
    True
    """

    def __init__(self, clock=time.perf_counter, apart: bool = False):
        self.clock, self.apart = clock, apart
        self.restart()

    def restart(self) -> None:
        """Set all times to 0; from now on, time counts as scalar work until a phase begins."""
        self.seconds = dict.fromkeys(NAMES, 0.0)
        self._open, self._since, self._undivided = [SCALARS], self.clock(), False

    def _turn(self) -> None:
        now = self.clock()
        self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def read(self) -> dict[str, float]:
        """Return the seconds of each phase so far."""
        self._turn()
        return dict(self.seconds)

    @contextmanager
    def whole(self, name: str) -> Iterator[None]:
        """Count the time of a ``with`` block as that of a phase, phases that begin inside it included."""
        with self(name):
            self._undivided = True
            try:
                yield
            finally:
                self._undivided = False

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count the time of a ``with`` block as that of a phase."""
        if self._undivided:
            yield
            return
        self._turn()
        self._open.append(name)
        try:
            yield
        finally:
            self._turn()
            self._open.pop()
