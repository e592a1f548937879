"""Every read is counted: in each construct of the interpreter, and for each memory that it can read from."""

import ast
import cmath
import math
import operator
import textwrap
from pathlib import Path

import numba
import numpy as np
import pytest
import ways_to_read as table
import ways_to_read_sequences as more

from course_pkg import simt
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.simt import api as cuda
from course_pkg.simt.front import known
from course_pkg.simt.front.stubs import MEANINGS
from course_pkg.simt.run import allocation, members
from course_pkg.simt.run.expressions import HANDLERS
from course_pkg.simt.run.statements import STATEMENTS

THREADS = 32
HELPERS = """
def twice(v):
    return 2 * v

def first(a, i):
    return a[i]

def late(v):
    if v > 0:
        return 1.0
    return 2.0

def chosen(v):
    if v > 40:
        w = 3.0
    else:
        w = v
    return w

def put(o, i):
    o[i] = 7.0
    return 1.0

def give(v, o, i):
    o[i] = v
"""
MEMORIES = {  # how the array ``a`` comes about, whose elements all threads find to be 1, and the element that is read
    "global": ("a = u", "i"),
    "shared": ("a = cuda.shared.array(32, dtype)\na[i] = one\ncuda.syncthreads()", "i"),
    "local": ("a = cuda.local.array(64, dtype)\nfor k in range(64):\n    a[k] = one", "i % 16"),
    "constant": ("a = cuda.const.array_like(ones)", "i"),
}
WAYS = [
    pytest.param(way, space, id=f"{group}-{getattr(name, '__name__', name)}-{number}-{space}")
    for group, constructs in {**table.GROUPS, **more.GROUPS}.items()
    for name, ways in constructs.items()
    for number, way in enumerate(ways)
    for space in way.spaces
]


def names(way):
    """Return what the kernel's source names."""
    found = {
        "cuda": cuda,
        "cmath": cmath,
        "math": math,
        "np": np,
        "numba": numba,
        "operator": operator,
        "load_pair": load_pair,
        "store_pair": store_pair,
    }
    found |= {"dtype": getattr(numba, way.dtype), "ones": np.ones(THREADS, way.dtype)}
    for node in ast.parse(HELPERS).body:
        found[node.name] = simt.Kernel.from_source(HELPERS, node.name, {}, device=True)
    return found


def profile_of(way, space, begin=None):
    """Run the way in a kernel of 32 threads; ``begin``: other statements that make the array ``a``."""
    usual, element = MEMORIES[space]
    begin = begin or usual
    body = way.source.replace("{r}", f"a[{element}]").replace("{a}", "a").replace("{i}", element)
    named = {n.id for n in ast.walk(ast.parse(body)) if isinstance(n, ast.Name)}
    body += "\nout[i] = x" if "x" in named else ""
    text = "def kernel(u, out, small, rows, counts, one, n):\n" + textwrap.indent(
        f"i = cuda.grid(1)\n{begin}\n{body}\n", "    "
    )
    kernel = simt.Kernel.from_source(text, "kernel", names(way))
    one = np.dtype(way.dtype).type(1)
    arrays = np.ones(2 * THREADS, way.dtype), np.ones(2 * THREADS), np.ones(2 * THREADS + 2), np.ones((2, 2))
    return simt.profile(kernel[1, THREADS], *arrays, np.ones(THREADS, np.uint64), one, 3)


@pytest.mark.family
@pytest.mark.parametrize(("way", "space"), WAYS)
def test_each_way_to_read_an_element_is_counted(way, space):
    profile = profile_of(way, space)
    counts = profile.by_array["u" if space == "global" else "a"].traffic()[f"{space}_load"]
    # a complex number is two reads, but one access of shared memory
    together = space == "shared" and way.reads == 2 and way.dtype.startswith("complex")
    assert counts.thread_accesses == (1 if together else way.reads) * THREADS
    assert counts.requests > 0


@pytest.mark.family
@pytest.mark.parametrize(("way", "space"), [p for p in WAYS if p.values[1] in ("shared", "local")])
def test_each_way_to_read_an_element_that_nobody_has_written_is_found(way, space, monkeypatch):
    monkeypatch.setattr(allocation, "new_storage", lambda owners, size, dtype: np.ones(owners * size, dtype))
    found = profile_of(way, space, MEMORIES[space][0].partition("\n")[0])
    assert "uninitialised" in {hazard.kind for hazard in found.hazards}


