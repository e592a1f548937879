"""The sequences that a ``for`` can run over: ranges, arrays, tuples, ``enumerate``, ``zip`` and others."""

import ast
from dataclasses import replace
from functools import reduce

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.typing import INT64
from course_pkg.simt.memory.regions import TORN, Arrays, Choice
from course_pkg.simt.run.access import element, loaded, locate
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.expressions import binary, cast, evaluate
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.needed import require_numbers
from course_pkg.simt.run.sequences import (
    SEQUENCES,
    Elements,
    Enumerated,
    Flat,
    Indices,
    Iterator,
    Passing,
    Zipped,
    begun,
    draws,
    goes_on,
    is_flat,
    place_in,
)
from course_pkg.simt.run.tuples import part_of_tuple
from course_pkg.simt.run.values import Range, Value


def sequence_of(run, frame, node, mask):
    """Evaluate the sequence, or the iterator, that a loop runs over. A list in the source is treated as a tuple."""
    if isinstance(node, ast.List):
        node = ast.copy_location(ast.Tuple(node.elts, node.ctx), node)
    sequence = evaluate(run, frame, node, mask)
    if isinstance(sequence, Iterator):
        fresh = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "iter" and not sequence.again
        if not fresh:
            return sequence
        sequence = sequence.sequence
    iterator = iterator_of(run, frame, sequence, node)
    if iterator is not None:
        return iterator
    if isinstance(sequence, Arrays) and not sequence.ndim:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{ast.unparse(node)} is a single element, and no loop can run over it.",
        )
    if not isinstance(sequence, SEQUENCES):
        raise unsupported(
            frame,
            node,
            "a loop over something else than a range, an array or a tuple",
            way="loop over range(n), an array or a tuple",
        )
    return sequence


def enumerated(run, frame, node, arguments) -> Enumerated:
    """Return the sequence ``enumerate(…)`` for its arguments."""
    if not 1 <= len(arguments) <= 2 or not isinstance(arguments[0], (*SEQUENCES, Iterator)):
        raise SimtError.at(
            frame.program.name, node.lineno, "enumerate takes a range, an array or a tuple, and a start."
        )
    (sequence,) = _sources(run, frame, node, arguments[:1])
    return Enumerated(sequence, arguments[1] if len(arguments) == 2 else run.constant(0))


def zipped(run, frame, node, arguments) -> Zipped:
    """Return the sequence ``zip(…)`` for its arguments."""
    if not arguments or not all(isinstance(a, (*SEQUENCES, Iterator)) for a in arguments):
        raise SimtError.at(frame.program.name, node.lineno, "zip takes ranges, arrays and tuples.")
    return Zipped(tuple(_sources(run, frame, node, arguments)))


def iterator_of(run, frame, sequence, node) -> Iterator | None:
    """Return the iterator behind a sequence from which others may take items, too; None for any other sequence.

    ``node`` is the expression that gives the sequence.
    """
    if isinstance(sequence, Iterator):
        return sequence
    if isinstance(sequence, Passing):
        return place_in(run, sequence) if draws(sequence) or goes_on(frame.program.tree, node) else None
    tree, passing = frame.program.tree, getattr(sequence, "passing", None)
    torn = passing is TORN or (isinstance(sequence, Choice) and is_flat(tree, node))
    if not (torn or passing) or not goes_on(tree, node):
        return None
    if torn:
        raise unsupported(
            frame,
            node,
            f"{ast.unparse(node)}, which goes through other elements in other threads,",
            way="write .flat behind the `in` of the loop",
            compiled=True,
        )
    if passing.place is None:
        passing.place = begun(run, replace(sequence, passing=None))
    return passing.place


def _sources(run, frame, node, arguments) -> list:
    """Return the arguments of ``zip`` or ``enumerate``; if one of them is an iterator, return iterators for all."""
    nodes = node.args if len(node.args) >= len(arguments) else [None] * len(arguments)
    found = [iterator_of(run, frame, *pair) for pair in zip(arguments, nodes, strict=False)]
    if not any(found):
        return arguments
    return [
        known or (place_in(run, one) if isinstance(one, Passing) else begun(run, one))
        for known, one in zip(found, arguments, strict=True)
    ]


def written_out(run, sequence) -> tuple | None:
    """Return the items of a sequence made only of tuples, whose loop is unrolled; None for any other sequence."""
    if isinstance(sequence, tuple):
        return sequence
    if isinstance(sequence, Enumerated) and sequence.start.constant:
        parts = written_out(run, sequence.sequence)
        first = sequence.start.number
        return None if parts is None else tuple((run.constant(first + i), p) for i, p in enumerate(parts))
    if isinstance(sequence, Zipped):
        several = [written_out(run, one) for one in sequence.sequences]
        return None if None in several else tuple(zip(*several, strict=False))
    return None


def counted_by(run, sequence, mask) -> Range:
    """Return the range of the counter of a loop over a sequence; a range is its own counter."""
    if isinstance(sequence, Range):
        return sequence
    return Range(run.constant(0), cast(run, length_of(run, sequence, mask), INT64), run.constant(1))


