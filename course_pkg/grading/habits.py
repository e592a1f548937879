"""Typical mistakes of people who are used to NumPy, each with a sentence that explains it.

They are found in the text of a kernel, because the interpreter's own message would only name a symptom. What is found
here is always wrong; :mod:`.suspects` finds what may be right.
"""

import ast
from collections.abc import Callable, Iterator

from course_pkg.grading.quotes import quoted
from course_pkg.simt.front.known import ARRAY_FUNCTIONS
from course_pkg.simt.front.source import Program
from course_pkg.simt.run.members import METHODS

_RULES: list[Callable] = []
OWN = "[own]"  # in a rule's sentence, stands for the index of this thread's element as the kernel writes it


def rule(function: Callable) -> Callable:
    """Register a rule: a function that takes a node and the names of arrays, and yields sentences about the node."""
    _RULES.append(function)
    return function


def first(program: Program, arrays: frozenset[str]) -> str | None:
    """Return a sentence about the first typical mistake in a kernel, or None.

    Parameters
    ----------
    program : Program
    arrays : frozenset of str
        Names of the parameters that are arrays.
    """
    inside = [node for statement in program.tree.body for node in ast.walk(statement)]
    inner = {id(n) for f in inside if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    found = [
        (node.lineno, number, said)
        for node in inside
        if hasattr(node, "lineno") and not (isinstance(node, ast.Return) and id(node) in inner)
        for number, look in enumerate(_RULES)
        for said in look(node, arrays)
    ]
    found += [
        (
            node.lineno,
            -1,
            "a kernel cannot call or launch itself; if something is to be repeated, write a loop.",
        )
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Call)
        and program.name in {n.id for n in ast.walk(node.func) if isinstance(n, ast.Name)}
    ]
    found += [(line, 0, said) for line, said in (*_shared_name_taken(program), *_only_prints(program))]
    if not found:
        return None
    line, _, said = min(found)
    return f"Line {line}, {quoted(program, line)}: {said.replace(OWN, _own_index(program, line))}"


def _only_prints(program: Program) -> Iterator[tuple[int, str]]:
    """``print(a[i] + b[i])`` in a kernel that writes nothing: what is printed stands in no array."""
    nodes = list(ast.walk(program.tree))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    prints = [node for node in calls if name_of(node.func) == {"print"} and not node.keywords]
    numbers = any(isinstance(given, (ast.Subscript, ast.BinOp)) for node in prints for given in node.args)
    writes = any(isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in nodes)
    known = ("print", "range", "len", "min", "max", "abs", "int", "float", "cuda.grid", "cuda.gridsize")
    if numbers and not writes and all(ast.unparse(node.func) in known for node in calls):
        said = (
            "print shows a number and leaves nothing in an array; store it in an element, such as out[i] = …"
        )
        yield prints[0].lineno, said


def _shared_name_taken(program: Program) -> Iterator[tuple[int, str]]:
    """``tile = a[i]``, where ``tile`` is a shared or local array: the name gets another value."""
    own = {
        node.targets[0].id
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) in ("cuda.shared.array", "cuda.local.array")
    }
    for node in ast.walk(program.tree):
        if not isinstance(node, ast.Assign) or not name_of(node.targets[0]) & own:
            continue
        value = node.value
        # a value with another such array in it may be a view, and a name may be rebound to a view
        of_arrays = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & own
        number = isinstance(value, (ast.Constant, ast.BinOp, ast.Subscript))
        if number and not of_arrays:
            name, index = node.targets[0].id, _own_place(program)
            text = "…" if any(isinstance(n, ast.Slice) for n in ast.walk(value)) else f"{ast.unparse(value)}."
            yield (
                node.lineno,
                f"`{name} =` gives the name a new meaning inside this thread and leaves the array as it is; "
                f"write into an element, {name}[{index}] = {text}",
            )


def _own_place(program: Program) -> str:
    """Return the variable in which a kernel stores ``cuda.threadIdx.x``; ``…`` if there is none."""
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.value) == "cuda.threadIdx.x":
            return ast.unparse(node.targets[0])
    return "…"


def _own_index(program: Program, line: int) -> str:
    """Return how a kernel writes the index of this thread's element on a line: ``[i]``; ``[…]`` in two dimensions."""
    for node in ast.walk(program.tree):
        if (
            isinstance(node, ast.For)
            and node.body[0].lineno <= line <= node.end_lineno
            and name_of(node.target)
        ):
            return f"[{ast.unparse(node.target)}]"
    for wanted in ("cuda.grid(1)", "cuda.threadIdx.x"):
        for node in ast.walk(program.tree):
            if (
                isinstance(node, ast.Assign)
                and ast.unparse(node.value) == wanted
                and name_of(node.targets[0])
            ):
                return f"[{ast.unparse(node.targets[0])}]"
    of_two = any(ast.unparse(n) in ("cuda.grid(2)", "cuda.threadIdx.y") for n in ast.walk(program.tree))
    return "[…]" if of_two else "[i]"


@rule
def _whole_array(node, arrays) -> Iterator[str]:
    """``out[:] = …``: a slice is many elements, but each thread computes one."""
    for target in _targets(node):
        if isinstance(target, ast.Subscript) and name_of(target.value) & arrays and _has_slice(target.slice):
            name = ast.unparse(target.value)
            yield (
                f"`{ast.unparse(target)}` means the whole array, and every thread would write all of it; "
                f"a thread writes its own element, {name}{OWN}."
            )


