"""Loads and stores: of the element that an index names, or of a view; each access is counted."""

import ast
from dataclasses import replace
from functools import reduce
from itertools import product

from course_pkg.core.access import VERBS
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.instead import of_attribute, of_node
from course_pkg.simt.front.literal import is_text
from course_pkg.simt.memory.regions import Array, Arrays, Choice
from course_pkg.simt.memory.unwritten import keep, kept_at, together
from course_pkg.simt.run.choices import chosen, each, either
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.doubtful import in_doubt_like, put_off_doubts
from course_pkg.simt.run.elements import Place, read, write
from course_pkg.simt.run.expressions import cast, evaluate, handles
from course_pkg.simt.run.fields import field, is_record, part_of_complex
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.locating import locate
from course_pkg.simt.run.needed import no_elements, no_number
from course_pkg.simt.run.remembered import recall, remember
from course_pkg.simt.run.sketch import note_store
from course_pkg.simt.run.sway import swayed, swayed_by
from course_pkg.simt.run.tuples import part_of_tuple
from course_pkg.simt.run.values import Value
from course_pkg.simt.run.views import is_view, view


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


def target_of(run, frame, node, mask: Mask) -> "Place | Array | Choice":
    """Return the element or the view to which an assignment writes."""
    owner = evaluate(run, frame, node.value, mask)
    if not isinstance(owner, Arrays):
        raise no_elements(frame, node, owner)
    if isinstance(node, ast.Attribute) or is_text(node.slice):
        return _named(run, frame, node, owner, mask)
    index = evaluate(run, frame, node.slice, mask)
    if is_view(owner, index):
        return view(run, frame, node, owner, index, mask)
    return locate(run, frame, node, owner, index, mask)


def _named(run, frame, node, owner: Arrays, mask: Mask) -> Arrays:
    """Return the field of records, or the part of complex numbers, that a subscript or an attribute names."""
    if isinstance(owner, Choice):
        return each(run, owner, mask, lambda one, own: _named(run, frame, node, one, own))
    name = node.attr if isinstance(node, ast.Attribute) else node.slice.value
    if is_record(owner):
        return field(run, frame, node, owner, name)
    if isinstance(node, ast.Attribute) and name in ("real", "imag"):
        return part_of_complex(run, frame, node, owner, name)
    raise unsupported(
        frame, node, of_node(node.slice) if isinstance(node, ast.Subscript) else of_attribute(name)
    )


@handles(ast.Subscript)
def load(run, frame, node: ast.Subscript, mask: Mask):
    """Read an element; return a view if the subscript has slices, or fewer indices than the array has dimensions."""
    owner = evaluate(run, frame, node.value, mask)
    if isinstance(owner, tuple):
        return part_of_tuple(run, frame, node, owner, evaluate(run, frame, node.slice, mask), mask)
    if not isinstance(owner, Arrays):
        raise no_elements(frame, node, owner)
    if is_text(node.slice):
        return loaded(run, frame, node, _named(run, frame, node, owner, mask), mask)
    return element(run, frame, node, owner, evaluate(run, frame, node.slice, mask), mask)


def element(run, frame, node, array: Arrays, index, mask: Mask):
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
    if is_record(array) and isinstance(array, Choice):
        return each(run, array, mask, lambda one, own: element(run, frame, node, one, index, own))
    place = locate(run, frame, node, array, index, mask, doubtful=not is_record(array))
    if is_record(array):
        return replace(array, shape=(), strides=(), offset=place.offset, key=place.key, outer=place.indices)
    return load_place(run, frame, place, mask)


def loaded(run, frame, node, array: Arrays, mask: Mask):
    """Return an array; if the array is a single element, return the element's value."""
    if array.ndim or is_record(array):
        return array
    return load_place(run, frame, locate(run, frame, node, array, (), mask), mask)


def load_place(run, frame, place: Place, mask: Mask, hint: str = "") -> Value:
    """Read the element of each lane. A compiler reuses a loaded value only for a load with the same cache hint."""
    array = place.array
    if run.dry:
        return run.blank(array.type)
    version = _version(run, place)
    what = ("load", version, hint) if hint else ("load", version)
    value, unwritten = None, ()
    for part in place.parts or (place,):
        found = run.given(read(part.array, part), array.type, what, part.key)
        if run.races is not None:
            empty = run.log.access(run, part, "load", VERBS["load"], part.inside, later=True)
            kept = kept_at(run, part, run.log.reads)
            unwritten = together(unwritten, kept, () if empty is None else (empty,))
            recall(part, found)
            run.races.doubts.unproven.lent.look(part.array.region, part.array.dtype.itemsize)
            in_doubt_like(run, found, part.doubtful)
        value = found if value is None else either(run, part.lanes, found, value, place.key)
    if place.parts:
        joined = run.given(value.data, array.type, what, place.key)
        joined.otherwise = value.otherwise
        value = swayed_by(run, joined, place.swayed) if place.swayed else joined
    value.unwritten = unwritten
    return run.ledger.load(place, value)


