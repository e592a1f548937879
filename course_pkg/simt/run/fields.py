"""Views of parts of elements: the fields of records, and the real and imaginary parts of complex numbers."""

from dataclasses import replace

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import type_of
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.constructs import unsupported


def is_record(array: Array) -> bool:
    """Return whether the elements are records, such as those of a structured NumPy array."""
    return array.dtype.names is not None


def field(run, frame, node, array: Array, name: str) -> Array:
    """Return one field of all records of an array, as a view.

    Raises
    ------
    SimtError
        If the records have no such field, or if they are not aligned to multiples of the size of their fields.
    """
    where = frame.program.name, node.lineno
    if name not in array.dtype.fields:
        raise SimtError.at(
            *where, f"the records of {array.name} have no {name}: they have {', '.join(array.dtype.names)}."
        )
    dtype, first = array.dtype.fields[name][:2]
    inner, shape = dtype.subdtype or (dtype, ())
    if array.dtype.itemsize % inner.itemsize or first % inner.itemsize or array.byte0 % inner.itemsize:
        raise SimtError.at(
            *where,
            f"the records of {array.name} are packed, so that {name} may lie across two words: make their "
            "type by numpy.dtype([…], align=True).",
        )
    count = dtype.itemsize // inner.itemsize
    found = _part(run, array, inner, first // inner.itemsize, ("field", name), count)
    sizes = tuple(int(np.prod(shape[d + 1 :])) for d in range(len(shape)))
    extents = tuple(run.constant(int(n)) for n in shape)
    packed = array.packed or not array.dtype.isalignedstruct
    if packed and array.space == "global" and inner.itemsize > 1 and not run.dry:
        run.log.notes.packed(SourceLine(*where), array.name, name, inner.itemsize)
    return replace(found, shape=(*found.shape, *extents), strides=(*found.strides, *sizes), packed=packed)


def part_of_complex(run, frame, node, array: Array, name: str) -> Array:
    """Return the real or the imaginary parts of an array's elements, as a view.

    Raises
    ------
    Unsupported
        If the imaginary parts of real numbers are requested.
    """
    if array.dtype.kind != "c":
        if name == "real":
            return array
        raise unsupported(frame, node, "the attribute .imag of an array of real numbers")
    inner = np.dtype(f"f{array.dtype.itemsize // 2}")
    return _part(run, array, inner, int(name == "imag"), (name,))


def _part(run, array: Array, inner: np.dtype, first: int, what: tuple, count: int = 1) -> Array:
    """Divide each element into parts of type ``inner``, and return a view of part number ``first`` of each element.

    ``count``: how many parts from this one on the caller makes of it.
    """
    times = array.dtype.itemsize // inner.itemsize
    key = array.region.number, array.dtype, inner, array.flat.__array_interface__["data"][0]
    flats = run.parts_of_elements
    if key not in flats:
        flats[key] = array.flat.view(inner)
    return replace(
        array,
        dtype=inner,
        type=type_of(inner),
        flat=flats[key],
        extent=array.extent * times,
        strides=tuple(s * times for s in array.strides),
        offset=array.offset * times + first,
        key=run.numbering.of(what, array.key),
        part=(array.key, first * inner.itemsize, (first + count) * inner.itemsize),
    )
