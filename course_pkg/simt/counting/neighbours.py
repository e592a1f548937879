"""Accesses to neighbours in shared memory, which the compiler merges into accesses of 64 or 128 bits.

The compiler merges accesses between two barriers, within one basic block, under two conditions: the elements lie at
constant distances, and the address of the first one is known to be a multiple of the merged access' width. For a
varying signed index, nothing is known about its multiples: even ``2 * i`` may be wrapped if it is negative. The
compiler does know the pitch of the rows, and the factor of which an unsigned index is a multiple.
"""

from dataclasses import dataclass, field
from math import gcd

MERGED_SIZES = 4, 8  # bytes of the elements that are merged
WIDEST = 16  # bytes of one access of a thread


@dataclass
class Group:
    """Accesses of the same lanes to elements at constant distances. ``places`` gives the access at each distance."""

    lanes: object
    aligned: int
    places: dict = field(default_factory=dict)


class Neighbours:
    """Holds accesses to shared memory back until it is known which of them are neighbours.

    Parameters
    ----------
    numbering : Numbering
        The value numbers of the run.
    count : callable
        Takes a place, the kind of access, lanes, and the number of neighbouring elements; counts one access.
    """

    def __init__(self, numbering, count):
        self._numbering, self._count = numbering, count
        self._groups: dict[tuple, list[Group]] = {}
        self._kind = ""

    def add(self, place, kind: str, lanes) -> None:
        """Hold an access back; first count held accesses of the other kind, because their order must not change."""
        if kind != self._kind:
            self.flush()
            self._kind = kind
        base, fixed, aligned = apart(self._numbering, place)
        groups = self._groups.setdefault(base, [])
        group = next((g for g in groups if _same(g.lanes, lanes)), None)
        if group is None:
            group = Group(lanes, aligned)
            groups.append(group)
        if fixed in group.places:  # the same element again, after other accesses: no merging across them
            self.flush()
            self.add(place, kind, lanes)
        else:
            group.places[fixed] = place

    def flush(self) -> None:
        """Count all accesses that are held back."""
        held, self._groups = self._groups, {}
        for groups in held.values():
            for group in groups:
                for first, width in merged(group.places, group.aligned):
                    self._count(group.places[first], self._kind, group.lanes, width)


def merged(places: dict, aligned: int):
    """Yield, for each merged access, the distance of its first element and its number of elements.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> place = SimpleNamespace(array=SimpleNamespace(dtype=SimpleNamespace(itemsize=4), byte0=0))
    >>> list(merged(dict.fromkeys(range(1, 11), place), 16))
    [(1, 1), (2, 2), (4, 4), (8, 2), (10, 1)]
    >>> list(merged(dict.fromkeys(range(4), place), 17))
    [(0, 1), (1, 1), (2, 1), (3, 1)]
    """
    left = dict.fromkeys(sorted(places))
    for first in list(left):
        if first not in left:
            continue
        array = places[first].array
        width = WIDEST // array.dtype.itemsize
        while width > 1 and not (
            array.byte0 % WIDEST == first % width == aligned % width == 0
            and all(first + more in left for more in range(width))
        ):
            width //= 2
        for more in range(width):
            del left[first + more]
        yield first, width


def apart(numbering, place) -> tuple[tuple, int, int]:
    """Split the number of an element into a part that varies and a constant one.

    Returns
    -------
    base : tuple
        What the varying part is made of: equal for elements at a constant distance.
    fixed : int
        The constant part, in elements.
    aligned : int
        The number of elements of which the varying part is known to be a multiple; 0 if no part varies.
    """
    array = place.array
    base, fixed, aligned = [array.key], 0, array.aligned
    if isinstance(array.offset, int):
        fixed = array.offset
    indices = place.indices[len(place.indices) - array.ndim :]
    for part, stride in zip(indices, array.strides, strict=True):
        if part.constant:
            fixed += part.number * stride
        else:
            key, more = numbering.as_sum(part.key)
            base.append((key, stride))
            fixed += more * stride
            aligned = gcd(aligned, stride if part.type.signed else stride * numbering.multiple(key))
    return tuple(base), fixed, aligned


def never_alike(numbering, place, other) -> bool:
    """Tell whether two places in shared or local memory are certainly different elements."""
    if place.array.region.number != other.array.region.number or _other_parts(place, other):
        return True
    if place.array.dtype != other.array.dtype:
        return False
    (base, fixed, _), (other_base, other_fixed, _) = (apart(numbering, p) for p in (place, other))
    return base == other_base and fixed != other_fixed


def _other_parts(place, other) -> bool:
    """Tell whether two places are different parts of larger elements, such as two fields of records of one array."""
    one, two = place.array.part, other.array.part
    return None not in (one, two) and one[0] == two[0] and (one[2] <= two[1] or two[2] <= one[1])


def _same(one, other) -> bool:
    return one is other or (one.threads == other.threads and one.within(other))


def differ_by_constants(place, other) -> bool:
    """Tell whether two places certainly differ: in one array, by constant last indices, or as other fields of records.

    Two arrays in global memory may overlap, and two varying indices may name the same element.
    """
    if _other_parts(place, other):
        return True
    if place.array.key != other.array.key or len(place.indices) != len(other.indices):
        return False
    pairs = list(zip(place.indices, other.indices, strict=True))
    alike = all(one.key == two.key or (one.constant and two.constant) for one, two in pairs)
    # only for the last index does the compiler know how far apart consecutive elements lie
    return (
        alike and all(one.key == two.key for one, two in pairs[:-1]) and pairs[-1][0].key != pairs[-1][1].key
    )
