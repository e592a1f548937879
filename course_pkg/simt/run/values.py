"""The kinds of things that a kernel's variables hold while the kernel is interpreted."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba.core import types

from course_pkg.simt.front.typing import BOOL, dtype_of, type_of_number


@dataclass(slots=True, eq=False)
class Product:
    """A multiplication that a compiler may fuse with an addition into one multiply-add."""

    block: int  # number of the basic block in which it was computed
    instead: str = "mul"  # the kind that it counts as if it is not fused
    doubles: int = 0  # 1 or -1 for a product with 2 or -2: not every addition fuses it
    fused: bool = False
    used: bool = False  # something else than an addition of its block uses it: no addition fuses it
    needed: bool = False  # an addition uses it that fuses another product, or none


@dataclass(slots=True, eq=False)
class Origin:
    """How a value was computed, kept until it is clear whether a compiler keeps the computation, and where.

    A value that is never used is not computed. A value that only one branch uses is computed by the lanes that take it.
    """

    count: Any  # called with the lanes that compute the value
    operands: tuple
    mask: Any
    block: int  # number of the basic block
    version: Any = None  # state of the memory that a load reads
    space: str = ""
    made_in: Any = None  # the trip of a loop
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
    sign: str = ""  # "-" or "abs": what costs nothing as long as an operation takes it over
    otherwise: dict | None = None  # what it would be if an atomic had been done earlier: see run/hindsight.py

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

    ``of_python``: whether it is Python's int or float, which leave a number of their kind as narrow as it is.
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
class Range:
    """The three values of ``range``."""

    start: Value
    stop: Value
    step: Value


@dataclass(slots=True, eq=False)
class Torn:
    """In a sketch: a variable to which two branches gave things of different types. A kernel must not use it."""

    reason: str


@dataclass(slots=True)
class Variable:
    """The value of a variable, and the lanes that have assigned it.

    In a trip of a loop that is written out, ``number`` is the constant that the loop's variable is in all lanes of the
    trip: outside of it, other lanes may have another number, which the compiler keeps apart. ``newest`` is what lanes
    have assigned in the branch that is being run, and these lanes: there, the compiler knows it by its own number.
    """

    value: Any
    mask: Any
    number: Value | None = None
    newest: tuple | None = None


def numba_type_of(thing):
    """Return the Numba type of what a variable holds; None where it has none, as a function has."""
    if isinstance(thing, Value):
        return thing.type
    if isinstance(thing, tuple):
        parts = tuple(map(numba_type_of, thing))
        return None if None in parts else types.BaseTuple.from_types(parts)
    ndim = getattr(thing, "ndim", None)
    return None if ndim is None else types.Array(thing.type, ndim, _layout(thing))


def _layout(array) -> str:
    """Return the order of an array's elements, as Numba writes it: "C", "F", or "A" for any other."""
    for layout, extents, strides in (
        ("C", array.shape[::-1], array.strides[::-1]),
        ("F", array.shape, array.strides),
    ):
        dense = (np.all(extents[d].data * strides[d] == strides[d + 1]) for d in range(len(strides) - 1))
        if strides and strides[0] == 1 and all(dense):
            return layout
    return "A"


def undefined(dtype: np.dtype):
    """Return what a lane finds in a variable that it never assigned: a number that is noticed if it is used."""
    if dtype.kind in "iu":
        return np.full(dtype.itemsize, 0xCB, np.uint8).view(dtype)[0]
    return dtype.type(np.nan if dtype.kind in "fc" else True)


class Numbering:
    """Value numbering by hash-consing: equal expressions get equal numbers.

    ``birth[n]`` is the newest unknown that value ``n`` depends on. It shows which values a loop does not change.
    """

    def __init__(self):
        self._known: dict[tuple, int] = {}
        self.birth: list[int] = []
        self._sums: dict[int, tuple[int, int]] = {}
        self._multiples: dict[int, int] = {}

    def fresh(self) -> int:
        """Return a number for a value that equals no other one."""
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
        """Return ``(base, amount)`` of a number that is known as ``base + amount``."""
        return self._sums.get(key, (key, 0))

    def multiple(self, key: int) -> int:
        """Return the power of 2 of which an integer is known to be a multiple."""
        return self._multiples.get(key, 1)

    def scaled(self, key: int, of: int, factor: int) -> None:
        """Note that an integer is ``factor`` times another one."""
        power = self.multiple(of) * (factor & -factor)
        if power > 1:
            self._multiples[key] = power

    def narrowed(self, key: int, what) -> int:
        """Return the number of an integer that is cast to fewer bits, where an addition without a carry stays one."""
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
    """The values of the constants in a kernel's source; each is made once."""

    numbering: Numbering
    _made: dict = field(default_factory=dict)
    _written: dict = field(default_factory=dict)  # by the node of the source
    _cast: dict = field(default_factory=dict)  # by the constant that was cast, and the type

    def __call__(self, number, numba_type=None) -> Value:
        """Return the value of a constant."""
        numba_type = numba_type or type_of_number(number)
        # -0.0 == 0.0 and True == 1, so the type and the text, which has the sign, belong to the name
        name = (numba_type, number, str(number))
        if name not in self._made:
            data = np.array(number).astype(dtype_of(numba_type)).reshape((1,) * 6)
            self._made[name] = Value(data, numba_type, self.numbering.of(("constant", *name)), constant=True)
        return self._made[name]

    def written(self, node) -> Value:
        """Return the value of a number in the source."""
        value = self._written.get(node)
        if value is None:
            value = self._written[node] = self(node.value)
        return value

    def cast(self, value: Value, numba_type) -> Value:
        """Return a constant as a number of another type."""
        name = value.key, value.type.name, numba_type.name
        found = self._cast.get(name)
        if found is None:
            number = value.data.astype(dtype_of(numba_type)).reshape(-1)[0]
            found = self._cast[name] = self(number, numba_type)
        return found

    def is_literal(self, value: Value) -> bool:
        """Whether a constant is a number as it is written or named, and was not computed from others."""
        return any(one is value for one in self._made.values())

    def truth(self, yes: bool) -> Value:
        """Return the value of True or False."""
        return self(yes, BOOL)
