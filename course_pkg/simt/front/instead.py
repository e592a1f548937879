"""What to write instead of a construct that the interpreter does not run; most of them Numba refuses, too."""

FALLBACK = "Numba's own simulator may run it: set NUMBA_ENABLE_CUDASIM=1 and use `from numba import cuda`"
PLAIN = "write it with assignments, if, for, while and functions under @cuda.jit(device=True)"

INSTEAD = {  # the beginning of a construct's name: what to write
    "an assignment inside an expression": "Numba compiles it in few places only, so give "
    "the value to the name on a line of its own, before",
    "a lambda": "write a function with def under @cuda.jit(device=True)",
    "the function_without_def": "write a function with def under @cuda.jit(device=True)",
    "a function inside a kernel": "write the function beside the kernel, under @cuda.jit(device=True)",
    "the type 'enumerate'": "loop over range(n), and use the number as the index",
    "the type 'zip'": "loop over range(n), and index each array",
    "the type 'reversed'": "loop over range(n - 1, -1, -1)",
    "the type 'map'": "loop and call the function yourself",
    "the type 'filter'": "loop and use an if",
    "the type 'str'": "leave the text out: a kernel works with numbers",
    "the type ": "write helpers as functions under @cuda.jit(device=True), and give each constant a name of its own",
    "the EnumType": "use a number with a name of its own",
    "the builtin_function_or_method 'sum'": "add in a loop",
    "the builtin_function_or_method 'any'": "join the conditions by or",
    "the builtin_function_or_method 'all'": "join the conditions by and",
    "the module": "outside the kernel, assign the function or constant that you need to a name",
    "the str": "compare numbers, not texts",
    "the dict": "use numbers with names of their own, or pass an array as an argument",
    "the list": "use a tuple, or pass an array as an argument",
    "starred": "write the arguments or names out",
    "a starred expression": "write the names out",
    "a call with starred": "write the arguments out",
    "optional, keyword-only": "give it positional parameters without defaults",
    "a slice": "take single elements: each thread its own, or several in a loop",
    "`@`": "multiply two numbers by *, and add in a loop",
    "a list": "use cuda.local.array, or names of their own",
    "a string": "leave the text out: types are numba.float64 and its like, and infinity is math.inf",
    "an f-string": "leave it out, or make it a plain text",
    "`in`": "compare with each value by ==, and join the comparisons by or",
    "`not in`": "compare with each value by !=, and join the comparisons by and",
    "`is`": "compare numbers by ==",
    "`is not`": "compare numbers by !=",
    "match": "write if, elif and else",
    "try": "test with if before what could fail",
    "with": "leave it out",
    "del": "leave it out",
    "global": "leave it out: a kernel can read the module's names without it",
    "an import": "import at the top of the notebook",
    "a loop over something else": "loop over range(x.shape[0]) and index with its number",
    "a subscript of something": "pass the array as an argument, or use cuda.const.array_like",
    "a tuple's element chosen": "use if and else, or put the numbers into an array",
    "a name that stands for one array": "write if and else around the two uses",
    "the attribute .T": "exchange the two indices",
    "the attribute .flat": "index with one index for each dimension",
    "the attribute .reshape": "reshape the array before the launch",
    "the attribute .ravel": "pass x.ravel() to the launch",
    "the attribute .sum": "add the elements in a loop",
    "the attribute .nbytes": "multiply .size by .itemsize",
    "a call with named": "leave the names of the arguments out",
    "math.frexp": "use math.log2 and math.floor",
    "math.modf": "use math.trunc",
    "operator.getitem": "write x[i]",
    "operator.setitem": "write x[i] = y",
    "operator.is_": "write ==",
    "operator.is_not": "write !=",
    "operator.abs": "write abs(x)",
    "operator.truth": "write bool(x)",
    "operator.inv": "write ~x",
    "numpy.dot": "multiply two numbers by *, and add in a loop",
    "numpy.where": "write `a if condition else b`",
    "numpy.clip": "write min(max(x, low), high)",
    "numpy.float16": "use numba.float32",
}
_NO_SCALARS = {  # functions of NumPy that Numba has for a GPU only under another name, or for arrays alone
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
    **{"cbrt": "cuda.cbrt(x)", "round": "round(x)", "max": "max(x, y)", "min": "min(x, y)"},
}
INSTEAD |= {
    f"numpy.{name}": f"write {way}, which Numba compiles for a GPU" for name, way in _NO_SCALARS.items()
}


def way_out(what: str) -> str:
    """Return what to write instead of a construct, as the rest of a sentence; empty where nothing is known.

    Examples
    --------
    >>> way_out("match")
    'write if, elif and else'
    """
    if what in INSTEAD:
        return INSTEAD[what]
    found = [
        name
        for name in INSTEAD
        if what.startswith(name) and not name.startswith(("numpy.", "math.", "operator."))
    ]
    return INSTEAD[max(found, key=len)] if found else ""
