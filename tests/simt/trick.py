"""The class of tricks: some lines of a kernel that contain a race and try to hide it."""

from dataclasses import dataclass, field

import numpy as np

CLEAN = "clean"  # the honest twin of a trick
REFUSED = "refused"  # Numba would refuse it on a GPU as well, or the interpreter does not know it


@dataclass(frozen=True)
class Trick:
    """The body of a kernel, and what is to be found.

    Attributes
    ----------
    body : str
        May use the thread ``t`` of its block and ``i`` of the grid, and the arguments that :meth:`arguments` makes.
    verdict : str
        Kind of a hazard, ``CLEAN`` or ``REFUSED``.
    blocks, threads, shared_bytes : int
    more : dict
        Further arguments by name.
    """

    body: str
    verdict: str
    blocks: int = 1
    threads: int = 64
    shared_bytes: int = 0
    more: dict = field(default_factory=dict)

    def arguments(self) -> dict:
        """Return fresh arguments by name: two arrays of floats, two of integers, a number, and what the trick adds."""
        integers = {"k": np.arange(64), "m": np.zeros(64, np.int32), "n": 64}
        return {"a": np.arange(64.0), "out": np.zeros(64)} | integers | self.more
