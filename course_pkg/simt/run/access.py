"""Loads and stores: which element an index names, whether the index is allowed, and what the access counts as."""

import ast
from dataclasses import dataclass, replace

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.expressions import cast, evaluate, handles
from course_pkg.simt.run.hindsight import recall, remember, require_no_doubt
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.needed import require_numbers
from course_pkg.simt.run.sketch import any_of, note_store, of_one_type
from course_pkg.simt.run.values import Value, undefined

VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


@dataclass(eq=False)
class Place:
    """The element of an array that each lane accesses.

    Attributes
    ----------
    offset : ndarray of int64
        Number of the element in the owner's copy; broadcasts to the wave's shape.
    at : ndarray of int64
        Number of the element in ``array.flat``.
    inside : Mask
        The lanes whose index lies in the array.
    """

    array: Array
    offset: np.ndarray
    at: np.ndarray
    key: int
    inside: Mask
    indices: tuple
    where: SourceLine
    astray: bool = False  # whether the index of an active lane lies outside


def place_of(run, frame, node: ast.Subscript, mask: Mask) -> Place:
    """Find the element that a subscript names in each lane."""
    array = evaluate(run, frame, node.value, mask)
    if not isinstance(array, Array):
        raise unsupported(frame, node, "a subscript of something that is no array")
    index = evaluate(run, frame, node.slice, mask)
    return locate(run, frame, node, array, index, mask)


def locate(run, frame, node, array: Array, index, mask: Mask) -> Place:
    """Return the place that an index names, and report an index that lies outside the array's shape."""
    indices = index if isinstance(index, tuple) else (index,)
    where = SourceLine(frame.program.name, node.lineno)
    if len(indices) != array.ndim:
        raise SimtError(
            f"{where.function}, line {where.line}: {array.name} has {array.ndim} dimension{'s' * (array.ndim > 1)} "
            f"and gets {len(indices)} ind{'ices' if len(indices) > 1 else 'ex'}."
        )
    inside, terms, keys, constant = mask, [], [], True
    for d, part in enumerate(indices):
        if not isinstance(part, Value) or not isinstance(part.type, types.Integer):
            require_numbers(frame, (_written(node, d), part))
            found = part.type if isinstance(part, Value) else type(part).__name__
            raise SimtError(
                f"{where.function}, line {where.line}: index {d} of {array.name} is a {found}: indices are integers."
            )
        run.ledger.demand(part, inside)
        if run.dry:
            continue
        require_no_doubt(run, part, inside)
        inside, data = _within(run, array, indices, d, inside, where, _is_meant(node, d))
        terms.append(data * array.strides[d])
        keys.append(part.key)
        constant &= part.constant
    if array.space == "local" and not constant:
        array.region.constant_index_only = False
    if run.dry:
        return Place(array, 0, 0, array.key, mask, indices, where)
    terms.sort(key=np.size)
    first = terms[0] if terms else np.zeros((1,) * 6, np.int64)  # an array without dimensions has one element
    offset = sum(terms[1:], start=first) + array.offset
    key = run.numbering.of(("element", array.key), *keys)
    at = offset + owner(run, array)
    return Place(array, offset, at, key, inside, indices, where, inside is not mask)


def _is_meant(node, d) -> bool:
    """Return whether index ``d`` is written as a negative number, such as ``a[-1]``: then it may wrap."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    part = index.elts[d] if isinstance(index, ast.Tuple) else index
    return isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant)


def _within(run, array, indices, d, inside, where, meant):
    """Return the lanes whose index lies within dimension ``d``, and that index, wrapped as Numba wraps it."""
    part, extent = indices[d], int(array.shape[d].number)
    data = part.data.astype(np.int64, copy=False)
    if part.type.signed and data.size and data.min() < 0:
        wrapped = inside.narrow((data < 0) & (data >= -extent))
        if wrapped and not meant:
            _report(run, "negative_index", array, indices, wrapped, where)
        data = np.where(data < 0, data + extent, data)
    if data.size and (data.max() >= extent or data.min() < 0):
        astray = inside.narrow((data >= extent) | (data < 0))
        if astray:
            _report(run, "out_of_bounds", array, indices, astray, where)
            inside = inside.minus(astray)
    return inside, data


def _report(run, kind, array, indices, lanes, where):
    run.log.index(run, kind, array, indices, lanes, where)


def owner(run, array):
    """Return the offset of each lane's copy of an array in the memory of all copies."""
    if array.region.owner == "block":
        return run.wave.block_in_wave * array.extent
    if array.region.owner == "thread":
        wave = run.wave
        return (wave.block_in_wave * wave.threads_per_block + wave.thread_in_block) * array.extent
    return 0


