"""An index outside its array, in the words of a puzzle: what may be meant, and what to ask oneself."""

import ast

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.grading import lanes
from course_pkg.grading.hazard_words import GUARD
from course_pkg.practice.answer import Answer
from course_pkg.practice.attempt import Outcome
from course_pkg.practice.step import Trial
from course_pkg.simt.memory.hazard import OTHER_DATA, WRAPS, Hazard

PADDING = -1  # the column index that marks padding
ELSEWHERE = f": {OTHER_DATA}"


def why_beyond(answer: Answer, trial: Trial, hazard: Hazard, outcome: Outcome) -> str:
    """Return the rest of the sentence on an index beyond the end of an array."""
    array = trial.arrays.get(hazard.array)
    if array is None or hazard.index is None:
        return _beyond_shared(answer, hazard, outcome)
    return (
        _places_of_another(answer, trial, hazard)
        or _swapped(trial, array, hazard)
        or _of_the_transpose(trial, array, hazard)
        or _column_or_row(trial, array, hazard)
        or _few_results(trial, array, hazard)
        or _too_far(answer, array, hazard)
        or _into_shared(answer, hazard)
        or f"{ELSEWHERE}; {GUARD}"
    )


def why_negative(answer: Answer, trial: Trial, hazard: Hazard) -> str:
    """Return the whole sentence on a negative index."""
    found = _padding(answer, trial, hazard)
    if found:
        return found
    front = _from_the_front(answer, hazard)
    if front:
        return f"{hazard.event}, {WRAPS}{front}"
    if hazard.array not in trial.arrays and len(hazard.shape) == 1:
        first, last = f"{hazard.array}[0]", f"{hazard.array}[{hazard.shape[0] - 1}]"
        return f"{hazard.event}, and its elements are {first} to {last}: which of them is meant?"
    return f"{hazard.event}{hazard.rest}"


def waits_for_results(trial: Trial, name: str | None) -> bool:
    """Return whether an array is unwritten before the launch, so that threads cannot add to its elements."""
    array = trial.arrays.get(name)
    if array is None or name not in trial.expected:
        return False
    return np.array_equal(array, unwritten(array.shape, array.dtype), equal_nan=array.dtype.kind in "fc")


def _beyond_shared(answer: Answer, hazard: Hazard, outcome: Outcome) -> str:
    """Say what to do about an index outside a shared array: it counts the threads of all blocks, or it is too large."""
    shared = [p.by_array[hazard.array] for p in outcome.profiles if hazard.array in p.by_array]
    if not any(counts.shared_store or counts.shared_load for counts in shared):
        return ELSEWHERE
    if hazard.index is None or len(hazard.index) > 1 or counts_blocks(answer, hazard):
        return f": each block has a {hazard.array} of its own, indexed from 0 by cuda.threadIdx.x"
    one_index = len(hazard.shape) == 1
    last = f": its last element is {hazard.array}[{hazard.shape[0] - 1}]" if one_index else ""
    return f"{last}; is the index too large, or should fewer threads run this line?"


def counts_blocks(answer: Answer, hazard: Hazard) -> bool:
    """Return whether an index on the line uses a number that counts the threads of all blocks."""
    assigned = (n for n in ast.walk(answer.program.tree) if isinstance(n, ast.Assign))
    grid = {ast.unparse(n.targets[0]) for n in assigned if _of_the_grid(n.value)}
    return any(
        _of_the_grid(index) or any(isinstance(n, ast.Name) and n.id in grid for n in ast.walk(index))
        for index in _indices(answer, hazard)
    )


def _of_the_grid(node) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in ("grid", "blockIdx") for n in ast.walk(node))


def _indices(answer: Answer, hazard: Hazard) -> list[ast.expr]:
    """Return the indices with which a hazard's line touches its array."""
    if hazard.function != answer.program.name:
        return []
    found = (n for n in ast.walk(answer.program.tree) if isinstance(n, ast.Subscript))
    return [n.slice for n in found if n.lineno == hazard.line and ast.unparse(n.value) == hazard.array]


