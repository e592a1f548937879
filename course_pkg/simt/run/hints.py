"""Loads and stores with a hint for the caches: ``cuda.ldcs(array, index)`` and similar functions.

A hint says how soon an element will be needed again. It changes what stays in the caches, but neither the values nor
the sectors that a request needs. So these accesses are counted in the same way as ``array[index]``. There is one
difference: the compiler cannot reuse a value that a load of another kind has loaded, because numba-cuda emits each of
these accesses as inline assembly, which the compiler does not analyze.

Source: Parallel Thread Execution ISA, "Cache Operators"; numba-cuda has a function for each of them.
"""

from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.memory.regions import Array
from course_pkg.simt.run.access import load_place, locate, store_place
from course_pkg.simt.run.elements import Place

LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES = ("stcg", "stcs", "stwb", "stwt")


def hinted_load(run, frame, node, name, arguments, named, mask):
    """Return ``array[index]``, for an array in global memory."""
    place = _place(run, frame, node, name, arguments, "an array and an index", 2, mask)
    return load_place(run, frame, place, mask, name)


def hinted_store(run, frame, node, name, arguments, named, mask):
    """Run ``array[index] = value``, for an array in global memory."""
    place = _place(run, frame, node, name, arguments, "an array, an index and a number", 3, mask)
    store_place(run, frame, place, arguments[2], mask)


def _place(run, frame, node, name, arguments, takes, wanted, mask) -> Place:
    where = f"{frame.program.name}, line {node.lineno}"
    if len(arguments) != wanted:
        raise SimtError(f"{where}: cuda.{name} takes {takes}.")
    array, index = arguments[:2]
    if not isinstance(array, Array) or array.space != "global":
        raise SimtError(
            f"{where}: cuda.{name} works on arrays in global memory; write array[index] for others."
        )
    if not isinstance(array.type, (types.Integer, types.Float)):
        raise SimtError(
            f"{where}: cuda.{name} takes integers or floats, and {array.name} holds {array.dtype}."
        )
    return locate(run, frame, node, array, index, mask)
