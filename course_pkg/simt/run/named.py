"""Things with names of their own: named tuples and the members of an Enum; what ``isinstance`` and ``hasattr`` say."""

import ast
from dataclasses import dataclass
from enum import Enum
from typing import Any

from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.typing import BOOL, has_member
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.expressions import evaluate
from course_pkg.simt.run.values import Builtin, TypeName, Value, numba_type_of


class Named(tuple):
    """A named tuple: a tuple, and the names of its items in ``fields``."""

    fields: tuple = ()


@dataclass(frozen=True)
class NamedKind:
    """A class of named tuples, such as ``namedtuple("Point", "x y")``; a call of it makes one."""

    kind: Any


@dataclass(frozen=True)
class Member:
    """A member of an Enum. It can be compared with others, and has a value."""

    member: Enum


def named(items, fields) -> Named:
    """Return a named tuple of these items.

    Examples
    --------
    >>> named((1, 2), ("x", "y")).fields
    ('x', 'y')
    """
    made = Named(items)
    made.fields = fields
    return made


def parts_of(name: str, items: tuple) -> list:
    """Return the parts of an argument that is a tuple, each with what a kernel calls it: ``a[0]``, or ``a.x``."""
    fields = getattr(items, "_fields", ())
    names = [f".{field}" for field in fields] or [f"[{i}]" for i in range(len(items))]
    return [(name + part, item) for part, item in zip(names, items, strict=True)]


def rebuilt(old: tuple, items) -> tuple:
    """Return a tuple of other items, with the names of an older one if it has names."""
    return named(items, old.fields) if isinstance(old, Named) else tuple(items)


def made_named(frame, node, what: NamedKind, arguments: list, by_name: dict) -> Named:
    """Return the named tuple that a call of its class makes."""
    fields = what.kind._fields
    given = dict(zip(fields, arguments, strict=False))
    wrong = len(arguments) > len(fields) or set(by_name) - set(fields) or set(given) & set(by_name)
    given.update(by_name)
    if wrong or len(given) != len(fields):
        name = what.kind.__name__
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{name} takes {len(fields)} values ({', '.join(fields)}) and gets {len(arguments) + len(by_name)}.",
        )
    return named((given[name] for name in fields), fields)


def asked(run, frame, node: ast.Call, name: str, mask) -> Value:
    """Answer ``isinstance(x, type)`` or ``hasattr(x, "name")``, which a compiler knows before the kernel runs."""
    if len(node.args) != 2 or node.keywords:
        raise SimtError.at(frame.program.name, node.lineno, f"{name} takes two arguments.")
    thing = evaluate(run, frame, node.args[0], mask)
    kind = numba_type_of(thing)
    if kind is None:
        raise unsupported(frame, node, f"{name} of something else than a number, an array or a tuple")
    if name == "hasattr":
        text = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
        if not isinstance(text, str):
            raise SimtError.at(frame.program.name, node.lineno, "hasattr takes the name as a plain text.")
        return run.constant.truth(has_member(kind, text))
    wanted = evaluate(run, frame, node.args[1], mask)
    found = [_is_a(kind, one) for one in (wanted if isinstance(wanted, tuple) else (wanted,))]
    if None in found:
        raise unsupported(
            frame, node, "isinstance with something else than types of numbers", way="name a type such as int"
        )
    return run.constant.truth(any(found))


def _is_a(kind, wanted) -> bool | None:
    """Return whether a kernel's name stands for this Numba type; None if it names no type. An int has 64 bits."""
    if isinstance(wanted, Builtin) and wanted.name == "tuple":
        return isinstance(kind, types.BaseTuple)
    if not isinstance(wanted, TypeName):
        return None
    return kind == wanted.type or (isinstance(kind, types.Boolean) and wanted.type == BOOL)
