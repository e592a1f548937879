"""Expressions: one value a lane, with Numba's types."""

import ast
import operator

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.sketch import blank
from course_pkg.simt.source import SourceLine
from course_pkg.simt.typing import BOOL, dtype_of, signature, unify
from course_pkg.simt.values import Origin, Value

FALLBACK = "Numba's own simulator may run it: set NUMBA_ENABLE_CUDASIM=1 and use `from numba import cuda`"

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
MULTIPLIED_OUT = 16  # a power with a constant exponent up to this is a chain of multiplications


def unsupported(frame, node, what: str = "") -> Unsupported:
    """Make the error for a construct that the interpreter does not know."""
    what = what or _construct(node)
    line = getattr(node, "lineno", frame.program.tree.lineno)
    return Unsupported(
        f"{frame.program.name}, line {line}: {what} is outside what the interpreter runs. {FALLBACK}."
    )


def evaluate(run, frame, node, mask):
    """Return what an expression is in every lane: a Value, a tuple, an array, or a name's object."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        raise unsupported(frame, node)
    return handler(run, frame, node, mask)


def _name(run, frame, node, mask):
    variable = frame.variables.get(node.id)
    if variable is not None:
        return variable.value
    if node.id in frame.program.assigned:
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: the variable {node.id!r} is used before it has a value."
        )
    from course_pkg.simt.names import entity

    return entity(run, frame, node, frame.program.lookup(node.id))


def _constant(run, frame, node, mask):
    if isinstance(node.value, (bool, int, float, complex)):
        return run.constant(node.value)
    if node.value is None:
        return None
    raise unsupported(frame, node)


def _tuple(run, frame, node, mask):
    return tuple(evaluate(run, frame, part, mask) for part in node.elts)


def _attribute(run, frame, node, mask):
    from course_pkg.simt.names import member

    return member(run, frame, node, evaluate(run, frame, node.value, mask))


def _subscript(run, frame, node, mask):
    from course_pkg.simt.access import load

    return load(run, frame, node, mask)


def _call(run, frame, node, mask):
    from course_pkg.simt.calls import call

    return call(run, frame, node, mask)


def _binary(run, frame, node, mask):
    left = evaluate(run, frame, node.left, mask)
    right = evaluate(run, frame, node.right, mask)
    return binary(run, frame, node, node.op, left, right, mask)


def binary(run, frame, node, op, left, right, mask) -> Value:
    """Apply a binary operator as Numba types it, and count it."""
    if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(op, ast.Add):
        return left + right
    if not isinstance(left, Value) or not isinstance(right, Value):
        raise unsupported(frame, node, f"{_construct(op)} of something else than numbers")
    kind = type(op)
    if kind is ast.Pow and right.constant and isinstance(right.type, types.Integer):
        return _power(run, frame, node, left, right, mask)
    if kind not in OPERATORS:
        raise unsupported(frame, node, _construct(op))
    function, ufunc = OPERATORS[kind]
    wanted, result = _signature(frame, node, function, left.type, right.type)
    if isinstance(result, types.Integer) and kind not in SHIFTS:
        wanted = result, result
    a, b = cast(run, left, wanted[0]), cast(run, right, wanted[1])
    dtype = dtype_of(result)
    data = _compute(kind, ufunc, a.data, b.data, dtype)
    keys = sorted((a.key, b.key)) if kind in COMMUTE else (a.key, b.key)
    key = _key(run, kind, function, result, a, b, keys)
    value = Value(data, result, key, constant=a.constant and b.constant)
    _count(run, frame, node, kind, value, a, b, mask)
    return value


def _signature(frame, node, function, *arguments):
    try:
        return signature(function, *arguments)
    except Unsupported as error:
        raise Unsupported(f"{frame.program.name}, line {node.lineno}: {error}.") from None


def _compute(kind, ufunc, a, b, dtype):
    if kind in (ast.FloorDiv, ast.Mod) and dtype.kind in "iu":
        return np.where(b == 0, dtype.type(0), ufunc(a, np.where(b == 0, b.dtype.type(1), b)))
    if kind in SHIFTS:
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if kind is ast.Pow and dtype.kind in "iu":
        return _integer_power(a.astype(dtype), b, dtype)
    if kind is ast.Div:
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    return np.asarray(ufunc(a, b)).astype(dtype, copy=False)


def _integer_power(a, b, dtype):
    base, exponent = np.broadcast_arrays(a, b)
    result, base, exponent = np.ones(base.shape, dtype), base.copy(), np.abs(exponent)
    while exponent.any():
        result = np.where(exponent & 1, result * base, result)
        base, exponent = base * base, exponent >> 1
    return result


def _key(run, kind, function, result, a, b, keys) -> int:
    if isinstance(result, types.Integer) and result.bitwidth == 64:
        if kind is ast.Add and b.constant:
            return run.numbering.plus(a.key, b.number)
        if kind is ast.Add and a.constant:
            return run.numbering.plus(b.key, a.number)
        if kind is ast.Sub and b.constant:
            return run.numbering.plus(a.key, -b.number)
    return run.numbering.of((function.__name__, result), *keys)


def _count(run, frame, node, kind, value, a, b, mask) -> None:
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
        value.origin = _passed_on(run, operands, mask)


def _passed_on(run, operands, mask):
    """Make the origin of a value that costs nothing but what it is made of."""
    still_open = tuple(v for v in operands if v.origin is not None and not v.origin.done)
    if run.depth_of_loops:
        for operand in still_open:
            run.demand(operand, mask)
        return None
    return Origin(run.nothing, still_open, mask, run.straight, 0) if still_open else None


def _power(run, frame, node, base, exponent, mask):
    """Raise to a constant integer power: by multiplications, as Numba does."""
    n = exponent.number
    if abs(n) > MULTIPLIED_OUT:
        _, result = _signature(frame, node, operator.pow, base.type, exponent.type)
        a = cast(run, base, result)
        key = run.numbering.of(("pow", result), a.key, exponent.key)
        data = (
            np.power(a.data, n)
            if a.data.dtype.kind in "fc"
            else _integer_power(a.data, exponent.data, a.data.dtype)
        )
        value = Value(data.astype(dtype_of(result), copy=False), result, key, constant=a.constant)
        if isinstance(result, types.Float) and not a.constant:
            where = SourceLine(frame.program.name, node.lineno)
            run.flop(value, "special", dtype_of(result).name, where, (a,), mask)
        return value
    if n < 0:
        up = _power(run, frame, node, base, run.constant(-n), mask)
        return binary(run, frame, node, ast.Div(), run.constant(1.0), up, mask)
    _, result = _signature(frame, node, operator.pow, base.type, exponent.type)
    value, square = None, cast(run, base, result)
    while n:
        if n & 1:
            value = square if value is None else binary(run, frame, node, ast.Mult(), value, square, mask)
        n >>= 1
        if n:
            square = binary(run, frame, node, ast.Mult(), square, square, mask)
    return value if value is not None else cast(run, run.constant(1), result)


def _unary(run, frame, node, mask):
    operand = evaluate(run, frame, node.operand, mask)
    if isinstance(node.op, ast.Not):
        test = truth(run, frame, operand, node)
        return Value(~test.data, BOOL, run.numbering.of("not", test.key), test.constant, origin=test.origin)
    if not isinstance(operand, Value):
        raise unsupported(frame, node, f"{_construct(node.op)} of something else than a number")
    function, ufunc = OPERATORS[type(node.op)]
    (wanted,), result = _signature(frame, node, function, operand.type)
    a = cast(run, operand, wanted)
    a = cast(run, a, result) if isinstance(result, types.Integer) else a
    if a.constant:
        return run.constant(dtype_of(result).type(ufunc(a.data).reshape(-1)[0]), result)
    data = ufunc(a.data).astype(dtype_of(result), copy=False)
    value = Value(data, result, run.numbering.of((function.__name__, result), a.key))
    value.product, value.origin = a.product, a.origin  # a minus sign is free in a multiply-add
    if run.counters is not None and isinstance(result, types.Integer):
        run.counters.integer_ops += mask.threads
        run.counters.issue(mask)
    return value


def _compare(run, frame, node, mask):
    left, result = evaluate(run, frame, node.left, mask), None
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        inner = mask if result is None or not result.data.ndim else mask.split(result.data)[0]
        right = evaluate(run, frame, right_node, inner)
        if type(op) not in OPERATORS:
            return _identity(run, frame, node, op, left, right)
        one = binary(run, frame, node, op, left, right, inner)
        result = one if result is None else _both(run, result, one, mask)
        left = right
    return result


def _identity(run, frame, node, op, left, right):
    if isinstance(op, (ast.Is, ast.IsNot)) and (left is None or right is None):
        return run.constant.truth((left is right) == isinstance(op, ast.Is))
    raise unsupported(frame, node, _construct(op))


def _both(run, a, b, mask):
    origin = _passed_on(run, (a, b), mask)
    key = run.numbering.of("and", a.key, b.key)
    return Value(a.data & b.data, BOOL, key, a.constant and b.constant, origin=origin)


def _bool_op(run, frame, node, mask):
    conjunction, result, inner = isinstance(node.op, ast.And), None, mask
    for part in node.values:
        value = evaluate(run, frame, part, inner)
        test = truth(run, frame, value, node)
        if result is None:
            result = test
        else:
            what = "and" if conjunction else "or"
            data = result.data & test.data if conjunction else result.data | test.data
            key = run.numbering.of(what, result.key, test.key)
            origin = _passed_on(run, (result, test), mask)
            result = Value(data, BOOL, key, result.constant and test.constant, origin=origin)
        if result.constant and result.number != conjunction:
            return result
        yes, no = inner.split(test.data)
        inner = yes if conjunction else no
        if not inner:
            break
    return result


def _conditional(run, frame, node, mask):
    test = truth(run, frame, evaluate(run, frame, node.test, mask), node)
    if run.dry:
        ways = [evaluate(run, frame, part, mask) for part in (node.body, node.orelse)]
        return _common_type(run, node, *ways)
    value = _chosen(run, frame, node, test, mask)
    wanted = run.types.get((run.path, id(node)))
    return cast(run, value, wanted) if wanted is not None and isinstance(value, Value) else value


def _common_type(run, node, one, other):
    """Record, in a sketch, the type of a conditional expression."""
    if not isinstance(one, Value) or not isinstance(other, Value):
        return one
    kind = unify(one.type, other.type)
    run.types[run.path, id(node)] = kind
    return blank(run, kind)


def _chosen(run, frame, node, test, mask):
    from course_pkg.simt.merge import merge

    if test.constant:
        return evaluate(run, frame, node.body if test.number else node.orelse, mask)
    run.demand(test, mask)
    yes, no = mask.split(test.data)
    one = evaluate(run, frame, node.body, yes if yes else run.wave.nobody)
    other = evaluate(run, frame, node.orelse, no if no else run.wave.nobody)
    chosen = yes if yes.data is not None else mask
    if yes and no:
        return merge(run, chosen, one, other)
    return one if yes else other


def truth(run, frame, value, node) -> Value:
    """Return a number's truth, as ``if`` sees it."""
    if not isinstance(value, Value):
        raise unsupported(frame, node, "the truth of something else than a number")
    if value.type == BOOL:
        return value
    run.use(value)
    return Value(
        value.data != 0, BOOL, run.numbering.of("truth", value.key), value.constant, origin=value.origin
    )


