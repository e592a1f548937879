"""What Numba refuses is refused alike, in a sentence that says what to write; a notebook shows the learner's line."""

import ast
import math
import random
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt.errors import HazardError, SimtError
from course_pkg.simt.run import needed
from course_pkg.simt.run.kernel import Kernel, jit

WIDTH, ODD = 16, np.dtype([("a", np.int8), ("b", np.float64)])
MODE, SOLVER = "fast", SimpleNamespace(gain=2.0)


def said_of(body, **more):
    source = "def kernel(x):\n    i = cuda.grid(1)\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    names = {"cuda": cuda, "np": np, "WIDTH": WIDTH, "math": math, "random": random, "time": time}
    names |= {"helper": jit(lambda v: v, device=True), "MODE": MODE, "SOLVER": SOLVER}
    kernel = Kernel.from_source(source, "kernel", names)
    with pytest.raises(SimtError) as raised:
        kernel[1, 1](more.get("x", np.ones(8)))
    said = str(raised.value)
    assert said.startswith("kernel, line ") and said.endswith(".") and "\n" not in said, said
    return said


WHAT = {
    "arithmetic in a shape": (
        "s = cuda.shared.array(2 * WIDTH, np.float64)",
        "not compute in the shape .* before",
    ),
    "arithmetic in a part of a shape": (
        "s = cuda.local.array((4, WIDTH + 1), np.float64)",
        "does not compute",
    ),
    "a shape computed before": ("n = WIDTH + 1\ns = cuda.shared.array(n, np.float64)", "does not compute"),
    "a shuffle of uint32": (
        "y = cuda.shfl_sync(-1, np.uint32(i), 0)",
        r"int32, int64, float32 and float64, .* uint32",
    ),
    "a shuffle of a truth": ("y = cuda.shfl_xor_sync(-1, i > 0, 1)", "int32, int64, float32 and float64"),
    "an index without .x": ("x[cuda.threadIdx] = 1", r"cuda\.threadIdx .*: write cuda\.threadIdx\.x"),
    "a sum without .x": (
        "y = cuda.blockIdx + 1",
        r"cuda\.blockIdx .*: write cuda\.blockIdx\.x",
    ),
    "a function not called": (
        "y = 2 * cuda.grid",
        r"cuda\.grid is a function and no number: call it, as in cuda\.grid\(1\)",
    ),
    "a list as a shape": ("s = cuda.shared.array([4, 4], np.float32)", r"no list: write it as \(4, 4\)"),
    "a shape without a type": ("s = cuda.local.array(4)", r"as in cuda\.local\.array\(32, numba\.float32\)"),
    "an atomic of a number": ("cuda.atomic.add(x[0], 1)", r"write cuda\.atomic\.add\(array, index, value\)"),
    "a swap of three": ("cuda.atomic.cas(x, 0, 1)", r"cas\(array, index, expected, value\)"),
    "a root of an array": ("y = math.sqrt(x)", "x is a whole array, and one number is needed"),
    "a random number of the host": ("y = random.random()", "'random' .*: use cuda.random"),
    "a random integer of the host": ("y = random.randint(1, 2)", "'randint' .*: use cuda.random"),
    "the time of the host": ("y = time.perf_counter()", r"on the host, between two cuda\.event\(\)"),
    "a sorted array": ("y = sorted(x)", "sort on the host, or compare and swap"),
    "a type that NumPy no longer has": ("y = np.int(3)", r"numpy.int .* write int\(x\)"),
    "a product of math": ("y = math.factorial(3)", "multiply in a loop"),
    "print not called": ("y = print + 1", r"print is a function and no number: call it"),
    "a helper not called": ("y = helper + 1", "helper is a function and no number: call it"),
    "a type not called": (
        "y = np.float32 + 1",
        r"np.float32 is a type and no number: call it, as in np.float32\(x\)",
    ),
    "arrays added": ("y = x + x", "x is a whole array, and one number is needed"),
    "an array as a condition": (
        "if x:\n    x[0] = 1",
        r"x is a whole array, and one number is needed: choose an element",
    ),
    "an array as an index": ("x[x] = 1", "x is a whole array, and one number is needed"),
    "a float as an index": ("x[0.5] = 1", "index 0 of x is a float64: indices are integers"),
    "a tuple as a number": ("y = (1, 2) + 1", r"is 2 numbers, and one is needed: choose one"),
    "None as a number": ("y = None\nx[0] = y + 1", "y is None and no number: give"),
    "a dict": ("y = {}", "nothing that Numba compiles for a GPU: use numbers"),
    "a list comprehension": (
        "y = [v for v in x]",
        "nothing that Numba compiles for a GPU: fill a cuda.local.array",
    ),
    "try": (
        "try:\n    x[0] = 1\nexcept ValueError:\n    pass",
        "nothing that Numba compiles for a GPU: test with if",
    ),
    "a product of arrays": ("y = np.dot(x, x)", "nothing that Numba compiles for a GPU: multiply and add"),
    "an f-string": ("y = f'{i}'", "nothing that Numba compiles for a GPU: .* plain text"),
    "all": ("y = all((True, False))", "the function 'all' is nothing that Numba compiles for a GPU: join"),
    "the module's name, written": ("global WIDTH\nWIDTH = 3", "cannot change 'WIDTH', a name of the module"),
    "**": ("y = helper(**x)", r"a call with \*\*arguments is nothing"),
    "a star before an array": ("y = helper(*x)", r"\*x is no tuple"),
    "a decorator inside": (
        "@cuda.jit\ndef f(v):\n    return v",
        "a decorated function inside a kernel is nothing",
    ),
    "what only the compiler knows": (
        "y = cuda.fp16",
        "cuda.fp16 is outside what the interpreter runs: .*numba.float16",
    ),
    "a text": ("y = 'fast'", "a string is outside .*: give each case a number, as in `FAST = 0`"),
    "a text of the module": (
        "y = MODE",
        "the str 'MODE' is outside .*: give each case a number, as in `FAST = 0`",
    ),
    "an object": (
        "y = SOLVER.gain",
        r"what it needs of SOLVER a name of its own, as in `value = SOLVER\.value`",
    ),
    "no such field": ("y = x[0].c", "the records of x have no c: they have a, b"),
    "packed records": ("y = x[0].b", r"records of x are packed, .* align=True"),
    "a sum along an axis": ("y = x.sum(0)", "takes no axis in a kernel"),
    "another number of elements": ("y = x.reshape(3, 3)", "x has 8 elements, which no shape"),
    "the larger of a truth and a number": (
        "y = max(i > 3, 1)",
        r"no max of a truth value and a number: write int\(",
    ),
    "the smallest of several": ("y = min((i, True))", "no min of a truth value and a number"),
    "an f-string in an assertion": (
        "assert i < 9, f'{i}'",
        "Numba knows the text of an assertion before .* plain text",
    ),
    "a number in an assertion": ("assert i < 9, i", "the text of an assertion before"),
    "a text put together": ("assert i < 9, 'a {}'.format(3)", "the text of an assertion before"),
    "a number in an exception": (
        "if i > 9:\n    raise ValueError('a', i)",
        "the text of an exception before",
    ),
    "what is no exception": ("if i > 9:\n    raise len('a')", "write an exception and its text"),
    "an exception that ends Python": ("if i > 9:\n    raise SystemExit", "write an exception and its text"),
    "the name of an exception": (
        "if i > 9:\n    raise ValueError(msg='a')",
        "write an exception and its text",
    ),
    "an exception from another": (
        "if i > 9:\n    raise ValueError('a') from None",
        "leave out .* behind from",
    ),
    "items of two types": ("y = i in (1, 2.5)", "behind `in`, Numba takes numbers of one type"),
    "an element of a number": ("y = 1 in i", "`in` is outside what the interpreter runs: compare by =="),
    "a new dimension alone": ("y = x[None]", r"Numba compiles no x\[None\] for a GPU: write x\[None, :\]"),
    "three dots alone": ("y = x[...]", r"Numba compiles no x\[\.\.\.\] for a GPU: write x\[:\]"),
    "a barrier's argument": ("cuda.syncthreads(1)", r"cuda\.syncthreads takes nothing in its brackets"),
    "two masks": ("cuda.syncwarp(1, 2)", r"cuda\.syncwarp takes at most the mask"),
    "a complex number, added": ("cuda.atomic.add(x, 0, 1j)", "takes no complex number: write .real"),
    "a complex number as a float": ("y = float(1j * i)", "no float64 of a complex number: write its .real"),
    "a call in a shape": ("s = cuda.shared.array(len((1, 2)), np.float64)", "does not compute in the shape"),
    "an attribute in a shape": ("s = cuda.shared.array(np.e, np.float64)", "not compute in the shape"),
    "a product of tuples": ("s = cuda.shared.array((WIDTH,) * 2, np.float64)", "not repeat a tuple"),
    "Python's bool as a dtype": ("s = cuda.local.array(4, bool)", "no type of Python as the dtype"),
    "a type without meaning": ("y = max(1j, i)", r"max of complex128 and int64 has no meaning in Numba\.$"),
    "a number in one branch, an array in the other": (
        "if i > 0:\n    y = 1\nelse:\n    y = x\nx[0] = y",
        "in 'y', a choice between things .* give each its own name",
    ),
    "no loop over a number": (
        "for v in i:\n    pass",
        "nothing that Numba compiles for a GPU: loop over range",
    ),
}
RECORDS = ("no such field", "packed records")


