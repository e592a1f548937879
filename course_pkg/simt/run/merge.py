"""Merge the values that a variable has after two branches: some lanes have one value, the others another."""

import numpy as np

from course_pkg.simt.front.typing import dtype_of, unify
from course_pkg.simt.memory.regions import Arrays
from course_pkg.simt.memory.unwritten import of_either
from course_pkg.simt.run.choices import chosen, not_alike
from course_pkg.simt.run.hindsight import follow_either
from course_pkg.simt.run.named import rebuilt
from course_pkg.simt.run.sequences import Iterator, Passing, place_in
from course_pkg.simt.run.values import Sequence, Value


def merge(run, mask, new, old, seen=True):
    """Return ``new`` in the active lanes and ``old`` in the others.

    ``seen``: whether a later statement may read the variable. If not, the merge does not count as a use of the values.
    """
    if isinstance(new, Value) and isinstance(old, Value):
        if new is old:
            return new

        def pick(a, b):
            return _choose(mask, a, b)

        if new.key == old.key and new.type == old.type:
            # lanes of one branch may have changed memory before they loaded, so each lane keeps the value it loaded
            data = new.data if new.data is old.data else _choose(mask, new.data, old.data)
            constant = new.constant and old.constant
            value = run.derived(data, new.type, new.key, (new, old), mask, constant)
            value.unwritten = of_either(mask, new, old)
            return follow_either(value, pick, pick, new, old)
        for value in (new, old) if seen else ():
            run.ledger.use(value)
            run.ledger.settle(value)
        numba_type = unify(new.type, old.type)
        dtype = dtype_of(numba_type)

        def choose(a, b):
            return _choose(mask, a.astype(dtype, copy=False), b.astype(dtype, copy=False))

        value = run.fresh(choose(new.data, old.data), numba_type)
        value.unwritten = of_either(mask, new, old)
        return follow_either(value, choose, pick, new, old)
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        return rebuilt(new, (merge(run, mask, a, b, seen) for a, b in zip(new, old, strict=True)))
    if new is old:
        return new
    if isinstance(new, Arrays) and isinstance(old, Arrays):
        return chosen(run, [(new, mask), (old, run.wave.everyone.minus(mask))])
    if isinstance(new, Sequence) and type(new) is type(old):
        return _merged(run, mask, new, old, seen)
    if new is None or old is None:
        return new if old is None else old
    raise not_alike()


def _merged(run, mask, new: Sequence, old: Sequence, seen):
    """Merge two sequences, or two iterators; for these, note that each of them may have another name."""
    merged = type(new)(
        *(merge(run, mask, getattr(new, part), getattr(old, part), seen) for part in new.parts)
    )
    if isinstance(new, Iterator):
        new.torn = old.torn = True
    elif isinstance(new, Passing) and (new.place or old.place):
        places = [place_in(run, one) for one in (new, old)]
        for place in places:
            place.torn = True
        merged.place = Iterator(merged, merge(run, mask, *(place.at for place in places), seen))
    return merged


def _choose(mask, new, old):
    return np.broadcast_arrays(new, old)[0] if mask.data is None else np.where(mask.data, new, old)