def cast(run, value: Value, numba_type) -> Value:
    """Convert a value as C does."""
    if value.type == numba_type:
        return value
    if value.constant:
        return run.constant(value.data.astype(dtype_of(numba_type)).reshape(-1)[0], numba_type)
    run.use(value)
    dtype = dtype_of(numba_type)
    data = value.data
    if dtype.kind != "c" and data.dtype.kind == "c":
        data = data.real
    if dtype.kind == "b":
        data = data != 0
    integers = isinstance(value.type, types.Integer) and isinstance(numba_type, types.Integer)
    widened = (
        integers and numba_type.bitwidth >= value.type.bitwidth and value.type.signed <= numba_type.signed
    )
    key = value.key if widened else run.numbering.of(("cast", numba_type), value.key)
    return Value(data.astype(dtype, copy=False), numba_type, key, origin=value.origin)


def _construct(node) -> str:
    return _WORDS.get(type(node), f"a Python {type(node).__name__}")


_WORDS = {
    ast.ListComp: "a list comprehension",
    ast.GeneratorExp: "a generator expression",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.List: "a list",
    ast.JoinedStr: "an f-string",
    ast.Lambda: "a lambda",
    ast.Try: "try",
    ast.With: "with",
    ast.Raise: "raise",
    ast.Yield: "yield",
    ast.FunctionDef: "a function inside a kernel",
    ast.ClassDef: "a class",
    ast.Import: "an import",
    ast.ImportFrom: "an import",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.Delete: "del",
    ast.Match: "match",
    ast.Slice: "a slice",
    ast.Starred: "a starred expression",
    ast.NamedExpr: "an assignment inside an expression",
    ast.Constant: "a string",
    ast.In: "`in`",
    ast.NotIn: "`not in`",
    ast.Is: "`is`",
    ast.IsNot: "`is not`",
    ast.MatMult: "`@`",
}

_EXPRESSIONS = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Tuple: _tuple,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: _conditional,
}
