"""The array element that each lane accesses; elements are read and written for all lanes at once."""

import ast
from dataclasses import dataclass, field

import numpy as np

from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.values import undefined


@dataclass(eq=False)
class Place:
    """The element of an array that each lane accesses.

    Attributes
    ----------
    offset : ndarray of int64
        Index of the element within the copy of the array that the lane uses; broadcasts to the wave's shape.
    at : ndarray of int64
        Index of the element in ``array.flat``.
    inside : Mask
        The lanes whose index lies in the array.
    """

    array: Array
    offset: np.ndarray
    at: np.ndarray
    key: int
    inside: Mask
    indices: tuple
    where: SourceLine
    astray: bool = False  # whether an active lane has an index outside the array
    doubtful: tuple = ()  # indices in doubt, if what they find may be in doubt as well
    parts: tuple = ()  # for arrays that differ between threads: the place in each of them
    lanes: Mask | None = None  # of a part: the active lanes that have this array
    swayed: dict = field(default_factory=dict)  # floats in doubt that decided which array it is
    node: ast.expr | None = None  # where the source has it
    program: object = None  # the kernel or device function that the node belongs to


def read(array: Array, place: Place) -> np.ndarray:
    """Return the elements. A lane whose index is outside the array gets NaN or 0, so that no second error follows."""
    if not array.flat.size:
        return np.zeros((1,) * 6, array.dtype)
    data = array.flat.take(place.at, mode="clip")
    outside = data.dtype.type(0) if data.dtype.kind in "iu" else undefined(data.dtype)
    return np.where(place.inside.data, data, outside) if place.astray else data


def write(run, array, at, data, inside: Mask) -> None:
    """Write the data of the active lanes to the elements ``at`` of an array."""
    at, data = run.wave.whole(at), run.wave.whole(data)
    at, data = (
        (at.reshape(-1), data.reshape(-1)) if inside.data is None else (at[inside.full], data[inside.full])
    )
    if run.watching:
        note_change(run, array, (array.flat[at] != data).any())
    array.flat[at] = data


def note_change(run, array, changed) -> None:
    """Tell the watched loops (:mod:`course_pkg.simt.run.endless`) that an array has changed, if ``changed`` is true."""
    for regions in run.watching if changed else ():
        regions.add(array.region)
