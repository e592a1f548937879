"""Infer from a kernel's source what each parameter is: an array of some number of dimensions, an index, or a number."""

import ast
from dataclasses import dataclass, field

INDEX_CALLS = ("grid", "gridsize")
AXES = "xyz"


@dataclass
class Use:
    """How a kernel uses one parameter.

    Attributes
    ----------
    ndim : int
        Dimensions of an array; 0 for a number.
    whole : bool
        Whether the parameter is an integer or an array of integers, such as an index, a bound of a loop, or a size.
    products : int
        Depth of the products in a one-dimensional index: 1 for ``a[i * n + j]``, where ``a`` has n² elements.
    offsets : bool
        Whether the array holds the offsets of rows: it is read at ``i`` and at ``i + 1``.
    """

    ndim: int = 0
    whole: bool = False
    products: int = 0
    offsets: bool = False


@dataclass
class Uses:
    """How a kernel uses its parameters and the numbers of its threads.

    Attributes
    ----------
    of : dict of str to Use
    axes : int
        Number of dimensions of the launch: the highest axis that the kernel uses.
    blocks : set of int
        The axes along which the kernel uses the number of its block; 0 stands for x.
    shared : list of tuple of ast.expr
        The shapes of the kernel's arrays in shared memory.
    """

    of: dict[str, Use]
    axes: int = 1
    blocks: set[int] = field(default_factory=set)
    shared: list[tuple[ast.expr, ...]] = field(default_factory=list)


def read(tree: ast.FunctionDef, called=lambda name: None, depth: int = 3) -> Uses:
    """Return how a kernel uses its parameters.

    Parameters
    ----------
    tree : ast.FunctionDef
    called : callable
        Returns the ``ast.FunctionDef`` of a device function, by its name, or None.
    depth : int
        How many calls deep to look.
    """
    uses = Uses({a.arg: Use() for a in tree.args.args})
    _threads(tree, uses)
    values = _values(tree)
    for node in ast.walk(tree):
        _array_use(node, uses.of, values)
    if depth:
        _passed(tree, uses, called, depth - 1)
    _whole(tree, uses.of, values)
    return uses


def _threads(tree, uses) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if owner in ("threadIdx", "blockIdx", "blockDim", "gridDim") and node.attr in AXES:
                uses.axes = max(uses.axes, AXES.index(node.attr) + 1)
                uses.blocks |= {AXES.index(node.attr)} if owner in ("blockIdx", "gridDim") else set()
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in INDEX_CALLS and node.args and isinstance(node.args[0], ast.Constant):
                axes = int(node.args[0].value)
                uses.axes, uses.blocks = max(uses.axes, axes), uses.blocks | set(range(axes))
            if ast.unparse(node.func).endswith("shared.array"):
                shape = next((k.value for k in node.keywords if k.arg == "shape"), None)
                shape = shape or (node.args[0] if node.args else None)
                if shape is not None:
                    uses.shared.append(tuple(shape.elts) if isinstance(shape, ast.Tuple) else (shape,))


def _values(tree) -> dict[str, list[ast.expr]]:
    """Return the expressions that are assigned to each name."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in getattr(node, "targets", None) or [node.target]:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                matched = isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(parts) > 1
                for part, value in zip(
                    parts, node.value.elts if matched else [node.value] * len(parts), strict=True
                ):
                    if isinstance(part, ast.Name):
                        found.setdefault(part.id, []).append(value)
    return found


def _array_use(node, of, values) -> None:
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in of:
        _indexed(of[node.value.id], node.slice, values)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in of:
        if node.attr in ("shape", "size", "ndim", "dtype", "strides"):
            _at_least(of[node.value.id], 1)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
        name = node.args[0].id
        if name in of and getattr(node.func, "id", "") == "len":
            _at_least(of[name], 1)
        elif name in of and ".atomic." in f".{ast.unparse(node.func)}" and len(node.args) > 1:
            _indexed(of[name], node.args[1], values)
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
        and isinstance(node.slice, ast.Constant)
        and getattr(node.value.value, "id", None) in of
        and isinstance(node.slice.value, int)
    ):
        _at_least(of[node.value.value.id], node.slice.value + 1)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        value = node.value
        if (
            isinstance(value, ast.Attribute)
            and value.attr == "shape"
            and getattr(value.value, "id", None) in of
        ):
            _at_least(of[value.value.id], len(node.targets[0].elts))


def _at_least(use, ndim) -> None:
    use.ndim = max(use.ndim, ndim)


def _indexed(use, index, values) -> None:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if len(parts) == 1 and isinstance(index, ast.Name):  # the name may stand for a tuple
        for value in values.get(index.id, ()):
            if isinstance(value, ast.Tuple):
                parts = value.elts
    _at_least(use, len(parts))
    if len(parts) == 1:
        use.products = max(use.products, _products(parts[0], values))


def _products(expression, values, depth=2) -> int:
    """Return the depth of products in an index, not counting those that compute a thread's number."""
    if isinstance(expression, ast.Name) and depth:
        return max((_products(v, values, depth - 1) for v in values.get(expression.id, ())), default=0)
    if not isinstance(expression, ast.BinOp):
        return 0
    below = max(_products(side, values, depth) for side in (expression.left, expression.right))
    sides = (expression.left, expression.right)
    own = isinstance(expression.op, ast.Mult) and not any(
        isinstance(side, (ast.Constant, ast.Attribute)) or _of_threads(side) for side in sides
    )
    return below + own