def _swapped(trial: Trial, array, hazard: Hazard) -> str:
    index = hazard.index
    inside = [0 <= i < n for i, n in zip(index, array.shape, strict=False)]
    turned = [0 <= i < n for i, n in zip(reversed(index), array.shape, strict=False)]
    across = _across_and_down(trial, hazard.threads[0])
    if np.size(trial.block) > 1 and len(index) == 2 and not all(inside) and all(turned) and index == across:
        return ": x and y are swapped; x counts columns, the last index, and y counts rows, the first index"
    if np.size(trial.block) == 1 and len(index) == 2 and not all(inside) and all(turned):
        rows, columns = array.shape
        has = f"{hazard.array} has {rows} rows and {columns} columns"
        return f": the first index counts rows, the last one columns; {has}"
    return ""


def _of_the_transpose(trial: Trial, array, hazard: Hazard) -> str:
    """Say that an input has as many rows as a result has columns, if its two indices may have changed places."""
    rows, columns = array.shape if array.ndim == 2 else (0, 0)
    turned = [name for name, a in trial.expected.items() if np.shape(a) == (columns, rows)]
    if hazard.array in trial.expected or rows == columns or not turned:
        return ""
    row, column = hazard.index
    if column >= rows or row >= columns:
        return ""
    return (
        f": {hazard.array} has {rows} rows and {columns} columns, and {turned[0]} {columns} rows and {rows} columns; "
        f"which index counts the rows of {hazard.array}?"
    )


def _column_or_row(trial: Trial, array, hazard: Hazard) -> str:
    results = [a for a in trial.expected.values() if np.ndim(a) == 2]
    if array.ndim == 1 and results and hazard.index[0] < max(results[0].shape):
        rows, columns = results[0].shape
        for extent, what, axis in ((rows, "row", "y"), (columns, "column", "x")):
            if array.size == extent and rows != columns:
                return f": {hazard.array} has one element per {what}, and {axis} counts the {what}s"
    return ""


def _few_results(trial: Trial, array, hazard: Hazard) -> str:
    """Say that all threads share a result, if it has fewer elements than an input."""
    fewer = any(array.size < a.size for name, a in trial.arrays.items() if name not in trial.expected)
    if (
        array.ndim != 1
        or not fewer
        or hazard.array not in trial.expected
        or waits_for_results(trial, hazard.array)
    ):
        return ""
    has = f"{array.size} elements" if array.size > 1 else "one element"
    return f": {hazard.array} has {has}, for all threads together; which is meant here?"


def _too_far(answer: Answer, array, hazard: Hazard) -> str:
    """Say which loop or ``if`` fails to keep an index within the array."""
    size = " and ".join(f"{n} {what}s" for n, what in zip(array.shape, ("row", "column"), strict=False))
    ends = (
        f"the last element is {hazard.array}[{array.size - 1}]"
        if array.ndim == 1
        else f"{hazard.array} has {size}"
    )
    names = {n.id for index in _indices(answer, hazard) for n in ast.walk(index) if isinstance(n, ast.Name)}
    written = {
        ast.unparse(part) for index in _indices(answer, hazard) for part in _beyond(index, array, hazard)
    }
    outer = lanes.around(answer.program.tree, hazard.line) if names and array.ndim <= 2 else []
    for statement in reversed(outer):
        if isinstance(statement, ast.For) and ast.unparse(statement.target) in written:
            return f": the loop goes too far; {ends}"
        if isinstance(statement, ast.If) and names & {
            n.id for n in ast.walk(statement.test) if isinstance(n, ast.Name)
        }:
            word = "else" if statement.orelse and hazard.line >= statement.orelse[0].lineno else "if"
            beyond = [part for index in _indices(answer, hazard) for part in _beyond(index, array, hazard)]
            computed = [part for part in beyond if isinstance(getattr(part, "op", None), ast.Add)]
            if computed and array.ndim == 1:
                ends = f"{ast.unparse(computed[0])} is {hazard.index[0]}, and {ends}"
                return f"{ELSEWHERE}; the `{word}` lets this thread through, but {ends}"
            return f"{ELSEWHERE}; the `{word}` lets this thread through, and {ends}"
    leaves = _guard_before(answer, hazard, names)
    if leaves:
        return f"{ELSEWHERE}; the `if` in line {leaves} does not send this thread away, and {ends}"
    return ""


