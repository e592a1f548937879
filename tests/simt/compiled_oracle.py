"""The same body as a kernel, as compiled CPU code and as plain Python, one thread after another.

Numba types CPU and CUDA code by the same rules, so a compiled loop over threads says what a GPU would compute. (Numba's
simulator does not: it computes with NumPy's scalars.)
"""

import math
import os
import textwrap

import numba
import numpy as np
from hypothesis import HealthCheck, Phase, settings

from course_pkg import cuda
from course_pkg.simt.run.kernel import Kernel

NAMES = {"np": np, "math": math, "numba": numba}


def examples(count, shrink=True):
    """Settings of a property: this many examples, always the same ones on CI; compiled ones shrink too slowly."""
    return settings(
        phases=[p for p in Phase if p is not Phase.explain and (shrink or p is not Phase.shrink)],
        max_examples=count,
        derandomize=bool(os.environ.get("CI")),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def _function(header, body):
    return header + "\n" + textwrap.indent(body.strip("\n"), "    ") + "\n"


def kernel_source(body, parameters):
    """The text of a kernel whose thread ``i`` runs a body."""
    guard = f"if i >= {parameters[-1]}.shape[0]:\n    return\n"
    return _function(
        f"def kernel({', '.join(parameters)}):", f"i = cuda.grid(1)\n{guard}{textwrap.dedent(body)}"
    )


def interpret(body, arguments, threads=64, **names):
    """Run a body in the interpreter, for as many threads as the last argument has rows, and a few more."""
    source = kernel_source(body, list(arguments))
    kernel = Kernel.from_source(source, "kernel", {**NAMES, "cuda": cuda, **names})
    rows = next(reversed(arguments.values())).shape[0]
    kernel[rows // threads + 1, threads](*arguments.values())


def compile_and_run(body, arguments, **names):
    """Run a body thread by thread in code that Numba compiled for the CPU."""
    source = _function(f"def thread(i, {', '.join(arguments)}):", textwrap.dedent(body))
    thread = numba.njit(error_model="numpy")(_define(source, "thread", names))
    for i in range(next(reversed(arguments.values())).shape[0]):
        thread(i, *arguments.values())


def run_in_python(body, arguments):
    """Run a body thread by thread in Python, where integers never wrap."""
    source = _function(f"def thread(i, {', '.join(arguments)}):", textwrap.dedent(body))
    thread = _define(source, "thread", {})
    for i in range(next(reversed(arguments.values())).shape[0]):
        thread(i, *arguments.values())


def _define(source, name, names):
    namespace = {**NAMES, **names}
    exec(compile(source, "<oracle>", "exec"), namespace)
    return namespace[name]


def assert_as_compiled(body, arguments, **names):
    """Assert that the interpreter leaves in every array what compiled code leaves, to the last bit."""
    ours = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    theirs = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    compile_and_run(body, theirs, **{k: getattr(v, "compiled", v) for k, v in names.items()})
    interpret(body, ours, **{k: getattr(v, "interpreted", v) for k, v in names.items()})
    for name, expected in theirs.items():
        if isinstance(expected, np.ndarray):
            message = f"{name} after\n{_wrong_lines(body, ours[name], expected)}\n"
            np.testing.assert_array_equal(ours[name], expected, err_msg=message)


def _wrong_lines(body, ours, expected):
    """The lines of a body that store to columns which differ; all lines where that cannot be told."""
    lines = textwrap.dedent(body).strip().splitlines()
    if ours.ndim != 2 or not all(line.startswith(f"out[i, {k}] =") for k, line in enumerate(lines)):
        return "\n".join(lines)
    differ = ~((ours == expected) | ((ours != ours) & (expected != expected))).all(axis=0)
    return "\n".join(line for line, wrong in zip(lines, differ, strict=False) if wrong)


class DeviceFunction:
    """A function that both a kernel and compiled code can call."""

    def __init__(self, source, name, **names):
        inner = {k: v.interpreted for k, v in names.items()}
        self.interpreted = Kernel.from_source(source, name, {**NAMES, "cuda": cuda, **inner}, device=True)
        inner = {k: v.compiled for k, v in names.items()}
        self.compiled = numba.njit(error_model="numpy")(_define(source, name, inner))
