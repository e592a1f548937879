"""The value number of an operation: two operations have the same number if a compiler sees that they are equal."""

import ast

from numba.core import types


def key_of(run, kind, what, a, b, keys) -> int:
    """Return the value number of an operation on two values.

    ``what``: the operation's name and the type of its result. ``keys``: the value numbers of the operands, sorted if
    the operation is commutative.
    """
    result = what[1]
    integer = isinstance(result, types.Integer)
    if integer and result.bitwidth == 64:
        if kind is ast.Add and b.constant:
            return run.numbering.plus(a.key, b.number)
        if kind is ast.Add and a.constant:
            return run.numbering.plus(b.key, a.number)
        if kind is ast.Sub and b.constant:
            return run.numbering.plus(a.key, -b.number)
    key = _multiple_of_sum(run, what, a, b) if integer and kind is ast.Mult else None
    key = run.numbering.of(what, *keys) if key is None else key
    if integer and kind in (ast.Mult, ast.LShift):
        _note_multiple(run, kind, key, a, b)
    return key


def _multiple_of_sum(run, what, a, b) -> int | None:
    """Return the value number of ``x * 3 + 6`` for a product such as ``(x + 2) * 3``; None for any other product."""
    if a.constant == b.constant:
        return None
    one, factor = (a, b) if b.constant else (b, a)
    base, amount = run.numbering.as_sum(one.key)
    if not amount or what[1].bitwidth < 64:
        return None
    product = run.numbering.of(what, *sorted((base, factor.key)))
    run.numbering.scaled(product, base, factor.number)
    return run.numbering.plus(product, amount * factor.number)


def _note_multiple(run, kind, key, a, b) -> None:
    if kind is ast.LShift and b.constant and 0 <= b.number < 32:
        run.numbering.scaled(key, a.key, 1 << b.number)
    elif kind is ast.Mult and (a.constant or b.constant):
        one, other = (a, b) if b.constant else (b, a)
        run.numbering.scaled(key, one.key, other.number)
