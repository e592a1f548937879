"""Views: slices, rows and columns of an array. A view uses the array's own memory, so that it hides no hazard."""

import ast
from dataclasses import dataclass, replace
from math import gcd

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.typing import INT64
from course_pkg.simt.memory.regions import Arrays, Choice
from course_pkg.simt.run.choices import each
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.doubtful import require_no_doubt
from course_pkg.simt.run.expressions import evaluate, handles
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.locating import locate
from course_pkg.simt.run.values import Value


@dataclass(slots=True, eq=False)
class SliceOf:
    """The three parts of a slice; None where a part is left out."""

    start: Value | None
    stop: Value | None
    step: Value | None

    @property
    def parts(self) -> tuple:
        """The parts that are given, without those left out."""
        return tuple(p for p in (self.start, self.stop, self.step) if p is not None)

    @property
    def form(self) -> tuple:
        """Which of the three parts are given."""
        return tuple(p is not None for p in (self.start, self.stop, self.step))


@handles(ast.Slice)
def slice_of(run, frame, node, mask) -> SliceOf:
    """Evaluate ``start:stop:step``."""
    parts = [
        None if p is None else evaluate(run, frame, p, mask) for p in (node.lower, node.upper, node.step)
    ]
    return made_slice(frame, node, parts)


def made_slice(frame, node, parts) -> SliceOf:
    """Return the slice with these three parts; each is an integer or None."""
    for part in parts:
        if part is not None and not (isinstance(part, Value) and isinstance(part.type, types.Integer)):
            raise SimtError.at(frame.program.name, node.lineno, "the parts of a slice are integers.")
    return SliceOf(*parts)


def is_view(array: Arrays, index) -> bool:
    """Return whether an index names a part of an array, instead of a single element."""
    indices = index if isinstance(index, tuple) else (index,)
    return len(indices) < array.ndim or any(
        i is None or i is Ellipsis or isinstance(i, SliceOf) for i in indices
    )


def view(run, frame, node, array: Arrays, index, mask) -> Arrays:
    """Return the part of an array that slices, numbers, ``...`` and ``None`` name.

    Raises
    ------
    SimtError
        If there are more indices than dimensions.
    """
    if isinstance(array, Choice):
        return each(run, array, mask, lambda one, own: view(run, frame, node, one, index, own))
    indices = _complete(frame, node, array, index if isinstance(index, tuple) else (index,))
    numbers, sliced, form, keys, d = [], [], [], [], 0
    for one in indices:
        if one is None:
            sliced.append((None, None))
            form.append("new")
            continue
        if isinstance(one, SliceOf):
            sliced.append((d, one))
            form.append(one.form)
            keys += [p.key for p in one.parts]
        else:
            numbers.append((d, one))
            form.append("number")
            keys += [one.key] if isinstance(one, Value) else []
        d += 1
    offset, inside, aligned = array.offset, mask, array.aligned
    if numbers:
        at = [d for d, _ in numbers]
        some = replace(array, shape=_those(array.shape, at), strides=_those(array.strides, at))
        place = locate(run, frame, _numbers_only(node), some, tuple(one for _, one in numbers), mask)
        offset, inside = place.offset, place.inside
        aligned = gcd(aligned, *(some.strides))
    shape, strides = [], []
    for d, one in sliced:
        if one is None:
            shape.append(run.constant(1))
            strides.append(0)
            continue
        first, extent, step = _cut(run, frame, node, array, d, one, mask)
        shape.append(extent)
        strides.append(array.strides[d] * step)
        offset = offset + first * array.strides[d]
        aligned = aligned if not any(one.form) else 1
    if inside is not mask and not run.dry:
        shape[0] = _nothing_outside(run, shape[0], inside)
    whole = not numbers and all(one is not None and not any(one.form) for _, one in sliced)
    key = array.key if whole else run.numbering.of(("view", tuple(form)), array.key, *keys)
    return replace(array, shape=tuple(shape), strides=tuple(strides), offset=offset, key=key, aligned=aligned)