def _beyond(index, array, hazard: Hazard) -> list[ast.expr]:
    """Return the parts of an index that are too large."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    places = zip(parts, hazard.index, array.shape, strict=False)
    return [part for part, place, extent in places if place >= extent]


def _guard_before(answer: Answer, hazard: Hazard, names) -> int | None:
    """Return the line of an ``if``, before a hazard's line, that tests one of these names and returns; else None."""
    for node in ast.walk(answer.program.tree):
        leaves = isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return)
        if leaves and node.end_lineno < hazard.line:
            asked = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
            if names & asked:
                return node.lineno
    return None


def _into_shared(answer: Answer, hazard: Hazard) -> str:
    """Say that a tile needs a number also where an element does not exist: a guard would leave its place unwritten."""
    tree = answer.program.tree
    shared = {name for name, value in lanes.bound(tree) if ast.unparse(value).startswith("cuda.shared.array")}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and node.lineno == hazard.line
            and isinstance(node.targets[0], ast.Subscript)
        ):
            tile = ast.unparse(node.targets[0].value)
            if tile in shared and hazard.function == answer.program.name:
                end = f"beyond the end of {hazard.array} put what is asked for into {tile}"
                return f"{ELSEWHERE}; guard the access, and {end}"
    return ""


def _places_of_another(answer: Answer, trial: Trial, hazard: Hazard) -> str:
    """Say that a loop from ``indptr[row]`` to ``indptr[row + 1]`` counts elements of other arrays, not of this one."""
    indices = {ast.unparse(index) for index in _indices(answer, hazard)}
    for loop in lanes.around(answer.program.tree, hazard.line):
        if not isinstance(loop, ast.For) or ast.unparse(loop.target) not in indices:
            continue
        first, last = [*getattr(loop.iter, "args", ()), None, None][:2]
        begins = trial.arrays.get(_array_of(first))
        # if indptr ends at the size of this array, the array is the right one, and only the loop's bounds are wrong
        if begins is not None and last is not None and begins.max() != trial.arrays[hazard.array].size:
            k, array = ast.unparse(loop.target), hazard.array
            return (
                f": {k} runs from {ast.unparse(first)} to {ast.unparse(last)}, and {array} is not numbered in this "
                f"way; which element of {array} belongs to {k}?"
            )
    return ""


def _across_and_down(trial: Trial, thread) -> tuple[int, ...]:
    """Return what ``cuda.grid(2)`` returns in a thread."""
    if trial.block is None:
        return ()
    size = (*np.atleast_1d(trial.block), 1)
    return tuple(int(b * n + t) for b, n, t in zip(thread.block[:2], size, thread.thread[:2], strict=False))


def _from_the_front(answer: Answer, hazard: Hazard) -> str:
    """Say how to write ``tile[-1 - t]`` without a negative index."""
    for index in _indices(answer, hazard) if len(hazard.shape) == 1 else []:
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
            name = hazard.array
            return f": count from the front, as in {name}[{name}.size - 1 - {ast.unparse(index.operand)}]"
        if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Sub):
            match index.left:
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(back))):
                    front = f"{hazard.shape[0] - back} - {ast.unparse(index.right)}"
                    return f": write {front}, since the course takes negative indices for mistakes"
    return ""


def _padding(answer: Answer, trial: Trial, hazard: Hazard) -> str:
    """Say that the kernel reads ``x[indices[k]]`` although ``indices[k]`` is -1, which marks padding."""
    if hazard.index != (PADDING,):
        return ""
    assigned = (n for n in ast.walk(answer.program.tree) if isinstance(n, ast.Assign))
    named = {ast.unparse(n.targets[0]): n.value for n in assigned}
    for index in _indices(answer, hazard):
        column = named.get(ast.unparse(index), index)
        columns = trial.arrays.get(_array_of(column))
        if columns is not None and (columns == PADDING).any():
            return f"{ast.unparse(column)} is −1: padding, which has no {hazard.array}"
    return ""


def _array_of(target) -> str | None:
    return (
        target.value.id if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) else None
    )
