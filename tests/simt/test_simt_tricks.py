"""Tricks by which a student could try to hide a race: for each, the race is found or the kernel is refused."""

import ast
import functools
import math
import re
import textwrap

import numba
import numpy as np
import pytest
import tricks_alike
import tricks_atomics
import tricks_choices
import tricks_flags
import tricks_lent
import tricks_many
import tricks_middle
import tricks_names
import tricks_order
import tricks_peterson
import tricks_readers
import tricks_seen
import tricks_setters
import tricks_steps
import tricks_swaps
import tricks_tickets
import tricks_together
import tricks_views
import tricks_warps
from trick import CLEAN, REFUSED

from course_pkg import cuda, simt
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.simt.errors import SimtError, Unsupported
from course_pkg.simt.run.kernel import Kernel

ROOMS = (
    *(tricks_names, tricks_choices, tricks_order, tricks_atomics, tricks_alike, tricks_many, tricks_lent),
    *(
        tricks_flags,
        tricks_middle,
        tricks_peterson,
        tricks_swaps,
        tricks_readers,
        tricks_seen,
        tricks_setters,
        tricks_steps,
        tricks_tickets,
        tricks_together,
        tricks_views,
        tricks_warps,
    ),
)
TRICKS = {name: trick for room in ROOMS for name, trick in room.TRICKS.items()}
HELPERS = """
def ident(q):
    return q

def rd(q, i):
    return q[i]

def wr(q, i, v):
    q[i] = v

def wr2(q, i, v):
    q[i] = v
    return q

def pick(c, a, b):
    if c:
        return a
    return b

def nothing(q, i, v):
    return

def sync():
    cuda.syncthreads()

def tup(a, b):
    return (a, (b, a))

def rec(q, i):
    if i > 0:
        rec(q, i - 1)
    q[i] = 1.0

def even(q, i):
    if i > 0:
        odd(q, i - 1)

def odd(q, i):
    if i > 0:
        even(q, i - 1)
    q[i] = 1.0

def swap(q, i, v):
    return cuda.atomic.exch(q, i, v)
"""


def names():
    """Return what the tricks may name."""
    known = {"cuda": cuda, "np": np, "numba": numba, "math": math}
    known |= {"load_pair": load_pair, "store_pair": store_pair}
    for node in ast.parse(HELPERS).body:
        known[node.name] = Kernel.from_source(HELPERS, node.name, known, device=True)
    return known


def kinds(trick):
    """Return the kinds of hazards that are found; threads that write the same constant count as a race here."""
    arguments = trick.arguments()
    head = f"def kernel({', '.join(arguments)}):\n    t = cuda.threadIdx.x\n    i = cuda.grid(1)\n"
    kernel = Kernel.from_source(head + textwrap.indent(trick.body, "    "), "kernel", names())
    launch = kernel[trick.blocks, trick.threads, 0, trick.shared_bytes]
    return kinds_of(simt.profile(launch, *arguments.values()))


def kinds_of(found):
    return {h.kind for h in found.hazards} | {"race" for note in found.notes if note.kind == "same_value"}


def test_there_are_many_tricks_of_each_sort():
    assert len(TRICKS) == sum(len(room.TRICKS) for room in ROOMS) >= 170
    verdicts = [trick.verdict for trick in TRICKS.values()]
    assert verdicts.count(CLEAN) >= 10
    assert verdicts.count(REFUSED) >= 25


@pytest.mark.family
@pytest.mark.parametrize("trick", [t for t in TRICKS.values() if t.verdict != REFUSED], ids=lambda t: t.body)
def test_a_trick_is_found_and_its_honest_twin_is_not(trick):
    found = kinds(trick)
    assert found == set() if trick.verdict == CLEAN else trick.verdict in found


@pytest.mark.parametrize("trick", [t for t in TRICKS.values() if t.verdict == REFUSED], ids=lambda t: t.body)
def test_what_is_refused_is_refused_in_a_sentence_with_its_line(trick):
    with pytest.raises(SimtError, match=r"(line \d+: .+|The arguments of kernel take .+)\.$") as raised:
        kinds(trick)
    if isinstance(raised.value, Unsupported):
        assert re.search(
            r"is nothing that Numba compiles|is outside what the interpreter runs", str(raised.value)
        )


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    a[i] = a[(i + 1) % a.size]


@cuda.jit
def from_elsewhere(a, out):
    i = cuda.grid(1)
    out[i] = a[(i + 1) % a.size]


def test_two_launches_in_a_row_are_in_order():
    a, out = np.arange(64.0), np.zeros(64)
    for source, target in ((a, out), (out, a), (a, out)):
        assert simt.profile(from_elsewhere[2, 32], source, target).hazards == []
    assert simt.profile(add_one[2, 32], a).hazards != []


@cuda.jit
def written_where_memory_is_large(out):
    memory = cuda.shared.array(0, np.float64)
    if len(memory) > 3:
        out[cuda.threadIdx.x // 2] = 1.0


def test_what_a_launch_with_less_shared_memory_would_write_is_not_forgotten():
    out = np.zeros(64)
    simt.profile(written_where_memory_is_large[1, 64, 0, 8], out)
    assert kinds_of(simt.profile(written_where_memory_is_large[1, 64, 0, 512], out)) == {"race"}


def honest(out):
    out[cuda.threadIdx.x] = 1.0


@cuda.jit
@functools.wraps(honest)
def racy(out):
    out[cuda.threadIdx.x // 2] = 1.0


def test_what_is_read_is_the_function_that_runs_not_the_one_that_it_claims_to_be():
    assert kinds_of(simt.profile(racy[1, 64], np.zeros(64))) == {"race"}


def tile_of(size, dtype):
    """Return a device function with a tile of its own; all that this makes stand in one line."""

    @cuda.jit(device=True)
    def tile():
        return (cuda.shared.array(size, dtype),)

    return tile


FLOATS, INTEGERS = tile_of(32, np.float64), tile_of(64, np.int32)


@cuda.jit
def tiles_of_two_functions(out):
    t = cuda.threadIdx.x
    (one,), (other,) = FLOATS(), INTEGERS()
    other[t], other[t + 32] = 1, 2
    one[t] = 0.5
    out[t] = one[t] + other[t + 32]


def test_tiles_of_functions_from_one_factory_are_different_memory():
    out = np.zeros(32)
    profile = simt.profile(tiles_of_two_functions[1, 32], out)
    assert profile.hazards == []
    assert (out == 2.5).all()
