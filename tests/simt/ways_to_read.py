"""A table of all ways in which a kernel can use an element of an array: for each construct, a piece of source.

``{r}`` stands for the element that is read. A piece either assigns ``x``, which the kernel then stores, or stores
itself.
"""

import ast
from dataclasses import dataclass

from course_pkg.simt.front.functions import BY_NAME, PARTS, UFUNCS
from course_pkg.simt.front.known import BUILTINS, SCALARS
from course_pkg.simt.run.expressions import OPERATORS
from course_pkg.simt.run.iterators import More, Next

ALL = ("global", "shared", "local", "constant")
WRITTEN = ("global", "shared", "local")
SHARED_BY_THREADS = ("global", "shared")


@dataclass(frozen=True)
class Way:
    """How an element is read: source, the array's dtype, in which memories, and how many accesses each thread makes."""

    source: str
    dtype: str = "float64"
    spaces: tuple = ALL
    reads: int = 1


def _one(expression, dtype="float64", **more):
    return Way(f"x = {expression}", dtype, **more)


_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Eq: "==",
    ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.USub: "-", ast.UAdd: "+",
    ast.Invert: "~",
}  # fmt: skip
_UNARY = (ast.USub, ast.UAdd, ast.Invert)
_ON_INTEGERS = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Invert)


def _operator(kind):
    sign, dtype = _SIGNS[kind], "int64" if kind in _ON_INTEGERS else "float64"
    if kind in _UNARY:
        return [_one(f"{sign}{{r}}", dtype)]
    return [_one(f"{{r}} {sign} i", dtype), _one(f"i {sign} {{r}}", dtype), _one(f"{{r}} {sign} 2", "int32")]


def _operations(family):
    """Return the ways of the operators that are unary, binary, or comparisons."""
    return [way for kind in OPERATORS if issubclass(kind, family) for way in _operator(kind)]


