"""Which of a kernel's arrays its source writes to: the others can take no part in a race."""

import ast


def written_parameters(program) -> set | None:
    """Return the names of the parameters that the source may write to; None when that cannot be told.

    It cannot when an array gets a second name, or goes to a function as an argument.
    """
    written: set = set()
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            base = node.value
            while isinstance(base, ast.Subscript):
                base = base.value
            if not isinstance(base, ast.Name):
                return None
            written.add(base.id)
        elif isinstance(node, ast.Call) and any(_is_name_of(a, program) for a in node.args):
            if not _known_function(node.func):
                return None
            if "atomic" in ast.unparse(node.func):
                written.add(node.args[0].id if isinstance(node.args[0], ast.Name) else "")
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and _renames(node, program):
            return None
    return written


def _is_name_of(node, program) -> bool:
    return isinstance(node, ast.Name) and node.id in program.parameters


def _renames(node, program) -> bool:
    parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    return any(_is_name_of(p, program) for p in parts)


def _known_function(function) -> bool:
    """Whether a call is one of CUDA's, Python's or a module's own, which write to no array but by ``atomic``."""
    return isinstance(function, ast.Attribute) or (
        isinstance(function, ast.Name)
        and function.id in ("len", "range", "min", "max", "abs", "int", "float")
    )
