"""Calls of device functions, of types (casts), of functions of numbers, and of Python's own functions."""

import ast
from functools import partial

import numpy as np
from numba.core import types

from course_pkg.simt.counting.expanded import INSIDE, SIGNED
from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.front.functions import BY_NAME, FUNCTIONS, PARTS
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import INT64, converted, dtype_of, signature, type_of_extreme
from course_pkg.simt.run import draws
from course_pkg.simt.run.constructs import at_its_place, unsupported
from course_pkg.simt.run.expressions import binary, cast, evaluate, handles, truth, unary
from course_pkg.simt.run.functions import arguments_of, call_function
from course_pkg.simt.run.gathering import NOTHING, of_sequences, without_side
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.intrinsics import intrinsic
from course_pkg.simt.run.iteration import made_range
from course_pkg.simt.run.members import method
from course_pkg.simt.run.named import NamedKind, asked, made_named
from course_pkg.simt.run.needed import not_called, require_numbers
from course_pkg.simt.run.printing import print_call
from course_pkg.simt.run.state import LocalFunction
from course_pkg.simt.run.ufuncs import ufunc_of_numbers
from course_pkg.simt.run.values import Builtin, Intrinsic, Method, TypeName, Value


@handles(ast.Call)
def call(run, frame, node: ast.Call, mask):
    """Evaluate a call."""
    function = evaluate(run, frame, node.func, mask)
    if isinstance(function, Builtin) and function.name == "print":
        return print_call(run, frame, node, mask)
    if isinstance(function, Builtin) and function.name in ("isinstance", "hasattr"):
        return asked(run, frame, node, function.name, mask)
    if isinstance(function, TypeName) and (number := _written(node, function)) is not None:
        return run.constant(number)
    names_types = isinstance(function, Intrinsic) and function.name in ("shared.array", "local.array")
    names_types |= isinstance(function, Builtin) and function.name == "numpy.dtype"
    if isinstance(function, Builtin) and function.name == "numpy.searchsorted":
        arguments, named = arguments_of(run, frame, without_side(node), mask)
    else:
        arguments, named = arguments_of(run, frame, node, mask, types_by_name=names_types)
    if isinstance(function, Intrinsic):
        return intrinsic(run, frame, node, function.name, arguments, named, mask)
    function = draws.ours(function)
    if draws.is_draw(function):
        return draws.draw(run, frame, node, function, arguments, named, mask)
    if hasattr(function, "py_func") or isinstance(function, LocalFunction):
        return call_function(run, frame, node, function, arguments, named, mask)
    if isinstance(function, NamedKind):
        return made_named(frame, node, function, arguments, named)
    if named:
        raise unsupported(
            frame, node, "a call with named arguments", way="leave the names of the arguments out"
        )
    if isinstance(function, Method):
        return method(run, frame, node, function, arguments, mask)
    if isinstance(function, TypeName):
        return _cast(run, frame, node, function, arguments, mask)
    if isinstance(function, Builtin):
        try:
            return _builtin(run, frame, node, function, arguments, mask)
        except Unsupported as error:
            if error.line is not None:
                raise
            raise at_its_place(frame, node, error) from None
    raise not_called(frame, node, function) or unsupported(frame, node, f"a call of {ast.unparse(node.func)}")


def _written(node, function) -> float | None:
    """Return the value of ``float("inf")`` and similar calls: Numba converts no other texts to numbers."""
    text = node.args[0].value if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) else None
    if not isinstance(text, str) or function.type != types.float64:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _cast(run, frame, node, function, arguments, mask):
    if len(arguments) == 1 and isinstance(arguments[0], tuple) and function.type == types.boolean:
        return truth(run, frame, arguments[0], node)
    if isinstance(function.type, types.Complex) and len(arguments) == 2:
        return _complex(run, frame, node, function, *arguments, mask)
    if len(arguments) != 1 or not isinstance(arguments[0], Value):
        raise unsupported(frame, node, f"{function.type}(…) of something else than one number")
    given, wanted = arguments[0].type, function.type
    if function.of_python and wanted == types.float64 and isinstance(given, types.Boolean):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba's float() takes no truth value: write `1.0 if {ast.unparse(node.args[0])} else 0.0`.",
        )
    if isinstance(given, types.Complex) and isinstance(wanted, (types.Integer, types.Float)):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba makes no {wanted} of a complex number: write its .real or .imag.",
        )
    keeps = {INT64: types.Integer, types.float64: types.Float}.get(wanted) if function.of_python else None
    if keeps is not None and isinstance(given, keeps):
        return arguments[0]  # as in Numba: int(x) of a uint8 is a uint8
    return cast(run, arguments[0], wanted)


