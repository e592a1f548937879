"""What each operation counts as once it is compiled: a multiply-add, a doubling, a flop of its own, or nothing."""

import ast

import numpy as np
from numba.core import types

from course_pkg.simt.front.typing import dtype_of


def count_operation(ledger, kind, value, a, b, where, mask) -> None:
    """Count an operation: a flop of its kind, or an integer operation."""
    precision = a.type.name
    if isinstance(a.type, types.Complex):
        _complex(ledger, kind, value, a, b, where, mask)
    elif not isinstance(a.type, types.Float):
        _free(ledger, value, (a, b), mask, integer=True)
    elif kind is ast.Mult:
        _product(ledger, kind, value, a, b, precision, where, mask)
    elif kind in (ast.Add, ast.Sub):
        _sum(ledger, kind, value, a, b, precision, where, mask)
    elif kind is ast.Div and _power_of_two(b):
        _product(ledger, kind, value, a, b, precision, where, mask)
    elif kind in _COUNTED:
        use(a, b)
        if precision == "float64":
            for operand in (a, b):
                ledger.signed(operand, where, mask)
        counted = _COUNTED[kind]
        if kind is ast.Div and a.constant and a.number == 1:
            counted = counted, "reciprocal"
        ledger.flop(
            value,
            counted,
            precision,
            where,
            (a, b),
            mask,
            slow=_slow(precision, a) if kind is ast.Div else None,
        )
    else:
        _free(ledger, value, (a, b), mask)


_COUNTED = {ast.Div: "div", ast.Pow: "special", ast.Mod: "special", ast.FloorDiv: "special"}


# instructions of a slow division in addition to those of every division; read in machine code
SLOW_DIVISION = {"inside_mul": 1, "inside_fma": 8}
TINY = 2.0**-969


def _slow(precision: str, numerator):
    """Return where a division in double precision takes its slow path: where its numerator is 0 or nearly 0."""
    if precision != "float64":
        return None
    tiny = np.abs(numerator.data) < TINY
    return tiny if tiny.any() else None


def use(*values) -> None:
    """Note that values are themselves used, so that no addition fuses their multiplications."""
    for value in values:
        if value.product is not None:
            value.product.used = True


def _product(ledger, kind, value, a, b, precision, where, mask):
    """Count a multiplication: one by 1 costs nothing, and one by 2 is compiled to an addition.

    A division by a power of 2, also by 2 itself, counts as a multiplication.
    """
    use(a, b)
    factor = next((abs(v.number) for v in (a, b) if v.constant), None)
    if factor is None and (a.sign == "-") != (b.sign == "-"):  # a constant factor takes the sign over
        value.sign = "-"
    if factor == 1:
        _free(ledger, value, (a, b), mask)
    else:
        doubles = _doubles(a, b) if factor == 2 and kind is ast.Mult else 0
        ledger.multiply(value, precision, where, (a, b), mask, "add" if doubles > 0 else "mul")
        value.product.doubles = doubles


def _doubles(a, b) -> int:
    """Return the sign of a product with 2 or -2, including the minus sign of the other factor."""
    factor, other = (a, b) if a.constant else (b, a)
    return -1 if (factor.number < 0) != (other.sign == "-") else 1


def _sum(ledger, kind, value, a, b, precision, where, mask):
    """Count an addition, or a multiply-add if one of the operands is a product that can be fused."""
    first, second = _sign(a), -_sign(b) if kind is ast.Sub else _sign(b)
    fits = _fused(a, first, b, second), _fused(b, second, a, first)
    products = [
        one.product for one, fit in zip((a, b), fits, strict=True) if fit and _in_this_block(ledger, one)
    ]
    for operand in (a, b):
        if operand.product not in products:
            use(operand)
    ledger.sum(value, products, precision, where, (a, b), mask)


def _sign(value) -> int:
    return -1 if value.sign == "-" else 1


def _fused(product, sign: int, other, sign_of_other: int) -> bool:
    """Tell whether an addition fuses a product. A subtraction does not fuse 2 x: an addition of its own computes that.

    LLVM writes -2 x + y as y - 2 x, and y - 1 as y + (-1).
    """
    doubles = sign * product.product.doubles if product.product is not None else 0
    return doubles == 0 or doubles == (1 if other.constant else sign_of_other)


def _complex(ledger, kind, value, a, b, where, mask):
    """Count the operations on the two parts of complex numbers."""
    part = "float32" if dtype_of(a.type).itemsize == 8 else "float64"
    made = {ast.Add: ("add",), ast.Sub: ("add",), ast.Mult: ("mul", "fma")}.get(kind, ("special",))
    ledger.flop(value, made, part, where, (a, b), mask, times=2)


def _power_of_two(value) -> bool:
    return value.constant and abs(np.frexp(value.number)[0]) == 0.5


def _in_this_block(ledger, value) -> bool:
    return value.product is not None and value.product.block == ledger.straight


def _free(ledger, value, operands, mask, integer=False):
    """Count an operation that is not a flop: one instruction, or one integer operation."""
    use(*operands)
    (ledger.integer if integer else ledger.instruction)(mask)
    ledger.made_of(value, operands, mask)
