"""Describe hazards to learners: the line, the threads as the picture names them, and a question or advice."""

import ast
import re

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.practice import lanes
from course_pkg.practice.answer import Answer
from course_pkg.practice.attempt import Outcome
from course_pkg.practice.step import Trial
from course_pkg.simt import KernelProfile
from course_pkg.simt.memory.places import Thread
from course_pkg.simt.memory.races import Hazard
from course_pkg.simt.report.touches import touches

_ORDER = ("out_of_bounds", "negative_index", "divergent_barrier", "uninitialised")
PADDING = -1  # the column index that marks padding
_PLACE = re.compile(r"^(?:\w+, )?lines? [\d and]+: ?")
_WARP = (
    "lanes of a warp do not run in step: a cuda.syncwarp() or a cuda.syncthreads() is missing between them"
)
_BLOCK = "nothing makes one wait for the other: a cuda.syncthreads() is missing between them"


def told(answer: Answer, trial: Trial, outcome: Outcome) -> str:
    """Return a sentence on the worst hazard of an attempt, with the learner's line; empty if there is no hazard."""
    found = [(profile, hazard) for profile in outcome.profiles for hazard in profile.hazards]
    if not found:
        return ""
    profile, worst = min(
        found, key=lambda pair: _ORDER.index(pair[1].kind) if pair[1].kind in _ORDER else len(_ORDER)
    )
    where = _where(answer, profile, worst)
    said = _PLACE.sub("", plain(answer, worst)).rstrip(".")
    if worst.kind == "out_of_bounds":
        said = _with_number(said, profile, worst).removesuffix(": a GPU would touch whatever lies there")
        said += _places_of_another(answer, trial, worst) or _why_outside(trial, worst, outcome)
    elif worst.kind == "negative_index":
        said = _padding(answer, trial, worst) or _from_the_front(answer, profile, worst, said)
    elif worst.kind == "divergent_barrier":
        said = _out_of_what(answer, worst, said)
    elif _both_write(worst) and _waits_for_results(trial, worst.array):
        said = _belongs_to_one(answer, profile, worst)
    elif worst.kind == "race" and _adds_up(answer, worst):
        said += "; or update it with cuda.atomic.add, so that they take turns"
    return f"{where}: {said}" + "." * (said[-1] not in "?!")


def _where(answer: Answer, profile: KernelProfile, hazard: Hazard) -> str:
    """Quote the lines if they are in the learner's cell; otherwise name the function that the answer calls."""
    source = profile.sources.get(hazard.function, answer.program.source)
    if source.file != answer.program.source.file:
        return f"In {hazard.function}, which it calls"
    lines = [n for n in (hazard.other_line, hazard.line) if n is not None]
    lines = list(dict.fromkeys(lines))
    quoted = " and ".join(f"`{source.text(line)}`" for line in lines)
    return f"Line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}, {quoted}"


def listed(answer: Answer, trial: Trial, outcome: Outcome) -> tuple[str, ...]:
    """Return a sentence on each hazard of an attempt, with its line; :func:`told` adds advice for the worst one."""
    found = []
    for profile in outcome.profiles:
        for hazard in profile.hazards:
            said = plain(answer, hazard)
            own = _both_write(hazard) and _waits_for_results(trial, hazard.array)
            found.append(said.partition(", but ")[0] + "." if own else said)
    return tuple(found)


def plain(answer: Answer, hazard: Hazard) -> str:
    """Return a hazard's message; it names ``cuda.syncwarp``, which few lectures teach, only if the kernel uses it."""
    said = hazard.message
    return said if "syncwarp" in ast.unparse(answer.program.tree) else said.replace(_WARP, _BLOCK)


def thread_number(profile: KernelProfile, thread: Thread) -> int:
    """Return a thread's number in the launch; the threads of a block have consecutive numbers."""
    (gx, gy, _), (nx, ny, nz) = profile.grid, profile.block
    bx, by, bz = thread.block
    x, y, z = thread.thread
    return (bx + gx * (by + gy * bz)) * nx * ny * nz + x + nx * (y + ny * z)


def _with_number(said: str, profile: KernelProfile, hazard: Hazard) -> str:
    """Add the thread's number in the grid to a sentence, if the thread used this number as its index."""
    number = thread_number(profile, hazard.threads[0])
    line_of_threads = profile.grid[1:] == (1, 1) and profile.block[1:] == (1, 1)
    if not line_of_threads or hazard.index != (number,) or number < profile.block[0]:
        return said
    name = str(hazard.threads[0])
    return said.replace(name, f"{name} (thread {number} of the grid)", 1)


def _adds_up(answer: Answer, hazard: Hazard) -> bool:
    """Return whether a hazard is about an array that its line changes by ``+=``, as in ``counts[k] += 1``."""
    return any(
        isinstance(n, ast.AugAssign) and n.lineno == hazard.line and _array_of(n.target) == hazard.array
        for n in ast.walk(answer.program.tree)
    )


def _array_of(target) -> str | None:
    return (
        target.value.id if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) else None
    )


