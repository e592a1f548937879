"""Arithmetic in double precision whose result is rounded to single precision at once.

Numba computes ``2 * x`` of a float32 ``x`` in double precision, because the literal is an int64. If the kernel only
stores the result as a float32, LLVM computes in single precision, which gives the same number: so it does for a sum, a
product or a quotient of two numbers that single precision holds, if nothing else uses the result.
"""

import ast
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba.core import types

NARROWED = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@dataclass(eq=False)
class Width:
    """The precision in which a value is computed, and what was counted for it so far.

    Attributes
    ----------
    counters : Counters
    name : str
        ``"float64"`` or ``"float32"``.
    fixed : bool
        Whether something uses the value in double precision.
    counted : list of tuple
        ``(kind, where, threads)`` of each count.
    """

    counters: Any
    name: str = "float64"
    fixed: bool = False
    counted: list = field(default_factory=list)

    def count(self, kind: str, where, threads: int) -> str:
        """Note a count; return the precision under which it counts."""
        self.counted.append((kind, where, threads))
        return self.name

    def narrow(self) -> bool:
        """Note that the value is rounded to single precision; return whether it is computed so."""
        if not self.fixed:
            self._become("float32")
        return not self.fixed

    def keep(self) -> None:
        """Note that something uses the value in double precision."""
        self.fixed = True
        self._become("float64")

    def _become(self, name: str) -> None:
        if name != self.name:
            for kind, where, threads in self.counted:
                self.counters.operation(self.name, kind, where, -threads)
                self.counters.operation(name, kind, where, threads)
            self.name = name


def width_of(counters, kind, result, left, right) -> Width | None:
    """Return the width of an operation that LLVM may compute in single precision; None if it does not."""
    fits = kind in NARROWED and result == types.float64 and not (left.constant and right.constant)
    return Width(counters) if fits and _single(left) and _single(right) else None


def _single(value) -> bool:
    """Tell whether single precision certainly holds a number."""
    if value.constant and isinstance(value.type, types.Number) and not isinstance(value.type, types.Complex):
        return float(np.float32(value.number)) == float(value.number)
    return value.type in (types.float32, types.float16)
