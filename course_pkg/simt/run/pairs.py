"""``load_pair`` and ``store_pair``: load or store two neighbouring elements by one access."""

import numpy as np
from numba.core import types

from course_pkg.core.access import VERBS
from course_pkg.simt.errors import SimtError
from course_pkg.simt.memory.regions import Array, Choice
from course_pkg.simt.run.choices import each, ways_in
from course_pkg.simt.run.doubtful import require_no_doubt
from course_pkg.simt.run.elements import Place, read, write
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.locating import locate
from course_pkg.simt.run.sketch import note_store
from course_pkg.simt.run.sway import swayed
from course_pkg.simt.run.values import Value

PAIRED = (np.float64, np.float32)


def load_pair(run, frame, node, name, arguments, named, mask):
    """Return elements ``index`` and ``index + 1`` of a vector in global memory."""
    if arguments and isinstance(arguments[0], Choice):
        return _of_each(run, frame, node, name, arguments, mask, load_pair)
    places = _places(run, frame, node, name, arguments, 2, mask)
    array = places[0].array
    if run.dry:
        return tuple(run.blank(array.type) for _ in places)
    version, inside = run.versions["global"], places[1].inside
    once = run.numbering.of(("load pair", version), places[0].key)
    values = []
    for place in places:
        value = run.given(read(array, place), array.type, ("load", version), place.key)
        if run.races is not None:
            run.log.access(run, place, "load", VERBS["load"], place.inside)
        values.append(value)
    run.ledger.load_pair(places, values, once, inside)
    return tuple(values)


def store_pair(run, frame, node, name, arguments, named, mask):
    """Write two numbers to elements ``index`` and ``index + 1`` of a vector in global memory."""
    if arguments and isinstance(arguments[0], Choice):
        return _of_each(run, frame, node, name, arguments, mask, store_pair)
    places = _places(run, frame, node, name, arguments, 4, mask)
    array = places[0].array
    if not array.flat.flags.writeable:
        raise SimtError.at(
            frame.program.name, node.lineno, f"{array.name} cannot be written: the NumPy array is read-only."
        )
    values = [cast(run, v, array.type) for v in arguments[2:]]
    if run.dry:
        note_store(run, array)
        return
    for place, value in zip(places, values, strict=True):
        run.ledger.demand(value, mask)
        if not place.inside:
            continue
        if run.races is not None:
            run.log.access(run, place, "store", VERBS["store"], place.inside)
            require_no_doubt(run, swayed(run, value), place.inside)
        write(run, array, place.at, value.data, place.inside)
    inside = places[1].inside
    if inside:
        run.ledger.store_pair(places, run.numbering.of("pair", places[0].key), inside)
    run.kill(array.space)
    for place in places:
        key = run.numbering.of(("load", run.versions[array.space]), place.key)
        run.ledger.holds(key, inside)


def _of_each(run, frame, node, name, arguments, mask, do):
    """Do an access in each of several arrays, in the lanes that have it; as many requests are counted."""
    if len(ways_in(run, arguments[0], mask)) > 1:
        run.ledger.several("global", "load" if do is load_pair else "store", frame.program.name, node.lineno)
    first, *rest = arguments
    return each(run, first, mask, lambda one, own: do(run, frame, node, name, [one, *rest], {}, own))


def _places(run, frame, node, name, arguments, wanted, mask) -> tuple[Place, Place]:
    where = frame.program.name, node.lineno
    if len(arguments) != wanted:
        raise SimtError.at(
            *where,
            f"{name} takes {'an array and an index' if wanted == 2 else 'an array, an index and two numbers'}.",
        )
    array, index = arguments[:2]
    whole = isinstance(array, Array) and array.ndim == 1 and (run.dry or array.strides[0] == 1)
    if not whole or array.space != "global":
        raise SimtError.at(
            *where, f"{name} takes a contiguous vector in global memory: pass u.reshape(u.size)."
        )
    if array.dtype not in PAIRED:
        raise SimtError.at(
            *where, f"{name} takes float64 or float32 numbers, and {array.name} holds {array.dtype}."
        )
    if not isinstance(index, Value) or not isinstance(index.type, types.Integer):
        raise SimtError.at(*where, f"the index of {name} is an integer.")
    first = locate(run, frame, node, array, index, mask)
    next_data = index.data + index.data.dtype.type(1)
    following = run.view(index, next_data, index.type, run.numbering.plus(index.key, 1))
    second = locate(run, frame, node, array, following, first.inside)
    if not run.dry:
        _require_aligned(where, name, first)
    return first, second


def _require_aligned(where, name, place):
    array, unit = place.array, 2 * place.array.dtype.itemsize
    odd = place.inside.narrow((place.at * array.dtype.itemsize + array.byte0) % unit != 0)
    if odd:
        raise SimtError.at(
            *where,
            f"{name} touches a pair of {array.name} that does not begin at a multiple of {unit} bytes: a GPU "
            "stops there with 'misaligned address'. Pairs begin at elements of even number, in each row.",
        )
