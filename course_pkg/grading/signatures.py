"""The signatures of a learner's kernel, from what the sandbox says: types of numbers, and of arrays of numbers.

A text such as ``"void(float32[:])"`` is Python for Numba, so it is read in the sandbox. The judge only looks up names.
"""

from numba.core import types

from course_pkg.simt.front.signatures import Signature
from course_pkg.simt.front.typing import SCALARS

MOST = 32  # signatures of a kernel, types of a signature, parts of a tuple
DEEPEST = 4  # tuples within tuples
UNKNOWN = types.pyobject  # fits no argument of a launch


def told(about: dict) -> tuple[Signature, ...]:
    """Return the signatures of the kernel that the sandbox describes; empty if the types follow from the call.

    A type that the judge does not know becomes one that fits no argument: such a kernel cannot be launched.

    Examples
    --------
    >>> [str(one) for one in told({"signatures": [[{"of": "float32", "ndim": 1, "layout": "A"}, "int64"]]})]
    ['(array(float32, 1d, A), int64)']
    """
    given = about.get("signatures")
    given = given[:MOST] if isinstance(given, list) else []
    return tuple(Signature(tuple(map(_type, one[:MOST])), None) for one in given if isinstance(one, list))


def _type(one, depth: int = 0):
    """Return the type that the sandbox describes by a name, by the parts of a tuple or by what an array holds."""
    if isinstance(one, list) and depth < DEEPEST:
        return types.BaseTuple.from_types(tuple(_type(part, depth + 1) for part in one[:MOST]))
    if isinstance(one, dict):
        of, ndim, layout = _number(one.get("of")), one.get("ndim"), one.get("layout")
        plain = type(ndim) is int and 0 <= ndim <= MOST and isinstance(layout, str) and layout in tuple("ACF")
        return types.Array(of, ndim, layout) if plain else UNKNOWN
    return _number(one)


def _number(name):
    if name in ("bool", "boolean"):
        return types.boolean
    return getattr(types, name) if isinstance(name, str) and name in SCALARS else UNKNOWN
