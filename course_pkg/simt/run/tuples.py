"""Tuples, whose index may differ between threads, and CUDA's short vectors."""

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.vectors import parts_of
from course_pkg.simt.memory.regions import Arrays
from course_pkg.simt.memory.unwritten import of_choice, together
from course_pkg.simt.run.choices import chosen
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.doubtful import require_no_doubt
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.sketch import any_of, of_one_type, require_one_layout
from course_pkg.simt.run.values import Value


def part_of_tuple(run, frame, node, values: tuple, index, mask):
    """Return ``values[index]``.

    Raises
    ------
    SimtError
        If the tuple has no such part.
    Unsupported
        If the index differs between threads, and the parts have different types or are not numbers.
    """
    if not isinstance(index, Value):
        return _slice(run, frame, node, values, index)
    if isinstance(index.type, types.Boolean):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "Numba takes no truth value as the index of a tuple: write int(…) around it.",
        )
    if index.constant:
        return values[_within(frame, node, values, index.number)]
    if not of_one_type(values):
        raise unsupported(
            frame, node, "an item, chosen by a variable, of a tuple whose items have different types"
        )
    way = "write `x if condition else y`, or if and else around its uses"
    require_one_layout(run, frame, node, values, "an item, chosen by a variable, of", way)
    if run.dry:
        return any_of(run, values)
    run.ledger.demand(index, mask)
    if index.uniform and not index.otherwise:
        return values[_within(frame, node, values, index.number)]
    fits = (index.data >= -len(values)) & (index.data < len(values))
    if mask.narrow(fits) is not mask:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"some threads choose a part that the tuple of {len(values)} does not have.",
        )
    return _chosen(run, frame, node, values, index, mask)


def _within(frame, node, values, at: int) -> int:
    if not -len(values) <= at < len(values):
        size = f"{len(values)} element{'' if len(values) == 1 else 's'}"
        raise SimtError.at(frame.program.name, node.lineno, f"the tuple has {size} and no [{at}].")
    return at


def _slice(run, frame, node, values, index):
    parts = getattr(index, "parts", None)
    if parts is None or not all(p.constant for p in parts):
        raise unsupported(frame, node, "a tuple's element chosen by something else than an integer")
    ends = (None if p is None else p.number for p in (index.start, index.stop, index.step))
    return values[slice(*ends)]


def _chosen(run, frame, node, values, index, mask):
    """Return, for each lane, the part of a tuple that the lane's index selects."""
    if isinstance(values[0], tuple):
        return tuple(_chosen(run, frame, node, one, index, mask) for one in zip(*values, strict=True))
    if all(isinstance(v, Arrays) for v in values):
        return _chosen_array(run, values, index, mask)
    if not all(isinstance(v, Value) for v in values):
        raise unsupported(
            frame,
            node,
            "a function chosen by a value that differs between threads",
            way="write if and else around its uses, with one function in each",
            compiled=True,
        )

    def choose(at, *data):
        at, result = np.where(at < 0, at + len(data), at), data[0]
        for number, one in enumerate(data):
            result = np.where(at == number, one, result)
        return result

    key = run.numbering.of("item", index.key, *(v.key for v in values))
    value = run.derived(
        choose(index.data, *(v.data for v in values)), values[0].type, key, (index, *values), mask
    )
    at = np.where(index.data < 0, index.data + len(values), index.data)
    ways = [(at == number, one) for number, one in enumerate(values)]
    value.unwritten = together(index.unwritten, of_choice(*ways))
    return follow(value, choose, index, *values)


def _chosen_array(run, values, index, mask):
    """Return what a name stands for that is another array in each lane; an index in doubt is reported."""
    require_no_doubt(run, index, mask)
    at = np.where(index.data < 0, index.data + len(values), index.data)
    at = np.clip(np.where(mask.full, at, 0), 0, len(values) - 1)
    pairs = [(one, run.wave.everyone.narrow(at == number)) for number, one in enumerate(values)]
    return chosen(run, pairs, run.numbering.of("item", index.key, *(v.key for v in values)))


def vector(run, frame, node, name, arguments, named, mask):
    """Make a short vector from numbers and shorter vectors, which supply its parts in order."""
    kind, count = parts_of(name)
    parts = [part for one in arguments for part in (one if isinstance(one, tuple) else (one,))]
    if named or len(parts) != count or not all(isinstance(part, Value) for part in parts):
        raise SimtError.at(frame.program.name, node.lineno, f"cuda.{name} takes {count} number(s).")
    return tuple(cast(run, part, getattr(types, kind)) for part in parts)