def _complex(run, frame, node, function, real, imag, mask):
    """Return the complex number with the given real and imaginary parts."""
    if not isinstance(real, Value) or not isinstance(imag, Value):
        raise unsupported(frame, node, f"{function.type}(…) of something else than two numbers")
    if any(isinstance(part.type, types.Complex) for part in (real, imag)):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "Numba makes a complex number of two real ones: write .real and .imag.",
        )
    dtype = dtype_of(function.type)

    def joined(one, other):
        one, other = np.broadcast_arrays(one, other)
        number = np.empty(one.shape, dtype)
        number.real, number.imag = one, other
        return number

    if real.constant and imag.constant:
        return run.constant(complex(real.number, imag.number), function.type)
    key = run.numbering.of(("complex", function.type), real.key, imag.key)
    operands = (real, imag)
    value = run.derived(joined(real.data, imag.data), function.type, key, operands, mask)
    return follow(value, joined, real, imag)


def _builtin(run, frame, node, function, arguments, mask):
    name, known = function.name, FUNCTIONS.get(id(function.function))
    if name == "range":
        return made_range(run, frame, node, arguments)
    gathered = of_sequences(run, frame, node, name, arguments, mask)
    if gathered is not NOTHING:
        return gathered
    if len(arguments) == 1 and isinstance(arguments[0], tuple) and name in ("min", "max"):
        arguments = list(arguments[0])
    if not all(isinstance(a, Value) for a in arguments):
        require_numbers(frame, *zip(node.args, arguments, strict=False))
        raise unsupported(
            frame, node, f"{name} of something else than numbers", compiled=name in ("min", "max")
        )
    if known is not None and (given := _arity(known)) and given != len(arguments):
        raise SimtError.at(
            frame.program.name, node.lineno, f"{name} takes {given} number(s) and gets {len(arguments)}."
        )
    if name in ("min", "max") and len(arguments) < 2:
        raise unsupported(frame, node, f"{name} of one number", compiled=True)
    if name in ("min", "max"):
        if len({isinstance(a.type, types.Boolean) for a in arguments}) > 1:
            raise SimtError.at(
                frame.program.name,
                node.lineno,
                f"Numba has no {name} of a truth value and a number: write int(…) around the truth value.",
            )
        return _extreme(run, name, arguments, mask)
    if name in ("pow", "divmod") and len(arguments) != 2:
        modulus = ": write (a ** b) % c instead of a third" * (name == "pow" and len(arguments) == 3)
        raise SimtError.at(frame.program.name, node.lineno, f"Numba's {name} takes two numbers{modulus}.")
    if name == "divmod":
        return tuple(binary(run, frame, node, op, *arguments, mask) for op in (ast.FloorDiv(), ast.Mod()))
    if name == "pow" and known is None:
        return binary(run, frame, node, ast.Pow(), *arguments, mask)
    if known is not None and isinstance(known.python, np.ufunc):
        return ufunc_of_numbers(run, frame, node, known, arguments, mask)
    if known is not None and known.kind is not None:
        apply = unary if len(arguments) == 1 else binary
        return apply(run, frame, node, known.kind(), *arguments, mask)
    if name == "cmath.polar":
        size = _abs_or_round(run, frame, node, "abs", arguments, mask)
        return size, _number_function(run, frame, node, BY_NAME["cmath.phase"], arguments, mask)
    if name in PARTS:
        one, other = (_number_function(run, frame, node, part, arguments, mask) for part in PARTS[name])
        return one, cast(run, other, types.int32) if name == "frexp" else other
    if name in ("abs", "round"):
        return _abs_or_round(run, frame, node, name, arguments, mask)
    return _number_function(run, frame, node, known or BY_NAME[name], arguments, mask)


def _arity(function) -> int:
    """Return the number of operands of an operator or ufunc in the table; 0 for any other function."""
    if isinstance(function.python, np.ufunc):
        return function.python.nin
    return 0 if function.kind is None else 1 if issubclass(function.kind, ast.unaryop) else 2


