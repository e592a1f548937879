"""How messages name a Python construct, and the error for a construct that the interpreter does not support."""

import ast

from course_pkg.simt.errors import Unsupported
from course_pkg.simt.front.instead import refusal


def unsupported(frame, node, what: str = "") -> Unsupported:
    """Return the error for a construct that the interpreter does not support."""
    what = what or construct(node)
    line = getattr(node, "lineno", frame.program.tree.lineno)
    found = refusal(what)
    error = Unsupported.at(frame.program.name, line, str(found))
    error.refusal = found
    return error


def construct(node) -> str:
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
