"""What to write instead of a construct that the interpreter does not run. Numba also refuses most of them.

Constructs are looked up by what they are: the class of a syntax tree's node, the name of an attribute, the module and
name of a function, or the class of an object. Sentences about them are made here, and no program reads them.
"""

import ast
from dataclasses import dataclass

OUTSIDE, NOT_ON_A_GPU = "is outside what the interpreter runs", "is nothing that Numba compiles for a GPU"
FALLBACK = "Numba's own simulator may run it: set NUMBA_ENABLE_CUDASIM=1 and use `from numba import cuda`"
PLAIN = "write it with assignments, if, for, while and functions under @cuda.jit(device=True)"


@dataclass(frozen=True)
class Refusal:
    """A construct that the interpreter refuses. As a text, it is the sentence about it.

    Attributes
    ----------
    construct : str
        What the sentence calls the construct.
    way : str
        What to write instead; empty if Numba compiles the construct and no other way is known.
    compiled : bool
        Whether Numba compiles it for a GPU.
    """

    construct: str
    way: str
    compiled: bool

    def sentence(self, advice: str = "") -> str:
        """Return the sentence; if Numba compiles the construct, a sentence of advice follows."""
        if self.compiled:
            return f"{self.construct} {OUTSIDE}{': ' if self.way else ''}{self.way}. {advice}".rstrip()
        return f"{self.construct} {NOT_ON_A_GPU}: {self.way}."

    def __str__(self):
        return self.sentence("" if self.way else f"{FALLBACK}.")


def refusal(construct: str, way: str = "", *, compiled: bool = False) -> Refusal:
    """Return the words that refuse a construct: what it is, and what to write instead.

    If Numba does not compile the construct and no way is given, the way is plain code.

    Examples
    --------
    >>> str(refusal("a loop over a number", "loop over range(n)"))
    'a loop over a number is nothing that Numba compiles for a GPU: loop over range(n).'
    >>> refusal("a class").way == PLAIN
    True
    """
    return Refusal(construct, way or PLAIN * (not compiled), compiled)


def of_node(node: ast.AST) -> Refusal:
    """Return the refusal of a statement, an expression or an operator.

    Examples
    --------
    >>> str(of_node(ast.parse("del x").body[0]))
    'del is nothing that Numba compiles for a GPU: leave it out.'
    """
    return SYNTAX.get(type(node)) or refusal(f"a Python {type(node).__name__}")


def of_attribute(name: str) -> Refusal:
    """Return the refusal of an attribute of an array or of another object.

    Examples
    --------
    >>> of_attribute("dot").way
    'multiply and add in a loop'
    """
    return refusal(f"the attribute .{name}", ATTRIBUTES.get(name, ""))


def of_member(module: str, name: str) -> Refusal:
    """Return the refusal of a function, or of another member, of a module such as ``numpy``.

    Examples
    --------
    >>> of_member("numpy", "sqrt").way
    'write math.sqrt(x), which Numba compiles for a GPU'
    >>> of_member("cuda", "fp16").compiled
    True
    """
    first = name.partition(".")[0] if module == "cuda" else name
    compiled = module == "cuda" or name in COMPILED_MEMBERS.get(module, ())
    return refusal(f"{module}.{name}", MEMBERS.get(module, {}).get(first, ""), compiled=compiled)


def of_call(name: str) -> Refusal:
    """Return the refusal of a call of an object in ``cuda`` that is not a function.

    Examples
    --------
    >>> of_call("threadIdx").way
    'write cuda.threadIdx.x, without brackets'
    """
    return refusal(f"a call of cuda.{name}", CALLS.get(name, ""))


def of_object(thing, name: str) -> Refusal:
    """Return the refusal of an object that a kernel names.

    The class of the object is known by its name, because the judge has only a stand-in with a class of the same name.

    Examples
    --------
    >>> str(of_object(all, "all"))
    "the function 'all' is nothing that Numba compiles for a GPU: join the conditions by and."
    """
    kind = type(thing).__name__
    way = OBJECTS.get((kind, name)) or OBJECTS.get(kind, "")
    if not way and _is_instance(thing):
        way = (
            f"outside the kernel, give what it needs of {name} a name of its own, as in `value = {name}.value`, or "
            "pass it as an argument"
        )
    compiled = kind in COMPILED_OBJECTS or (kind, name) in COMPILED_OBJECTS
    return refusal(f"the {CALLED.get(kind, kind)} {name!r}", way, compiled=compiled)


