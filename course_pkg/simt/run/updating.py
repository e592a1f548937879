"""What atomic operations make of numbers."""

import numpy as np

from course_pkg.simt.memory.races import SWAPS

AT_ONCE = 1024  # number of compare-and-swaps of one element that are processed at once


def in_one_go(name, now, operands):
    """Return an element's value before each of many updates, followed by its value after the last update."""
    if name == "exch":
        return np.concatenate([now, operands[0]])
    if name in SWAPS:
        return _swaps(now, *operands)
    return UFUNCS[name].accumulate(np.concatenate([now, operands[0]]))


def _swaps(now, wanted, new):
    """Return an element's value before each of many compare-and-swaps, followed by its value after the last one."""
    steps, at = np.empty(len(wanted) + 1, now.dtype), 0
    while at < len(wanted):
        equal = wanted[at : at + AT_ONCE] == now
        swap = int(equal.argmax())
        passed = swap + 1 if equal[swap] else len(equal)
        steps[at : at + passed] = now
        at += passed
        now = new[at - 1] if equal[swap] else now
    steps[at] = now[0] if np.ndim(now) else now
    return steps


def apply(name, now, operands):
    if name in UFUNCS:
        return UFUNCS[name](now, operands[0])
    if name == "inc":
        return np.where(now >= operands[0], 0, now + 1)
    if name == "dec":
        return np.where((now == 0) | (now > operands[0]), operands[0], now - 1)
    if name == "exch":
        return operands[0]
    if name in ("cas", "compare_and_swap"):
        return np.where(now == operands[0], operands[1], now)
    raise ValueError(name)


UFUNCS = {
    "add": np.add,
    "sub": np.subtract,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
}
