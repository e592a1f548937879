"""Kernel code for ``a.sum()`` and similar methods, as Numba compiles it. It is run and counted as any kernel code."""

from functools import cache

_NAMES = ("sum", "prod", "mean", "var", "std", "any", "all", "argmax", "argmin")
REDUCTIONS = frozenset(_NAMES)

_TEXT = """
def sum(a):
    total = a.dtype.type(0)
    for v in a.flat:
        total += v
    return total

def prod(a):
    total = a.dtype.type(1)
    for v in a.flat:
        total *= v
    return total

def mean(a):
    total = a.dtype.type(0)
    for v in a.flat:
        total += v
    return total / a.size

def var(a):
    middle = mean(a)
    squares = 0.0
    for v in a.flat:
        squares += (v - middle) * (v - middle)
    return squares / a.size

def std(a):
    return var(a) ** 0.5

def any(a):
    for v in a.flat:
        if v:
            return True
    return False

def all(a):
    for v in a.flat:
        if not v:
            return False
    return True

def argmax(a):
    best, at = a.flat[0], 0
    for i, v in enumerate(a.flat):
        if v > best:
            best = v
            at = i
    return at

def argmin(a):
    best, at = a.flat[0], 0
    for i, v in enumerate(a.flat):
        if v < best:
            best = v
            at = i
    return at
"""


@cache
def reduction(name: str):
    """Return the device function that implements an array method.

    Examples
    --------
    >>> reduction("sum")
    <device function sum, interpreted>
    """
    from course_pkg.simt.run.kernel import Kernel

    needs = {"var": ("mean",), "std": ("var",)}.get(name, ())
    names = {other: reduction(other) for other in needs}
    return Kernel.from_source(_TEXT, name, names, device=True, file="<the interpreter's library>")