def _extreme(run, name, arguments, mask):
    """Return the smallest or largest argument. Comparisons, including those with NaN, are the same as in Numba."""
    result = arguments[0]
    for other in arguments[1:]:
        run.ledger.use(result)
        run.ledger.use(other)
        kind = type_of_extreme(name, result.type, other.type)
        a, b = cast(run, result, kind), cast(run, other, kind)
        choose = partial(_further, name, isinstance(kind, types.Float))
        key = run.numbering.of((name, kind), a.key, b.key)
        value = run.derived(choose(a.data, b.data), kind, key, (a, b), mask, a.constant and b.constant)
        result = follow(value, choose, a, b)
        run.ledger.instruction(mask)
    return result


def _further(name, floating, a, b):
    beyond = b < a if name == "min" else b > a
    return np.where(beyond | np.isnan(a) if floating else beyond, b, a)


def _abs_or_round(run, frame, node, name, arguments, mask):
    value = arguments[0]
    run.ledger.use(value)
    if name == "abs":
        _, kind = signature(abs, value.type)
        a = cast(run, value, kind) if isinstance(kind, types.Integer) else value
        compute, what = np.abs, "abs"
    elif len(arguments) == 1:
        _, kind = signature(round, value.type)
        a, compute, what = value, np.round, "round"
    else:
        a, digits = value, arguments[1]
        if not digits.constant:
            return _rounded(run, a, digits, mask)
        _, kind = signature(round, value.type, digits.type)
        compute, what = partial(np.round, decimals=digits.number), ("round", digits.number)

    def computed(data):
        return converted(np.asarray(compute(data)), dtype_of(kind))

    key = run.numbering.of(what, a.key)
    result = run.derived(computed(a.data), kind, key, (a,), mask)
    if what == "abs" and isinstance(kind, types.Float):
        result.sign = "abs"
    return follow(result, computed, a)


def _rounded(run, value, digits, mask):
    """Return a number rounded to so many decimal digits as another value says."""
    _, kind = signature(round, value.type, digits.type)

    def computed(data, digits):
        power = 10.0 ** np.abs(digits)
        fine, coarse = np.rint(data * power) / power, np.rint(data / power) * power
        return np.where(digits >= 0, fine, coarse).astype(dtype_of(kind), copy=False)

    key = run.numbering.of("round to", value.key, digits.key)
    run.ledger.use(digits)
    return follow(
        run.derived(computed(value.data, digits.data), kind, key, (value, digits), mask),
        computed,
        value,
        digits,
    )


def _number_function(run, frame, node, function, arguments, mask):
    for a in arguments:
        run.ledger.use(a)
    if function.name == "pow" and arguments[1].constant and isinstance(arguments[1].type, types.Integer):
        base = arguments[0]
        base = base if isinstance(base.type, types.Float) else cast(run, base, types.float64)
        return binary(run, frame, node, ast.Pow(), base, arguments[1], mask)
    wanted, result = signature(function.typed_as or function.python, *(a.type for a in arguments))
    numbers = [cast(run, a, w) for a, w in zip(arguments, wanted, strict=True)]
    compute = partial(_computed, function, result)
    key = run.numbering.of((function.name, result), *(n.key for n in numbers))
    constant = all(n.constant for n in numbers)
    value = run.derived(compute(*(n.data for n in numbers)), result, key, numbers, mask, constant)
    follow(value, compute, *numbers)
    if value.constant:
        return value
    if function.name == "fabs" and isinstance(result, types.Float):
        value.sign = "abs"
    if function.counts:
        where, precision = SourceLine(frame.program.name, node.lineno), dtype_of(result).name
        if precision == "float64" and function.name in SIGNED:
            run.ledger.signed(numbers[0], where, mask)
        if (function.name, precision) in INSIDE:
            run.ledger.function(function.name, precision, value, numbers[0], where, mask)
        else:
            run.ledger.flop(value, function.counts, precision, where, numbers, mask)
    return value


def _computed(function, result, *data):
    """Compute a function of numbers, and convert the result to the type that Numba gives it."""
    if isinstance(result, types.Float):
        data = [d.astype(dtype_of(result), copy=False) if d.dtype.kind in "iub" else d for d in data]
    out = np.asarray(function.compute(*data))
    return converted(out, dtype_of(result))