EXPRESSIONS = {
    ast.Subscript: [
        _one("small[{r}]", "int64"), _one("small[{r} - 1]", "int32"), _one("rows[{r}][0]", "int64"),
        _one("rows[0, {r}]", "int64"),
        Way("(1.0, 2.0)[{a}[0]]\nx = (3.0, 4.0)[{a}[0]]", "int64", ("global", "shared", "constant")),
        Way("row = rows[{r}]\nx = row[1]", "int64"), _one("{a}[:][{i}]"), _one("{a}[{i}:][0]"),
        _one("{a}[::-1][-1 - {i}]"),
        _one("{a}[{i}:{i} + 1].sum()"), _one("len(small[{r}:])", "int64"), _one("len(small[:{r}])", "int64"),
        _one("rows[{r}:][0, 0]", "int64"), _one("rows[:, {r}][0]", "int64"),
        _one("(1.0, 2.0, 3.0)[{r} + i % 2]", "int64"),
        _one("({a}, small)[0][{i}]"), Way("for q in ({a}, {a}):\n    x = q[{i}]"),
        _one("({a}, {a})[i % 2][{i}]"), _one("({a}, small)[i // 40][{i}]"),
        Way("q = {a}\nif i > 40:\n    q = small\nx = q[{i}]"),
        _one("(small, rows[0])[{r} // 1 - 1][i % 2]", "int64"),
        _one("{a}[{i}, None][0]"), _one("rows[..., {r}][0]", "int64"), _one("small[:{r}].size", "int64"),
    ],
    ast.Attribute: [
        _one("complex({r}).real"), _one("{r}.real"), _one("numba.complex128({r}).real"), _one("(2j).real + {r}"),
        _one("{r}.real", "complex128", reads=2), _one("{r}.imag", "complex64", reads=2),
        _one("(1j * {r}).imag"), _one("{a}.real[{i}]"), _one("{a}.T[{i}]"), _one("{a}.flat[{i}]"),
        _one("{a}.real[{i}]", "complex128"), _one("{a}.reshape({a}.size, 1)[{i}, 0]"), _one("{a}.dtype.type({r})"),
    ],
    ast.BinOp: _operations(ast.operator),
    ast.UnaryOp: [*_operations(ast.unaryop), _one("not {r}"), _one("not not {r}", "int64")],
    ast.Compare: [
        *_operations(ast.cmpop), _one("{r} in (1.0, 2.0)"), _one("i not in ({r}, {r})"), _one("({r}, 1) == (1.0, i)"),
        _one("0.5 < {r} < 2.0"), _one("{r} == {r}"), _one("i < {r} < put(out, i)"),
    ],
    ast.BoolOp: [
        _one("{r} and i < 9", "int64"), _one("i > 40 or {r} > 0.0"), _one("i < 40 and {r} > 0.0"),
        Way("{r} > 0.0 and put(out, i)"), Way("{r} > 2.0 or put(out, i)"), _one("{r} and 2.0"),
        _one("{r} or i", "int64"), _one("i + 1 and {r}"), _one("(i + 1 and {r}) or 2.0"),
    ],
    ast.IfExp: [
        _one("1.0 if {r} else 2.0"), _one("{r} if i < 40 else 2.0"), _one("2.0 if i > 40 else {r}"),
        _one("put(out, i) if {r} > 0.5 else 0.0"),
        Way("q = {a} if i < 40 else small\nx = q[{i}]"), Way("q = small if {r} > 1.5 else u\nx = 2.0"),
    ],
    ast.Tuple: [Way("pair = ({r}, 1.0)\nx = pair[0]"), Way("x, y = {r}, 2.0"), Way("x = min(({r}, 2.0))")],
    ast.Slice: [_one("{a}[{i}:{i} + 1][0]"), _one("{a}[:{i} + 1][-1]")],
    ast.Lambda: [_one("(lambda v: 2 * v)({r})"), Way("f = lambda: {r}\nx = f()")],
    ast.Name: [Way("y = {r}\nx = y"), Way("b = {a}\nx = b[{i}]")],
    ast.Call: [
        _one("twice({r})"), _one("first({a}, {i})"), _one("twice(v={r})"), _one("late({r})"),
        Way("give({r}, out, i)"), _one("chosen({r})"), _one("twice(*({r},))"), _one("complex({r}, 1.0).real"),
        _one("complex(1.0, {r}).imag"), _one("complex({r}, 2.0).conjugate().real"),
    ],
}  # fmt: skip
NO_ELEMENT = {
    ast.Constant: "a number of the source",
    **dict.fromkeys((More, Next), "a step of a loop over a named iterator, which reads as `next` does"),
}

