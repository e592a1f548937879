"""Evaluate expressions: one value per lane, with Numba's types."""

import ast
import operator
from functools import cache

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.front import literal
from course_pkg.simt.front.instead import of_node
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import BOOL, converted, dtype_of, signature
from course_pkg.simt.run.constructs import at_its_place, of_tuples, unsupported
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.keys import key_of
from course_pkg.simt.run.needed import no_numbers, require_numbers
from course_pkg.simt.run.powers import integer_power, inverse, remainder
from course_pkg.simt.run.values import Value

OPERATORS = {
    ast.Add: (operator.add, np.add),
    ast.Sub: (operator.sub, np.subtract),
    ast.Mult: (operator.mul, np.multiply),
    ast.Div: (operator.truediv, np.true_divide),
    ast.FloorDiv: (operator.floordiv, np.floor_divide),
    ast.Mod: (operator.mod, np.remainder),
    ast.Pow: (operator.pow, np.power),
    ast.LShift: (operator.lshift, np.left_shift),
    ast.RShift: (operator.rshift, np.right_shift),
    ast.BitAnd: (operator.and_, np.bitwise_and),
    ast.BitOr: (operator.or_, np.bitwise_or),
    ast.BitXor: (operator.xor, np.bitwise_xor),
    ast.Eq: (operator.eq, np.equal),
    ast.NotEq: (operator.ne, np.not_equal),
    ast.Lt: (operator.lt, np.less),
    ast.LtE: (operator.le, np.less_equal),
    ast.Gt: (operator.gt, np.greater),
    ast.GtE: (operator.ge, np.greater_equal),
    ast.USub: (operator.neg, np.negative),
    ast.UAdd: (operator.pos, np.positive),
    ast.Invert: (operator.invert, np.invert),
}
COMMUTE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Eq, ast.NotEq)
SHIFTS = (ast.LShift, ast.RShift)
MULTIPLIED_OUT = 16  # powers with constant exponents up to this value become multiplications
HANDLERS: dict = {}
CONDITIONS: dict = {}  # {kind of expression: how it is evaluated in a condition, if that differs}


def handles(kind):
    """Return a decorator that registers a function for evaluating one kind of expression."""

    def register(function):
        HANDLERS[kind] = function
        return function

    return register


def evaluate(run, frame, node, mask):
    """Evaluate an expression in the lanes of a mask; return a Value, a tuple, an array, or the object of a name."""
    handler = HANDLERS.get(type(node))
    if handler is None:
        raise unsupported(frame, node)
    return handler(run, frame, node, mask)


@handles(ast.Constant)
def _constant(run, frame, node, mask):
    if isinstance(node.value, (bool, int, float, complex)):
        return run.constant.written(node)
    if node.value is None or node.value is Ellipsis:
        return node.value
    raise unsupported(frame, node)


@handles(ast.Tuple)
def _tuple(run, frame, node, mask):
    return tuple(evaluate(run, frame, part, mask) for part in node.elts)


@handles(ast.BinOp)
def _binary(run, frame, node, mask):
    number = literal.number_of(node)
    if number is not None:
        return _as_python_does(run, frame, node, number)
    left = evaluate(run, frame, node.left, mask)
    right = evaluate(run, frame, node.right, mask)
    numbers = type(left) is type(right) is Value  # the usual case
    if not numbers and not (isinstance(left, tuple) and isinstance(node.op, ast.Mult)):
        require_numbers(frame, (node.left, left), (node.right, right))
    return binary(run, frame, node, node.op, left, right, mask)


def _as_python_does(run, frame, node, number):
    """Return the value of ``2 * 16``, which Python itself computes before Numba sees it."""
    try:
        return run.constant(number)
    except Unsupported as error:
        raise SimtError.at(frame.program.name, node.lineno, f"{error} Write a smaller one.") from None