@rule
def _name_taken(node, arrays) -> Iterator[str]:
    """``out = …`` gives the name another value and does not write to the array."""
    for target in _targets(node):
        if not isinstance(target, ast.Name) or target.id not in arrays:
            continue
        if isinstance(node, ast.AugAssign):
            yield (
                f"`{target.id}` is the whole array, and every thread would change all of it; "
                f"a thread changes its own element, {target.id}{OWN}."
            )
        else:
            yield (
                f"`{target.id} =` gives the name a new meaning inside this thread and leaves the array as it is; "
                f"write into an element, {target.id}{OWN} = …"
            )


@rule
def _arithmetic_on_arrays(node, arrays) -> Iterator[str]:
    """``a + b`` with whole arrays."""
    operands = []
    if isinstance(node, ast.BinOp):
        operands = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
    for operand in operands:
        if isinstance(operand, ast.Name) and operand.id in arrays:
            yield (
                f"`{operand.id}` is the whole array, and a kernel computes with single numbers; "
                f"take this thread's element, {operand.id}{OWN}."
            )
            return


@rule
def _numpy_on_arrays(node, arrays) -> Iterator[str]:
    """``np.sort(a)``, ``a.sort()``, ``sorted(a)``: functions of whole arrays that Numba does not compile for a GPU."""
    if not isinstance(node, ast.Call):
        return
    given = [a.id for a in node.args if isinstance(a, ast.Name) and a.id in arrays]
    called = node.func
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        if called.attr in (METHODS if called.value.id in arrays else ARRAY_FUNCTIONS):
            return
        if called.value.id in arrays:
            yield (
                f"`{ast.unparse(called)}` works on a whole array and does not exist in a kernel: "
                "each thread works on its own elements, if need be in a loop."
            )
        elif called.value.id in ("np", "numpy") and given:
            yield (
                f"`{ast.unparse(called)}` works on the whole array {given[0]} and does not exist in a kernel: "
                "each thread works on its own elements, if need be in a loop."
            )
    elif isinstance(called, ast.Name) and called.id in ("sorted", "list") and given:
        yield (
            f"`{called.id}` works on the whole array {given[0]}; in a kernel, go through its elements in a loop."
        )


@rule
def _returns(node, arrays) -> Iterator[str]:
    """``return value``."""
    if isinstance(node, ast.Return) and node.value is not None:
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            return
        yield "a kernel returns nothing, for there is nobody to return to; write the value into an array."


@rule
def _lists(node, arrays) -> Iterator[str]:
    """Lists, dictionaries and strings."""
    kinds = {ast.List: "a list", ast.ListComp: "a list", ast.Dict: "a dictionary", ast.Set: "a set"}
    if type(node) in kinds:
        yield (
            f"{kinds[type(node)]} needs memory that a thread cannot ask for; "
            "use single numbers, or an array that was made before the launch."
        )


@rule
def _division_as_index(node, arrays) -> Iterator[str]:
    """``a[i / 2]``."""
    if isinstance(node, ast.Subscript) and name_of(node.value) & arrays:
        for part in ast.walk(node.slice):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
                yield "`/` gives a float, and an index is an integer; divide with `//`."
                return


@rule
def _atomic_on_element(node, arrays) -> Iterator[str]:
    """``cuda.atomic.add(counts[k], 1)``: an atomic takes the array and the index as separate arguments."""
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    if not called.startswith("cuda.atomic."):
        return
    for given in node.args[1:]:
        if isinstance(given, ast.Name) and given.id in arrays:
            yield f"`{given.id}` is the whole array; take this thread's element, {given.id}{OWN}."
    if len(node.args) != 2 or called.startswith("cuda.atomic.compare"):
        return
    place = node.args[0]
    if isinstance(place, ast.Name):
        yield f"an atomic takes array, index and value: `{called}({place.id}, index, value)`."
    elif isinstance(place, ast.Subscript):
        index = ast.unparse(place.slice)
        index = f"({index})" if isinstance(place.slice, ast.Tuple) and not index.startswith("(") else index
        yield (
            "an atomic takes array, index and value: "
            f"`{called}({ast.unparse(place.value)}, {index}, {ast.unparse(node.args[1])})`."
        )


@rule
def _barrier_not_called(node, arrays) -> Iterator[str]:
    """``cuda.syncthreads`` without its parentheses."""
    if isinstance(node, ast.Expr) and ast.unparse(node.value) in ("cuda.syncthreads", "cuda.syncwarp"):
        yield f"the name alone does nothing; call it, `{ast.unparse(node.value)}()`."


@rule
def _new_axis(node, arrays) -> Iterator[str]:
    """``column[y, None]``: a new axis is for whole arrays."""
    if isinstance(node, ast.Subscript) and name_of(node.value) & arrays and isinstance(node.slice, ast.Tuple):
        kept = [
            ast.unparse(part) for part in node.slice.elts if ast.unparse(part) not in ("None", "np.newaxis")
        ]
        if len(kept) < len(node.slice.elts) and not _has_slice(node.slice):
            name = ast.unparse(node.value)
            yield f"None makes a new axis of a whole array; a thread takes one element, {name}[{', '.join(kept)}]."


@rule
def _deletes(node, arrays) -> Iterator[str]:
    """``del out``."""
    if isinstance(node, ast.Delete):
        yield "a kernel cannot delete anything: the array belongs to whoever launched the kernel."


def _targets(node) -> list:
    if isinstance(node, ast.Assign):
        flat = []
        for target in node.targets:
            flat += target.elts if isinstance(target, ast.Tuple) else [target]
        return flat
    return [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []


def name_of(node) -> set[str]:
    """Return the name that a node is, as a set; it is empty if the node is anything else."""
    return {node.id} if isinstance(node, ast.Name) else set()


def _has_slice(index) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(part, ast.Slice) for part in parts)
