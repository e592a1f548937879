"""The kinds of objects that a kernel's variables hold while the kernel is interpreted."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba.core import types

from course_pkg.simt.errors import Unsupported
from course_pkg.simt.front.typing import BOOL, converted, dtype_of, type_of_number


@dataclass(slots=True, eq=False)
class Product:
    """A multiplication that a compiler may fuse with an addition into one multiply-add."""

    block: int  # number of the basic block in which it was computed
    instead: str = "mul"  # the kind of operation that it counts as, if it is not fused
    doubles: int = 0  # 1 or -1 for a product with 2 or -2, which not every addition fuses
    fused: bool = False
    used: bool = False  # if anything but an addition in its block uses it, no addition fuses it
    needed: bool = False  # used by an addition that fuses another product or none


@dataclass(slots=True, eq=False, weakref_slot=True)
class Origin:
    """How a value was computed. This is kept until it is clear whether and where a compiler keeps the computation.

    A compiler does not compute a value that is never used. If only one branch uses a value, only the lanes that take
    this branch compute it.
    """

    count: Any  # a function to be called with the lanes that compute the value
    operands: tuple
    mask: Any
    block: int  # number of the basic block
    version: Any = None  # state of the memory that a load reads
    space: str = ""
    made_in: Any = None  # the trip of a loop in which it was computed
    done: bool = False
    wanted_in: int = -1
    wanted_by: Any = None


@dataclass(slots=True, eq=False)
class Value:
    """A scalar in each lane.

    Attributes
    ----------
    data : ndarray
        Broadcasts to the wave's six dimensions.
    type : numba type
    key : int
        Value number: a compiler can see that two values with the same key are equal.
    constant : bool
        Whether the number is known when the kernel is compiled.
    """

    data: np.ndarray
    type: Any
    key: int
    constant: bool = False
    product: Product | None = None
    origin: Origin | None = None
    sign: str = ""  # "-" or "abs": free if the operation that uses the value applies it
    otherwise: dict | None = None  # its other possible values: see run/hindsight.py
    unwritten: tuple = ()  # the reads of unwritten memory that it depends on: see memory/notes.py
    width: Any = None  # if it may be computed in single precision: see counting/narrowing.py

    @property
    def number(self):
        """The Python number of a value that is the same in all lanes."""
        return self.data.item() if self.data.size == 1 else self.data.reshape(-1)[0].item()

    @property
    def uniform(self) -> bool:
        """Whether the value has no dimension of its own, so that all lanes have the same number."""
        return self.data.size == 1


@dataclass(slots=True, eq=False)
class TypeName:
    """A scalar type; a call of it casts its argument.

    ``of_python``: whether it is Python's int or float. In Numba, int() of an integer and float() of a float keep the
    type of the argument.
    """

    type: Any
    of_python: bool = False


@dataclass(slots=True, eq=False)
class Intrinsic:
    """A name in Numba's ``cuda`` module, such as ``shared.array``."""

    name: str


@dataclass(slots=True, eq=False)
class Builtin:
    """A function of Python, ``math`` or NumPy that kernels may call."""

    name: str
    function: Any


@dataclass(slots=True, eq=False)
class Module:
    """A module whose known members a kernel may name."""

    name: str
    module: Any


@dataclass(slots=True, eq=False)
class Method:
    """A bound member such as ``a.dtype.type``."""

    name: str
    owner: Any


@dataclass(slots=True, eq=False)
class Sequence:
    """What a loop can run over, besides arrays and tuples; ``parts`` names what it is made of."""

    parts = ()


@dataclass(slots=True, eq=False)
class Range(Sequence):
    """The three values of ``range``."""

    parts = ("start", "stop", "step")

    start: Value
    stop: Value
    step: Value


@dataclass(slots=True, eq=False)
class Torn:
    """In a sketch: a variable to which two branches assigned objects of different types. A kernel must not use it."""

    reason: Unsupported


@dataclass(slots=True)
class Variable:
    """A variable of a function: its value, and which lanes have assigned it.

    Attributes
    ----------
    value : object
        In each lane, what the lane has assigned last.
    mask : Mask or None
        The lanes that have assigned the variable; None if all lanes of the call have.
    number : Value or None
        In a trip of an unrolled loop, the constant that the loop's variable equals in all lanes of this trip. Lanes
        that are not in the trip may hold another number, so that ``value`` is not a constant.
    newest : tuple or None
        ``(value, mask)`` of the last assignment in a branch that is being run, if it was made in some lanes only. To
        these lanes, the variable has this value, with its own value number. The number of ``value`` is another one,
        because ``value`` also holds what the other lanes have assigned.
    """

    value: Any
    mask: Any
    number: Value | None = None
    newest: tuple | None = None


def numba_type_of(thing):
    """Return the Numba type of an object that a variable holds; None for an object without one, such as a function."""
    if isinstance(thing, Value):
        return thing.type
    if isinstance(thing, tuple):
        parts = tuple(map(numba_type_of, thing))
        return None if None in parts else types.BaseTuple.from_types(parts)
    ndim = getattr(thing, "ndim", None)
    return None if ndim is None else types.Array(thing.type, ndim, layout_of(thing))