def _complete(frame, node, array, indices) -> list:
    """Return one index per dimension; ``...`` and indices missing at the end become slices of whole dimensions."""
    whole = SliceOf(None, None, None)
    given = sum(one is not None and one is not Ellipsis for one in indices)
    if given > array.ndim or sum(one is Ellipsis for one in indices) > 1:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{array.name} has {array.ndim} dimension(s) and gets {given} index(es).",
        )
    filled = [whole] * (array.ndim - given)
    if Ellipsis in indices:
        at = indices.index(Ellipsis)
        return [*indices[:at], *filled, *indices[at + 1 :]]
    return [*indices, *filled]


def _those(parts, chosen) -> tuple:
    return tuple(parts[d] for d in chosen)


def _numbers_only(node):
    """Return a subscript without slices, ``...`` and None, so that a literal index such as ``-1`` is recognized."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return node
    numbers = [
        p
        for p in node.slice.elts
        if not isinstance(p, ast.Slice) and not (isinstance(p, ast.Constant) and p.value in (None, ...))
    ]
    return ast.copy_location(ast.Subscript(node.value, ast.Tuple(numbers, ast.Load()), node.ctx), node)


def _cut(run, frame, node, array, d, cut: SliceOf, mask):
    """Return the first index, the extent and the step of a slice along dimension ``d``."""
    extent = array.shape[d]
    if not any(cut.form):
        return 0, extent, 1
    for part in cut.parts:
        run.ledger.demand(part, mask)
    step = 1 if cut.step is None else cut.step.number
    if cut.step is not None and not run.dry and not cut.step.uniform:
        raise unsupported(frame, node, "a slice whose step differs between threads", compiled=True)
    if run.dry:
        constant = extent.constant and all(p.constant for p in cut.parts)
        # Numba looks only whether there is a step: with one, elements are not neighbours for it
        return 0, extent if constant else run.blank(INT64), 1 if cut.step is None else 2
    if not step:
        raise SimtError.at(frame.program.name, node.lineno, "the step of a slice is 0.")
    if array.space == "local" and not all(p.constant for p in cut.parts):
        array.region.constant_index_only = False
    for part in cut.parts:
        require_no_doubt(run, part, mask)
    ends = [part for part in (cut.start, cut.stop) if part is not None]

    def ends_of(n, *data):
        data = list(data)
        start = data.pop(0) if cut.start is not None else None
        return _clipped(n, start, data.pop(0) if data else None, step)

    def length(n, *data):
        first, last = ends_of(n, *data)
        return np.maximum(0, -((first - last) // step))

    known = (extent, *ends)
    first = ends_of(*(v.data.astype(np.int64) for v in known))[0]
    key = run.numbering.of(("extent", cut.form, step), *(v.key for v in known))
    numbers = length(*(v.data.astype(np.int64) for v in known))
    if all(v.constant for v in known):
        return int(first.reshape(-1)[0]), run.constant(int(numbers.reshape(-1)[0])), step
    new = run.derived(numbers, INT64, key, known, mask)
    return first, follow(new, lambda *data: length(*(one.astype(np.int64) for one in data)), *known), step


def _clipped(n, start, stop, step: int):
    """Return the first and the last bound of a slice, clipped to the array as in Python and Numba."""
    low, high = (0, n) if step > 0 else (-1, n - 1)
    default_start, default_stop = (0 * n, n) if step > 0 else (n - 1, 0 * n - 1)

    def clip(at):
        return np.clip(np.where(at < 0, at + n, at), low, high)

    return default_start if start is None else clip(start), default_stop if stop is None else clip(stop)


def _nothing_outside(run, extent: Value, inside) -> Value:
    """Return the extent, but 0 in the lanes that named a row outside the array, so that they access no element."""
    return run.fresh(np.where(inside.data, extent.data, 0), INT64, (extent,), inside)
