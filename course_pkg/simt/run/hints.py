"""Loads and stores with a hint for the caches: ``cuda.ldcs(array, index)`` and similar functions.

A hint says in which caches an element should stay, for example because it will not be needed again. It changes neither
the values nor the sectors that a request needs. So these accesses are counted in the same way as ``array[index]``.
There is one difference: where ``array[index]`` has loaded an element, the compiler does not reuse the value for a load
with a hint, nor the other way round. The reason is that numba-cuda emits accesses with hints as inline assembly, which
the compiler does not analyze. It reuses a value only for a load with the same hint.

Source: Parallel Thread Execution ISA, "Cache Operators"; numba-cuda has a function for each of them.
"""

from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.memory.regions import Arrays
from course_pkg.simt.run.access import load_place, store_place
from course_pkg.simt.run.elements import Place
from course_pkg.simt.run.locating import locate

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
    where = frame.program.name, node.lineno
    if len(arguments) != wanted:
        raise SimtError.at(*where, f"cuda.{name} takes {takes}.")
    array, index = arguments[:2]
    if not isinstance(array, Arrays) or array.space != "global":
        raise SimtError.at(
            *where, f"cuda.{name} works on arrays in global memory; write array[index] for others."
        )
    if not isinstance(array.type, (types.Integer, types.Float)):
        raise SimtError.at(
            *where, f"cuda.{name} takes integers or floats, and {array.name} holds {array.dtype}."
        )
    return locate(run, frame, node, array, index, mask)
