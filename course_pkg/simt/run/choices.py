"""Arrays that differ between threads. What is done with such a choice is done with each array, in the lanes of it.

A GPU makes one access for all lanes. So a :class:`~course_pkg.simt.run.elements.Place` of a choice has a part for each
array: the parts are checked for hazards, read and written one by one, and the ledger counts them together.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from course_pkg.simt.errors import Unsupported
from course_pkg.simt.front.instead import refusal
from course_pkg.simt.front.typing import INT64
from course_pkg.simt.memory.regions import TORN, Array, Arrays, Choice
from course_pkg.simt.memory.unwritten import of_either
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.hindsight import follow, follow_either
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.named import rebuilt
from course_pkg.simt.run.sway import swayed_by
from course_pkg.simt.run.values import Value


def each(run, thing, mask: Mask, do) -> Any:
    """Return ``do(array, lanes)``, called for each array of a choice in its lanes of the mask; the results are joined.

    ``thing`` may be a single array as well.
    """
    if not isinstance(thing, Choice):
        return do(thing, mask)
    ways = ways_in(run, thing, mask)
    (_, array, own), *others = ways
    result = do(array, own)
    for _, array, own in others:
        result = either(run, own, do(array, own), result, thing.key)
    return swayed_by(run, result, thing.swayed) if thing.swayed else result


def ways_in(run, choice: Choice, mask: Mask) -> list:
    """Return the number of each array that some lane of a mask has, the array, and these lanes.

    Each array gets a value number that no other name of it has: a compiler does not see which array it is.
    """
    found = []
    for number, (array, lanes) in enumerate(choice.ways):
        own = mask if lanes.data is None else mask.narrow(lanes.data)
        if own or not (mask or number):
            key = run.numbering.of(("way", number), choice.key)
            found.append((number, replace(array, key=key), own))
    return found


def either(run, lanes: Mask, new, old, key: int):
    """Return ``new`` in some lanes and ``old`` in the others; both were made of the choice of this value number."""
    if new is old:
        return old
    if isinstance(new, Value) and isinstance(old, Value) and new.type == old.type:
        if new.key == old.key and new.constant == old.constant:
            return old
        pick = partial(_chosen, lanes)
        number = run.numbering.of(("either", key), new.key, old.key)
        value = run.derived(pick(new.data, old.data), new.type, number, (new, old), lanes)
        value.unwritten = of_either(lanes, new, old)
        return follow_either(value, pick, pick, new, old)
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        return rebuilt(old, (either(run, lanes, a, b, key) for a, b in zip(new, old, strict=True)))
    if isinstance(new, Arrays) and isinstance(old, Arrays):
        return chosen(run, [(new, lanes), (old, run.wave.everyone.minus(lanes))], key)
    if type(new) is type(old) and getattr(new, "type", None) == getattr(old, "type", new):
        return old
    raise not_alike()


def not_alike() -> Unsupported:
    """Return the error for things of different kinds under one name."""
    return Unsupported.of(
        refusal(
            "a name that stands for one array or function in some threads and for another one in others",
            "write if and else around the two uses",
            compiled=True,
        )
    )


def chosen(run, pairs: list, key: int | None = None) -> Array | Choice:
    """Return what a name stands for that is each of several arrays or choices in some lanes.

    Parameters
    ----------
    pairs : list of (Array or Choice, Mask)
        Each lane of the wave is in one of the masks.
    key : int, optional
        The value number of what chose them; without it, the choice equals no other one.

    Raises
    ------
    Unsupported
        If the types of the arrays differ.
    """
    ways: list = []
    sways: dict = {}
    for thing, lanes in pairs:
        if isinstance(thing, Choice):
            sways |= thing.swayed
        for array, own in thing.ways if isinstance(thing, Choice) else ((thing, run.wave.everyone),):
            both = lanes if own.data is None else lanes.narrow(own.data)
            if both:
                _add(run, ways, array, both)
    arrays = (array.key for array, _ in ways)
    number = run.numbering.fresh() if key is None else run.numbering.of("choice", key, *arrays)
    return _made(run, ways, number, sways)


def _made(run, ways: list, key: int, sways: dict) -> Array | Choice:
    if len(ways) == 1 and not sways:
        return ways[0][0]
    shape = ways[0][0].shape
    for array, lanes in ways[1:]:
        shape = tuple(_extent(run, lanes, a, b) for a, b in zip(array.shape, shape, strict=True))
    return Choice(tuple(ways), shape, key, sways)


def _add(run, ways: list, array: Array, lanes: Mask) -> None:
    """Add an array to those of a choice; a view of the memory of one of them becomes one view with it."""
    for number, (other, have) in enumerate(ways):
        if (array.type, array.ndim) != (other.type, other.ndim):
            raise not_alike()
        view = other if array is other else merge_views(run, lanes, array, other)
        if view is not None:
            ways[number] = view, have.union(lanes)
            return
    if array.space == "local":
        array.region.constant_index_only = False  # its address is chosen, so that it cannot stay in registers
    if len(ways) == 1 and ways[0][0].space == "local":
        ways[0][0].region.constant_index_only = False
    ways.append((array, lanes))


def merge_views(run, mask, new: Array, old: Array) -> Array | None:
    """Return a view that is ``new`` in active lanes and ``old`` in the others; None if memory or layout differ."""
    if (new.type, new.ndim, new.strides) != (old.type, old.ndim, old.strides) or not _same_memory(new, old):
        return None
    offset = _chosen(mask, new.offset, old.offset)
    shape = tuple(_extent(run, mask, a, b) for a, b in zip(new.shape, old.shape, strict=True))
    key = new.key if new.key == old.key else run.numbering.fresh()
    passing = new.passing if new.passing is old.passing else TORN
    return replace(new, shape=shape, offset=offset, key=key, passing=passing)


def _same_memory(one: Array, other: Array) -> bool:
    first, second = (a.flat.__array_interface__["data"][0] for a in (one, other))
    return one.region is other.region and first == second and one.extent == other.extent


def _extent(run, mask, new: Value, old: Value) -> Value:
    if new is old or new.key == old.key:
        return new
    a, b = cast(run, new, INT64), cast(run, old, INT64)
    merged = run.fresh(_chosen(mask, a.data, b.data), INT64, (new, old), mask)
    return follow(merged, lambda one, other: _chosen(mask, one, other), a, b)


def _chosen(mask, new: Any, old: Any):
    return new if mask.data is None else np.where(mask.data, new, old)