STATEMENTS = {
    ast.Assign: [Way("x = {r}"), Way("x = y = {r}"), Way("out[i] = {r}"), Way("(x, y), z = ({r}, 1.0), 2.0")],
    ast.AnnAssign: [Way("x: float = {r}")],
    ast.AugAssign: [
        Way("x = 1.0\nx += {r}"), Way("x = 2.0\nx **= {r}"), Way("out[i] = 1.0\nout[i] *= {r}"),
        Way("{a}[{i}] += 1.0\nx = {a}[{i}]", spaces=WRITTEN), Way("out[{r}] += 1.0", "int64"),
    ],
    ast.FunctionDef: [
        Way("def f(v):\n    return v + 1.0\nx = f({r})"),
        Way("def f(v):\n    return {r} + v\nx = f(1.0)"),
    ],
    ast.If: [
        Way("x = 1.0\nif {r} > 0.5:\n    x = 2.0"), Way("x = 1.0\nif {r}:\n    x = 2.0", "int64"),
        Way("if i < 7:\n    x = {r}\nelse:\n    x = {r}"),
        Way("if i < 7:\n    y = small[i]\n    x = {r}\nelse:\n    y = 2.0\n    x = {r}\nout[i] = y\nout[i] = x"),
        Way("x = 1.0\nif i < 40:\n    x = {r}"),
    ],
    ast.For: [
        Way("x = 0.0\nfor k in range({r}):\n    x += 1.0", "int64"),
        Way("x = 0.0\nfor k in range(0, {r}):\n    x += 1.0", "int32"),
        Way("x = 0.0\nfor k in range(4, 0, -{r}):\n    x += 1.0", "int64"),
        Way("r = range({r})\nx = 0.0\nfor k in r:\n    x += k", "int64"),
        Way("x = 0.0\nfor y in ({r}, 2.0):\n    x += y"), Way("x = 0.0\nfor y in {a}[{i}:{i} + 1]:\n    x += y"),
        Way("x = 0.0\nfor k, y in enumerate({a}[{i}:{i} + 1]):\n    x += y + k"),
        Way("e = enumerate({a}[{i}:{i} + 1])\nx = 0.0\nfor k, y in e:\n    x += y\nfor k, y in e:\n    x += y"),
        Way("x = 0.0\nfor y, z in zip({a}[{i}:{i} + 1], small):\n    x += y + z"),
        Way("x = 0.0\nfor k, y in enumerate((2.0, {r})):\n    x += k * y"),
        Way("x = 0.0\nfor y in [{r}, 2.0]:\n    x += y"),
        Way("x = 0.0\nfor k in range(n):\n    x += {r}"),
        Way("x = 0.0\nfor k in range(3):\n    x += {r}"),
        Way("x = {r}\nfor k in range(n):\n    x = x * 0.5"),
        Way("x = 1.0\nfor k in range(n):\n    if {r} > 0.5:\n        break\n    x += 1.0"),
        Way("x = 1.0\nfor k in range(n):\n    if {r} > 0.5:\n        continue\n    x += 1.0"),
    ],
    ast.While: [
        Way("x = {r}\nwhile x > 0.5:\n    x -= 1.0"),
        Way("k = {r}\nx = 0.0\nwhile k > 0:\n    k -= 1\n    x += 1.0", "int64"),
        Way("x = 0.0\nwhile True:\n    x += {r}\n    if x > 0.5:\n        break"),
    ],
    ast.Return: [Way("if {r} > 2.0:\n    return\nout[i] = 2.0"), _one("first({a}, {i})")],
    ast.Expr: [Way("put(out, i + 0 * int({r}))")],
    ast.Assert: [Way("assert {r} < 9.0\nx = 1.0"), Way("assert first({a}, {i}) < 9.0, 'large'\nx = 1.0")],
    ast.Raise: [Way("if {r} > 2.0:\n    raise ValueError('large')\nx = 1.0")],
}  # fmt: skip
DECIDED_ELSEWHERE = {
    ast.Break: "the branch around it reads", ast.Continue: "the branch around it reads", ast.Pass: "does nothing",
    ast.Global: "does nothing", ast.Nonlocal: "does nothing",
}  # fmt: skip

