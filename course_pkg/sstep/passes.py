"""Passes of s iterations that are queued ahead of the host, for rooms in GPU memory: as ``ahead.py`` for iterations.

The first pass of a solve is done with the host, and so are passes that may have to be shorter (``pace.py``). The others
are queued: as many as surely have to be done, at most as many as the room queues. A pass that was queued in vain would
cost as much as s iterations.
"""

import numpy as np

from course_pkg.sstep.ahead import Numbers
from course_pkg.sstep.scalars import KEPT


class Passes(Numbers):
    """The numbers of passes that are queued together.

    Parameters
    ----------
    room : Room
    norms : list of float
        Norms of the residual so far; the last one may be out of date.
    target : float
        The norm to reach.
    limit : int
        Most iterations, counted from here on.
    s, passes : int
        Iterations of a pass, and number of passes.

    Attributes
    ----------
    norms : list of float
        After :meth:`read`: the norms before each pass that was done, and the one that stopped the solve, if any.
    iterations, stopped : int
        After :meth:`read`; ``stopped`` is ``scalars.LIMITED`` if all passes were done.

    Examples
    --------
    >>> from course_pkg import cuda
    >>> from course_pkg.sstep import gpu_numba
    >>> from course_pkg.sstep.gpu_numba.room import DeviceRoom
    >>> from course_pkg.sstep.problem import Laplacian
    >>> b = cuda.to_device(np.ones((4, 4, 4)))
    >>> room = DeviceRoom(gpu_numba, Laplacian(b.shape), b, None, None, 1e-6, 0.0, None)
    >>> two = Passes(room, [8.0], 8e-6, 640, s=4, passes=2)
    >>> two.read()
    >>> two.iterations, two.norms
    (0, [0.0])
    """

    def __init__(self, room, norms, target, limit, s, passes):
        self.s, self.passes = s, passes
        super().__init__(room, norms[-1], target, min(limit, s * passes), least=min(norms))

    def queue(self, step, old, fresh, chosen) -> None:
        """Queue the passes.

        Parameters
        ----------
        step : callable
            One pass: called with the room, these numbers, the blocks and the basis.
        old, fresh : array, shape (2 s, n)
            Blocks, which change places after each pass.
        chosen : Basis
        """
        for _ in range(self.passes):
            self.room.iteration(
                (step.__name__, old, fresh, chosen), step, self.room, self, old, fresh, chosen
            )
            old, fresh = fresh, old

    def read(self) -> None:
        """Wait for all passes, and read their numbers."""
        self.look(always=True)
        known, history = len(self.norms) - 1, self.room.to_host(self.history)
        self.norms = [float(np.sqrt(history[k % KEPT])) for k in range(known + 1)]

    @property
    def grams(self):
        """Memory for the Gram matrices of the passes, until the host looks at them: shape (passes, 2 s + 1, 2 s + 1).

        Only their upper triangles are set.
        """
        side = 2 * self.s + 1
        return self.room.few((self.room.most_ahead, side, side), "grams")

    @property
    def done(self) -> int:
        """Number of passes that were done."""
        return self.iterations // self.s

    @property
    def complete(self) -> list[float]:
        """Norms with one after each pass: that after the last may be unknown, so the one before it stands for it."""
        return self.norms + self.norms[-1:] * (self.done + 1 - len(self.norms))
