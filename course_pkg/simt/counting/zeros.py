"""The zeros that Numba writes to a local array before anything else, and which of them a compiler leaves out.

Numba fills the memory of ``cuda.local.array`` with zeros where the function begins, before an early return. A compiler
leaves that out if the kernel keeps the array in registers, or certainly writes all elements before it reads one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Fill:
    """A local array whose zeros are not counted yet; ``missing`` holds the elements that no store has replaced."""

    array: object
    where: object
    lanes: object
    alive: Callable
    missing: set = field(default_factory=set)


class Zeros:
    """Counts the zeros of local arrays as soon as it is clear that they are needed.

    Parameters
    ----------
    counters : Counters
    """

    def __init__(self, counters):
        self._counters, self._fills = counters, {}

    def begin(self, array, where, lanes, alive: Callable) -> None:
        """Note that lanes begin a function with a local array; ``alive`` returns those of them that are still there."""
        fill = Fill(array, where, lanes, alive, set(range(array.extent)))
        self._fills.setdefault(array.region.number, []).append(fill)

    def load(self, array) -> None:
        """Note that an array is read: what it holds by then must have been written."""
        for fill in self._fills.pop(array.region.number, ()):
            self._counters.zeros(fill.array, fill.where, fill.lanes)

    def store(self, place) -> None:
        """Note a store: one of all lanes to a known element replaces a zero."""
        number = place.array.region.number
        fills = self._fills.get(number, ())
        if not fills or not all(index.constant for index in place.indices) or place.array.part:
            return
        for fill in fills:
            if fill.alive().within(place.inside):
                fill.missing.discard(
                    place.offset if isinstance(place.offset, int) else int(place.offset.flat[0])
                )
        self._fills[number] = [fill for fill in fills if fill.missing]