_ARGUMENTS = {
    "range": [Way("x = 0.0\nfor k in range({r}):\n    x += 1.0", "int64")],
    "len": [],
    "min": [_one("min({r}, 2.0)"), _one("min(2, i, {r})", "int64")],
    "max": [_one("max({r}, 2.0)"), _one("max({r}, i)", "int32")],
    "abs": [_one("abs({r})"), _one("abs({r})", "int32"), _one("abs({r})", "complex128", reads=2)],
    "round": [_one("round({r})"), _one("round({r}, 2)")],
    "divmod": [Way("x, y = divmod({r}, 3)", "int64"), Way("y, x = divmod(i, {r})", "int64")],
    "pow": [_one("pow({r}, 2)"), _one("pow({r}, 0.5)"), _one("pow({r}, 20)", "int64"), _one("{r} ** -3")],
    "enumerate": [Way("x = 0.0\nfor k, y in enumerate(small[:2], {r}):\n    x += k", "int64")],
    "zip": [Way("x = 0.0\nfor k, y in zip(range({r}), small):\n    x += y", "int64")],
    "sum": [_one("sum(({r}, 2.0))"), _one("sum((1.0, 2.0), {r})")],
    "slice": [_one("{a}[slice({i}, {i} + 1)][0]"), _one("len(small[slice(0, {r})])", "int64")],
    "tuple": [_one("tuple(({r}, 1.0))[0]")],
    "iter": [
        Way("x = 0.0\nfor y in iter({a}[{i}:{i} + 1]):\n    x += y"), Way("x = next(iter(({r}, 2.0)))"),
        Way("x = 0.0\nfor k in iter(range({r})):\n    x += 1.0", "int64"),
    ],
    "next": [
        Way("e = zip({a}[{i}:{i} + 1], small)\ny, z = next(e)\nx = y\nfor y, z in e:\n    x += y"),
        _one("next(iter({a}[{i}:{i} + 1]))"), _one("next(iter(({r}, 2.0)))")],
    "isinstance": [],
    "hasattr": [],
    "print": [Way("print('text', {r})"), Way("if i < 40:\n    print({r}, i)", "int32")],
}  # fmt: skip
BUILTIN_CALLS = {name: _ARGUMENTS[name] for name in BUILTINS.values()}


def _module_of(scalar):
    """Return which module Numba takes a type from: numba.float16 has no constructor."""
    return "np" if scalar == "float16" else "numba"


TYPE_CALLS = {
    name: [
        _one(f"abs({_module_of(name)}.{name}({{r}}))"),
        _one(f"abs({_module_of(name)}.{name}({{r}}))", "int32"),
    ]
    for name in SCALARS
}
TYPE_CALLS |= {name: [_one(f"abs({name}({{r}}))")] for name in ("int", "float", "complex")}
TYPE_CALLS["bool"] = [_one("bool({r})")]

_TWO = ("atan2", "hypot", "pow", "fmod", "copysign", "remainder", "nextafter")
MATH_CALLS = {
    name: [_one(f"math.{name}({{r}}, 2.0)"), _one(f"math.{name}(2.0, {{r}})")]
    if name in _TWO
    else [_one("math.ldexp({r}, i)"), _one("math.ldexp(2.0, {r})", "int32")]
    if name == "ldexp"
    else [_one("abs(cmath.rect({r}, 2.0))"), _one("abs(cmath.rect(2.0, {r}))")]
    if name == "cmath.rect"
    else [_one(f"cmath.polar(complex({{r}}, 1.0))[{part}]") for part in (0, 1)]
    if name == "cmath.polar"
    else [_one(f"math.{name}({{r}})[{part}]") for part in (0, 1)]
    if name in PARTS
    else [_one(f"math.{name}({{r}})" if "." not in name else f"abs({name}(complex({{r}}, 1.0)))")]
    for name in BY_NAME
}
UFUNC_CALLS = {
    u.__name__: [_one(f"np.{u.__name__}({', '.join(['{r}', '3'][: u.nin])})", "int64")] for u in UFUNCS
}

_BITS = {name: [_one(f"cuda.{name}({{r}})", "int64"), _one(f"cuda.{name}({{r}})", "int32")] for name in
         ("popc", "brev", "clz", "ffs")}  # fmt: skip
