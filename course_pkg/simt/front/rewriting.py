"""Rewrite a kernel's source before it is run: ``match``, ``a.fill(x)``, and constant powers such as ``10**-6``."""

import ast

from course_pkg.simt.front.matching import without_match
from course_pkg.simt.front.walking import walk


def rewritten(tree: ast.AST) -> ast.AST:
    """Return a tree with the same meaning and fewer kinds of statements.

    Examples
    --------
    >>> tree = rewritten(ast.parse("a.fill(10**-6)"))
    >>> print(ast.unparse(tree))
    a[:] = 1e-06
    """
    if any(isinstance(part, ast.Match) for part in walk(tree)):
        tree = without_match(tree)
    if any(isinstance(part, ast.Pow) or getattr(part, "attr", "") == "fill" for part in walk(tree)):
        tree = ast.fix_missing_locations(_Rewritten().visit(tree))
    return tree


class _Rewritten(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr):
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return node
        if call.func.attr != "fill" or len(call.args) != 1 or call.keywords:
            return node
        every = ast.copy_location(ast.Slice(), call)
        target = ast.copy_location(ast.Subscript(call.func.value, every, ast.Store()), call)
        return ast.copy_location(ast.Assign([target], call.args[0]), node)

    def visit_BinOp(self, node: ast.BinOp):
        """Replace a power of literals with a negative exponent by a float, as Python does before Numba sees it."""
        self.generic_visit(node)
        base, exponent = _integer(node.left), _integer(node.right)
        if not isinstance(node.op, ast.Pow) or base in (None, 0) or exponent is None or exponent >= 0:
            return node
        return ast.copy_location(ast.Constant(base**exponent), node)


def _integer(node) -> int | None:
    """Return the value of an integer literal, with or without a minus sign; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _integer(node.operand)
        return None if number is None else -number
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None
