"""Loads and stores: find the element that an index names, check the index, and count the access."""

import ast
from dataclasses import replace

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.instead import of_attribute, of_node
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.doubtful import in_doubt_like, integers_in_doubt, put_off_doubts, require_no_doubt
from course_pkg.simt.run.elements import Place, read, write
from course_pkg.simt.run.expressions import cast, evaluate, handles
from course_pkg.simt.run.fields import field, is_record, part_of_complex
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.needed import no_elements, no_index, no_number, require_numbers
from course_pkg.simt.run.remembered import recall, remember
from course_pkg.simt.run.sketch import note_store
from course_pkg.simt.run.sway import swayed
from course_pkg.simt.run.tuples import part_of_tuple
from course_pkg.simt.run.values import Value
from course_pkg.simt.run.views import fill, is_view, view

VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


def place_of(run, frame, node, mask: Mask) -> Place:
    """Find the element that a subscript, or the field of a record, names in each lane."""
    array = target_of(run, frame, node, mask)
    if isinstance(array, Place):
        return array
    if array.ndim:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{ast.unparse(node)} is more than one number, and Numba "
            "computes with single elements only: write a loop over them.",
        )
    return locate(run, frame, node, array, (), mask)


def target_of(run, frame, node, mask: Mask) -> "Place | Array":
    """Return the element or the view to which an assignment writes."""
    owner = evaluate(run, frame, node.value, mask)
    if not isinstance(owner, Array):
        raise no_elements(frame, node, owner)
    if isinstance(node, ast.Attribute) or _is_text(node.slice):
        return _named(run, frame, node, owner)
    index = evaluate(run, frame, node.slice, mask)
    if is_view(owner, index):
        return view(run, frame, node, owner, index, mask)
    return locate(run, frame, node, owner, index, mask)


def _named(run, frame, node, owner: Array) -> Array:
    """Return the field of records, or the part of complex numbers, that a subscript or an attribute names."""
    name = node.attr if isinstance(node, ast.Attribute) else node.slice.value
    if is_record(owner):
        return field(run, frame, node, owner, name)
    if isinstance(node, ast.Attribute) and name in ("real", "imag"):
        return part_of_complex(run, frame, node, owner, name)
    raise unsupported(
        frame, node, of_node(node.slice) if isinstance(node, ast.Subscript) else of_attribute(name)
    )


def _is_text(node) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def locate(run, frame, node, array: Array, index, mask: Mask, *, doubtful=False) -> Place:
    """Return the element that an index names in each lane; report an index outside the array's shape.

    An index in doubt is reported, too, unless ``doubtful`` says that the caller follows what it finds there.
    """
    indices = index if isinstance(index, tuple) else (index,)
    where = SourceLine(frame.program.name, node.lineno)
    if len(indices) != array.ndim:  # slices are handled by views, not here
        raise SimtError.at(
            where.function,
            where.line,
            f"{array.name} has {array.ndim} dimension{'s' * (array.ndim > 1)} "
            f"and gets {len(indices)} ind{'ices' if len(indices) > 1 else 'ex'}.",
        )
    inside, terms, keys, constant, followed = mask, [], [], True, ()
    for d, part in enumerate(indices):
        if not isinstance(part, Value) or not isinstance(part.type, types.Integer):
            require_numbers(frame, (_written(node, d), part))
            raise no_index(frame, node, array, d, part)
        run.ledger.demand(part, inside)
        if run.dry:
            continue
        if part.otherwise:
            allowed = integers_in_doubt(run, part) if doubtful else ()
            require_no_doubt(run, part, inside, allowed=allowed)
            followed = (*followed, part) if allowed else followed
        inside, data = _within(run, array, indices, d, inside, where, _is_meant(node, d))
        stride = array.strides[d]
        terms.append(data if type(stride) is int and stride == 1 else data * stride)
        keys.append(part.key)
        constant &= part.constant
    if array.space == "local" and not constant:
        array.region.constant_index_only = False
    if run.dry:
        return Place(array, 0, 0, array.key, mask, array.outer + indices, where)
    terms.sort(key=np.size)
    first = terms[0] if terms else np.zeros((1,) * 6, np.int64)  # an array without dimensions has one element
    offset = _plus(sum(terms[1:], start=first), array.offset)
    key = run.numbering.of("element", array.key, *keys)
    at = _plus(offset, owner(run, array))
    outer = array.outer + indices
    return Place(array, offset, at, key, inside, outer, where, inside is not mask, followed)


