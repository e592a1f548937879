"""Make small inputs for a kernel that the file does not launch, from its signature, annotations and source."""

import ast
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from course_pkg.check.errors import NotChecked
from course_pkg.check.uses import Uses, read
from course_pkg.core.errors import CourseError
from course_pkg.core.limits import MOST_THREADS
from course_pkg.simt.reducing import THREADS

BLOCKS = {1: (128,), 2: (16, 16), 3: (8, 8, 4)}
BLOCK_NAMES = (
    "tpb",
    "threadsperblock",
    "blocksize",
    "blockdim",
    "threads",
    "nthreads",
    "block",
    "bdim",
    "tilewidth",
)
OF_A_PART = 7  # extent of the parts that a function under guvectorize is given
EVEN = "a multiple of the block"
NUMBERS = {"int": np.int64, "float": np.float64, "bool": np.bool_, "complex": np.complex128}


@dataclass
class Made:
    """Inputs that were made for one launch.

    Attributes
    ----------
    origin : str
        What was assumed, for the report.
    grid, block : tuple of int
    arguments : list
    dynamic_shared : int
    even : bool
        Whether the block divides the size.
    """

    origin: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: list
    dynamic_shared: int = 0
    even: bool = False


@dataclass(frozen=True)
class Kind:
    """The type of an argument: an array if it has dimensions."""

    dtype: np.dtype
    ndim: int


def make(kernel, trees: list[ast.Module]) -> list[Made]:
    """Return launches of a kernel at a few sizes; the last one is a size that the block divides.

    Parameters
    ----------
    kernel : Kernel
        Its attribute ``signature`` holds the signature that ``cuda.jit`` was given, or None.
    trees : list of ast.Module
        The parts of the file. They may contain launches of the kernel that were not reached.

    Raises
    ------
    CourseError
        If an argument can be neither an array of numbers nor a number.
    """
    program = kernel.program
    uses = read(program.tree, lambda name: _device_function(program.names.get(name)))
    kinds = _declared(kernel, program.parameters, uses)
    block = _block(kernel, uses, trees)
    sizes = _sizes(block, uses)
    return [_launch(n, block, kinds, uses, program.parameters, how) for n, how in sizes]