def _is_instance(thing) -> bool:
    """Return whether an object is one of a class that Python's source defines."""
    return not callable(thing) and hasattr(thing, "__dict__") and not isinstance(thing, type)


_NUMBERS = "use numbers with names of their own, or pass an array as an argument"

SYNTAX = {
    ast.ListComp: refusal("a list comprehension", "fill a cuda.local.array in a loop"),
    ast.GeneratorExp: refusal("a generator expression", "write a loop"),
    ast.SetComp: refusal("a set comprehension", "use a tuple, or pass an array as an argument"),
    ast.DictComp: refusal("a dict comprehension", _NUMBERS),
    ast.Dict: refusal("a dict", _NUMBERS),
    ast.Set: refusal("a set", "use a tuple, or pass an array as an argument"),
    ast.List: refusal("a list", "use cuda.local.array, or names of their own"),
    ast.JoinedStr: refusal("an f-string", "leave it out, or make it a plain text"),
    ast.Lambda: refusal("a lambda"),
    ast.Try: refusal("try", "test with if before what could fail"),
    ast.With: refusal("with", "leave it out"),
    ast.Raise: refusal("raise"),
    ast.Yield: refusal("yield"),
    ast.FunctionDef: refusal("a function inside a kernel"),
    ast.ClassDef: refusal("a class"),
    ast.Import: refusal("an import", "import at the top of the notebook"),
    ast.ImportFrom: refusal("an import", "import at the top of the notebook"),
    ast.Global: refusal("global"),
    ast.Delete: refusal("del", "leave it out"),
    ast.Match: refusal("match", "write if, elif and else, or let each case name numbers alone"),
    ast.Slice: refusal("a slice"),
    ast.Starred: refusal("a starred expression", "write the names out"),
    ast.NamedExpr: refusal(
        "an assignment inside an expression",
        "give the value to the name on a line of its own, before",
    ),
    ast.Constant: refusal(
        "a string",
        "give each case a number, as in `FAST = 0`, and compare numbers; a type is written numba.float64, infinity "
        "math.inf, and a text may only be printed",
        compiled=True,
    ),
    ast.In: refusal("`in`", "compare by == and or, or in a loop", compiled=True),
    ast.NotIn: refusal("`not in`", "compare by != and and, or in a loop", compiled=True),
    ast.Is: refusal("`is`", "compare numbers by ==", compiled=True),
    ast.IsNot: refusal("`is not`", "compare numbers by !=", compiled=True),
    ast.MatMult: refusal("`@`", "multiply and add in a loop"),
}

ATTRIBUTES = {  # {name: what to write instead}
    "astype": "cast each element, as in numba.int64(x[i])",
    "sort": "sort on the host, or compare and swap elements in loops",
    "take": "write x[i]",
    "flags": "leave it out",
    "copy": "copy into another array in a loop",
    "max": "compare in a loop, beginning with the first element",
    "min": "compare in a loop, beginning with the first element",
    "dot": "multiply and add in a loop",
    "cumsum": "add in a loop",
    "flatten": "index with one index for each dimension, or pass x.reshape(x.size) to the launch",
    "length": "write x.size",
    "append": "use cuda.local.array and a counter",
    "ravel": "pass x.ravel() to the launch",
}

