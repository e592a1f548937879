"""``iter`` and ``next``: an iterator is a sequence, with the number of the next item in each thread.

A loop over an iterator that has a name is a ``while``: it goes on where ``next`` or an earlier loop has stopped.
"""

import ast
from functools import cache
from typing import Any

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.typing import INT64
from course_pkg.simt.run.comparisons import joined
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.doubtful import require_no_doubt
from course_pkg.simt.run.expressions import binary, cast, evaluate, handles
from course_pkg.simt.run.iteration import item_of, iterator_of, length_of
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.sequences import SEQUENCES, Iterator, Passing, Zipped, begun, draws, place_in
from course_pkg.simt.run.sketch import of_one_type, require_one_layout
from course_pkg.simt.run.values import Range, Value


def made_iterator(run, frame, node, arguments, mask) -> Iterator:
    """Return ``iter(sequence)``."""
    (given,) = arguments if len(arguments) == 1 else (None,)
    if isinstance(given, Iterator):
        given.again = True
        return given
    known = iterator_of(run, frame, given, node.args[0] if node.args else None)
    if known is not None:
        known.again = True
        return known
    if isinstance(given, Passing):
        return place_in(run, given)
    if not isinstance(given, SEQUENCES):
        raise SimtError.at(frame.program.name, node.lineno, "iter takes a range, an array or a tuple.")
    return begun(run, given)


class More(ast.expr):
    """An expression that no source has: whether the iterator of the name ``of`` has a further item."""

    _fields = ("of",)


class Next(ast.expr):
    """An expression that no source has: the next item of the iterator of the name ``of``."""

    _fields = ("of",)


@cache
def as_while(node: ast.For) -> tuple[str, ast.While]:
    """Return a name for the iterator of a loop, and a ``while`` that does what the loop does."""
    name = f".iterator {node.lineno} {node.col_offset}"  # not a valid Python name, so no variable has it
    of = ast.Name(name, ast.Load())
    begins = ast.copy_location(ast.Assign([node.target], Next(of)), node)
    made = ast.copy_location(ast.While(More(of), [begins, *node.body], node.orelse), node)
    return name, ast.fix_missing_locations(made)


@handles(More)
def _more(run, frame, node, mask) -> Value:
    given = evaluate(run, frame, node.of, mask)
    if draws(given.sequence):
        more, given.item = _drawn(run, frame, node, given, mask)
        return more
    return _has_more(run, frame, node, given, mask)


@handles(Next)
def _next(run, frame, node, mask) -> Any:
    given = evaluate(run, frame, node.of, mask)
    return given.item if draws(given.sequence) else _advanced(run, frame, node, given, mask)


def _has_more(run, frame, node, given: Iterator, mask) -> Value:
    length = cast(run, length_of(run, given.sequence, mask), INT64)
    return binary(run, frame, node, ast.Lt(), given.at, length, mask)


def _drawn(run, frame, node, given: Iterator, mask) -> tuple[Value, Any]:
    """Return in which lanes an iterator has a further item, and take it there; the item is None if no lane has one.

    Like Numba, ``zip`` asks one iterator after the other, so that the first ones lose an item if a later one has none.
    """
    sequence, at = given.sequence, given.at
    _require_one_name(frame, node, given)
    if not draws(sequence):
        more = _has_more(run, frame, node, given, mask)
        lanes = mask if run.dry else mask.split(more.data)[0]
        return more, (_advanced(run, frame, node, given, lanes) if lanes else None)
    more, items, lanes = None, [], mask
    for one in sequence.sequences if isinstance(sequence, Zipped) else (sequence.sequence,):
        has, item = _drawn(run, frame, node, one, lanes)
        more = has if more is None else joined(run, True, more, has, mask)
        lanes = lanes if run.dry else lanes.split(has.data)[0]
        if not lanes:
            return more, None
        items.append(item)
    if not run.dry:
        given.at = merge(run, lanes, binary(run, frame, node, ast.Add(), at, run.constant(1), lanes), at)
    if isinstance(sequence, Zipped):
        return more, tuple(items)
    return more, (binary(run, frame, node, ast.Add(), at, sequence.start, lanes), *items)


def next_item(run, frame, node, arguments, mask) -> Any:
    """Return ``next(iterator)`` and move the iterator on, in the active lanes.

    Raises
    ------
    SimtError
        If there is no further item in some lane.
    """
    (given,) = arguments if len(arguments) == 1 else (None,)
    known = iterator_of(run, frame, given, node.args[0] if node.args else None)
    given = place_in(run, given) if known is None and isinstance(given, Passing) else known
    if not isinstance(given, Iterator):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "next takes one iterator: make it by iter(x), and test its end yourself.",
        )
    drawn = draws(given.sequence)
    more, item = (
        _drawn(run, frame, node, given, mask) if drawn else (_has_more(run, frame, node, given, mask), None)
    )
    if not run.dry and mask.narrow(~more.data):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "next finds no further item in some threads: test before with if.",
        )
    return item if drawn else _advanced(run, frame, node, given, mask)


def _advanced(run, frame, node, given: Iterator, mask) -> Any:
    """Return the next item, and move the iterator on, in the active lanes."""
    sequence, at = given.sequence, given.at
    _require_one_name(frame, node, given)
    if isinstance(sequence, tuple) and not of_one_type(sequence):
        raise unsupported(
            frame,
            node,
            "an iterator over a tuple whose items have different types",
            way="cast them to one type",
        )
    if isinstance(sequence, tuple):
        require_one_layout(run, frame, node, sequence, "an iterator over", "take the items one by one")
    if run.dry:
        return _item(run, frame, node, sequence, run.blank(INT64), mask)
    require_no_doubt(run, at, mask)
    run.ledger.demand(at, mask)
    given.at = merge(run, mask, binary(run, frame, node, ast.Add(), at, run.constant(1), mask), at)
    return _item(run, frame, node, sequence, at, mask)


def _require_one_name(frame, node, given: Iterator) -> None:
    if given.torn:
        raise unsupported(
            frame,
            node,
            "an iterator with a second name, after one of the names has been given another iterator in some threads,",
            way="give each iterator one name",
            compiled=True,
        )


def _item(run, frame, node, sequence, at: Value, mask):
    if isinstance(sequence, Range):
        step = binary(run, frame, node, ast.Mult(), at, sequence.step, mask)
        at = cast(run, binary(run, frame, node, ast.Add(), sequence.start, step, mask), sequence.start.type)
    return item_of(run, frame, node, sequence, at, mask)
