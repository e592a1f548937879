"""The memories of a launch: global arrays, shared memory of each block, and local memory of each thread."""

from dataclasses import dataclass, field
from math import gcd, prod
from typing import Any

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.values import Value


@dataclass(eq=False)
class Region:
    """A piece of memory that arrays may share.

    Attributes
    ----------
    number : int
    owner : str
        ``"launch"``, ``"block"`` or ``"thread"``: who has a copy of its own.
    size : int
        Number of units in one owner's copy.
    unit : int
        Bytes per unit.
    place : tuple
        In shared and local memory: the place of the call that makes the array, in function, line and column.
    written : bool
        Whether the kernel may write to the region; memory that is only read needs no shadow.
    fresh : bool
        In global memory: whether nobody had written to it when the launch began.
    initialised : ndarray of bool, or None
        The units that somebody has written, in all copies; None if reads before the first write are not looked for.
    otherwise : dict
        What the region would contain if atomics had been done earlier (:mod:`course_pkg.simt.run.hindsight`).
    held : dict
        For each integer that atomics update, the value before the last change.
    unwritten : dict
        What was read from unwritten elements and stored here (:mod:`.unwritten`): for each statement, an array with a
        number for each unit of all copies.
    constant_index_only : bool
        Whether a compiler knows the values of all indices into the arrays of this region and into their views.
    alike : bool
        Whether all blocks of the wave have touched their own copies in the same way so far. If so, only the shadow and
        the flags of the first block's copy are kept, and they stand for all blocks.
    """

    number: int
    owner: str
    size: int
    unit: int
    written: bool = True
    shadow: Any = None
    initialised: np.ndarray | None = None
    otherwise: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)
    unwritten: dict = field(default_factory=dict)
    constant_index_only: bool = True
    place: tuple = ()
    fresh: bool = False
    alike: bool = field(init=False)

    def __post_init__(self):
        self.alike = self.owner != "launch"

    def divide(self, nbytes: int) -> None:
        """Make elements of ``nbytes`` bytes whole units. This comes before the first access."""
        unit = gcd(self.unit, nbytes)
        self.size, self.unit = self.size * (self.unit // unit), unit
        self.initialised = np.zeros(self.size, bool) if self.fresh else self.initialised


@dataclass(eq=False)
class Array:
    """An array as a kernel sees it.

    Attributes
    ----------
    flat : ndarray, one dimension
        The memory itself: an allocation in global memory, or the copies of all blocks or threads one after another.
    extent : int
        Number of elements in one owner's copy.
    shape : tuple of Value
    strides : tuple of int, elements
    offset : int or ndarray
        Element at index 0, counted in the owner's copy.
    byte0 : int
        Address of ``flat[0]`` in bytes, relative to an address that is a multiple of 256.
    others : frozenset of str
        In a sketch of a run: names of other arrays that this one may stand for.
    outer : tuple of Value
        The indices that led to a record, for messages.
    aligned : int
        If ``offset`` varies, the compiler knows that it is a multiple of so many elements; 0 if it does not vary.
    part : tuple of int, or None
        If each element is a part of a larger one, such as a field of a record: the value number of the array of these,
        and the first byte and the end of the part in each of them.
    packed : bool
        Whether these are records without ``align=True``: a GPU then accesses each field byte by byte.
    floating : bool
        Whether the elements are floating-point numbers. This also holds for a view of them as another type.
    passing : Passing or None
        How far loops over the ``flat`` of an array have come (:mod:`course_pkg.simt.run.sequences`).
    """

    name: str
    space: str
    dtype: np.dtype
    type: Any
    flat: np.ndarray
    extent: int
    shape: tuple
    strides: tuple
    offset: Any
    byte0: int
    region: Region
    key: int
    others: frozenset = frozenset()
    outer: tuple = ()
    floating: bool = False
    aligned: int = 0
    part: tuple | None = None
    packed: bool = False
    passing: Any = None

    def __post_init__(self):
        self.floating |= self.dtype.kind in "fc"

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def units(self, at):
        """Return the first unit of each element ``at`` of ``flat``; an element takes ``itemsize / unit`` units."""
        return at * (self.dtype.itemsize // self.region.unit) + self.byte0 // self.region.unit


@dataclass(eq=False)
class Choice:
    """Arrays of one type, one of which each lane has under a name, or has chosen by an index or a condition.

    Attributes
    ----------
    ways : tuple of (Array, Mask)
        The arrays, and the lanes that have each; each lane of the wave has one.
    shape : tuple of Value
        In each lane, the shape of the lane's array.
    key : int
        Value number of the address: a compiler can see that two choices with the same key are equal.
    swayed : dict
        The floats in doubt that decided the choice (:mod:`course_pkg.simt.run.sway`).
    """

    ways: tuple
    shape: tuple
    key: int
    swayed: dict = field(default_factory=dict)

    @property
    def first(self) -> Array:
        """One of the arrays; its type is that of all."""
        return self.ways[0][0]

    type = property(lambda self: self.first.type, doc="Numba's type of an element.")
    dtype = property(lambda self: self.first.dtype, doc="NumPy's dtype of an element.")
    ndim = property(lambda self: self.first.ndim, doc="Number of dimensions.")

    @property
    def name(self) -> str:
        """The names of all arrays, for messages."""
        return " or ".join(dict.fromkeys(array.name for array, _ in self.ways))

    @property
    def space(self) -> str:
        """The memory space of all arrays; ``"several"`` if they lie in different ones."""
        spaces = {array.space for array, _ in self.ways}
        return spaces.pop() if len(spaces) == 1 else "several"


Arrays = Array | Choice
TORN = "torn"  # in place of a Passing: different ones in different threads


def regions_of(thing) -> tuple:
    """Return the regions in which the arrays lie that a name stands for; empty if it stands for no array."""
    if isinstance(thing, Choice):
        return tuple(array.region for array, _ in thing.ways)
    return (thing.region,) if isinstance(thing, Array) else ()


def row_major(shape) -> tuple[int, ...]:
    """Return the strides, in elements, of a C-contiguous array."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def storage(array) -> tuple[np.ndarray, int, int]:
    """Return ``(allocation, address of its first byte, address of the array's first element)`` on the host."""
    base = getattr(array, "base_array", None)
    host = getattr(array, "host", array)
    if base is None:
        base = host
    return base, base.__array_interface__["data"][0], host.__array_interface__["data"][0]


class GlobalMemory:
    """The arrays that a kernel is called with; those that overlap share a region."""

    def __init__(self, arguments: dict):
        self.regions: dict[str, Region] = {}
        self.memory: dict[str, tuple] = {}
        spans = []
        for name, array in arguments.items():
            base, start, _ = storage(array)
            spans.append((start, start + base.nbytes, name))
        spans.sort()
        together: list[list] = []
        for start, end, name in spans:
            if together and start < together[-1][1]:
                together[-1][1] = max(end, together[-1][1])
                together[-1][2].append(name)
            else:
                together.append([start, end, [name]])
        for number, (start, end, names) in enumerate(together):
            ends = [a for n in names for a in (unit_of(arguments[n].dtype), storage(arguments[n])[2] - start)]
            unit = int(np.gcd.reduce(ends))
            fresh = all(getattr(arguments[n], "unwritten", False) for n in names)
            region = Region(number, "launch", -(-(end - start) // unit), unit, fresh=fresh)
            for name in names:
                self.regions[name] = region
                self.memory[name] = self._flat(name, arguments[name], start)

    @staticmethod
    def _flat(name, array, start):
        """Return ``(flat view of the allocation, offset in elements, offset in bytes from the region's start)``."""
        base, first, element = storage(array)
        item = array.dtype.itemsize
        contiguous = base.flags.c_contiguous or base.flags.f_contiguous
        if not contiguous:
            raise SimtError(
                f"{name} is not contiguous and CUDA cannot copy it as it is: pass numpy.ascontiguousarray({name})."
            )
        flat = (
            base.reshape(-1, order="A").view(np.uint8)
            if base.dtype != array.dtype
            else base.reshape(-1, order="A")
        )
        if base.dtype != array.dtype:
            flat = flat[(element - first) % item :]
            flat = flat[: flat.size // item * item].view(array.dtype)
            skipped = (element - first) % item
        else:
            skipped = 0
        return flat, (element - first - skipped) // item, first - start + skipped


def unit_of(dtype) -> int:
    """Return the bytes of the largest unit that divides the elements and the parts of records or complex numbers."""
    if dtype.subdtype:
        return unit_of(dtype.subdtype[0])
    if dtype.names:
        parts = ((unit_of(dtype.fields[n][0]), dtype.fields[n][1]) for n in dtype.names)
        return int(np.gcd.reduce([dtype.itemsize, *(size for part in parts for size in part)]))
    return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize


def new_storage(owners: int, size: int, dtype: np.dtype) -> np.ndarray:
    """Return memory filled so that a read before the first write is noticed: NaN, or an odd pattern of bytes."""
    flat = np.empty(owners * size, dtype)
    flat.view(np.uint8)[:] = 0xCB
    if dtype.kind in "fc":
        flat[:] = np.nan
    elif dtype.kind == "b":
        flat[:] = True
    for name in dtype.names or ():
        if dtype.fields[name][0].base.kind in "fc":
            flat[name] = np.nan
    return flat


def shape_values(constants, shape) -> tuple[Value, ...]:
    """Return the extents, as values, of an array whose shape is a constant in the source."""
    return tuple(constants(int(n)) for n in shape)
