"""Attributes and methods of arrays and numbers, such as ``a.shape``, ``a.T``, ``a.sum()`` and ``z.conjugate()``."""

from dataclasses import replace

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front import library
from course_pkg.simt.front.typing import INT64, type_of
from course_pkg.simt.memory.regions import Array, Arrays, Choice, row_major
from course_pkg.simt.run.access import loaded
from course_pkg.simt.run.choices import each
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.cooperative import Grid, sync_grid
from course_pkg.simt.run.fields import field, is_record, part_of_complex
from course_pkg.simt.run.functions import call_function
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.sequences import Flat, Passing
from course_pkg.simt.run.sketch import note_view
from course_pkg.simt.run.values import Method, TypeName, Value

METHODS = ("reshape", "view", "item", "transpose", *library.REDUCTIONS)


def array_member(run, frame, node, array: Arrays, name: str, mask):
    """Return ``array.name``; None if arrays have no such member in a kernel."""
    if isinstance(array, Choice):
        return _member_of_each(run, frame, node, array, name, mask)
    if is_record(array) and name in array.dtype.names:
        return loaded(run, frame, node, field(run, frame, node, array, name), mask)
    if name in ("real", "imag"):
        return loaded(run, frame, node, part_of_complex(run, frame, node, array, name), mask)
    if name == "shape":
        return array.shape
    if name == "size":
        return _size(run, array, 1)
    if name == "nbytes":
        return _size(run, array, array.dtype.itemsize)
    if name == "ndim":
        return run.constant(array.ndim)
    if name == "dtype":
        return TypeName(array.type)
    if name == "itemsize":
        return run.constant(array.dtype.itemsize)
    if name == "strides":
        return tuple(_stride(run, array, d) for d in range(array.ndim))
    if name == "T":
        return _transposed(run, array)
    if name == "flat":
        flat = flattened(run, array)
        return replace(flat, passing=Passing()) if isinstance(flat, Array) else flat
    if name in METHODS:
        return Method(name, array)
    return field(run, frame, node, array, name) if is_record(array) else None  # lists the fields in its error


def _member_of_each(run, frame, node, choice: Choice, name: str, mask):
    """Return a member of arrays that differ between threads."""
    if name == "shape":
        return choice.shape
    if name in METHODS:
        return Method(name, choice)
    if is_record(choice) and name in choice.dtype.names:
        found = each(run, choice, mask, lambda one, own: field(run, frame, node, one, name))
        return loaded(run, frame, node, found, mask)
    if name in ("real", "imag"):
        found = each(run, choice, mask, lambda one, own: part_of_complex(run, frame, node, one, name))
        return loaded(run, frame, node, found, mask)
    return each(run, choice, mask, lambda one, own: array_member(run, frame, node, one, name, own))


def _transposed(run, array: Array) -> Array:
    key = run.numbering.of("transposed", array.key) if array.ndim > 1 else array.key
    return replace(array, shape=array.shape[::-1], strides=array.strides[::-1], key=key)


def _size(run, array, each: int) -> Value:
    if all(v.constant for v in array.shape):
        return run.constant(each * int(np.prod([v.number for v in array.shape])))

    def product(*data):
        return each * np.prod(np.broadcast_arrays(np.ones((1,) * 6, np.int64), *data), axis=0)

    shape = array.shape
    key = run.numbering.of(("size", each), *(v.key for v in shape))
    number = product(*(v.data for v in shape))
    return follow(run.derived(number, INT64, key, shape, run.wave.everyone), product, *shape)


def _stride(run, array, d: int) -> Value:
    number = np.array(array.strides[d] * array.dtype.itemsize).reshape((1,) * 6)
    return run.given(number, INT64, ("stride", d), array.key)


def is_row_major(array: Array) -> bool:
    """Return whether the elements are contiguous in row-major order, so that one index can number them."""
    if not all(v.uniform for v in array.shape):
        return array.ndim == 1 and array.strides == (1,)
    return array.strides == row_major([v.number for v in array.shape])


def flattened(run, array: Array) -> "Array | Flat":
    """Return the elements of an array in row-major order."""
    if array.ndim == 1:
        return array
    if not run.dry and not is_row_major(array):
        return Flat(array, _size(run, array, 1))
    return _reshaped(run, array, (_size(run, array, 1),))


def _reshaped(run, array, shape) -> Array:
    strides = row_major([int(v.number) for v in shape])
    key = run.numbering.of(("shape", len(shape)), array.key, *(v.key for v in shape))
    return replace(array, shape=tuple(shape), strides=strides, key=key)


def method(run, frame, node, bound: Method, arguments, mask):
    """Call a method of an array or of a number.

    Raises
    ------
    SimtError
        If the arguments do not fit.
    """
    name, owner = bound.name, bound.owner
    if isinstance(owner, Grid):
        return sync_grid(run, frame, node, mask)
    if isinstance(owner, Value):
        return _of_number(run, frame, node, owner, name, arguments)
    if name in library.REDUCTIONS:
        if arguments:
            raise SimtError.at(
                frame.program.name, node.lineno, f".{name}() takes no axis in a kernel: loop over the rows."
            )
        return call_function(run, frame, node, library.function(name), [owner], {}, mask)
    if name == "item" and not owner.ndim:
        return loaded(run, frame, node, owner, mask)
    if isinstance(owner, Choice):
        return each(
            run,
            owner,
            mask,
            lambda one, own: method(run, frame, node, Method(name, one), arguments, own),
        )
    if name == "transpose" and not arguments:
        return _transposed(run, owner)
    if name in ("item", "transpose"):
        written = (
            f"{owner.name}[i]"
            if name == "item"
            else f"{owner.name}.T, or index {owner.name} in another order"
        )
        raise SimtError.at(
            frame.program.name, node.lineno, f"in a kernel, instead of .{name}(…) write {written}."
        )
    if not run.dry and not is_row_major(owner):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba has .{name} only for arrays without gaps: index {owner.name} itself.",
        )
    return (
        _viewed(run, frame, node, owner, arguments)
        if name == "view"
        else _shape(run, frame, node, owner, arguments)
    )