def make_for_function(made) -> list[Made]:
    """Return arguments for a function that ``vectorize`` or ``guvectorize`` has made, for its first signature.

    Raises
    ------
    CourseError
        If an argument can be neither an array of numbers nor a number.
    """
    generator, found = np.random.default_rng(0), []
    dimensions = getattr(made, "inputs", None) or [()] * len(made.signatures[0].arguments)
    for n, how in ((THREADS + 5, "not a multiple of the block"), (2 * THREADS, EVEN)):
        arguments = []
        for kind, names in zip(made.signatures[0].arguments, dimensions, strict=False):
            dtype = _of_numba(made, kind).dtype
            shape = (n, *(int(name) if name.isdigit() else OF_A_PART for name in names))
            numbers = (
                generator.integers(0, OF_A_PART, shape) if dtype.kind in "iu" else generator.random(shape)
            )
            arguments.append(numbers.astype(dtype))
        origin = f"inputs made by course check, n = {n}, {how}"
        found.append(Made(origin, (-(-n // THREADS),), (THREADS,), arguments, even=how == EVEN))
    return found


def _device_function(thing) -> ast.FunctionDef | None:
    try:
        return thing.program.tree if hasattr(thing, "program") else None
    except CourseError:
        return None


def _sizes(block, uses) -> list[tuple[int, str]]:
    if not uses.blocks:  # the kernel never asks for its block: launch a single one
        return [(max(block), "one block")]
    whole = 2 * int(np.lcm.reduce(block))
    return [(whole + 5, "not a multiple of the block"), (max(block) // 2 + 3, "less than a block"),
            (whole, EVEN)]  # fmt: skip


def _launch(n, block, kinds, uses, parameters, how) -> Made:
    generator = np.random.default_rng(0)
    arguments = []
    for name in parameters:
        kind, use = kinds[name], uses.of[name]
        shape = (n ** (1 + use.products),) if kind.ndim == 1 and use.products else (n,) * kind.ndim
        arguments.append(_value(kind, use, shape, n, generator))
    grid = tuple(-(-n // b) if axis in uses.blocks else 1 for axis, b in enumerate(block))
    origin = f"inputs made by course check, n = {n}, {how}"
    return Made(origin, grid, block, arguments, _dynamic(uses, block), how == EVEN)


def _value(kind: Kind, use, shape, n, generator) -> Any:
    if kind.ndim == 0:
        return kind.dtype.type(n if kind.dtype.kind in "iu" else 0.5)
    if kind.dtype.kind not in "iu":
        return generator.random(shape).astype(kind.dtype)
    if use.offsets:
        lengths = generator.integers(0, 2, n, endpoint=True)
        starts = np.minimum(np.concatenate([[0], np.cumsum(lengths)]), n)
        return starts.astype(kind.dtype)
    return generator.integers(0, min(n, np.iinfo(kind.dtype).max), shape).astype(kind.dtype)


def _dynamic(uses: Uses, block) -> int:
    asked = any(isinstance(e, ast.Constant) and e.value == 0 for shape in uses.shared for e in shape)
    return 8 * prod(block) if asked else 0


def _declared(kernel, parameters, uses) -> dict[str, Kind]:
    """Return the type of each parameter: from the signature, else its annotation, else its use."""
    given = _signature(kernel)
    if given is not None:
        if len(given) != len(parameters):
            raise NotChecked(
                f"The signature of {kernel.__name__} has {len(given)} arguments and the kernel {len(parameters)}: "
                "give it one type for each."
            )
        return dict(zip(parameters, (_of_numba(kernel, t) for t in given), strict=True))
    found = {}
    annotations = {a.arg: a.annotation for a in kernel.program.tree.args.args}
    for name in parameters:
        use = uses.of[name]
        noted = _annotated(annotations[name], kernel.program.names)
        guess = np.dtype(np.int64 if use.whole else np.float64)
        if noted is None:
            found[name] = Kind(guess, use.ndim)
        else:
            found[name] = Kind(noted.dtype if noted.dtype.kind != "V" else guess, noted.ndim or use.ndim)
    return found


def _signature(kernel) -> tuple | None:
    """Return the types of the first signature, or None if there is none."""
    from numba.core import types

    given = kernel.signature
    if isinstance(given, list):
        given = given[0] if given else None
    if isinstance(given, str):
        try:
            given = eval(given, {"__builtins__": {}}, vars(types))
        except Exception as error:
            raise NotChecked(
                f"The signature of {kernel.__name__} cannot be read ({error}): write it as Numba does, such as "
                '"void(float64[:], int64)".'
            ) from None
    return given if given is None or isinstance(given, tuple) else given.args


def _of_numba(kernel, kind) -> Kind:
    from numba.core import types
    from numba.np.numpy_support import as_dtype

    array = isinstance(kind, types.Array)
    inner = kind.dtype if array else kind
    if not isinstance(inner, (types.Number, types.Boolean)):
        raise NotChecked(f"{kernel.__name__} takes a {kind}, which course check cannot make.")
    return Kind(np.dtype(as_dtype(inner)), kind.ndim if array else 0)


def _annotated(annotation, names) -> Kind | None:
    """Return the type that an annotation states: a number or an array. The dtype is V if the annotation has none."""
    if annotation is None:
        return None
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    words = [w.rsplit(".", 1)[-1] for w in str(text).replace("]", "[").replace(",", "[").split("[")]
    words = [w.strip().strip("'\"") for w in words]
    is_array = any(w in ("NDArray", "ndarray", "DeviceNDArray", "DeviceArray", "ArrayLike") for w in words)
    dtype = next((np.dtype(d) for d in map(_dtype_named, words) if d is not None), None)
    if is_array:
        return Kind(dtype or np.dtype("V"), 0)
    return None if dtype is None else Kind(dtype, 0)


def _dtype_named(word):
    if word in NUMBERS:
        return NUMBERS[word]
    found = getattr(np, word, None) if word.isidentifier() else None
    return found if isinstance(found, type) and issubclass(found, np.number) else None


def _block(kernel, uses, trees) -> tuple[int, ...]:
    """Return the block's shape: from a launch in the file, the kernel's shared memory, or a constant named for it."""
    names = kernel.program.names
    found = _launched_with(kernel.__name__, trees, names) or _of_shared(uses, names) or _named(uses, names)
    block = found or BLOCKS[uses.axes]
    block = (*block, 1, 1)[: max(uses.axes, 1)] if len(block) < uses.axes else block
    return block if prod(block) <= MOST_THREADS else BLOCKS[uses.axes]


def _launched_with(name, trees, names) -> tuple[int, ...] | None:
    for tree in trees:
        for scope in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)] + [tree]:
            local = {
                t.id: n.value
                for n in ast.walk(scope)
                if isinstance(n, ast.Assign)
                for t in n.targets
                if isinstance(t, ast.Name)
            }
            for node in ast.walk(scope):
                launch = node.func if isinstance(node, ast.Call) else None
                if isinstance(launch, ast.Subscript) and getattr(launch.value, "id", None) == name:
                    parts = launch.slice.elts if isinstance(launch.slice, ast.Tuple) else []
                    found = _extent(parts[1], local, names) if len(parts) > 1 else None
                    if found:
                        return found
    return None


def _extent(expression, local, names, depth=3) -> tuple[int, ...] | None:
    if isinstance(expression, ast.Tuple):
        parts = [_extent(e, local, names, depth) for e in expression.elts]
        return tuple(p[0] for p in parts) if all(p and len(p) == 1 for p in parts) else None
    value = None
    if isinstance(expression, ast.Constant):
        value = expression.value
    elif isinstance(expression, ast.Name):
        if expression.id in local and depth:
            return _extent(local[expression.id], local, names, depth - 1)
        value = names.get(expression.id)
    return _as_block(value)


def _as_block(value) -> tuple[int, ...] | None:
    values = value if isinstance(value, tuple) else (value,)
    fits = all(isinstance(v, (int, np.integer)) and 1 <= v <= MOST_THREADS for v in values)
    return tuple(map(int, values)) if values and fits and len(values) <= 3 else None


def _of_shared(uses, names) -> tuple[int, ...] | None:
    for shape in uses.shared:
        extents = []
        for expression in shape:
            inside = [names.get(n.id) for n in ast.walk(expression) if isinstance(n, ast.Name)]
            inside += [expression.value] if isinstance(expression, ast.Constant) else []
            numbers = [v for v in inside if isinstance(v, (int, np.integer)) and v > 1]
            extents.append(int(max(numbers)) if numbers else 0)
        if extents and all(extents) and len(extents) <= uses.axes and prod(extents) <= MOST_THREADS:
            return tuple(reversed(extents))
    return None


def _named(uses, names) -> tuple[int, ...] | None:
    for name, value in names.items():
        if isinstance(name, str) and name.lower().replace("_", "") in BLOCK_NAMES:
            block = _as_block(value)
            if block and len(block) == uses.axes:
                return block
            if block and len(block) == 1 and block[0] ** uses.axes <= MOST_THREADS:
                return block * uses.axes
    return None