_NO_SCALARS = {  # NumPy functions that Numba compiles for a GPU only under another name, or only for arrays
    **{
        name: f"math.{name}(x)"
        for name in ("sqrt", "exp", "exp2", "expm1", "log1p", "floor", "ceil", "trunc")
    },
    **{name: f"math.{name}(x)" for name in ("fabs", "isinf", "isfinite")},
    **{name: f"math.{name}(x, y)" for name in ("fmod", "copysign", "nextafter")},
    **dict.fromkeys(("power", "float_power"), "x ** y"),
    **dict.fromkeys(("abs", "absolute"), "abs(x)"),
    **dict.fromkeys(("mod", "remainder"), "x % y"),
    **{"add": "x + y", "subtract": "x - y", "multiply": "x * y", "floor_divide": "x // y"},
    **{"negative": "-x", "positive": "x", "square": "x * x", "reciprocal": "1.0 / x", "rint": "round(x)"},
    **{"cbrt": "cuda.cbrt(x)", "max": "max(x, y)", "min": "min(x, y)"},
}
MEMBERS = {  # {module: {name: what to write instead}}
    "numpy": {
        **{name: f"write {way}, which Numba compiles for a GPU" for name, way in _NO_SCALARS.items()},
        "dot": "multiply and add in a loop",
        "linspace": "compute each number, as in `first + i * step`",
        "round": "write round(x)",
        "around": "write round(x)",
        "amin": "compare in a loop, beginning with the first element",
        "amax": "compare in a loop, beginning with the first element",
        "median": "sort a cuda.local.array in loops, and take the element in its middle",
        "random": "use cuda.random: create_xoroshiro128p_states, and xoroshiro128p_uniform_float32 here",
        "linalg": "multiply and add in a loop",
        "interp": "search in a loop, then compute a + share * (b - a)",
        "where": "write `a if condition else b`",
        "clip": "write min(max(x, low), high)",
        "sign": "compare with 0, as in `(x > 0) - (x < 0)`",
        **{name: f"write {name}(x)" for name in ("int", "float", "bool", "complex")},
        **dict.fromkeys(
            ("sort", "argsort", "unique"), "sort on the host, or compare and swap elements in loops"
        ),
        "isclose": "compare abs(x - y) with a bound",
    },
    "math": {
        "abs": "write abs(x)",
        "gcd": "write Euclid's loop: while b: a, b = b, a % b",
        "isclose": "compare abs(x - y) with a bound",
        "cbrt": "write cuda.cbrt(x)",
        **dict.fromkeys(("factorial", "comb", "perm", "prod"), "multiply in a loop"),
        **dict.fromkeys(("fsum", "dist", "sumprod"), "add in a loop"),
    },
    "operator": {
        "getitem": "write x[i]",
        "setitem": "write x[i] = y",
        "is_": "write ==",
        "is_not": "write !=",
        "abs": "write abs(x)",
        "truth": "write bool(x)",
        "inv": "write ~x",
    },
    "cuda": {
        "fp16": "write a + b and its like, which Numba computes in half precision if all numbers are numba.float16",
        "bf16": "use numba.float32: only a GPU has this type",
    },
}
COMPILED_MEMBERS = {"numpy": ("array_equal",)}
CALLS = {  # {name of an object in cuda that is not a function: what to write instead of calling it}
    **{
        name: f"write cuda.{name}.x, without brackets"
        for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
    },
    "shared": "write cuda.shared.array(32, numba.float32)",
    "local": "write cuda.local.array(4, numba.float32)",
}

OBJECTS = {  # {class, or (class, name): what to write instead}
    "function_without_def": "write a function with def under @cuda.jit(device=True)",
    "function_behind_too_many": "call fewer functions from within each other: a hundred at most",
    ("type", "reversed"): "loop over range(n - 1, -1, -1)",
    ("type", "map"): "loop and call the function yourself",
    ("type", "filter"): "loop and use an if",
    ("type", "str"): "leave the text out: a kernel works with numbers",
    "type": "write helpers as functions under @cuda.jit(device=True), and give each constant a name of its own",
    ("builtin_function_or_method", "sum"): "give it an array, a tuple or a range",
    **dict.fromkeys(
        (
            *(("builtin_function_or_method", name) for name in ("random", "gauss")),
            *(("method", name) for name in ("uniform", "randint", "choice")),
        ),
        "use cuda.random: create_xoroshiro128p_states, and xoroshiro128p_uniform_float32 here",
    ),
    **dict.fromkeys(
        (("builtin_function_or_method", name) for name in ("time", "perf_counter", "monotonic")),
        "time the launch on the host, between two cuda.event()",
    ),
    ("builtin_function_or_method", "sorted"): "sort on the host, or compare and swap elements in loops",
    **dict.fromkeys(
        (("builtin_function_or_method", name) for name in ("input", "open")), "pass data to the launch"
    ),
    ("builtin_function_or_method", "any"): "join the conditions by or",
    ("builtin_function_or_method", "all"): "join the conditions by and",
    "Quitter": "to end a thread, write return",
    "ZMQExitAutocall": "to end a thread, write return",
    "module": "outside the kernel, assign the function or constant that you need to a name",
    **dict.fromkeys(
        ("str", "str_"),
        "give each case a number, as in `FAST = 0`, and compare numbers",
    ),
    "dict": _NUMBERS,
    "list": "use a tuple, or pass an array as an argument",
}
COMPILED_OBJECTS = frozenset(
    {
        "function_behind_too_many",
        "function_without_def",
        "str",
        "str_",
        ("type", "type"),
        *(("builtin_function_or_method", name) for name in ("sum", "ord")),
        ("builtin_function_or_method", "breakpoint"),
    }
)
CALLED = {  # {class: what sentences call it}
    "builtin_function_or_method": "function",
    "function_without_def": "function without def",
    "function_behind_too_many": "function behind too many others",
}