def part_of_number(run, number: Value, name: str) -> Value:
    """Return the real or the imaginary part of a number."""
    if number.data.dtype.kind == "c":
        part = getattr(number.data, name)
        value = run.view(number, part, type_of(part.dtype), run.numbering.of(name, number.key))
        return follow(value, lambda data: getattr(data, name), number)
    return number if name == "real" else run.constant(0, number.type)


def _of_number(run, frame, node, number: Value, name: str, arguments) -> Value:
    if name == "view":
        return _bits(run, frame, node, number, arguments)
    if name == "item" or number.data.dtype.kind != "c":
        return number
    key = run.numbering.of("conjugate", number.key)
    return follow(run.view(number, np.conj(number.data), number.type, key), np.conj, number)


def _bits(run, frame, node, number: Value, arguments) -> Value:
    """Return the bits of a number as a number of another type."""
    (kind,) = arguments if len(arguments) == 1 else (None,)
    dtype = np.dtype(str(kind.type)) if isinstance(kind, TypeName) else None
    if dtype is None or dtype.itemsize != number.data.dtype.itemsize:
        size = f"{8 * number.data.dtype.itemsize} bits"
        raise SimtError.at(
            frame.program.name, node.lineno, f".view of a {number.type} takes a type of {size}."
        )

    def seen(data):
        return np.ascontiguousarray(data).view(dtype)

    key = run.numbering.of(("seen as", dtype.name), number.key)
    return follow(run.view(number, seen(number.data), kind.type, key, number.constant), seen, number)


def _shape(run, frame, node, array, arguments) -> Array:
    where = frame.program.name, node.lineno
    shape = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], tuple) else tuple(arguments)
    if not all(isinstance(n, Value) and isinstance(n.type, types.Integer) for n in shape):
        raise SimtError.at(*where, "reshape takes integers.")
    if run.dry:
        return replace(_reshaped(run, array, shape), strides=(0,) * len(shape))
    if not all(n.uniform for n in shape):
        raise unsupported(frame, node, "a shape that differs between threads", compiled=True)
    size = int(np.prod([v.number for v in array.shape]))
    known = int(np.prod([n.number for n in shape if n.number >= 0]))
    if sum(n.number < 0 for n in shape) == 1 and known:
        shape = tuple(run.constant(size // known) if n.number < 0 else n for n in shape)
        known = int(np.prod([n.number for n in shape]))
    if known != size:
        raise SimtError.at(
            *where, f"{array.name} has {size} elements, which no shape {tuple(n.number for n in shape)} has."
        )
    return _reshaped(run, array, shape)


def _viewed(run, frame, node, array, arguments) -> Array:
    """Return a view of an array's bytes as elements of another type."""
    (kind,) = arguments if len(arguments) == 1 else (None,)
    dtype = np.dtype(str(kind.type)) if isinstance(kind, TypeName) else None
    if dtype is None:
        raise SimtError.at(frame.program.name, node.lineno, ".view takes one type, such as np.int64.")
    key = run.numbering.of(("seen as", dtype.name), array.key)
    seen = replace(array, dtype=dtype, type=type_of(dtype), key=key)
    if dtype.itemsize == array.dtype.itemsize:
        return replace(seen, flat=array.flat.view(dtype))
    if run.dry:
        note_view(run, array, dtype.itemsize)
    return _of_another_size(run, frame, node, array, seen)


def _of_another_size(run, frame, node, array: Array, seen: Array) -> Array:
    """Return a view whose last dimension has more or fewer elements, because each takes another number of bytes."""
    old, new = array.dtype.itemsize, seen.dtype.itemsize
    if run.dry:
        return replace(seen, shape=(*array.shape[:-1], run.blank(INT64)))
    numbers = [array.extent, *array.strides[:-1], *np.unique(array.offset).tolist()]
    last = array.shape[-1] if array.ndim else None
    if (
        last is None
        or not last.uniform
        or array.byte0 % new
        or any(n * old % new for n in [*numbers, last.number])
    ):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"{array.name} cannot be seen as {seen.dtype}: size and place in memory must be multiples of {new} bytes.",
        )

    def scaled(data):
        return data * old // new

    extent = run.constant(scaled(last.number))
    if not last.constant:
        extent = run.view(
            last, scaled(last.data.astype(np.int64)), INT64, run.numbering.of((old, new), last.key)
        )
    whole = array.flat.size * old // new * new // old
    return replace(
        seen,
        flat=array.flat[:whole].view(seen.dtype),
        extent=scaled(array.extent),
        shape=(*array.shape[:-1], extent),
        strides=(*(scaled(s) for s in array.strides[:-1]), 1),
        offset=scaled(array.offset),
    )
