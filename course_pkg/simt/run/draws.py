"""Random numbers by xoroshiro128+, computed for all lanes at once. Interpreting each statement would take minutes.

The computations, loads and stores are those of the source of :mod:`course_pkg.simt.random`.
"""

import ast

import numpy as np
from numba.core import types

from course_pkg.simt import random
from course_pkg.simt.errors import SimtError
from course_pkg.simt.memory.regions import Arrays
from course_pkg.simt.run.access import load_place, store_place
from course_pkg.simt.run.choices import each
from course_pkg.simt.run.expressions import binary, cast
from course_pkg.simt.run.fields import field
from course_pkg.simt.run.locating import locate
from course_pkg.simt.run.values import Value

INTEGER_OPERATIONS = 11  # in one step of the generator: an addition, shifts, and bitwise operations
DRAWS = ("xoroshiro128p_next", "xoroshiro128p_uniform_float32", "xoroshiro128p_uniform_float64")
KERNELS = {name: getattr(random, name) for name in random.__all__ if name.startswith("xoroshiro128p_")}
_DRAWING = {id(KERNELS[name]) for name in DRAWS}


def ours(function):
    """Return the course's version of a function of ``numba.cuda.random``; return any other function unchanged."""
    python = getattr(function, "py_func", None)
    if getattr(python, "__module__", "") == "numba.cuda.random":
        return KERNELS.get(python.__name__, function)
    return function


def is_draw(function) -> bool:
    """Return whether a function draws a single random number."""
    return id(function) in _DRAWING


def draw(run, frame, node, function, arguments, named, mask) -> Value:
    """Advance one state in each lane, and return the number that it yields.

    Raises
    ------
    SimtError
        If the first argument is not a vector of states.
    """
    where, name = (frame.program.name, node.lineno), function.__name__
    given = [*arguments, *(named[k] for k in ("states", "index") if k in named)]
    if len(given) != 2:
        raise SimtError.at(*where, f"{name} takes an array of states and an index.")
    states, index = given
    if not isinstance(states, Arrays) or states.ndim != 1 or states.dtype != random.xoroshiro128p_dtype:
        raise SimtError.at(
            *where,
            f"{name} takes an array of states, which create_xoroshiro128p_states(n, seed) makes on the host.",
        )
    words = [
        each(run, states, mask, lambda one, own, word=word: field(run, frame, node, one, word))
        for word in ("s0", "s1")
    ]
    places = [locate(run, frame, node, word, index, mask) for word in words]
    s0, s1 = (load_place(run, frame, place, mask) for place in places)
    for place, data in zip(places, _advanced(s0.data, s1.data), strict=True):
        new = run.derived(data, types.uint64, run.numbering.fresh(), (s0, s1), mask)
        store_place(run, frame, place, new, mask)
    for _ in range(INTEGER_OPERATIONS):
        run.ledger.integer(mask)
    key = run.numbering.of("drawn", s0.key, s1.key)
    bits = run.derived(s0.data + s1.data, types.uint64, key, (s0, s1), mask)
    if name == "xoroshiro128p_next":
        return bits
    upper = run.view(bits, bits.data >> np.uint64(11), types.uint64, run.numbering.of("upper", bits.key))
    run.ledger.integer(mask)
    number = binary(run, frame, node, ast.Mult(), upper, run.constant(2.0**-53), mask)
    return cast(run, number, types.float32) if name.endswith("float32") else number


def _advanced(s0, s1):
    s1 = s1 ^ s0
    return random.rotated(s0, 55) ^ s1 ^ (s1 << np.uint64(14)), random.rotated(s1, 36)