def _plus(data: np.ndarray, more):
    """Return the sum; skip the addition if ``more`` is 0, because adding 0 takes as long as any other addition."""
    return data if type(more) is int and not more else data + more


def _is_meant(node, d) -> bool:
    """Return whether index ``d`` is a literal with a sign, such as ``a[-1]``: then a wrap-around is intended."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    part = index.elts[d] if isinstance(index, ast.Tuple) else index
    return isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant)


def _within(run, array, indices, d, inside, where, meant):
    """Return the lanes whose index is valid for dimension ``d``, and the indices after Numba's wrap-around."""
    part, extent = indices[d], array.shape[d].data
    extent = int(extent.reshape(-1)[0]) if extent.size == 1 else extent
    data = part.data.astype(np.int64, copy=False)
    below = np.count_nonzero(data < 0)
    if below and part.type.signed:
        wrapped = inside.narrow((data < 0) & (data >= -extent))
        if wrapped and not meant:
            _report(run, "negative_index", array, indices, wrapped, where)
        data = np.where(data < 0, data + extent, data)
        below = np.count_nonzero(data < 0)
    if below or np.count_nonzero(data >= extent):
        astray = inside.narrow((data >= extent) | (data < 0))
        if astray:
            _report(run, "out_of_bounds", array, indices, astray, where)
            inside = inside.minus(astray)
    return inside, data


def _report(run, kind, array, indices, lanes, where):
    run.log.index(run, kind, array, indices, lanes, where)


def owner(run, array):
    """Return, for each lane, the offset of its copy of the array within the memory that holds all copies."""
    if array.region.owner == "block":
        return run.wave.block_in_wave * array.extent
    if array.region.owner == "thread":
        wave = run.wave
        return (wave.block_in_wave * wave.threads_per_block + wave.thread_in_block) * array.extent
    return 0


@handles(ast.Subscript)
def load(run, frame, node: ast.Subscript, mask: Mask):
    """Read an element; return a view if the subscript has slices, or fewer indices than the array has dimensions."""
    owner = evaluate(run, frame, node.value, mask)
    if isinstance(owner, tuple):
        return part_of_tuple(run, frame, node, owner, evaluate(run, frame, node.slice, mask), mask)
    if not isinstance(owner, Array):
        raise no_elements(frame, node, owner)
    if _is_text(node.slice):
        return loaded(run, frame, node, _named(run, frame, node, owner), mask)
    return element(run, frame, node, owner, evaluate(run, frame, node.slice, mask), mask)


def element(run, frame, node, array: Array, index, mask: Mask):
    """Return ``array[index]``: the value of an element, or a view."""
    if is_view(array, index):
        if index is None or index is Ellipsis:
            written = f"{array.name}[None, :]" if index is None else f"{array.name}[:]"
            raise SimtError.at(
                frame.program.name,
                node.lineno,
                f"Numba compiles no {ast.unparse(node)} for a GPU: write {written}.",
            )
        return view(run, frame, node, array, index, mask)
    place = locate(run, frame, node, array, index, mask, doubtful=not is_record(array))
    if is_record(array):
        return replace(array, shape=(), strides=(), offset=place.offset, key=place.key, outer=place.indices)
    return load_place(run, frame, place, mask)


def loaded(run, frame, node, array: Array, mask: Mask):
    """Return an array; if the array is a single element, return the element's value."""
    if array.ndim or is_record(array):
        return array
    return load_place(run, frame, locate(run, frame, node, array, (), mask), mask)


