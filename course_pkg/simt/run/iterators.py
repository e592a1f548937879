"""``iter`` and ``next``: an iterator is a sequence, with the number of the next item in each thread.

A loop over an iterator that has a name is a ``while``: it goes on where ``next`` or an earlier loop has stopped.
"""

import ast
from functools import cache
from typing import Any

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.typing import INT64
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.doubtful import require_no_doubt
from course_pkg.simt.run.expressions import binary, cast, evaluate, handles
from course_pkg.simt.run.iteration import item_of, length_of
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.sequences import SEQUENCES, Iterator, Passing, goes_on, place_in
from course_pkg.simt.run.sketch import of_one_type
from course_pkg.simt.run.values import Range, Value


def made_iterator(run, frame, node, arguments, mask) -> Iterator:
    """Return ``iter(sequence)``."""
    (given,) = arguments if len(arguments) == 1 else (None,)
    if isinstance(given, Iterator):
        given.again = True
        return given
    if isinstance(given, Passing):
        place = place_in(run, given)
        place.again = goes_on(frame.program.tree, node.args[0])
        return place
    if not isinstance(given, SEQUENCES):
        raise SimtError.at(frame.program.name, node.lineno, "iter takes a range, an array or a tuple.")
    return Iterator(given, run.fresh(np.zeros((1,) * 6, np.int64), INT64))


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
    length = cast(run, length_of(run, given.sequence, mask), INT64)
    return binary(run, frame, node, ast.Lt(), given.at, length, mask)


@handles(Next)
def _next(run, frame, node, mask) -> Any:
    return _advanced(run, frame, node, evaluate(run, frame, node.of, mask), mask)


def next_item(run, frame, node, arguments, mask) -> Any:
    """Return ``next(iterator)`` and move the iterator on, in the active lanes.

    Raises
    ------
    SimtError
        If there is no further item in some lane.
    """
    (given,) = arguments if len(arguments) == 1 else (None,)
    if isinstance(given, Passing):
        given = place_in(run, given)
    if not isinstance(given, Iterator):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "next takes one iterator: make it by iter(x), and test its end yourself.",
        )
    if not run.dry and mask.narrow(
        given.at.data >= cast(run, length_of(run, given.sequence, mask), INT64).data
    ):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "next finds no further item in some threads: test before with if.",
        )
    return _advanced(run, frame, node, given, mask)


def _advanced(run, frame, node, given: Iterator, mask) -> Any:
    """Return the next item, and move the iterator on, in the active lanes."""
    sequence, at = given.sequence, given.at
    if given.torn:
        raise unsupported(
            frame,
            node,
            "an iterator with a second name, after one of the names has been given another iterator in some threads,",
            way="give each iterator one name",
            compiled=True,
        )
    if isinstance(sequence, tuple) and not of_one_type(sequence):
        raise unsupported(
            frame,
            node,
            "an iterator over a tuple whose items have different types",
            way="cast them to one type",
        )
    if run.dry:
        return _item(run, frame, node, sequence, run.blank(INT64), mask)
    require_no_doubt(run, at, mask)
    run.ledger.demand(at, mask)
    given.at = merge(run, mask, binary(run, frame, node, ast.Add(), at, run.constant(1), mask), at)
    return _item(run, frame, node, sequence, at, mask)


def _item(run, frame, node, sequence, at: Value, mask):
    if isinstance(sequence, Range):
        step = binary(run, frame, node, ast.Mult(), at, sequence.step, mask)
        at = cast(run, binary(run, frame, node, ast.Add(), sequence.start, step, mask), sequence.start.type)
    return item_of(run, frame, node, sequence, at, mask)
