"""What a kernel's variables hold while it is interpreted."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.simt.front.typing import BOOL, dtype_of, type_of_number


@dataclass(slots=True, eq=False)
class Product:
    """A multiplication that an addition may take up: a compiler turns the pair into one multiply-add."""

    block: int  # the straight piece of the program in which it was computed
    instead: str = "mul"  # what it counts as on its own
    fused: bool = False
    needed: bool = False  # something else uses the product, so that it must be computed as well


@dataclass(slots=True, eq=False)
class Origin:
    """How a value came about, as long as it is open whether a compiler would keep the computation, and where.

    What nobody uses is never computed; what only one branch uses is computed there, by the lanes that take it.
    """

    count: Any  # called with the lanes that do the work
    operands: tuple
    mask: Any
    block: int  # straight piece of the program
    version: Any = None  # of the memory that a load reads
    space: str = ""
    done: bool = False
    wanted_in: int = -1
    wanted_by: Any = None


@dataclass(slots=True, eq=False)
class Value:
    """One scalar a lane.

    Attributes
    ----------
    data : ndarray
        Broadcasts to the wave's six dimensions.
    type : numba type
    key : int
        Value number: two values with one key are equal by construction, as a compiler would see it.
    constant : bool
        Known when the kernel is compiled.
    """

    data: np.ndarray
    type: Any
    key: int
    constant: bool = False
    product: Product | None = None
    origin: Origin | None = None
    otherwise: Any = None  # what it would be if an atomic had come earlier: see run/hindsight.py

    @property
    def number(self):
        """The Python number of a value that is the same in all lanes."""
        return self.data.reshape(-1)[0].item()

    @property
    def uniform(self) -> bool:
        """Whether all lanes hold one number by construction."""
        return self.data.size == 1


@dataclass(slots=True, eq=False)
class TypeName:
    """A scalar type: called, it casts."""

    type: Any


@dataclass(slots=True, eq=False)
class Intrinsic:
    """A name of CUDA's, such as ``shared.array``."""

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
    """What a variable is in a sketch after two ways that gave it things of different types: nobody may use it."""

    reason: str


@dataclass(slots=True)
class Variable:
    """What a name holds, and in which lanes."""

    value: Any
    mask: Any


def undefined(dtype: np.dtype):
    """Return what a lane finds where it never got a value: a number that shows where it is used."""
    if dtype.kind in "iu":
        return np.full(dtype.itemsize, 0xCB, np.uint8).view(dtype)[0]
    return dtype.type(np.nan if dtype.kind in "fc" else True)


class Numbering:
    """Hash-consing of values: equal expressions get equal numbers.

    ``birth`` of a number is the newest unknown that it depends on, so that what a loop does not change can be told.
    """

    def __init__(self):
        self._known: dict[tuple, int] = {}
        self.birth: list[int] = []
        self._sums: dict[int, tuple[int, int]] = {}

    def fresh(self) -> int:
        """Number something that nothing else equals."""
        self.birth.append(len(self.birth))
        return len(self.birth) - 1

    def of(self, what, *keys: int) -> int:
        """Number an expression: an operation on numbered values."""
        whole = (what, *keys)
        number = self._known.get(whole)
        if number is None:
            number = self._known[whole] = len(self.birth)
            self.birth.append(max((self.birth[k] for k in keys), default=-1))
        return number

    def plus(self, key: int, amount: int) -> int:
        """Number ``key + amount`` so that ``(i + 1) - 1`` is ``i`` again."""
        base, already = self._sums.get(key, (key, 0))
        total = already + amount
        if not total:
            return base
        number = self.of(("plus", total), base)
        self._sums[number] = base, total
        return number


@dataclass(slots=True)
class Constants:
    """Numbers that the kernel's source holds, made into values once."""

    numbering: Numbering
    _made: dict = field(default_factory=dict)

    def __call__(self, number, numba_type=None) -> Value:
        """Return the value of a constant."""
        numba_type = numba_type or type_of_number(number)
        # -0.0 equals 0.0 and True equals 1: the type and the sign tell them apart
        name = (numba_type, number, str(number))
        if name not in self._made:
            data = np.array(number).astype(dtype_of(numba_type)).reshape((1,) * 6)
            self._made[name] = Value(data, numba_type, self.numbering.of(("constant", *name)), constant=True)
        return self._made[name]

    def truth(self, yes: bool) -> Value:
        """Return a constant bool."""
        return self(yes, BOOL)