@pytest.mark.parametrize("name", WHAT)
def test_a_refusal_says_what_to_write(name):
    body, wanted = WHAT[name]
    said = said_of(body, x=np.zeros(8, ODD) if name in RECORDS else np.ones(8))
    assert re.search(wanted, said), said


def test_the_numbers_of_a_shape_may_be_written_out():
    @jit
    def kernel(x):
        tile = cuda.shared.array((2 * 8, WIDTH), np.float64)
        line = cuda.local.array(shape=WIDTH, dtype="float32")
        tile[0, 0] = line.size
        x[0] = tile[0, 0] + tile.size

    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 16 + 256


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("1 if i == None else 2", 2),
        ("1 if None != x else 2", 1),
        ("1 if None == None else 2", 1),
        ("max(True, i >= 0)", 1),
        ("i in (0, 3)", 1),
        ("x[None, :][0, 0]", 1),
        ("cuda.grid(ndim=1) + cuda.gridsize(ndim=1)", 1),
        ("cuda.match_any_sync(1, True)", 1),
    ],
)
def test_what_numba_compiles_is_not_refused(value, number):
    source = (
        "def kernel(x):\n    i = cuda.grid(1)\n    assert i < 9, 'a' + 'b'\n    assert i < 9, ('text', WIDTH)\n"
        f"    if i > 9:\n        raise ValueError(f'text', 3)\n    x[0] = {value}\n"
    )
    x = np.ones(8)
    Kernel.from_source(source, "kernel", {"cuda": cuda, "np": np, "WIDTH": WIDTH, "MODE": MODE})[1, 1](x)
    assert x[0] == number


