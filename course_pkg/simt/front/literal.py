"""Expressions of literal numbers, which Python computes when it reads the source, before Numba sees them."""

import ast
import operator
from functools import lru_cache

from course_pkg.simt.front.walking import walk

MOST_BITS = 128  # Python leaves a larger power, shift or product to the program
_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_}


def is_literal(node) -> bool:
    """Return whether an expression consists only of literals, tuples of literals, and operators.

    Examples
    --------
    >>> is_literal(ast.parse("(0,) * 4", mode="eval").body), is_literal(ast.parse("(0,) * n", mode="eval").body)
    (True, False)
    """
    kinds = (ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(n, kinds) for n in walk(node))


@lru_cache(4096)  # the result is the same for every launch of a kernel
def number_of(node):
    """Return the number that Python computes of an expression; None if it computes none.

    Examples
    --------
    >>> number_of(ast.parse("1 << 63", mode="eval").body)
    9223372036854775808
    >>> number_of(ast.parse("1 << n", mode="eval").body)
    """
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, (bool, int, float, complex)) else None
    if isinstance(node, ast.UnaryOp):
        parts, apply = [number_of(node.operand)], _UNARY[type(node.op)]
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        parts, apply = [number_of(node.left), number_of(node.right)], _BINARY[type(node.op)]
    else:
        return None
    if None in parts or (len(parts) == 2 and _is_too_long(type(node.op), *parts)):
        return None
    try:
        return apply(*parts)
    except (ArithmeticError, TypeError, ValueError):
        return None


def _is_too_long(kind, left, right) -> bool:
    if not isinstance(left, int) or not isinstance(right, int):
        return False
    bits = {
        ast.Pow: left.bit_length() * max(right, 0),
        ast.LShift: left.bit_length() + max(right, 0),
        ast.Mult: left.bit_length() + right.bit_length(),
    }
    return bits.get(kind, 0) > MOST_BITS


def is_text(node) -> bool:
    """Return whether a node of the source is a text, written out."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