def test_the_table_names_every_construct_that_the_interpreter_knows():
    assert set(table.EXPRESSIONS) | set(table.NO_ELEMENT) == set(HANDLERS)
    assert set(table.STATEMENTS) | set(table.DECIDED_ELSEWHERE) == set(STATEMENTS)
    inside = {
        name for name in MEANINGS if not name.startswith(("threadIdx.", "blockIdx.", "blockDim.", "gridDim."))
    }
    assert set(table.INTRINSICS) | table.TAKE_NO_NUMBER == inside | {"load_pair", "store_pair"}


def test_the_table_names_every_function_of_whole_arrays_and_every_method():
    assert set(members.METHODS) <= set(more.MEMBERS) | set(more.REDUCED)
    assert set(known.ARRAY_FUNCTIONS) <= set(more.SEQUENCES) | set(more.REDUCED)
    of_types = {"finfo", "iinfo", "dtype"}
    assert set(known.NUMBER_FUNCTIONS) - of_types <= {*more.SEQUENCES, "imag"}


RECORD = np.dtype([("x", np.float64), ("p", np.float64, (2,)), ("k", np.int64)], align=True)
RECORD_WAYS = {
    "u[i].x": 1, "u[i]['x']": 1, "u.x[i]": 1, "u['x'][i]": 1, "u[i].p[1]": 1, "u.p[i, 0]": 1, "u[i:].x[0]": 1,
    "u[i].x + u[i].p[0]": 2, "u[::-1][-1 - i].x": 1, "u.x[i:i + 1].sum()": 1, "small[u[i].k]": 1,
}  # fmt: skip


@pytest.mark.parametrize("read", RECORD_WAYS)
def test_each_way_to_read_a_field_of_a_record_is_counted(read):
    text = f"def kernel(u, small, out):\n    i = cuda.grid(1)\n    out[i] = {read}\n"
    kernel = simt.Kernel.from_source(text, "kernel", {"cuda": cuda})
    profile = simt.profile(kernel[1, THREADS], np.zeros(THREADS, RECORD), np.ones(2), np.ones(THREADS))
    assert profile.by_array["u"].global_load.thread_accesses == RECORD_WAYS[read] * THREADS


def test_a_random_number_reads_the_two_numbers_of_its_state():
    states = cuda.random.create_xoroshiro128p_states(THREADS, 1)
    text = "def kernel(u, out):\n    i = cuda.grid(1)\n    out[i] = cuda.random.xoroshiro128p_uniform_float64(u, i)\n"
    kernel = simt.Kernel.from_source(text, "kernel", {"cuda": cuda})
    profile = simt.profile(kernel[1, THREADS], states, np.ones(THREADS))
    counts = profile.by_array["u"]
    assert counts.global_load.thread_accesses == counts.global_store.thread_accesses == 2 * THREADS


def test_every_intrinsic_that_can_be_run_is_in_the_table():
    from course_pkg.simt.run import intrinsics, warp

    can = {*intrinsics._INTRINSICS, *warp.FUNCTIONS}
    assert can <= set(table.INTRINSICS) | table.TAKE_NO_NUMBER


def test_a_way_uses_the_construct_that_it_stands_for():
    for name, ways in {**table.EXPRESSIONS, **table.STATEMENTS}.items():
        for way in ways:
            if name is ast.Return or name is ast.Name:
                continue  # in the helper that it calls; in every way
            tree = ast.parse(way.source.replace("{r}", "a[i]").replace("{a}", "a").replace("{i}", "i"))
            assert any(isinstance(node, name) for node in ast.walk(tree)), way.source
    for group in ("builtin", "cast", "math", "cuda"):
        for name, ways in table.GROUPS[group].items():
            for way in ways:
                assert f"{name}(" in way.source or "**" in way.source, way.source


def files_that_call(name):
    """Return the interpreter's files that call a function or a method of this name."""
    package = Path(simt.__file__).parent
    return {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and name in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
    }


def test_values_are_made_in_one_place_alone():
    """Each of the ways of ``Run`` to make a value says what it is made of; nothing goes round them."""
    assert files_that_call("Value") == {"run/state.py", "run/values.py"}


def test_values_that_are_made_of_no_other_are_indices_arguments_and_elements():
    assert files_that_call("given") == {
        *(
            "front/given.py",
            "run/launch.py",
            "run/allocation.py",
            "run/members.py",
            "run/intrinsics.py",
            "run/warp.py",
        ),  # numbers of threads, extents
        *("run/access.py", "run/pairs.py"),  # elements, which the ledger is told of
    }