def length_of(run, sequence, mask) -> Value:
    """Return the number of items of a sequence."""
    if isinstance(sequence, Arrays):
        return sequence.shape[0]
    if isinstance(sequence, tuple):
        return run.constant(len(sequence))
    if isinstance(sequence, (Flat, Elements, Indices)):
        return sequence.size
    if isinstance(sequence, Enumerated):
        return length_of(run, sequence.sequence, mask)
    if isinstance(sequence, Zipped):
        lengths = [cast(run, length_of(run, one, mask), INT64) for one in sequence.sequences]
        return reduce(lambda a, b: _smaller(run, a, b, mask), lengths)

    def counted(first, last, by):
        first, last, by = (data.astype(np.int64) for data in (first, last, by))
        return np.maximum(0, -((first - last) // np.where(by == 0, 1, by)))

    ends = sequence.start, sequence.stop, sequence.step
    key = run.numbering.of("trips", *(v.key for v in ends))
    constant = all(v.constant for v in ends)
    return follow(
        run.derived(counted(*(v.data for v in ends)), INT64, key, ends, mask, constant), counted, *ends
    )


def _smaller(run, a: Value, b: Value, mask) -> Value:
    if a.key == b.key:
        return a
    key = run.numbering.of("shorter", *sorted((a.key, b.key)))
    value = run.derived(np.minimum(a.data, b.data), INT64, key, (a, b), mask, a.constant and b.constant)
    return follow(value, np.minimum, a, b)


def item_of(run, frame, node, sequence, at: Value, mask):
    """Return the item that a loop's target gets in trip ``at``. For a range, ``at`` is the item itself."""
    if isinstance(sequence, Range):
        return at
    return _part(run, frame, ast.copy_location(ast.Constant(0), node), sequence, at, mask)


def _part(run, frame, node, sequence, at: Value, mask):
    if isinstance(sequence, Arrays):
        return loaded_part(run, frame, node, sequence, at, mask)
    if isinstance(sequence, tuple):
        return part_of_tuple(run, frame, node, sequence, at, mask)
    if isinstance(sequence, Indices):
        return _place(run, frame, node, sequence.shape, at, mask)
    if isinstance(sequence, Flat):
        indices = _place(run, frame, node, sequence.array.shape, at, mask)
        return loaded_part(run, frame, node, sequence.array, indices, mask)
    if isinstance(sequence, Elements):
        indices = _place(run, frame, node, sequence.array.shape, at, mask)
        found = locate(run, frame, node, sequence.array, indices, mask)
        return replace(sequence.array, shape=(), strides=(), offset=found.offset, key=found.key)
    if isinstance(sequence, Enumerated):
        number = at
        if not sequence.start.constant or sequence.start.number:
            number = binary(run, frame, node, ast.Add(), at, sequence.start, mask)
        return number, _part(run, frame, node, sequence.sequence, at, mask)
    if isinstance(sequence, Zipped):
        return tuple(_part(run, frame, node, one, at, mask) for one in sequence.sequences)
    step = binary(run, frame, node, ast.Mult(), at, sequence.step, mask)
    return cast(run, binary(run, frame, node, ast.Add(), sequence.start, step, mask), sequence.start.type)


def _place(run, frame, node, shape, at: Value, mask) -> tuple:
    """Return the indices of element number ``at``, where elements are numbered in row-major order."""
    indices = []
    for extent in shape[:0:-1]:
        indices.append(binary(run, frame, node, ast.Mod(), at, extent, mask))
        at = binary(run, frame, node, ast.FloorDiv(), at, extent, mask)
    return (at, *reversed(indices))


def indices_of(run, frame, node, arguments, mask) -> Indices:
    """Return the sequence ``numpy.ndindex(…)`` for its arguments."""
    shape = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], tuple) else tuple(arguments)
    if not shape or not all(isinstance(n, Value) for n in shape):
        raise SimtError.at(frame.program.name, node.lineno, "ndindex takes integers, or a shape.")
    size = shape[0]
    for extent in shape[1:]:
        size = binary(run, frame, node, ast.Mult(), size, extent, mask)
    return Indices(shape, size)


def loaded_part(run, frame, node, array: Arrays, at: Value, mask):
    """Return element ``at`` of a vector, or row ``at`` of another array."""
    found = element(run, frame, node, array, at, mask)
    return loaded(run, frame, node, found, mask) if isinstance(found, Arrays) else found


def taken_apart(run, frame, target, value: Arrays, mask) -> tuple:
    """Return the elements that an assignment such as ``x, y = a`` gives to the names on the left.

    Raises
    ------
    SimtError
        If the number of elements differs from the number of names.
    """
    names, extent = len(target.elts), value.shape[0] if value.ndim else None
    wrong = extent is not None and not run.dry and mask.narrow(extent.data != names)
    if extent is None or wrong:
        found = "one" if extent is None else int(run.wave.spread(extent.data)[run.wave.spread(wrong.full)][0])
        raise SimtError.at(
            frame.program.name, target.lineno, f"{names} names on the left, {found} element(s) on the right."
        )
    return tuple(loaded_part(run, frame, target, value, run.constant(at), mask) for at in range(names))


def made_range(run, frame, node, arguments):
    """Return a range, with the type that Numba gives its numbers.

    The type is int32 if all arguments are signed with at most 32 bits, uint64 if all are unsigned with 64 bits, and
    int64 otherwise.
    """
    if not 1 <= len(arguments) <= 3 or not all(isinstance(a, Value) for a in arguments):
        require_numbers(frame, *zip(node.args, arguments, strict=False))
        raise unsupported(frame, node, "range of something else than one to three integers")
    if any(isinstance(a.type, types.Complex) for a in arguments):
        raise SimtError.at(frame.program.name, node.lineno, "range takes integers.")
    arguments = [a if isinstance(a.type, types.Integer) else cast(run, a, INT64) for a in arguments]
    start, stop = (run.constant(0), arguments[0]) if len(arguments) == 1 else arguments[:2]
    step = arguments[2] if len(arguments) == 3 else run.constant(1)
    narrow = all(a.type.bitwidth <= 32 and a.type.signed for a in arguments)
    unsigned = all(not a.type.signed and a.type.bitwidth == 64 for a in arguments)
    kind = types.int32 if narrow else types.uint64 if unsigned else INT64
    return Range(*(cast(run, v, kind) for v in (start, stop, step)))
