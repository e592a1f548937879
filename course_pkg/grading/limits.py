"""What a limit on traffic bounds: all traffic of a launch, also what the test does not name.

A test names what its exercise is about, such as ``{"global_load.sectors": 1.15}``. Two rules close the ways round it:

- An atomic operation reads and writes an element. Where a test sets no limit for atomics, they count among the loads
  and among the stores of their memory.
- Local and constant memory can hold what was read before. Where a test does not name them, none of it is allowed.

Shared memory that a test does not name is free: what is in it was loaded from global memory first, and counted there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

CLOSED = ("local_load", "local_store", "constant_load")  # memories that a test must name to allow
DIRECTIONS = ("load", "store")


@dataclass(frozen=True)
class Bound:
    """A counter of a profile beside what it may reach.

    Attributes
    ----------
    name : str
        Such as ``"global_load.sectors"``.
    found : float
        What the launch made, atomics of that memory included.
    needed, limit : float
        What is needed, and how many times that is allowed.
    atomics : float
        How much of ``found`` atomics made.
    """

    name: str
    found: float
    needed: float
    limit: float
    atomics: float = 0

    @property
    def kept(self) -> bool:
        """Whether the launch stayed within the limit; where nothing is needed, nothing is allowed."""
        return self.found <= self.limit * self.needed


def bounds(profile, limits: dict, compulsory: dict) -> Iterator[Bound]:
    """Yield each limit of a test, and then those of the memories that it does not name.

    Parameters
    ----------
    profile : KernelProfile
    limits : dict of str to float
        From the test cell's metadata: how many times what is needed each counter may reach.
    compulsory : dict of str to float
        What is needed, by the same names.
    """
    for name, limit in limits.items():
        atomics = _atomics_among(profile, name, limits)
        yield Bound(name, counter(profile, name) + atomics, compulsory[name], limit, atomics)
    named = {name.partition(".")[0] for name in limits}
    for memory in CLOSED:
        if memory not in named:
            yield Bound(f"{memory}.requests", counter(profile, f"{memory}.requests"), 0, 1)


def counter(profile, name: str):
    """Return a counter of a profile by its dotted name."""
    value = profile
    for part in name.split("."):
        by_precision = getattr(value, "by_precision", None)
        value = value[part] if by_precision is not None and part.startswith("float") else getattr(value, part)
    return value


def _atomics_among(profile, name: str, limits: dict) -> float:
    """Return what atomics add to a counter of loads or stores, where no limit of theirs bounds them."""
    memory, _, what = name.partition(".")
    space, _, direction = memory.rpartition("_")
    own = f"{space}_atomics"
    named = {other.partition(".")[0] for other in limits}
    if direction not in DIRECTIONS or "atomics" in named or own in named or not hasattr(profile, own):
        return 0
    if what in ("wavefronts", "bank_conflicts"):
        # how often the banks serve an atomic is not documented; each lane at work takes one turn at most
        what = "thread_accesses"
    return counter(profile, f"{own}.{what}")
