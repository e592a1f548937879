"""Atomic operations: threads that update the same element do so one after another, in the order of their numbers."""

from dataclasses import replace

import numpy as np
from numba.core import types

from course_pkg.core.access import VERBS
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.effects import unused_calls
from course_pkg.simt.memory.doubts import Watched
from course_pkg.simt.memory.fences import Fences
from course_pkg.simt.memory.handover import BITS
from course_pkg.simt.memory.order import SITES
from course_pkg.simt.memory.publications import WORLDS
from course_pkg.simt.memory.races import SWAPS, Access
from course_pkg.simt.memory.regions import Array, Choice
from course_pkg.simt.memory.unwritten import keep, kept_at
from course_pkg.simt.run.choices import each
from course_pkg.simt.run.competing import order_of
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.doubtful import (
    in_doubt_like,
    integers_in_doubt,
    proved_by_swap,
    require_expected,
    require_no_doubt,
)
from course_pkg.simt.run.elements import note_change
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.hindsight import Strand
from course_pkg.simt.run.locating import locate
from course_pkg.simt.run.remembered import memory_name
from course_pkg.simt.run.sketch import note_store
from course_pkg.simt.run.sway import scope, swayed
from course_pkg.simt.run.updating import UFUNCS, apply, in_one_go
from course_pkg.simt.run.values import Value, undefined

COMMUTING = {"sub": "add"}
ARGUMENTS = {"cas": 4, "compare_and_swap": 3}
NEUTRAL = {"add": 0, "sub": 0, "or_": 0, "xor": 0, "and_": -1}  # operands that change nothing
UNSIGNED = ("uint32", "uint64")
INTEGERS = ("int32", "int64", *UNSIGNED)
NUMBERS = ("float32", "float64", *INTEGERS)
TYPES = {  # {operation: the element types for which Numba compiles it for a GPU}
    **dict.fromkeys(("add", "sub", "max", "min", "nanmax", "nanmin"), NUMBERS),
    **dict.fromkeys(("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), INTEGERS),
    **dict.fromkeys(("inc", "dec"), UNSIGNED),
}


_WRITTEN = {"cas": "array, index, expected, value", "compare_and_swap": "array, expected, value"}


def atomic(run, frame, node, name, arguments, mask, behind=None):
    """Let each active lane update an array element atomically; return the old value that each lane found.

    ``behind``: the lanes whose part of the same atomic, in other arrays, is done.
    """
    if arguments and isinstance(arguments[0], Choice):
        return _of_each(run, frame, node, name, arguments, mask)
    wanted = ARGUMENTS.get(name, 3)
    if len(arguments) != wanted or not isinstance(arguments[0], Array):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"cuda.atomic.{name} takes an array and {wanted - 1} more argument(s): write "
            f"cuda.atomic.{name}({_WRITTEN.get(name, 'array, index, value')}).",
        )
    array, index = arguments[0], arguments[1]
    values = arguments[2:]
    if isinstance(index, tuple) and array.ndim == 1:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba's cuda.atomic.{name} takes the index of {array.name} as a number: write it without brackets.",
        )
    if name == "compare_and_swap":
        index, values = run.constant(0), arguments[1:]
    if array.space not in ("global", "shared"):
        raise unsupported(frame, node, f"an atomic operation on {array.space} memory")
    if array.dtype.name not in TYPES[name]:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba's cuda.atomic.{name} takes arrays of "
            f"{', '.join(TYPES[name])}, and {array.name} holds {array.dtype.name}.",
        )
    looks, swaps = node not in unused_calls(frame.program.tree), name in SWAPS[1:]
    place = locate(run, frame, node, array, index, mask, doubtful=looks and swaps)
    if not all(isinstance(v, Value) for v in values):
        raise unsupported(
            frame, node, f"cuda.atomic.{name} with something else than a number", way="pass one number"
        )
    if any(isinstance(v.type, types.Complex) for v in values):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"cuda.atomic.{name} takes no complex number: write .real or .imag.",
        )
    given = [swayed(run, v) for v in values]
    for v in given:
        integers = integers_in_doubt(run, v) if swaps else ()  # a swap that fails stores nothing
        require_no_doubt(run, v, place.inside, place if swaps else None, allowed=integers)
    operands = [cast(run, v, array.type).data for v in values]
    if run.dry:
        run.added |= {
            abs(int(v.number)) for v in values if v.constant and isinstance(v.type, types.Integer)
        } - {0}
        run.fetches |= looks or name in SWAPS
        note_store(run, array)
        return run.blank(array.type)
    run.ledger.flush()
    if looks or name in SWAPS:
        run.clock.fetched(place.inside)
    operation = "load" if _only_loads(name, values) else _commutes_with(name, array.dtype)
    if place.inside:
        run.ledger.atomic(place, name, behind)
        if run.races is not None:
            run.races.doubts.unproven.lent.look(array.region, 0)
            run.races.compete |= looks and (place.inside.threads > 1 or bool(array.region.shadow))
            replaces = operands[0] if operation == "exch" and not looks else None
            for read in () if replaces is not None else kept_at(run, place, run.log.reads):
                read.used_by(place.inside)
            keep(run, place, run.constant(0))
            reads, updates = _failing(run, place, operands[0]) if swaps else (run.wave.nobody, place.inside)
            for lanes, how in ((updates, operation), (reads, "load")):
                if lanes:
                    run.log.access(run, place, "atomic", VERBS["atomic"], lanes, how, looks, replaces)
    old, order = _update(run, name, place, operands, place.inside)
    if run.half is not None:
        run.half.updated()
    if swaps and run.races is not None:
        won = place.inside.narrow((old == operands[0]) & (operands[0] != operands[1]))
        proved_by_swap(run, place, given[0], won)
        require_expected(run, place, *given, won)
    run.kill(array.space)
    value = run.fresh(old, array.type, values, mask)
    if run.races is not None and place.inside and isinstance(array.type, types.Integer):
        value.otherwise = _otherwise(
            run, place, (old, order), (operation, looks, array.floating), operands[0]
        )
        in_doubt_like(run, value, place.doubtful)
    return value