def _written(node: ast.expr, d: int) -> ast.expr:
    """Return the expression for index ``d`` in a subscript, or in a call such as ``cuda.atomic.add``."""
    index = node.slice if isinstance(node, ast.Subscript) else [*node.args, node][1]
    return index.elts[d] if isinstance(index, ast.Tuple) and d < len(index.elts) else index


def load_place(run, frame, place: Place, mask: Mask, hint: str = "") -> Value:
    """Read the element of each lane. A compiler reuses a loaded value only for a load with the same cache hint."""
    array, space = place.array, place.array.space
    if run.dry:
        return run.blank(array.type)
    version = run.ledger.since(place.key, run.versions.get(space, 0))
    data = read(array, place)
    value = run.given(data, array.type, ("load", version, hint) if hint else ("load", version), place.key)
    unwritten = None
    if run.races is not None:
        unwritten = run.log.access(run, place, "load", VERBS["load"], place.inside, later=True)
        recall(place, value)
        in_doubt_like(run, value, place.doubtful)
    return run.ledger.load(place, value, unwritten)


def store(run, frame, node, value, mask: Mask) -> None:
    """Write a value to the target of an assignment: an element, or all elements of a view."""
    target = target_of(run, frame, node, mask)
    if isinstance(target, Array) and target.ndim:
        fill(run, frame, node, target, value, mask)
        return
    place = target if isinstance(target, Place) else locate(run, frame, node, target, (), mask)
    if is_record(place.array) and isinstance(value, Array) and value.dtype == place.array.dtype:
        _copy_record(run, frame, node, place, value, mask)
    else:
        store_place(run, frame, place, value, mask)


def _copy_record(run, frame, node, place: Place, source: Array, mask: Mask) -> None:
    """Write all fields of a record into another one."""
    into = replace(place.array, shape=(), strides=(), offset=place.offset, key=place.key)
    for name in into.dtype.names:
        old, new = (field(run, frame, node, one, name) for one in (source, into))
        if old.ndim:
            raise unsupported(frame, node, "a copy of records that contain arrays", compiled=True)
        number = loaded(run, frame, node, old, mask)
        store_place(run, frame, locate(run, frame, node, new, (), mask), number, mask)


def store_place(run, frame, place: Place, value, mask: Mask) -> None:
    """Write a value to the element of each lane."""
    array = place.array
    if not isinstance(value, Value):
        why = no_number(None, value)
        raise SimtError.at(
            place.where.function,
            place.where.line,
            f"only numbers can be stored in an array{why and f', and {why}'}.",
        )
    if array.space == "constant" or not array.flat.flags.writeable:
        raise SimtError.at(
            place.where.function,
            place.where.line,
            f"{array.name} cannot be written: "
            + ("it is constant memory." if array.space == "constant" else "the NumPy array is read-only."),
        )
    if str(value.type).startswith("complex") and not str(array.type).startswith("complex"):
        raise SimtError.at(
            place.where.function,
            place.where.line,
            f"a complex number is stored in {array.name}, whose "
            "elements are real numbers: store its .real or .imag, or give the array a complex type.",
        )
    value = cast(run, value, array.type)
    if run.dry:
        note_store(run, array)
        return
    run.ledger.demand(value, mask)
    inside = place.inside
    if inside:
        if run.races is not None:
            value = swayed(run, value)
            run.log.access(run, place, "store", VERBS["store"], inside, stored=value)
            if value.otherwise or run.races.doubts.unproven.kept:
                put_off_doubts(run, place, value)
            remember(run, place, value)
        if value.product is None or array.dtype.itemsize > 4:
            run.ledger.signed(value, place.where, inside)
        run.ledger.store(place)
        write(run, array, place.at, value.data, inside)
    before = run.versions[array.space]
    run.kill(array.space)
    now = run.versions[array.space]
    run.ledger.holds(run.numbering.of(("load", now), place.key), inside)
    run.ledger.stored(place, before)
    for key, lanes in run.ledger.untouched(place, before):
        run.ledger.holds(run.numbering.of(("load", now), key), lanes)
