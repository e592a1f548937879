"""More ways to use an element: through functions of whole arrays, methods, operators by name, records and vectors.

The table is that of :mod:`ways_to_read`; ``{row}`` stands for a slice that holds only the element.
"""

from ways_to_read import Way

from course_pkg.simt import libdevice
from course_pkg.simt.front.functions import OPERATORS
from course_pkg.simt.front.library import REDUCTIONS

ROW = "{a}[{i}:{i} + 1]"
_UNARY = ("neg", "pos", "invert", "not_")
_ON_INTEGERS = (
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
    "iand",
    "ior",
    "ixor",
    "ilshift",
    "irshift",
    "invert",
)
_READ_AGAIN = {"var": 2, "std": 2, "argmax": 2, "argmin": 2}  # the mean first, or the first element


def _one(expression, dtype="float64", **more):
    return Way("x = " + expression.replace("{row}", ROW), dtype, **more)


def _operator(name):
    dtype = "int64" if name in _ON_INTEGERS else "float64"
    if name in _UNARY:
        return [_one(f"operator.{name}({{r}})", dtype)]
    return [_one(f"operator.{name}({{r}}, i)", dtype), _one(f"operator.{name}(i, {{r}})", dtype)]


OPERATOR_CALLS = {name: _operator(name) for name in sorted(OPERATORS)}
REDUCED = {
    name: [_one(f"{{row}}.{name}()", reads=_READ_AGAIN.get(name, 1)),
           _one(f"np.{name}({{row}})", reads=_READ_AGAIN.get(name, 1))]
    for name in sorted(REDUCTIONS)
}  # fmt: skip
SEQUENCES = {
    "sum": [_one("sum({row})"), _one("sum({row}, 2.0)")],
    "min": [_one("min({row})")], "max": [_one("max({row})")],
    "in": [_one("1.0 in {row}"), _one("2.0 not in {row}"), _one("{r} in range(4)", "int64"), _one("{r} in small[:1]")],
    "count_nonzero": [_one("np.count_nonzero({row})")],
    "searchsorted": [_one("np.searchsorted({row}, 1.0)"), _one("np.searchsorted({row}, 1.0, side='right')"),
                     _one("np.searchsorted(small[:1], {r})")],
    "nditer": [Way("x = 0.0\nfor y in np.nditer({a}[{i}:{i} + 1]):\n    x += y.item()")],
    "ndenumerate": [Way("x = 0.0\nfor k, y in np.ndenumerate({a}[{i}:{i} + 1]):\n    x += y")],
    "asarray": [_one("np.asarray({a})[{i}]")], "real": [_one("np.real({r})"), _one("np.imag(complex(1.0, {r}))")],
    "angle": [_one("np.angle(complex({r}, 1.0))")], "sinc": [_one("np.sinc({r})")],
    "isscalar": [_one("np.isscalar({r}) + {r}")], "ndindex": [Way("x = 0.0\nfor k in np.ndindex(1):\n    x += {r}")],
    "size": [_one("np.size({row}) + {r}")], "shape": [_one("np.shape({row})[0] + {r}")],
}  # fmt: skip
MEMBERS = {
    "reshape": [_one("{a}.reshape({a}.size // 2, 2)[{i} // 2, {i} % 2]"), _one("{a}.reshape(({a}.size,))[{i}]")],
    "view": [_one("{a}.view(np.int64)[{i}]"), _one("{a}.view(np.float32)[{i}]", "int32")],
    "item": [_one("{r}.item()")],
    "transpose": [_one("{a}.transpose()[{i}]"), _one("{a}.reshape({a}.size, 1).transpose()[0, {i}]")],
    "flat": [Way("x = 0.0\nfor y in {a}[{i}:{i} + 1].reshape(1, 1).flat:\n    x += y")],
    "len": [_one("len({row}) + {r}")],
}  # fmt: skip
MATCHED = {
    "match": [
        Way("match {r}:\n    case 1:\n        x = 2.0\n    case _:\n        x = 3.0", "int64"),
        Way("match {r}:\n    case y:\n        x = y"),
        Way("match i:\n    case 0:\n        x = {r}\n    case _:\n        x = {r}"),
    ],
}
VECTORS = {
    "float64x2": [_one("cuda.float64x2({r}, 1.0).x"), _one("cuda.float64x2(1.0, {r}).y")],
    "double3": [_one("cuda.double3(1.0, 2.0, {r}).z")],
    "int32x4": [_one("cuda.int32x4(1, 2, 3, {r}).w", "int32")],
}


def _of_library(name):
    """Return one way for each argument of a function of the device library."""
    kind, _, text = libdevice.meaning(name)
    arguments = [letter for letter in "xyz" if letter in libdevice._letters(text)]
    ways = []
    for k in range(len(arguments)):
        given = ["1", *["2"] * len(arguments)][: len(arguments)]
        given[k] = "{r}"
        ways.append(_one(f"cuda.libdevice.{name}({', '.join(given)})", kind))
    return ways


LIBRARY_CALLS = {
    name: _of_library(name) for name in (*libdevice._FLOATS, *libdevice._INTEGERS, *libdevice._CASTS)
    if libdevice.meaning(name)
}  # fmt: skip

GROUPS = {
    "operator": OPERATOR_CALLS, "reduction": REDUCED, "sequence": SEQUENCES, "member": MEMBERS, "match": MATCHED,
    "vector": VECTORS, "libdevice": LIBRARY_CALLS,
}  # fmt: skip
