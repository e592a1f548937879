"""What to write instead of a construct that the interpreter does not run. Numba also refuses most of them."""

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
        return self.sentence(f"{FALLBACK}.")


INSTEAD = {  # {beginning of a construct's name: what to write instead}
    "an assignment inside an expression": "give the value to the name on a line of its own, before",
    "a decorated function inside a kernel": "write it beside the kernel",
    "a call with **arguments": "write the arguments out",
    "a dict": "use numbers with names of their own, or pass an array as an argument",
    "a set": "use a tuple, or pass an array as an argument",
    "a list comprehension": "fill a cuda.local.array in a loop",
    "a generator": "write a loop",
    "an iteration over": "loop over range(n)",
    "a loop over something else": "loop over range(n), an array or a tuple",
    "the attribute .astype": "cast each element, as in numba.int64(x[i])",
    "the attribute .sort": "sort on the host, or compare and swap elements in loops",
    "the attribute .take": "write x[i]",
    "the attribute .flags": "leave it out",
    "the attribute .copy": "copy into another array in a loop",
    "the attribute .max": "compare in a loop, beginning with the first element",
    "the attribute .min": "compare in a loop, beginning with the first element",
    "the attribute .dot": "multiply and add in a loop",
    "the attribute .cumsum": "add in a loop",
    "the attribute .flatten": "index with one index for each dimension, or pass x.reshape(x.size) to the launch",
    "the attribute .length": "write x.size",
    "a call of cuda.threadIdx": "write cuda.threadIdx.x, without brackets",
    "a call of cuda.blockIdx": "write cuda.blockIdx.x, without brackets",
    "a call of cuda.blockDim": "write cuda.blockDim.x, without brackets",
    "a call of cuda.gridDim": "write cuda.gridDim.x, without brackets",
    "a call of cuda.shared": "write cuda.shared.array(32, numba.float32)",
    "a call of cuda.local": "write cuda.local.array(4, numba.float32)",
    "math.abs": "write abs(x)",
    "the attribute .append": "use cuda.local.array and a counter",
    "a choice between things": "give each its own name, or write if and else around its uses",
    "numpy.dot": "multiply and add in a loop",
    "numpy.linspace": "compute each number, as in `first + i * step`",
    "`@`": "multiply and add in a loop",
    "the function_without_def": "write a function with def under @cuda.jit(device=True)",
    "the function_behind_too_many": "call fewer functions from within each other: a hundred at most",
    "the type 'reversed'": "loop over range(n - 1, -1, -1)",
    "the type 'map'": "loop and call the function yourself",
    "the type 'filter'": "loop and use an if",
    "the type 'str'": "leave the text out: a kernel works with numbers",
    "the type ": "write helpers as functions under @cuda.jit(device=True), and give each constant a name of its own",
    "the EnumType": "use a number with a name of its own",
    "the builtin_function_or_method 'sum'": "give it an array, a tuple or a range",
    "the builtin_function_or_method 'iter'": "loop over the array with for",
    "the builtin_function_or_method 'next'": "loop over the array with for, or write x[i]",
    "the builtin_function_or_method 'isinstance'": "leave it out: each variable of a kernel has one type",
    "the builtin_function_or_method 'any'": "join the conditions by or",
    "the builtin_function_or_method 'all'": "join the conditions by and",
    "the Quitter": "to end a thread, write return",
    "the ZMQExitAutocall": "to end a thread, write return",
    "the module": "outside the kernel, assign the function or constant that you need to a name",
    "the str": "compare numbers, not texts",
    "the dict": "use numbers with names of their own, or pass an array as an argument",
    "the list": "use a tuple, or pass an array as an argument",
    "a starred expression": "write the names out",
    "a list": "use cuda.local.array, or names of their own",
    "a string": "a kernel computes with numbers alone (a type is written numba.float64, and infinity math.inf)",
    "an f-string": "leave it out, or make it a plain text",
    "`in`": "compare by == and or, or in a loop",
    "`not in`": "compare by != and and, or in a loop",
    "`is`": "compare numbers by ==",
    "`is not`": "compare numbers by !=",
    "match": "write if, elif and else, or let each case name numbers alone",
    "try": "test with if before what could fail",
    "with": "leave it out",
    "del": "leave it out",
    "an import": "import at the top of the notebook",
    "a name that stands for one array": "write if and else around the two uses",
    "the attribute .ravel": "pass x.ravel() to the launch",
    "a call with named": "leave the names of the arguments out",
    "numpy.round": "write round(x)",
    "numpy.around": "write round(x)",
    "numpy.amin": "compare in a loop, beginning with the first element",
    "numpy.amax": "compare in a loop, beginning with the first element",
    "numpy.median": "sort a cuda.local.array in loops, and take the element in its middle",
    "numpy.random": "use cuda.random: create_xoroshiro128p_states, and xoroshiro128p_uniform_float32 here",
    "numpy.linalg": "multiply and add in a loop",
    "numpy.interp": "search in a loop, then compute a + share * (b - a)",
    "math.gcd": "write Euclid's loop: while b: a, b = b, a % b",
    "operator.getitem": "write x[i]",
    "operator.setitem": "write x[i] = y",
    "operator.is_": "write ==",
    "operator.is_not": "write !=",
    "operator.abs": "write abs(x)",
    "operator.truth": "write bool(x)",
    "operator.inv": "write ~x",
    "numpy.where": "write `a if condition else b`",
    "numpy.clip": "write min(max(x, low), high)",
    "cuda.fp16": "write a + b and its like, which Numba computes in half precision if all numbers are numba.float16",
    "cuda.bf16": "use numba.float32: only a GPU has this type",
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
INSTEAD |= {
    f"numpy.{name}": f"write {way}, which Numba compiles for a GPU" for name, way in _NO_SCALARS.items()
}


_COMPILED = (  # beginnings of the names of constructs that Numba does compile
    *(
        "the builtin_function_or_method 'sum'",
        "`is`",
        "`in`",
        "`not in`",
        "numpy.array_equal",
        "the type 'type'",
    ),
    *("cuda.", "nonlocal", "recursion", "the str", "a string", "the EnumType"),
    *("the builtin_function_or_method 'iter'", "the builtin_function_or_method 'next'"),
    *("the builtin_function_or_method 'hasattr'", "the builtin_function_or_method 'ord'"),
    *("the builtin_function_or_method 'isinstance'", "the builtin_function_or_method 'breakpoint'"),
    *("a copy of records", "a choice between", "a name that stands for", "an array or a function chosen"),
    *(
        "a slice whose step",
        "a shape that differs",
        "a view as elements",
        "min of",
        "max of",
        "arrays of dtype",
    ),
)


def refusal(what: str) -> Refusal:
    """Return what is to be said of a construct that the interpreter refuses: whether a GPU runs it, and what to write.

    Examples
    --------
    >>> str(refusal("try"))
    'try is nothing that Numba compiles for a GPU: test with if before what could fail.'
    >>> refusal("recursion").compiled
    True
    """
    construct = what.replace("the builtin_function_or_method", "the function")
    compiled = what.startswith(_COMPILED)
    return Refusal(construct, way_out(what) or PLAIN * (not compiled), compiled)


def way_out(what: str) -> str:
    """Return what to write instead of a construct, as the rest of a sentence; an empty string if nothing is known.

    Examples
    --------
    >>> way_out("match")
    'write if, elif and else, or let each case name numbers alone'
    """
    if what in INSTEAD:
        return INSTEAD[what]
    found = [
        name
        for name in INSTEAD
        if what.startswith(name) and not name.startswith(("numpy.", "math.", "operator."))
    ]
    return INSTEAD[max(found, key=len)] if found else ""