def binary(run, frame, node, op, left, right, mask) -> Value:
    """Apply a binary operator with Numba's types, and count the operation."""
    if isinstance(left, tuple) and (joined := of_tuples(frame, node, op, left, right)) is not None:
        return joined
    if not isinstance(left, Value) or not isinstance(right, Value):
        raise no_numbers(frame, node, left, right)
    kind = type(op)
    if kind is ast.Pow and right.constant and isinstance(right.type, types.Integer):
        return _power(run, frame, node, left, right, mask)
    if kind not in OPERATORS:
        raise unsupported(frame, node, of_node(op))
    try:
        wanted, what, dtype = _typed(kind, left.type, right.type)
    except Unsupported as error:
        raise at_its_place(frame, node, error) from None
    ufunc = OPERATORS[kind][1]
    a, b = cast(run, left, wanted[0]), cast(run, right, wanted[1])
    data = _compute(kind, ufunc, a.data, b.data, dtype)
    keys = sorted((a.key, b.key)) if kind in COMMUTE else (a.key, b.key)
    key = key_of(run, kind, what, a, b, keys)
    value = run.derived(data, what[1], key, (a, b), mask, a.constant and b.constant)
    run.ledger.rounds(kind, value, left, right)
    run.ledger.operation(kind, value, a, b, SourceLine(frame.program.name, node.lineno), mask)
    return follow(value, lambda x, y: _compute(kind, ufunc, x, y, dtype), a, b)


@cache
def _typed(kind, left, right) -> tuple:
    """Return the operand types of a binary operator, its name with the result type, and the dtype of the result."""
    function = OPERATORS[kind][0]
    wanted, result = signature(function, left, right)
    if isinstance(result, types.Integer) and kind not in SHIFTS:
        wanted = result, result
    return wanted, (function.__name__, result), dtype_of(result)


def _signature(frame, node, function, *arguments):
    try:
        return signature(function, *arguments)
    except Unsupported as error:
        raise at_its_place(frame, node, error) from None


def _compute(kind, ufunc, a, b, dtype):
    if kind in (ast.FloorDiv, ast.Mod) and dtype.kind in "iu":
        return np.where(b == 0, dtype.type(0), ufunc(a, np.where(b == 0, b.dtype.type(1), b)))
    if kind in SHIFTS:
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if kind is ast.Mod and dtype.kind == "f":
        return remainder(a.astype(dtype, copy=False), b.astype(dtype, copy=False))
    if kind is ast.Pow and dtype.kind in "iu":
        return integer_power(a.astype(dtype), b, dtype)
    if kind is ast.Div:
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    return np.asarray(ufunc(a, b)).astype(dtype, copy=False)


def _power(run, frame, node, base, exponent, mask):
    """Compute a constant integer power by multiplications, as Numba does."""
    n = exponent.number
    if abs(n) > MULTIPLIED_OUT:
        _, result = _signature(frame, node, operator.pow, base.type, exponent.type)
        a = cast(run, base, result)
        key = run.numbering.of(("pow", result), a.key, exponent.key)

        def raised(data):
            power = (
                np.power(data, n)
                if data.dtype.kind in "fc"
                else integer_power(data, exponent.data, data.dtype)
            )
            return power.astype(dtype_of(result), copy=False)

        value = follow(run.derived(raised(a.data), result, key, (a,), mask, a.constant), raised, a)
        if isinstance(result, types.Float) and not a.constant:
            where = SourceLine(frame.program.name, node.lineno)
            run.ledger.flop(value, "special", dtype_of(result).name, where, (a,), mask)
        return value
    if n < 0:
        up = _power(run, frame, node, base, run.constant(-n), mask)
        below = binary(run, frame, node, ast.Div(), run.constant(1.0), up, mask)
        if not isinstance(up.type, types.Integer):
            return below
        whole = run.view(below, inverse(up.data), up.type, run.numbering.of("inverse", up.key), up.constant)
        return follow(whole, inverse, up)
    _, result = _signature(frame, node, operator.pow, base.type, exponent.type)
    value, square = None, cast(run, base, result)
    while n:
        if n & 1:
            value = square if value is None else binary(run, frame, node, ast.Mult(), value, square, mask)
        n >>= 1
        if n:
            square = binary(run, frame, node, ast.Mult(), square, square, mask)
    return value if value is not None else cast(run, run.constant(1), result)


