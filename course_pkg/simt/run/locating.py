"""Find the element that an index names in each lane, and check the index."""

import ast
from dataclasses import replace
from functools import reduce

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.memory.regions import Arrays, Choice
from course_pkg.simt.run.choices import ways_in
from course_pkg.simt.run.doubtful import integers_in_doubt, require_no_doubt
from course_pkg.simt.run.elements import Place
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.needed import no_index, require_numbers
from course_pkg.simt.run.values import Value


def locate(run, frame, node, array: Arrays, index, mask: Mask, *, doubtful=False) -> Place:
    """Return the element that an index names in each lane; report an index outside the array's shape.

    An index in doubt is reported, too, unless ``doubtful`` says that the caller follows what it finds there.
    """
    indices = index if isinstance(index, tuple) else (index,)
    where = SourceLine(frame.program.name, node.lineno)
    if isinstance(array, Choice):
        return _of_choice(run, frame, node, array, indices, mask, doubtful)
    if len(indices) != array.ndim:  # slices are handled by views, not here
        raise SimtError.at(
            where.function,
            where.line,
            f"{array.name} has {array.ndim} dimension{'s' * (array.ndim > 1)} "
            f"and gets {len(indices)} ind{'ices' if len(indices) > 1 else 'ex'}.",
        )
    inside, terms, keys, constant, followed = mask, [], [], True, ()
    for d, part in enumerate(indices):
        if not isinstance(part, Value) or not isinstance(part.type, types.Integer):
            require_numbers(frame, (_written(node, d), part))
            raise no_index(frame, node, array, d, part)
        run.ledger.demand(part, inside)
        if run.dry:
            continue
        if part.otherwise:
            allowed = integers_in_doubt(run, part) if doubtful else ()
            require_no_doubt(run, part, inside, allowed=allowed)
            followed = (*followed, part) if allowed else followed
        inside, data = _within(run, array, indices, d, inside, where, _is_meant(node, d))
        stride = array.strides[d]
        terms.append(data if type(stride) is int and stride == 1 else data * stride)
        keys.append(part.key)
        constant &= part.constant
    if array.space == "local" and not constant:
        array.region.constant_index_only = False
    if run.dry:
        return Place(array, 0, 0, array.key, mask, array.outer + indices, where)
    terms.sort(key=np.size)
    first = terms[0] if terms else np.zeros((1,) * 6, np.int64)  # an array without dimensions has one element
    offset = _plus(sum(terms[1:], start=first), array.offset)
    key = run.numbering.of("element", array.key, *keys)
    at = _plus(offset, owner(run, array))
    outer = array.outer + indices
    astray, program = inside is not mask, frame.program
    return Place(array, offset, at, key, inside, outer, where, astray, followed, node=node, program=program)


def _of_choice(run, frame, node, array: Choice, indices, mask, doubtful) -> Place:
    """Return the element of the array that each lane has, with a part for each array that some lane has."""
    parts = []
    for _, one, own in ways_in(run, array, mask):
        parts.append(locate(run, frame, node, one, indices, own, doubtful=doubtful))
        parts[-1].lanes = own
    first = parts[0]
    inside = reduce(Mask.union, (part.inside for part in parts))
    return replace(
        first,
        key=run.numbering.of("element", array.key, *(one.key for one in indices)),
        inside=inside,
        astray=any(part.astray for part in parts),
        doubtful=tuple({id(one): one for part in parts for one in part.doubtful}.values()),
        parts=tuple(parts),
        swayed=array.swayed,
    )


def _plus(data: np.ndarray, more):
    """Return the sum; skip the addition if ``more`` is 0, because adding 0 takes as long as any other addition."""
    return data if type(more) is int and not more else data + more


def _is_meant(node, d) -> bool:
    """Return whether index ``d`` is a literal with a sign, such as ``a[-1]``: then a wrap-around is intended."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    part = index.elts[d] if isinstance(index, ast.Tuple) else index
    return isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant)


def _within(run, array, indices, d, inside, where, meant):
    """Return the lanes whose index is valid for dimension ``d``, and the indices after Numba's wrap-around."""
    part, extent = indices[d], array.shape[d].data
    extent = int(extent.reshape(-1)[0]) if extent.size == 1 else extent
    data = part.data.astype(np.int64, copy=False)
    below = np.count_nonzero(data < 0)
    if below and part.type.signed:
        wrapped = inside.narrow((data < 0) & (data >= -extent))
        if wrapped and not meant:
            _report(run, "negative_index", array, indices, wrapped, where)
        data = np.where(data < 0, data + extent, data)
        below = np.count_nonzero(data < 0)
    if below or np.count_nonzero(data >= extent):
        astray = inside.narrow((data >= extent) | (data < 0))
        if astray:
            _report(run, "out_of_bounds", array, indices, astray, where)
            inside = inside.minus(astray)
    return inside, data


def _report(run, kind, array, indices, lanes, where):
    run.log.index(run, kind, array, indices, lanes, where)


def owner(run, array):
    """Return, for each lane, the offset of its copy of the array within the memory that holds all copies."""
    if array.region.owner == "block":
        return run.wave.block_in_wave * array.extent
    if array.region.owner == "thread":
        wave = run.wave
        return (wave.block_in_wave * wave.threads_per_block + wave.thread_in_block) * array.extent
    return 0


def _written(node: ast.expr, d: int) -> ast.expr:
    """Return the expression for index ``d`` in a subscript, or in a call such as ``cuda.atomic.add``."""
    index = node.slice if isinstance(node, ast.Subscript) else [*node.args, node][1]
    return index.elts[d] if isinstance(index, ast.Tuple) and d < len(index.elts) else index
