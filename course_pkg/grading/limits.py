"""Limits on traffic: they bound all traffic of a launch, even traffic that the test does not name.

A test names the counters that its exercise is about, such as ``{"global_load.sectors": 1.15}``. An answer could avoid
these counters by moving its data in another way. Three rules prevent that:

- An atomic operation reads and writes an element. If a test sets no limit for atomics, they count as loads and as
  stores of their memory.
- Local and constant memory can hold data that were read before. If a test does not name these memories, they must
  not be used.
- One access may move a pair of neighbouring elements. A limit on accesses of threads is a limit on elements, so it
  counts both.

Shared memory needs no such rule: its data were loaded from global memory first, and that load is counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

CLOSED = ("local_load", "local_store", "constant_load")  # forbidden unless the test names them
DIRECTIONS = ("load", "store")


@dataclass(frozen=True)
class Bound:
    """A counter of a profile and the limit that it must keep.

    Attributes
    ----------
    name : str
        The name of the counter, such as ``"global_load.sectors"``.
    found : float
        The count of the launch, atomics of that memory included.
    needed, limit : float
        The count that is needed, and the largest allowed ratio of ``found`` to it.
    atomics : float
        The part of ``found`` that atomics made.
    """

    name: str
    found: float
    needed: float
    limit: float
    atomics: float = 0

    @property
    def kept(self) -> bool:
        """Whether the launch stayed within the limit; if nothing is needed, nothing is allowed."""
        return self.found <= self.limit * self.needed

    @property
    def words(self) -> str:
        """The counter in words: ``"global load sectors"``."""
        space, _, what = self.name.partition(".")
        space = space.replace("atomics", "atomic").replace("_", " ")
        return "flops" if space == "flops" else f"{space} {what.replace('_', ' ')}"

    @property
    def times(self) -> str:
        """The ratio of the count to what is needed: ``"1.13×"``; below 1.95 with two decimals, as limits have."""
        ratio = self.found / self.needed
        return f"{ratio:.1f}×" if ratio >= 1.95 else f"{ratio:.2f}×"


def bounds(profile, limits: dict, compulsory: dict) -> Iterator[Bound]:
    """Yield each limit of a test, and then those of the memories that it does not name.

    Parameters
    ----------
    profile : KernelProfile
    limits : dict of str to float
        The largest allowed ratio of each counter to the count that is needed, from the test cell's metadata.
    compulsory : dict of str to float
        The counts that are needed, by the same names.
    """
    for name, limit in limits.items():
        atomics = _atomics_among(profile, name, limits)
        yield Bound(name, counter(profile, name) + atomics, compulsory[name], limit, atomics)
    named = {name.partition(".")[0] for name in limits}
    for memory in CLOSED:
        if memory not in named:
            yield Bound(f"{memory}.requests", counter(profile, f"{memory}.requests"), 0, 1)


def counter(profile, name: str):
    """Return a counter of a profile by its dotted name; if one access moves a pair, both elements count."""
    value = profile
    for part in name.split("."):
        by_precision = getattr(value, "by_precision", None)
        value = value[part] if by_precision is not None and part.startswith("float") else getattr(value, part)
    memory, _, what = name.partition(".")
    return value + _seconds_of_pairs(profile, memory) if what == "thread_accesses" else value


def _seconds_of_pairs(profile, memory: str) -> int:
    """Return how many elements of a memory were loaded, or stored, as the second one of a pair."""
    space, _, direction = memory.rpartition("_")
    sites = getattr(profile, "sites", ())  # a profile that a test made up has none
    return sum(s.thread_accesses * (s.width - 1) for s in sites if (s.space, s.kind) == (space, direction))


def _atomics_among(profile, name: str, limits: dict) -> float:
    """Return what atomics add to a counter of loads or stores, if the test sets no limit for atomics."""
    memory, _, what = name.partition(".")
    space, _, direction = memory.rpartition("_")
    own = f"{space}_atomics"
    named = {other.partition(".")[0] for other in limits}
    if direction not in DIRECTIONS or "atomics" in named or own in named or not hasattr(profile, own):
        return 0
    if what in ("wavefronts", "bank_conflicts"):
        # how often the banks serve an atomic is not documented; take the most, once per active lane
        what = "thread_accesses"
    return counter(profile, f"{own}.{what}")