_VOTES = {
    name: [
        _one(f"cuda.{name}(0xFFFFFFFF, {{r}})", "int32"),
        _one(f"cuda.{name}({{r}} | 0xFFFFFFFF, i)", "int64"),
    ]
    for name in ("ballot_sync", "any_sync", "all_sync", "eq_sync", "match_any_sync")
} | {
    "match_all_sync": [
        Way("x, y = cuda.match_all_sync(0xFFFFFFFF, {r})"),
        Way("y, x = cuda.match_all_sync({r} | 0xFFFFFFFF, i)", "int64"),
    ],
    "nanosleep": [Way("cuda.nanosleep({r})\nx = 1.0", "int64")],
}
_SHUFFLES = {
    name: [_one(f"cuda.{name}(0xFFFFFFFF, {{r}}, 1)"), _one(f"cuda.{name}(0xFFFFFFFF, i, {{r}})", "int32"),
           _one(f"cuda.{name}({{r}} | 0xFFFFFFFF, i, 1)", "int64")]
    for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
}  # fmt: skip
_ATOMICS = {
    f"atomic.{name}": [
        Way(f"x = cuda.atomic.{name}(counts, i, numba.uint64({{r}}))", "uint64"),
        Way(f"cuda.atomic.{name}(counts, {{r}}, numba.uint64(1))", "int64"),
    ]
    for name in ("add", "sub", "and_", "or_", "xor", "inc", "dec", "exch", "max", "min", "nanmax", "nanmin")
}
INTRINSICS = {
    **_BITS, **_VOTES, **_SHUFFLES, **_ATOMICS,
    "atomic.cas": [
        Way("x = cuda.atomic.cas(counts, i, numba.uint64({r}), numba.uint64(2))", "int64"),
        Way("x = cuda.atomic.cas(counts, i, numba.uint64(2), numba.uint64({r}))", "int64"),
    ],
    "atomic.compare_and_swap": [
        Way("x = cuda.atomic.compare_and_swap(counts, numba.uint64({r}), numba.uint64(1))", "int64"),
    ],
    "fma": [_one("cuda.fma({r}, 2.0, 3.0)"), _one("cuda.fma(2.0, {r}, 3.0)"), _one("cuda.fma(2.0, 3.0, {r})")],
    "cbrt": [_one("cuda.cbrt({r})")],
    "selp": [_one("cuda.selp({r} > 0.5, 1.0, 2.0)"), _one("cuda.selp(i < 9, {r}, 2.0)"),
             _one("cuda.selp(i < 9, 2.0, {r})")],
    **{name: [_one(f"cuda.{name}({{r}})", "int64")] for name in
       ("syncthreads_count", "syncthreads_and", "syncthreads_or")},
    "syncwarp": [Way("cuda.syncwarp({r} | 0xFFFFFFFF)\nx = 1.0", "int64")],
    **{name: [Way(f"x = cuda.{name}({{a}}, {{i}})", spaces=("global",)),
              Way(f"x = cuda.{name}(small, {{r}})", "int64")] for name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")},
    **{name: [Way(f"cuda.{name}(out, i, {{r}})"), Way(f"cuda.{name}(out, i * {{r}}, 1.0)", "int64")]
       for name in ("stcg", "stcs", "stwb", "stwt")},
    "load_pair": [Way("x, y = load_pair({a}, 2 * i)", spaces=("global",)),
                  Way("y, x = load_pair({a}, 2 * i)", spaces=("global",)),
                  Way("x, y = load_pair(small, 2 * {r})", "int64")],
    "store_pair": [Way("store_pair(out, 2 * i, {r}, 1.0)"), Way("store_pair(out, 2 * i, 1.0, {r})"),
                   Way("store_pair(out, 2 * i * {r}, 1.0, 2.0)", "int64")],
}  # fmt: skip
TAKE_NO_NUMBER = {
    *("threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "grid", "gridsize", "activemask"),
    *("lanemask_lt", "syncthreads", "threadfence", "threadfence_block", "threadfence_system"),
    *(
        "shared",
        "shared.array",
        "local",
        "local.array",
        "const",
        "const.array_like",
        "atomic",
        "cg",
        "cg.this_grid",
    ),
}

GROUPS = {
    "expression": EXPRESSIONS, "statement": STATEMENTS, "builtin": BUILTIN_CALLS, "cast": TYPE_CALLS,
    "math": MATH_CALLS, "ufunc": UFUNC_CALLS, "cuda": INTRINSICS,
}  # fmt: skip