def layout_of(array) -> str:
    """Return the order of an array's elements, as Numba writes it: "C", "F", or "A" for any other."""
    if hasattr(array, "ways"):  # arrays that differ between threads
        layouts = {layout_of(one) for one, _ in array.ways}
        return layouts.pop() if len(layouts) == 1 else "A"
    for layout, extents, strides in (
        ("C", array.shape[::-1], array.strides[::-1]),
        ("F", array.shape, array.strides),
    ):
        dense = (np.all(extents[d].data * strides[d] == strides[d + 1]) for d in range(len(strides) - 1))
        if strides and strides[0] == 1 and all(dense):
            return layout
    return "A"


def undefined(dtype: np.dtype):
    """Return the value of a variable that a lane never assigned: a number that is easily noticed when it is used."""
    if dtype.kind in "iu":
        return np.full(dtype.itemsize, 0xCB, np.uint8).view(dtype)[0]
    return dtype.type(np.nan if dtype.kind in "fc" else True)


class Numbering:
    """Value numbering by hash-consing: equal expressions get equal numbers.

    ``birth[n]`` is the number of the newest unknown that value ``n`` depends on. It shows whether a loop changes the
    value.
    """

    def __init__(self):
        self._known: dict[tuple, int] = {}
        self.birth: list[int] = []
        self._sums: dict[int, tuple[int, int]] = {}
        self._multiples: dict[int, int] = {}

    def fresh(self) -> int:
        """Return a new number, for a value that equals no other value."""
        self.birth.append(len(self.birth))
        return len(self.birth) - 1

    def of(self, what, *keys: int) -> int:
        """Return the number of an expression: an operation on numbered values."""
        whole = (what, *keys)
        number = self._known.get(whole)
        if number is None:
            birth = self.birth
            number = self._known[whole] = len(birth)
            birth.append(max([birth[k] for k in keys], default=-1))
        return number

    def as_sum(self, key: int) -> tuple[int, int]:
        """Return ``(base, amount)`` for a value known to be ``base + amount``; ``(key, 0)`` for any other value."""
        return self._sums.get(key, (key, 0))

    def multiple(self, key: int) -> int:
        """Return the largest power of 2 that is known to divide an integer."""
        return self._multiples.get(key, 1)

    def scaled(self, key: int, of: int, factor: int) -> None:
        """Record that the integer ``key`` is ``factor`` times the integer ``of``."""
        power = self.multiple(of) * (factor & -factor)
        if power > 1:
            self._multiples[key] = power

    def narrowed(self, key: int, what) -> int:
        """Return the number of an integer that is cast to fewer bits. An addition without a carry remains one."""
        base, amount = self.as_sum(key)
        if 0 < amount < self.multiple(base):
            return self.plus(self.narrowed(base, what), amount)
        number = self.of(("cast", what), key)
        self.scaled(number, key, 1)
        return number

    def plus(self, key: int, amount: int) -> int:
        """Return the number of ``key + amount``; ``(i + 1) - 1`` then has the number of ``i``."""
        base, already = self.as_sum(key)
        total = already + amount
        if not total:
            return base
        number = self.of(("plus", total), base)
        self._sums[number] = base, total
        return number


@dataclass(slots=True)
class Constants:
    """The values of the constants in a kernel's source. Each value is made only once."""

    numbering: Numbering
    _made: dict = field(default_factory=dict)
    _written: dict = field(default_factory=dict)  # {node in the source: value}
    _cast: dict = field(default_factory=dict)  # {(constant, its type, new type): value}

    def __call__(self, number, numba_type=None) -> Value:
        """Return the value of a constant."""
        numba_type = numba_type or type_of_number(number)
        # -0.0 == 0.0 and True == 1, so the name also contains the type, and the text with the sign
        name = (numba_type, number, str(number))
        if name not in self._made:
            data = np.array(number).astype(dtype_of(numba_type)).reshape((1,) * 6)
            self._made[name] = Value(data, numba_type, self.numbering.of(("constant", *name)), constant=True)
        return self._made[name]

    def written(self, node) -> Value:
        """Return the value of a literal number in the source."""
        value = self._written.get(node)
        if value is None:
            value = self._written[node] = self(node.value)
        return value

    def cast(self, value: Value, numba_type) -> Value:
        """Return a constant, converted to another type."""
        name = value.key, value.type.name, numba_type.name
        found = self._cast.get(name)
        if found is None:
            number = converted(value.data, dtype_of(numba_type)).reshape(-1)[0]
            found = self._cast[name] = self(number, numba_type)
        return found

    def is_literal(self, value: Value) -> bool:
        """Return whether a constant is a literal or a named number, rather than computed from other constants."""
        return any(one is value for one in self._made.values())

    def truth(self, yes: bool) -> Value:
        """Return the value of True or False."""
        return self(yes, BOOL)