@handles(ast.Subscript)
def load(run, frame, node: ast.Subscript, mask: Mask):
    """Read an element; if there are fewer indices than dimensions, return a sub-array."""
    array = evaluate(run, frame, node.value, mask)
    if isinstance(array, tuple):
        return _item(run, frame, node, array, mask)
    if isinstance(array, Array):
        index = evaluate(run, frame, node.slice, mask)
        if not isinstance(index, tuple) and array.ndim > 1:
            return _row(run, frame, node, array, index, mask)
        return load_place(run, frame, locate(run, frame, node, array, index, mask), mask)
    raise unsupported(frame, node, "a subscript of something that is no array or tuple")


def _item(run, frame, node, values, mask):
    index = evaluate(run, frame, node.slice, mask)
    if not isinstance(index, Value) or not index.uniform:
        raise unsupported(frame, node, "a tuple's element chosen by a value that differs between threads")
    if run.dry and not index.constant:
        if not of_one_type(values):
            raise unsupported(
                frame, node, "an item, chosen by a variable, of a tuple whose items have different types"
            )
        return any_of(run, values)
    if not -len(values) <= index.number < len(values):
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: the tuple has {len(values)} elements and no [{index.number}]."
        )
    run.ledger.demand(index, mask)
    return values[index.number]


def _row(run, frame, node, array, index, mask):
    """Return ``array[i]`` of an array with several dimensions: a view with one dimension less."""
    line = replace(array, shape=array.shape[:1], strides=array.strides[:1])
    place = locate(run, frame, node, line, index, mask)
    if place.inside is not mask:
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: {ast.unparse(node)} lies outside the array in some threads: "
            f"guard the access, or, if rows and columns are exchanged, swap the indices."
        )
    return replace(
        array, shape=array.shape[1:], strides=array.strides[1:], offset=place.offset, key=place.key
    )


def _written(node: ast.expr, d: int) -> ast.expr:
    """Return what a subscript, or a call such as ``cuda.atomic.add``, has for an index in dimension ``d``."""
    index = node.slice if isinstance(node, ast.Subscript) else [*node.args, node][1]
    return index.elts[d] if isinstance(index, ast.Tuple) and d < len(index.elts) else index


def load_place(run, frame, place: Place, mask: Mask) -> Value:
    """Read the elements of a place."""
    array, space = place.array, place.array.space
    if run.dry:
        return run.blank(array.type)
    version = run.versions.get(space, 0)
    data = read(array, place)
    value = run.given(data, array.type, ("load", version), place.key)
    unwritten = None
    if run.races is not None:
        unwritten = run.log.access(run, place, "load", VERBS["load"], place.inside, later=True)
        recall(place, value)
    return run.ledger.load(place, value, unwritten)


def read(array: Array, place: Place) -> np.ndarray:
    """Return the elements. A lane whose index lies outside the array gets NaN or 0, so that no second error follows."""
    if not array.flat.size:
        return np.zeros((1,) * 6, array.dtype)
    data = array.flat.take(place.at, mode="clip")
    outside = data.dtype.type(0) if data.dtype.kind in "iu" else undefined(data.dtype)
    return np.where(place.inside.data, data, outside) if place.astray else data


def store(run, frame, node: ast.Subscript, value, mask: Mask) -> None:
    """Write a value to the element that a subscript names."""
    store_place(run, frame, place_of(run, frame, node, mask), value, mask)


def store_place(run, frame, place: Place, value, mask: Mask) -> None:
    """Write a value to the elements of a place."""
    array = place.array
    if not isinstance(value, Value):
        raise SimtError(
            f"{place.where.function}, line {place.where.line}: only numbers can be stored in an array."
        )
    if array.space == "constant" or not array.flat.flags.writeable:
        raise SimtError(
            f"{place.where.function}, line {place.where.line}: {array.name} cannot be written: "
            + ("it is constant memory." if array.space == "constant" else "the NumPy array is read-only.")
        )
    value = cast(run, value, array.type)
    if run.dry:
        note_store(run, array)
        return
    run.ledger.demand(value, mask)
    inside = place.inside
    if inside:
        if run.races is not None:
            run.log.access(run, place, "store", VERBS["store"], inside, stored=value)
            require_no_doubt(run, value, inside)
            remember(run, place, value)
        run.ledger.store(place)
        write(run, array, place.at, value.data, inside)
    run.kill(array.space)
    run.ledger.holds(run.numbering.of(("load", run.versions[array.space]), place.key), inside)


def write(run, array, at, data, inside: Mask) -> None:
    """Put the numbers of the active lanes into memory."""
    shape = run.wave.shape
    at, data = np.broadcast_to(at, shape), np.broadcast_to(data, shape)
    at, data = (
        (at.reshape(-1), data.reshape(-1)) if inside.data is None else (at[inside.full], data[inside.full])
    )
    if run.watching:
        note_change(run, array, (array.flat[at] != data).any())
    array.flat[at] = data


def note_change(run, array, changed) -> None:
    """Tell the loops that are watched (:mod:`course_pkg.simt.run.endless`) whether a store has changed its array."""
    for regions in run.watching if changed else ():
        regions.add(array.region)
