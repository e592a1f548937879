"""NumPy's ufuncs on scalars. Their types are those of NumPy's loops, which differ from those of Python's operators."""

import ast

import numpy as np
from numba.core import types
from numba.np.numpy_support import ufunc_find_matching_loop

from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.values import Value

_LOGIC = (ast.And, ast.Or, ast.Not)


def ufunc_of_numbers(run, frame, node, function, arguments, mask) -> Value:
    """Apply a ufunc to scalars, and count it as the equivalent operator.

    Raises
    ------
    Unsupported
        If the ufunc has no loop for these types.
    """
    ufunc, given = function.python, tuple(a.type for a in arguments)
    loop = ufunc_find_matching_loop(ufunc, given)
    if loop is None:
        kinds = " and ".join(map(str, given))
        raise unsupported(frame, node, f"{function.name} of {kinds}, for which NumPy has no loop,")
    numbers = [cast(run, a, wanted) for a, wanted in zip(arguments, loop.inputs, strict=True)]
    (result,) = loop.outputs
    dtype = dtype_of(result)

    def computed(*data):
        with np.errstate(all="ignore"):
            return np.asarray(ufunc(*data)).astype(dtype, copy=False)

    key = run.numbering.of((function.name, result), *(n.key for n in numbers))
    constant = all(n.constant for n in numbers)
    value = run.derived(computed(*(n.data for n in numbers)), result, key, numbers, mask, constant)
    follow(value, computed, *numbers)
    for n in numbers:
        run.ledger.use(n)
    if function.kind is None or function.kind in _LOGIC or len(numbers) == 1:
        count = run.ledger.integer if isinstance(loop.inputs[0], types.Integer) else run.ledger.instruction
        count(mask)
    else:
        where = SourceLine(frame.program.name, node.lineno)
        run.ledger.operation(function.kind, value, *numbers, where, mask)
    return value