def _why_outside(trial: Trial, hazard: Hazard, outcome: Outcome) -> str:
    """Say what may be wrong with an index outside its array: swapped axes, or a guard that is missing."""
    array = trial.arrays.get(hazard.array)
    shared = [p.by_array[hazard.array] for p in outcome.profiles if hazard.array in p.by_array]
    if array is None and any(counts.shared_store or counts.shared_load for counts in shared):
        return f": each block has a {hazard.array} of its own, indexed from 0 by cuda.threadIdx.x"
    if array is None or hazard.index is None:
        return ": on a GPU it would touch whatever lies there"
    index = hazard.index
    inside = [0 <= i < n for i, n in zip(index, array.shape, strict=False)]
    turned = [0 <= i < n for i, n in zip(reversed(index), array.shape, strict=False)]
    across = _across_and_down(trial, hazard.threads[0])
    if len(index) == 2 and not all(inside) and all(turned) and index == across:
        return ": x and y are swapped; x counts columns, the last index, and y counts rows, the first index"
    results = [a for a in trial.expected.values() if np.ndim(a) == 2]
    if array.ndim == 1 and results and hazard.index[0] < max(results[0].shape):
        rows, columns = results[0].shape
        for extent, what, axis in ((rows, "row", "y"), (columns, "column", "x")):
            if array.size == extent and rows != columns:
                return f": {hazard.array} has one element per {what}, and {axis} counts the {what}s"
    return ": a GPU would touch other data; guard the access, so that threads without an element do nothing"


def _places_of_another(answer: Answer, trial: Trial, hazard: Hazard) -> str:
    """Say that a loop from ``indptr[row]`` to ``indptr[row + 1]`` counts elements of other arrays, not of this one."""
    if hazard.function != answer.program.name or hazard.array not in trial.arrays:
        return ""
    indices = {
        ast.unparse(n.slice)
        for n in ast.walk(answer.program.tree)
        if isinstance(n, ast.Subscript) and n.lineno == hazard.line and _array_of(n) == hazard.array
    }
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


def _from_the_front(answer: Answer, profile: KernelProfile, hazard: Hazard, said: str) -> str:
    """Say how to write ``tile[-1 - t]`` without a negative index."""
    for node in ast.walk(answer.program.tree):
        if not isinstance(node, ast.Subscript) or node.lineno != hazard.line:
            continue
        if ast.unparse(node.value) != hazard.array or not isinstance(node.slice, ast.BinOp):
            continue
        index = node.slice
        if isinstance(index.op, ast.Sub) and re.fullmatch(r"-\d+", ast.unparse(index.left)):
            shape = next((t.shape for t in touches(profile) if t.array == hazard.array), ())
            if len(shape) == 1:
                front = f"{shape[0] + int(ast.unparse(index.left))} - {ast.unparse(index.right)}"
                said = said.removesuffix(": is a boundary test missing?")
                return f"{said}: write {front}, since the course takes negative indices for mistakes"
    return said


def _padding(answer: Answer, trial: Trial, hazard: Hazard) -> str:
    """Say that the kernel reads ``x[indices[k]]`` although ``indices[k]`` is -1, which marks padding."""
    if hazard.function != answer.program.name or hazard.index != (PADDING,):
        return ""
    assigned = (n for n in ast.walk(answer.program.tree) if isinstance(n, ast.Assign))
    named = {ast.unparse(n.targets[0]): n.value for n in assigned}
    for node in ast.walk(answer.program.tree):
        if (
            not isinstance(node, ast.Subscript)
            or node.lineno != hazard.line
            or _array_of(node) != hazard.array
        ):
            continue
        column = named.get(ast.unparse(node.slice), node.slice)
        columns = trial.arrays.get(_array_of(column))
        if columns is not None and (columns == PADDING).any():
            return f"{ast.unparse(column)} is −1: padding, which has no {hazard.array}"
    return ""


def _out_of_what(answer: Answer, hazard: Hazard, said: str) -> str:
    """Replace "the branch or the loop" around a barrier by the one that it is, if that is certain."""
    if hazard.function != answer.program.name:
        return said
    around = lanes.around(answer.program.tree, hazard.line)
    if around and isinstance(around[-1], ast.If):
        return said.replace("the branch or the loop", "the branch")
    if around and not any(isinstance(node, ast.If) for node in around):
        return said.replace("the branch or the loop", "the loop")
    return said


def _both_write(hazard: Hazard) -> bool:
    return hazard.kind == "race" and hazard.message.count(" writes ") == 2


def _waits_for_results(trial: Trial, name: str | None) -> bool:
    """Return whether an array is unwritten before the launch, so that threads cannot add to its elements."""
    array = trial.arrays.get(name)
    if array is None or name not in trial.expected:
        return False
    return np.array_equal(array, unwritten(array.shape, array.dtype), equal_nan=array.dtype.kind in "fc")


def _belongs_to_one(answer: Answer, profile: KernelProfile, hazard: Hazard) -> str:
    """Say that two threads write the same element, and ask about the likely reason."""
    both = sorted(hazard.threads, key=lambda thread: thread_number(profile, thread))
    names = " and ".join(map(str, both))
    what = f"{hazard.array}[{', '.join(map(str, hazard.index))}]"
    said = f"{names} both write {what}"
    question = "which element is this thread's own?"
    if hazard.function == answer.program.name:
        stores = lanes.stores(answer.program.tree, hazard.array, (hazard.line, hazard.other_line))
        other_block = hazard.threads[0].block != hazard.threads[1].block
        for store in stores:
            if not store.loop and not store.own_index and not store.own_value:
                return f"{said}: every thread runs this line; let only one do it"
        if stores:
            question = _question(stores[0], other_block)
    return f"{said}, and each element should belong to one thread: {question}"


def _question(store: lanes.Store, other_block: bool) -> str:
    if store.loop is None:
        if other_block and store.own_index:
            return f"does {store.index} count the threads of the blocks before?"
        return "which element is this thread's own?"
    if other_block and "," in store.index:
        return "which part of the loop belongs to this block?"
    numbers = store.loop.iter.args
    if len(numbers) == 1 or (len(numbers) == 2 and not store.own_start):
        return "is the loop needed, and if so, where must each thread begin, and how far must it jump?"
    if not store.own_start:
        return "where must each thread begin?"
    if len(numbers) == 3 and other_block:
        return "do the loop's first number and its jump count the threads of all blocks?"
    return "how far must the loop jump?"
