"""What stands where one number is needed, in a sentence that says what to write instead."""

import ast

from course_pkg.simt.errors import Unsupported
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.values import Intrinsic, Value

_THREE = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_CALLED = {"grid": "cuda.grid(1)", "gridsize": "cuda.gridsize(1)"}


def require_numbers(frame, *operands) -> None:
    """Stop at the first operand that is known to be no single number.

    Parameters
    ----------
    *operands : tuple of (ast.expr, object)
        What the kernel wrote, and what it is.

    Raises
    ------
    Unsupported
        With what to write instead.
    """
    if all(isinstance(thing, tuple) for _, thing in operands):
        return  # tuples can be joined
    for node, thing in operands:
        said = no_number(node, thing)
        if said:
            raise Unsupported(f"{frame.program.name}, line {node.lineno}: {said}.")


def no_number(node: ast.expr, thing) -> str:
    """Return why something is no single number, and what to write; empty if it is one, or where nothing is known.

    Examples
    --------
    >>> no_number(ast.parse("i", mode="eval").body, Intrinsic("threadIdx"))
    'i is cuda.threadIdx, which has a part for each direction: write cuda.threadIdx.x'
    """
    if not isinstance(thing, (Intrinsic, tuple, Array)):
        return ""  # nearly always: the text below takes longer than the operation itself
    text = ast.unparse(node)
    if isinstance(thing, Intrinsic) and thing.name:
        whole = f"cuda.{thing.name}"
        named = "" if text.endswith(whole) else f"{text} is {whole}, which "
        if thing.name in _THREE:
            return f"{named or f'{text} '}has a part for each direction: write {whole}.x"
        if thing.name in _CALLED:
            return f"{text} is a function and no number: call it, as in {_CALLED[thing.name]}"
    if isinstance(thing, tuple) and thing and all(isinstance(part, Value) for part in thing):
        if len(thing) == 1:
            return f"{text} is a tuple that holds one number: take it out by {text}[0]"
        return f"{text} is {len(thing)} numbers, and one is needed: choose one of them, such as {text}[0]"
    if isinstance(thing, Array):
        if isinstance(node, ast.Subscript):
            return f"{text} is a whole row, and one number is needed: {_indices(thing.ndim)} missing"
        return f"{text} is a whole array, and one number is needed: choose an element of it"
    return ""


def _indices(count: int) -> str:
    return "an index is" if count == 1 else f"{count} indices are"
