"""Functions of arrays and sequences as kernel code, as Numba compiles them; they are counted as any kernel code."""

import math
from functools import cache

from course_pkg.simt.run.kernel import Kernel

_NAMES = ("sum", "prod", "mean", "var", "std", "any", "all", "argmax", "argmin")
REDUCTIONS = frozenset(_NAMES)

_TEXT = """
def added_up(sequence, total):
    for v in sequence:
        total = total + v
    return total

def largest(a):
    best = a[0]
    for i in range(1, a.size):
        v = a[i]
        if v > best:
            best = v
    return best

def smallest(a):
    best = a[0]
    for i in range(1, a.size):
        v = a[i]
        if v < best:
            best = v
    return best

def in_array(item, a):
    for v in a.flat:
        if v == item:
            return True
    return False

def in_range(item, start, stop, step):
    if step > 0:
        inside = item >= start and item < stop
    else:
        inside = item <= start and item > stop
    return inside and (item - start) % step == 0

def places_left_of(a, v):
    low, high = 0, a.size
    while low < high:
        middle = (low + high) // 2
        if a[middle] < v or (v != v and a[middle] == a[middle]):
            low = middle + 1
        else:
            high = middle
    return low

def places_up_to(a, v):
    low, high = 0, a.size
    while low < high:
        middle = (low + high) // 2
        if a[middle] <= v or v != v:
            low = middle + 1
        else:
            high = middle
    return low

def count_nonzero(a):
    count = 0
    for v in a.flat:
        if v != 0:
            count += 1
    return count

def angle(z):
    return math.atan2(z.imag, z.real)

def sinc(x):
    if x == 0:
        return 1.0
    return math.sin(math.pi * x) / (math.pi * x)

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
def function(name: str):
    """Return the device function that implements a method of arrays, or one of the functions above it.

    Examples
    --------
    >>> function("sum")
    <device function sum, interpreted>
    """
    needs = {"var": ("mean",), "std": ("var",)}.get(name, ())
    names = {other: function(other) for other in needs} | {"math": math}
    return Kernel.from_source(_TEXT, name, names, device=True, file="<the interpreter's library>")