def _of_each(run, frame, node, name, arguments, mask):
    """Do an atomic in each of several arrays, in the lanes that have it: a warp makes one request to each memory."""
    choice, *rest = arguments
    behind: dict = {}  # the lanes that are done, by memory

    def of_one(array, own):
        found = atomic(run, frame, node, name, [array, *rest], own, behind.get(array.space))
        behind[array.space] = own.union(behind[array.space]) if array.space in behind else own
        return found

    with scope(run) as decided:
        decided.update(choice.swayed)
        return each(run, choice, mask, of_one)


def _failing(run, place, expected) -> tuple:
    """Return two masks: the lanes whose swap finds that no lane's expected number is in the element, and the others.

    A swap that fails is a load. It cannot have stored in another order of the threads, either, unless another thread
    changes the element, and then this change is noted.
    """
    at, inside = np.broadcast_to(place.at, run.wave.shape), place.inside
    hit = inside.narrow(place.array.flat[np.where(inside.full, at, 0)] == expected)
    if not hit or hit.threads == inside.threads:
        return (run.wave.nobody, inside) if hit else (inside, run.wave.nobody)
    return inside.split(~np.isin(at, at[hit.full]))


def _commutes_with(name, dtype) -> str:
    """Return one name for all operations that commute; extremes of signed and of unsigned numbers do not."""
    unsigned = dtype.kind == "u" and name in ("max", "min")
    return f"unsigned {name}" if unsigned else COMMUTING.get(name, name)


def _only_loads(name, values) -> bool:
    """Tell whether an atomic leaves every element as it is, in any launch: it adds 0, or swaps like by like."""
    if name in SWAPS[1:]:
        return values[0].key == values[1].key
    return name in NEUTRAL and values[0].constant and values[0].number == NEUTRAL[name]


def _otherwise(run, place, done, way, operand):
    """Record what atomics publish and which results are in doubt; return the other values they might have found."""
    wave, lanes, array, (old, order) = run.wave, place.inside.full, place.array, done
    at, found = np.broadcast_to(place.at, wave.shape)[lanes], old[lanes]
    at, found = at[order], found[order]
    last = np.append(at[1:] != at[:-1], True)
    left = np.where(last, array.flat[at], np.roll(found, -1))
    row, lane = (one[order] for one in np.nonzero(wave.spread(lanes)))
    threads, units = wave.thread_numbers[row, lane], array.units(at)
    held = array.region.held.setdefault(memory_name(array), array.flat.copy())
    might, strands = np.repeat(held[at][None], WORLDS, axis=0), {}
    by, there = wave.thread_numbers.reshape(wave.shape), tuple(one[order] for one in np.nonzero(lanes))
    changed = found != left

    def strand(values, source=None):
        data = np.repeat(old[None], len(values), axis=0)
        data[:, *there] = values
        return Strand(data, by, not changed.any(), source)

    first = changed & (found == undefined(array.dtype))  # the first value written to an element is not a flag
    held[at[changed]] = np.where(first, left, found)[changed]
    if run.races.handovers.active:
        fences = run.clock.fences or Fences(wave)
        mine = np.broadcast_to(operand, wave.shape)[lanes][order]
        stamps = run.clock.stamps()[row, lane]
        event, other = run.races.handovers.bits(
            way[0], array.region, units, threads, stamps, found, left, mine, fences, row, lane
        )
        if event is not None:
            strands[event] = strand(np.repeat(other[None], WORLDS, axis=0))
        others = np.repeat(left[None], WORLDS, axis=0) if way[0] in BITS else _others(found)
        every = units, threads, stamps, found, left, first, might, others, fences, row, lane
        event, worlds = run.races.handovers.atomics(*way[:2], array.region, *every)
        strands[event] = strand(worlds)
        more = (
            run.races.handovers.levels(*way[:2], event, threads, found, left),
            run.races.handovers.stairs(event, threads, found, changed, wave.threads),
        )
        strands |= {event: strand(worlds) for event, worlds in more if event is not None}
    stamps = run.clock.stamps()[row, lane]
    if array.floating:
        site = run.races.site(Access(*place.where, VERBS["atomic"], *way))
        swaps = units[changed], (threads * SITES + site)[changed], stamps[changed]
        array.region.shadow.swappers_of(run.races.order).add(*swaps)
    _tell_changes(run, place, changed, units, threads, stamps, way)
    reads = _only_reads(way[0], np.broadcast_to(operand, wave.shape)[lanes][order], changed)
    watched = way[1] and (way[0] == "exch" or not changed.all())
    if way[1]:
        doubt, whom, over = run.races.fetched(array.region, units, threads, stamps, way, ~changed, reads)
        if doubt.any() and not array.floating:
            strands[run.races.doubts.add(place, threads[doubt], whom[doubt], units[doubt], threads[over])] = (
                strand(might)
            )
    if watched:
        unused = changed & (way[0] != "exch") | doubt
        seen = Watched(_bare(place), wave, array.region, units, threads, stamps, way, reads, ~unused)
        known = zip(threads[doubt].tolist(), whom[doubt].tolist(), strict=True) if array.floating else ()
        strands[run.races.doubts.watch(seen, dict(known))] = strand(_others(found), seen)
    return strands or None