def _version(run, place: Place):
    """Return the state of the memory that a load reads."""
    spaces = sorted({part.array.space for part in place.parts or (place,)})
    if len(spaces) > 1:
        return tuple(run.versions.get(space, 0) for space in spaces)
    return run.ledger.since(place.key, run.versions.get(spaces[0], 0))


def store(run, frame, node, value, mask: Mask) -> None:
    """Write a value to the target of an assignment: an element, or all elements of a view."""
    target = target_of(run, frame, node, mask)
    if isinstance(target, Arrays) and target.ndim:
        fill(run, frame, node, target, value, mask)
        return
    place = target if isinstance(target, Place) else locate(run, frame, node, target, (), mask)
    if is_record(place.array) and isinstance(value, Arrays) and value.dtype == place.array.dtype:
        _copy_record(run, frame, node, place, value, mask)
    else:
        store_place(run, frame, place, value, mask)


def _record(run, place: Place) -> Arrays:
    """Return the record at a place as an array without dimensions."""
    others = [(_record(run, part), part.lanes) for part in place.parts[1:]]
    array = place.parts[0] if place.parts else place
    first = replace(array.array, shape=(), strides=(), offset=array.offset, key=array.key)
    rest = reduce(Mask.minus, (lanes for _, lanes in others), run.wave.everyone)
    return chosen(run, [(first, rest), *others], place.key) if others else first


def _copy_record(run, frame, node, place: Place, source: Array, mask: Mask) -> None:
    """Write all fields of a record into another one."""
    for name in place.array.dtype.names:

        def part(one, own, name=name):
            return field(run, frame, node, one, name)

        old, new = (each(run, one, mask, part) for one in (source, _record(run, place)))
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
    parts = place.parts or (place,)
    for one in (part.array for part in parts):
        if one.space == "constant" or not one.flat.flags.writeable:
            raise SimtError.at(
                place.where.function,
                place.where.line,
                f"{one.name} cannot be written: "
                + ("it is constant memory." if one.space == "constant" else "the NumPy array is read-only."),
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
    run.ledger.demand(value, mask, moved=True)
    value = swayed_by(run, value, place.swayed) if place.swayed else value
    inside = place.inside
    if inside:
        if run.races is not None:
            value = swayed(run, value)
            for part in parts:
                if part.inside:
                    _check_store(run, part, value)
        if value.product is None or array.dtype.itemsize > 4:
            run.ledger.signed(value, place.where, inside)
        run.ledger.store(place)
        for part in parts:
            write(run, part.array, part.at, value.data, part.inside)
    spaces = {part.array.space for part in parts}
    before = run.versions[array.space]
    run.kill(*spaces)
    if len(spaces) > 1:
        return
    now = run.versions[array.space]
    run.ledger.holds(run.numbering.of(("load", now), place.key), inside)
    run.ledger.stored(place, before)
    for key, lanes in run.ledger.untouched(place, before):
        run.ledger.holds(run.numbering.of(("load", now), key), lanes)


def _check_store(run, place: Place, value: Value) -> None:
    """Look for hazards of a store to one array, and keep what is known of the value."""
    run.log.access(run, place, "store", VERBS["store"], place.inside, stored=value)
    if value.otherwise or run.races.doubts.unproven.kept:
        put_off_doubts(run, place, value)
    remember(run, place, value)
    keep(run, place, value)


def fill(run, frame, node, array: Arrays, value, mask) -> None:
    """Write a number, or the numbers of a tuple, to all elements of a view.

    Raises
    ------
    SimtError
        If the value is an array: Numba would need memory for a copy, which a kernel cannot allocate.
    """
    if isinstance(value, Arrays):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"a kernel cannot copy an array into a slice of {array.name}: "
            "Numba would need memory for it. Copy element by element, in a loop.",
        )
    extents = [1 if run.dry else int(n.data.max(initial=0)) for n in array.shape]
    if isinstance(value, tuple) and not run.dry and (array.ndim != 1 or extents[0] != len(value)):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{len(value)} numbers do not fill a slice of shape {tuple(extents)} of {array.name}.",
        )
    for at in product(*map(range, extents)):
        run.step()
        there = mask
        for n, extent in zip(at, array.shape, strict=True):
            there = there.narrow(n < extent.data) if not run.dry else there
        if there:
            place = locate(run, frame, node, array, tuple(map(run.constant, at)), there)
            store_place(run, frame, place, value[at[0]] if isinstance(value, tuple) else value, there)
