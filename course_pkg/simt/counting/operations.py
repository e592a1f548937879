"""What an operation counts as, as a compiler makes it: multiply-adds, doublings, and what costs nothing."""

import ast

import numpy as np
from numba.core import types

from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.run.values import Origin


def count_operation(run, frame, node, kind, value, a, b, mask) -> None:
    """Count an operation: a flop of its kind, or an integer operation."""
    if run.counters is None or value.constant:
        return
    where = SourceLine(frame.program.name, node.lineno)
    precision = dtype_of(a.type).name
    if isinstance(a.type, types.Complex):
        _complex(run, kind, value, a, b, where, mask)
    elif not isinstance(a.type, types.Float):
        _free(run, value, (a, b), mask, integer=True)
    elif kind is ast.Mult:
        _product(run, value, a, b, precision, where, mask)
    elif kind in (ast.Add, ast.Sub):
        _sum(run, kind, value, a, b, precision, where, mask)
    elif kind is ast.Div and _power_of_two(b):
        _product(run, value, a, b, precision, where, mask)
    elif kind in _COUNTED:
        run.use(a)
        run.use(b)
        run.flop(value, _COUNTED[kind], precision, where, (a, b), mask)
    else:
        _free(run, value, (a, b), mask)


_COUNTED = {ast.Div: "div", ast.Pow: "special", ast.Mod: "special", ast.FloorDiv: "special"}


def _product(run, value, a, b, precision, where, mask):
    """Count a multiplication as a compiler makes it: by 1 it is none, by 2 it is an addition of a number to itself."""
    run.use(a)
    run.use(b)
    factor = next((abs(v.number) for v in (a, b) if v.constant), None)
    if factor == 1:
        _free(run, value, (a, b), mask)
    else:
        run.multiply(value, precision, where, (a, b), mask, "add" if factor == 2 else "mul")


def _sum(run, kind, value, a, b, precision, where, mask):
    """Count an addition, with a product that it takes up as a multiply-add."""
    doubled = kind is ast.Sub and b.product is not None and b.product.instead == "add"
    product = _fusible(run, a) or (None if doubled else _fusible(run, b))
    for operand in (a, b):
        if operand.product is not product:
            run.use(operand)
    if product is not None:
        product.fused = True
    run.flop(value, "fma" if product is not None else "add", precision, where, (a, b), mask)


def _complex(run, kind, value, a, b, where, mask):
    """Count the operations on the two parts of complex numbers."""
    part = "float32" if dtype_of(a.type).itemsize == 8 else "float64"
    made = {ast.Add: ("add",), ast.Sub: ("add",), ast.Mult: ("mul", "fma")}.get(kind, ("special",))
    operands = (a, b)
    for name in made:
        run.flop(value, name, part, where, operands, mask, times=2)
        if len(made) == 2 and value.origin is not None:
            first, second = value.origin.count, made[1]
            value.origin.count = lambda lanes, first=first, second=second: (
                first(lanes), run.counters.operation(part, second, where, 2 * lanes.threads)
            )  # fmt: skip
            return


def _power_of_two(value) -> bool:
    return value.constant and abs(np.frexp(value.number)[0]) == 0.5


def _fusible(run, value):
    product = value.product
    return product if product is not None and product.block == run.straight else None


def _free(run, value, operands, mask, integer=False):
    """Count an instruction that is no flop."""
    for operand in operands:
        run.use(operand)
    if run.counters is not None:
        run.counters.integer_ops += mask.threads if integer else 0
        run.counters.issue(mask)
        value.origin = passed_on(run, operands, mask)


def passed_on(run, operands, mask):
    """Make the origin of a value that costs nothing but what it is made of."""
    still_open = tuple(v for v in operands if v.origin is not None and not v.origin.done)
    if run.depth_of_loops:
        for operand in still_open:
            run.demand(operand, mask)
        return None
    return Origin(run.nothing, still_open, mask, run.straight, 0) if still_open else None