@pytest.mark.parametrize(
    ("blocks", "leave", "said"),
    [
        (2000, False, r"2000 blocks of 1024 threads .* launch fewer blocks"),
        (1, True, "only 3 of 1024 threads come"),
    ],
)
def test_a_grids_barrier_needs_all_threads(blocks, leave, said):
    @jit
    def kernel(x, leave):
        g = cuda.cg.this_grid()
        if leave and cuda.grid(1) > 2:
            return
        g.sync()
        x[0] = 1

    with pytest.raises(SimtError, match=said):
        kernel[blocks, 1024](np.zeros(1), leave)


def test_a_notebook_shows_the_learners_line_and_one_sentence():
    @jit(device=True)
    def inner(v):
        return [v]

    @jit
    def outer(x):
        x[0] = inner(3)

    @jit
    def beyond(x):
        x[cuda.grid(1)] = 1

    with pytest.raises(SimtError) as raised:
        outer[1, 1](np.ones(4))
    launched, *lines, last = raised.value._render_traceback_()
    assert last == f"Unsupported: {raised.value}"
    assert launched.endswith("outer[1, 1](np.ones(4))") and lines[-1].endswith(":  return [v]")
    with pytest.raises(HazardError) as raised:
        beyond[1, 8](np.ones(4))
    assert "x[cuda.grid(1)] = 1" in raised.value._render_traceback_()[-2]
    with pytest.raises(SimtError) as raised:
        simt.profile("no launch")
    assert raised.value._render_traceback_()[-1].startswith("SimtError: simt.profile takes a launch")


def test_no_sentence_is_written_while_nothing_is_refused(monkeypatch):
    """To write out an operand takes longer than to compute with it."""
    monkeypatch.setattr(needed, "ast", SimpleNamespace(Subscript=ast.Subscript))  # without unparse

    @jit
    def scaled(x):
        i = cuda.grid(1)
        x[i] = 2.0 * x[i] + WIDTH

    x = np.ones(4)
    scaled[1, 4](x)
    np.testing.assert_array_equal(x, 2.0 + WIDTH)
    with pytest.raises(AttributeError, match="unparse"):
        needed.no_number(ast.Name("x"), (1,))
