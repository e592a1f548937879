"""Read a Python file or a notebook: its pieces of source, and the kernels that are defined in them."""

import ast
import json
import operator
import re
from dataclasses import dataclass
from pathlib import Path

from course_pkg.check.errors import NotChecked

_MAGIC = re.compile(r"^(\s*)([%!?].*)$")
MOST = 1 << 40
_OPERATIONS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift, ast.Pow: operator.pow,
}  # fmt: skip
_SKIPPED_CELL = re.compile(r"^\s*%%(?!time\b|timeit\b|capture\b)")


@dataclass(frozen=True)
class Part:
    """A file, or a cell of a notebook.

    Attributes
    ----------
    name : str
        What messages call it: ``saxpy.py``, or ``saxpy.ipynb, cell 3``.
    text : str
        Python, without the commands that only a notebook understands.
    tree : ast.Module
    """

    name: str
    text: str
    tree: ast.Module


@dataclass(frozen=True)
class Definition:
    """A ``def`` with ``@cuda.jit`` above it, or with ``@vectorize(…, target="cuda")`` or its like.

    Attributes
    ----------
    name : str
    part : str
        The name of its part.
    line : int
    outer : str
        The function in which it is defined; empty at module level.
    """

    name: str
    part: str
    line: int
    outer: str


def parts(path: Path) -> list[Part]:
    """Return the pieces of a file: one for Python, one per code cell for a notebook.

    Raises
    ------
    NotChecked
        If the file does not exist, is neither Python nor a notebook, or cannot be parsed.
    """
    if path.suffix not in (".py", ".ipynb"):
        raise NotChecked(f"{path} is neither Python nor a notebook: name a file that ends in .py or .ipynb.")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise NotChecked(f"{path} cannot be read ({error.strerror}): name a file that is there.") from None
    except UnicodeDecodeError:
        raise NotChecked(f"{path} is not text in UTF-8: save it in this encoding.") from None
    texts = [(str(path), text)] if path.suffix == ".py" else list(_cells(path, text))
    return [_part(name, source) for name, source in texts]


def _cells(path, text):
    try:
        cells = json.loads(text)["cells"]
        code = [
            (number, "".join(cell["source"]))
            for number, cell in enumerate(cells, 1)
            if cell["cell_type"] == "code"
        ]
    except (ValueError, KeyError, TypeError):
        raise NotChecked(
            f"{path} is not a notebook of version 4: open it in JupyterLab and save it."
        ) from None
    for number, source in code:
        if not _SKIPPED_CELL.match(source):
            yield f"{path}, cell {number}", source


def _part(name, text) -> Part:
    lines = text.split("\n")
    if ", cell " in name:  # the commands of IPython become comments, so that lines keep their numbers
        lines = [_MAGIC.sub(r"\1pass  # \2", line) for line in lines]
        text = "\n".join(lines)
    try:
        return Part(name, text, ast.parse(text, filename=name))
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if getattr(error, "lineno", None) else ""
        said = getattr(error, "msg", str(error))
        raise NotChecked(f"{name}{line}: Python cannot read this: {said}. Mend the line first.") from None


def mentions_cuda(found: list[Part]) -> bool:
    """Return whether any part mentions ``cuda``, as a name or as a target.

    Only then can the file have kernels, or launch those of a module.
    """
    return any(
        "cuda" in (getattr(n, "id", ""), getattr(n, "attr", ""))
        or any("cuda" in a.name.split(".") for a in getattr(n, "names", ()) if isinstance(a, ast.alias))
        or "cuda" in (getattr(n, "module", None) or "").split(".")
        or _is_for_cuda(n)
        for part in found
        for n in ast.walk(part.tree)
    )


def definitions(found: list[Part]) -> list[Definition]:
    """Return the kernels of a file in order; device functions are not among them."""
    kernels, called = [], set()
    for part in found:
        for node, outer in _functions(part.tree, ""):
            made = [_is_jit(d) for d in node.decorator_list]
            if any(made):
                called |= {
                    n.func.id
                    for n in ast.walk(node)
                    if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
                }
                if "device" not in made:
                    kernels.append(Definition(node.name, part.name, node.lineno, outer))
    return [k for k in kernels if k.name not in called]


def _functions(node, outer):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child, outer
        named = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        yield from _functions(child, child.name if named else outer)


def _is_jit(decorator) -> str:
    """Return ``"kernel"``, ``"device"``, or nothing if the decorator makes neither."""
    call = decorator if isinstance(decorator, ast.Call) else None
    if call and any(map(_is_for_cuda, call.keywords)):
        return "kernel"
    made = ast.unparse(call.func if call else decorator)
    if not (made == "cuda.jit" or made.endswith(".cuda.jit")):
        return ""
    keywords = {k.arg: k.value for k in call.keywords} if call else {}
    device = keywords.get("device")
    return "device" if isinstance(device, ast.Constant) and device.value is True else "kernel"


def _is_for_cuda(node) -> bool:
    """Return whether a node is the ``target="cuda"`` of ``vectorize`` or ``guvectorize``."""
    return (
        isinstance(node, ast.keyword) and node.arg == "target" and getattr(node.value, "value", "") == "cuda"
    )


def sizes(found: list[Part]) -> list[tuple[str, str, int, int]]:
    """Return what ``--set`` may change: module-level integers above 1000, as (name, part, line, value)."""
    named = []
    for part in found:
        for node in part.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = _number(node.value)
                if value is not None and value > 1000:
                    named.append((node.targets[0].id, part.name, node.lineno, value))
    return named


def _number(node) -> int | None:
    """Return the value of an integer expression such as ``1 << 20``; None for a huge one or any other expression."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and abs(node.value) < MOST else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATIONS:
        return None
    left, right = _number(node.left), _number(node.right)
    if left is None or right is None:
        return None
    grows = isinstance(node.op, (ast.LShift, ast.Pow))
    if grows and not 0 <= right <= 64:  # else the number alone could fill the memory
        return None
    try:
        value = _OPERATIONS[type(node.op)](left, right)
    except ArithmeticError:
        return None
    return value if abs(value) < MOST else None


def replaced(tree: ast.Module, values: dict[str, int]) -> set[str]:
    """Change the values of module-level names, also inside a module-level ``if``; return the names that were found."""
    done = set()
    for top in tree.body:
        for node in [top, *(getattr(top, "body", ()) if isinstance(top, ast.If) else ())]:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name in values:
                    node.value = ast.copy_location(ast.Constant(values[name]), node.value)
                    done.add(name)
    return done
