"""``iter`` and ``next``: an iterator is a sequence, with the number of the next item in each thread."""

import ast
from typing import Any

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.typing import INT64
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.doubtful import require_no_doubt
from course_pkg.simt.run.expressions import binary, cast
from course_pkg.simt.run.iteration import SEQUENCES, Enumerated, Iterator, Zipped, item_of, length_of
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.sketch import of_one_type
from course_pkg.simt.run.values import Range, Value


def made_iterator(run, frame, node, arguments, mask) -> Iterator:
    """Return ``iter(sequence)``."""
    (given,) = arguments if len(arguments) == 1 else (None,)
    if isinstance(given, Iterator):
        given.again = True
        return given
    if not isinstance(given, SEQUENCES):
        raise SimtError.at(frame.program.name, node.lineno, "iter takes a range, an array or a tuple.")
    return Iterator(given, run.fresh(np.zeros((1,) * 6, np.int64), INT64))


def next_item(run, frame, node, arguments, mask) -> Any:
    """Return ``next(iterator)`` and move the iterator on, in the active lanes.

    Raises
    ------
    SimtError
        If there is no further item in some lane.
    """
    (given,) = arguments if len(arguments) == 1 else (None,)
    if isinstance(given, (Enumerated, Zipped)) and isinstance(node.args[0], ast.Call):
        given = made_iterator(run, frame, node, arguments, mask)
    if not isinstance(given, Iterator):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "next takes one iterator: make it by iter(x), and test its end yourself.",
        )
    sequence, at = given.sequence, given.at
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
    if mask.narrow(at.data >= cast(run, length_of(run, sequence, mask), INT64).data):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            "next finds no further item in some threads: test before with if.",
        )
    given.at = merge(run, mask, binary(run, frame, node, ast.Add(), at, run.constant(1), mask), at)
    return _item(run, frame, node, sequence, at, mask)


def _item(run, frame, node, sequence, at: Value, mask):
    if isinstance(sequence, Range):
        step = binary(run, frame, node, ast.Mult(), at, sequence.step, mask)
        at = cast(run, binary(run, frame, node, ast.Add(), sequence.start, step, mask), sequence.start.type)
    return item_of(run, frame, node, sequence, at, mask)