def _of_threads(node) -> bool:
    return any(
        getattr(n, "attr", "") in ("blockDim", "blockIdx", "threadIdx", "gridDim") for n in ast.walk(node)
    )


def _passed(tree, uses, called, depth) -> None:
    """Add what the device functions that the kernel calls show about its parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            function = called(node.func.id)
            if function is None or function is tree:
                continue
            inner = read(function, called, depth)
            uses.axes, uses.blocks = max(uses.axes, inner.axes), uses.blocks | inner.blocks
            for argument, parameter in zip(node.args, function.args.args, strict=False):
                if isinstance(argument, ast.Name) and argument.id in uses.of:
                    use, theirs = uses.of[argument.id], inner.of[parameter.arg]
                    _at_least(use, theirs.ndim)
                    use.whole |= theirs.whole
                    use.products = max(use.products, theirs.products)


def _whole(tree, of, values) -> None:
    """Find the names used as indices, bounds or sizes; mark the parameters, also arrays, that hold such integers."""
    whole, arrays = set(), set()
    marked = [n.slice for n in ast.walk(tree) if isinstance(n, ast.Subscript)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range":
            marked += node.args
        elif isinstance(node, ast.Call) and ".atomic." in f".{ast.unparse(node.func)}" and len(node.args) > 1:
            marked.append(node.args[1])
            amount = node.args[-1]
            if (
                isinstance(amount, ast.Constant)
                and type(amount.value) is int
                and isinstance(node.args[0], ast.Name)
            ):
                arrays.add(node.args[0].id)
        elif isinstance(node, ast.BinOp) and isinstance(
            node.op, (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr)
        ):
            marked += [node.left, node.right]
    compared = [n for n in ast.walk(tree) if isinstance(n, ast.Compare)]
    before = None
    while before != (len(whole), len(arrays)):
        before = len(whole), len(arrays)
        for expression in marked:
            _mark(expression, whole, arrays)
        for name in tuple(whole):
            for value in values.get(name, ()):
                _mark(value, whole, arrays)
        for node in compared:
            sides = [node.left, *node.comparators]
            if any((isinstance(s, ast.Name) and s.id in whole) or _of_threads(s) for s in sides):
                for side in sides:
                    _mark(side, whole, arrays)
    for name, use in of.items():
        use.whole |= name in (arrays if use.ndim else whole)
        use.offsets = use.ndim == 1 and use.whole and _at_i_and_after(tree, name)


def _mark(expression, whole, arrays) -> None:
    """Mark the names in an expression whose value is an integer; do not look into divisions and calls."""
    if isinstance(expression, ast.Name):
        whole.add(expression.id)
    elif isinstance(expression, ast.Subscript):
        if isinstance(expression.value, ast.Name):
            arrays.add(expression.value.id)
    elif isinstance(expression, ast.BinOp) and not isinstance(expression.op, ast.Div):
        _mark(expression.left, whole, arrays)
        _mark(expression.right, whole, arrays)
    elif isinstance(expression, ast.Tuple):
        for part in expression.elts:
            _mark(part, whole, arrays)
    elif isinstance(expression, ast.UnaryOp):
        _mark(expression.operand, whole, arrays)
    elif isinstance(expression, ast.Call) and getattr(expression.func, "id", "") in ("min", "max", "abs"):
        for argument in expression.args:
            _mark(argument, whole, arrays)


def _at_i_and_after(tree, name) -> bool:
    at = {
        ast.unparse(n.slice)
        for n in ast.walk(tree)
        if isinstance(n, ast.Subscript) and getattr(n.value, "id", None) == name
    }
    return any(f"{index} + 1" in at for index in at)