def _bare(place):
    """Return a place whose indices no longer refer to older values, so that a kept read keeps none of them alive."""
    indices = tuple(replace(one, otherwise=None, origin=None) for one in place.indices)
    return replace(place, indices=indices, doubtful=())


def _only_reads(operation, operand, changed):
    """Return which lanes use an atomic only to read their element, such as by adding 0.

    These are the lanes whose operand would change no value: 0 for ``add``, ``or_`` and ``xor``, all bits set for
    ``and_``. The operands of ``max`` and ``min`` do not show this; their lanes count if they have left the element as
    it was. Lanes of other operations, such as a compare-and-swap, do not count.

    If any lane of the statement has changed its element, none counts: the others may have left theirs unchanged by
    chance. For example, each block adds the number of matches that it has found, and a block without matches adds 0.
    """
    if changed.any():
        return np.zeros(len(changed), bool)
    if operation.endswith(("max", "min")):
        return ~changed
    if operation not in NEUTRAL:
        return np.zeros(len(changed), bool)
    return operand == np.array(NEUTRAL[operation]).astype(operand.dtype)


def _tell_changes(run, place, changed, units, threads, stamps, way) -> None:
    """Tell earlier atomics, whose values are watched, that this atomic changes their elements, in no order with them.

    The values become doubtful. If a thread has stored its value by now, that is reported.
    """
    if changed.any():
        site = run.races.site(Access(*place.where, VERBS["atomic"], *way))
        told = units[changed], (threads * SITES + site)[changed], stamps[changed], way, run.races.unordered
        for found in run.races.doubts.changed(run.wave, place.array.region, *told):
            run.log.fetched(run, *found)


def _others(found):
    """Return alternatives to the values that atomics found, one row for each hypothetical world."""
    one = np.ones_like(found)
    near = (found + one, found - one, found + 2 * one, found - 2 * one)  # unsigned numbers wrap around
    return np.stack([*near, found ^ one, np.where(found == 0, 3, 0), np.where(found == 1, 3, 1)]).astype(
        found.dtype
    )


def _update(run, name, place, values, mask):
    """Apply the updates one after another; return the old values, of the wave's shape, and the order of the lanes."""
    shape, flat = run.wave.shape, place.array.flat
    old = np.zeros(shape, flat.dtype)
    if not mask:
        return old, None
    chosen, lots = mask.full, run.launch.lots
    at = np.broadcast_to(place.at, shape)[chosen]
    before = flat[at] if run.watching else None
    operands = [np.broadcast_to(v, shape)[chosen] for v in values]
    found, all_find = np.empty(at.size, flat.dtype), flat[at]
    order = order_of(lots, at, run.wave.thread_numbers.reshape(shape)[chosen])
    sorted_at = at[order]
    starts = np.flatnonzero(np.r_[True, sorted_at[1:] != sorted_at[:-1]])
    sizes = np.diff(np.r_[starts, at.size])
    if len(starts) <= sizes.max() and name in (*UFUNCS, *SWAPS):
        for start, size in zip(starts, sizes, strict=True):  # few elements, many updates of each
            group = order[start : start + size]
            place_number = sorted_at[start]
            steps = in_one_go(name, flat[place_number : place_number + 1], [v[group] for v in operands])
            found[group], flat[place_number] = steps[:-1], steps[-1]
    else:
        for turn in range(
            int(sizes.max())
        ):  # many elements: the first update of each, then the second of each, …
            lanes = order[starts[sizes > turn] + turn]
            now = flat[at[lanes]]
            found[lanes] = now
            flat[at[lanes]] = apply(name, now, [v[lanes] for v in operands])
    old[chosen] = all_find if lots is not None and lots.all_first else found
    if before is not None:
        note_change(run, place.array, (before != flat[at]).any())
    return old, order
