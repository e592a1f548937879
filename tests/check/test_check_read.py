"""What `course check` reads off a file before anything runs: kernels, sizes, and how a kernel uses its parameters."""

import ast
import json

import pytest

from course_pkg.check import read, uses
from course_pkg.check.errors import NotChecked


def part(text):
    return read.Part("a.py", text, ast.parse(text))


def used(text):
    (function,) = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    return uses.read(function)


def test_kernels_are_found_and_functions_that_they_call_are_not():
    text = """
from numba import cuda
import numba

@cuda.jit(device=True)
def helper(x): ...

@cuda.jit("float64(float64)")
def called(x): ...

@cuda.jit
def first(a):
    a[0] = called(helper(a[0]))

def make():
    @numba.cuda.jit(fastmath=True)
    def second(a): ...
    return second

@numba.njit
def host(a): ...
"""
    found = [(d.name, d.line, d.outer) for d in read.definitions([part(text)])]
    assert found == [("first", 12, ""), ("second", 17, "make")]


def test_sizes_that_may_be_set_are_those_of_the_left_margin_and_below_main():
    text = "N = 1 << 20\nSMALL = 8\ndef f():\n    M = 5000\nif __name__ == '__main__':\n    K = 3000\n"
    assert read.sizes([part(text)]) == [("N", "a.py", 1, 1 << 20)]
    tree = ast.parse(text)
    assert read.replaced(tree, {"N": 10, "K": 20, "M": 30}) == {"N", "K"}
    assert "N = 10" in ast.unparse(tree) and "K = 20" in ast.unparse(tree) and "M = 5000" in ast.unparse(tree)


@pytest.mark.parametrize("size", ["10**10**10", "1 << (1 << 50)", "9**9**9**9"])
def test_a_size_that_would_take_for_ever_to_compute_is_none(size):
    assert read.sizes([part(f"N = {size}\n")]) == []


def test_commands_of_a_notebook_do_not_hide_its_code(tmp_path):
    path = tmp_path / "n.ipynb"
    cells = [
        ("markdown", ["# Title"]),
        ("code", ["%matplotlib inline\n", "import numpy\n", "if 1:\n", "    !ls\n"]),
        ("code", ["%%bash\n", "this is ( not Python"]),
        ("code", ["%%time\n", "x = 1"]),
    ]
    path.write_text(
        json.dumps({"cells": [{"cell_type": k, "source": s} for k, s in cells]}), encoding="utf-8"
    )
    found = read.parts(path)
    assert [p.name for p in found] == [f"{path}, cell 2", f"{path}, cell 4"]
    assert [n.lineno for n in found[0].tree.body] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"", "neither Python nor a notebook"),
        ("gone.py", None, "cannot be read"),
        ("a.py", b"def f(:\n", r"a\.py:1: Python cannot read this: .*Mend the line first"),
        ("b.py", b"\xff\xfe", "UTF-8"),
        ("a.ipynb", b"{}", "not a notebook of version 4"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(tmp_path, name, content, said):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(NotChecked, match=said):
        read.parts(tmp_path / name)


def test_dimensions_of_arrays_follow_from_their_indices():
    found = used("""
def k(a, b, c, d, hist, x, n):
    i, j = cuda.grid(2)
    rows, columns, depth = d.shape
    at = i, j
    if i < n:
        a[i] = b[i, j] * x + c[at] + len(a)
        cuda.atomic.add(hist, (i, j, 0), 1)
""")
    assert {name: use.ndim for name, use in found.of.items()} == {
        "a": 1, "b": 2, "c": 2, "d": 3, "hist": 3, "x": 0, "n": 0,
    }  # fmt: skip
    assert found.axes == 2 and found.blocks


def test_whole_numbers_are_what_counts_and_what_is_an_index():
    found = used("""
def k(indptr, indices, data, x, y, n, alpha, width):
    row = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if row < n:
        start, end = indptr[row], indptr[row + 1]
        for k in range(start, end):
            c = indices[k]
            y[row * width] += alpha * data[k] * x[c]
""")
    assert {name for name, use in found.of.items() if use.whole} == {"indptr", "indices", "n", "width"}
    assert [name for name, use in found.of.items() if use.offsets] == ["indptr"]
    assert found.of["y"].products == 1 and found.of["x"].products == 0
    assert found.axes == 1


def test_what_a_device_function_does_with_an_argument_counts():
    helpers = {
        "at": ast.parse("def at(m, i):\n    return m[here(i), 0]\n").body[0],
        "here": ast.parse("def here(i):\n    return i + cuda.blockIdx.y\n").body[0],
    }
    kernel = ast.parse("def k(a, out):\n    out[0] = at(a, cuda.threadIdx.x)\n").body[0]
    found = uses.read(kernel, helpers.get)
    assert (found.of["a"].ndim, found.axes, found.blocks) == (2, 2, {1})
    assert uses.read(kernel).blocks == set()