@handles(ast.UnaryOp)
def _unary(run, frame, node, mask):
    if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.BoolOp):
        return negated(run, condition(run, frame, node.operand, mask))
    number = literal.number_of(node)
    if number is not None:
        return _as_python_does(run, frame, node, number)
    return unary(run, frame, node, node.op, evaluate(run, frame, node.operand, mask), mask)


def condition(run, frame, node, mask) -> Value:
    """Evaluate a condition as a truth value. Operands of ``and`` and ``or`` in it need no common type."""
    handler = CONDITIONS.get(type(node))
    if handler is not None:
        return handler(run, frame, node, mask)
    return truth(run, frame, evaluate(run, frame, node, mask), node)


def unary(run, frame, node, op, operand, mask) -> Value:
    """Apply a unary operator with Numba's types, and count the operation."""
    if isinstance(op, ast.Not) and not isinstance(operand, tuple):
        return negated(run, truth(run, frame, operand, node))
    if not isinstance(operand, Value):
        raise no_numbers(frame, node, operand)
    function, ufunc = OPERATORS[type(op)]
    (wanted,), result = _signature(frame, node, function, operand.type)
    wanted = result if isinstance(wanted, types.Boolean) else wanted
    a, dtype = cast(run, operand, wanted), dtype_of(result)

    def computed(data):  # a small integer wraps around before it is widened: -x of a uint8 with 1 is 255
        return ufunc(data).astype(dtype, copy=False)

    if a.constant:
        return run.constant(computed(a.data).reshape(-1)[0], result)
    value = run.view(a, computed(a.data), result, run.numbering.of((function.__name__, result), a.key))
    value.product, value.width = a.product, a.width  # a multiply-add can negate the product at no cost
    if isinstance(op, ast.USub) and isinstance(result, types.Float):
        value.sign = {"": "-", "-": ""}.get(a.sign, a.sign)
    if isinstance(result, types.Integer):
        run.ledger.integer(mask)
    return follow(value, computed, a)


def negated(run, test: Value) -> Value:
    """Return ``not`` of a truth value."""
    opposite = run.view(test, ~test.data, BOOL, run.numbering.of("not", test.key), test.constant)
    return follow(opposite, np.logical_not, test)


def truth(run, frame, value, node) -> Value:
    """Return whether a number counts as true in an ``if``."""
    if isinstance(value, tuple):
        return run.constant.truth(bool(value))
    if not isinstance(value, Value):
        raise no_numbers(frame, node, value)
    if value.type is BOOL or value.type == BOOL:
        return value
    run.ledger.use(value)
    test = run.view(value, value.data != 0, BOOL, run.numbering.of("truth", value.key), value.constant)
    return follow(test, lambda data: data != 0, value)


def cast(run, value: Value, numba_type) -> Value:
    """Convert a value to another type by the rules of C."""
    if value.type is numba_type or value.type == numba_type:
        return value
    if value.constant:
        return run.constant.cast(value, numba_type)
    narrow = value.width is not None and numba_type == types.float32 and value.width.narrow()
    if not narrow:
        run.ledger.use(value)
    dtype, keeps, narrows = _conversion(value.type, numba_type)
    if keeps:
        key = value.key
    elif narrows:
        key = run.numbering.narrowed(value.key, numba_type)
    else:
        key = run.numbering.of(("cast", numba_type), value.key)
    converted = run.view(value, _convert(value.data, dtype), numba_type, key)
    converted.product = value.product if narrow else None
    return follow(converted, lambda data: _convert(data, dtype), value)


@cache
def _conversion(before, after) -> tuple:
    """Return a conversion's dtype, whether it preserves every integer, and whether it narrows an integer type."""
    integers = isinstance(before, types.Integer) and isinstance(after, types.Integer)
    keeps = integers and _keeps_its_number(before, after)
    return dtype_of(after), keeps, integers and not keeps


def _convert(data, dtype):
    data = data.real if data.dtype.kind == "c" and dtype.kind != "c" else data
    return converted(data != 0 if dtype.kind == "b" else data, dtype)


def _keeps_its_number(before, after) -> bool:
    """Return whether a conversion between two integer types preserves every value."""
    if before.signed == after.signed:
        return after.bitwidth >= before.bitwidth
    return after.signed and after.bitwidth > before.bitwidth
