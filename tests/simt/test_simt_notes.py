"""Notes: what looks like a hazard and does no harm is told, and fails no grade unless one asks for it."""

import ast
import gc
import json
import weakref

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.grading import check
from course_pkg.grading.kernels import JudgedLaunch
from course_pkg.simt import HazardError, Kernel
from course_pkg.simt.memory.notes import lost_stores
from course_pkg.simt.run.leaving import last_branches

N = 100  # in two blocks of 64 threads, so that 28 threads lie beyond the end
HEAD = (
    "def k(x, n):\n    t = cuda.threadIdx.x\n    i = cuda.grid(1)\n    s = cuda.shared.array(64, float64)\n"
)


def launch_of(body, blocks=2, **names):
    """Return a launch of a body whose first line is line 5; it has 64 threads per block."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    known = {"cuda": cuda, "float64": np.float64, "int64": np.int64, "int8": np.int8, **names}
    return Kernel.from_source(HEAD + lines, "k", known)[blocks, 64]


def found_by(body, blocks=2, **names):
    found = simt.profile(launch_of(body, blocks, **names), np.ones(128), N)
    return [h.kind for h in found.hazards], [n.kind for n in found.notes]


FILL = "l = cuda.local.array(4, float64)\nif t < 32:\n    s[t] = t\ncuda.syncthreads()\n"  # the upper half is empty
INSIDE = "    s[t] = x[i]\n    cuda.syncthreads()\n    x[i] = s[t]"
NOTED = {
    "the rest of the kernel in a branch": (f"if i < n:\n{INSIDE}", "skipped_barrier"),
    "the other way round": (f"if i >= n:\n    pass\nelse:\n{INSIDE}", "skipped_barrier"),
    "a branch in the branch": (
        "if i < n:\n    s[t] = x[i]\n    if t >= 0 or i < n:\n        cuda.syncthreads()\n        x[i] = s[t]\nreturn",
        "skipped_barrier",
    ),
    "in a loop within the branch": (
        "if i < n:\n    for j in range(3):\n        cuda.syncthreads()\n    x[i] = 2.0 * t",
        "skipped_barrier",
    ),
    "in a device function": (f"if i < n:\n{INSIDE.replace('cuda.syncthreads', 'meet')}", "skipped_barrier"),
    "the barrier of a warp": ("if i < n:\n    cuda.syncwarp()\n    x[i] = t", "skipped_barrier"),
    "a flag that all set": ("if t > 3:\n    x[100] = 7", "same_value"),
    "a flag in shared memory": ("s[3] = 1\ncuda.syncthreads()\nx[i] = s[3]", "same_value"),
    "the same constant in two statements": (
        "if t == 3:\n    x[0] = 2\nif t == 5:\n    x[0] = 2.0",
        "same_value",
    ),
    "again and again": ("for j in range(n):\n    x[100] = 7", "same_value"),
    "an element that nobody uses": ("v = s[t]\nx[i] = t", "unused_read"),
    "an element that the others use": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\nif t < 32:\n    x[i] = v",
        "unused_read",
    ),
    "a conditional expression that takes its other side": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\nx[i] = v if t < 32 else 0.0",
        "unused_read",
    ),
    "a name that gets it in the branch of others": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv, w = s[t], 0.0\nif t < 32:\n    w = 2.0 * v\nx[i] = w",
        "unused_read",
    ),
    "a conditional expression in a loop": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nw = 0.0\nfor j in range(n):\n    v = s[t]\n"
        "    w += v if t < 32 else 0.0\nx[i] = w",
        "unused_read",
    ),
    "a condition that another one decides before": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\nif t < 32 and v > 3:\n    x[i] = 2.0 * t",
        "unused_read",
    ),
    "a condition that another one decides before, with or": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\nif not (t >= 32 or v < 3):\n    x[i] = 2.0 * t",
        "unused_read",
    ),
    "a choice of the other side": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nx[i] = cuda.selp(t < 32, s[t], 0.0)",
        "unused_read",
    ),
    "an element that a local array takes along": (
        FILL + "l[0] = s[t]\nl[0] = 1.0\nx[i] = l[0]",
        "unused_read",
    ),
    "elements that go through local arrays": (
        FILL
        + "r = cuda.local.array(4, float64)\nfor j in range(4):\n    l[j] = s[16 * j]\nfor j in range(4):\n"
        "    r[j] = 2.0 * l[j]\nx[i] = r[1]",
        "unused_read",
    ),
    "elements that are copied to other shared memory": (
        FILL + "r = cuda.shared.array(64, float64)\nr[t] = s[t]\ncuda.syncthreads()\nx[i] = r[t % 32]",
        "unused_read",
    ),
    "an element that an atomic overwrites": (
        FILL + "r = cuda.shared.array(64, int64)\nr[t] = int(s[t])\ncuda.atomic.exch(r, t, 3)\nx[i] = r[t]",
        "unused_read",
    ),
    "an item of a tuple that is not chosen": (
        FILL + "x[i] = (s[t], 0.0)[int(t >= 32)]",
        "unused_read",
    ),
    "an item of a tuple that is not chosen, from behind": (
        FILL + "x[i] = (0.0, s[t])[(t < 32) - 2]",
        "unused_read",
    ),
    "an item of a tuple that is dropped": (FILL + "p = s[t], 2.0\nx[i] = p[1]", "unused_read"),
    "an item of a tuple of a function": (FILL + "v, w = both(s[t], 2.0)\nx[i] = w", "unused_read"),
    "a shuffle to lanes that ignore it": (
        FILL + "v = cuda.shfl_sync(0xFFFFFFFF, s[t], 3)\nif t < 32:\n    x[i] = v",
        "unused_read",
    ),
    "a shuffle that takes it to lanes of the other parity": (
        FILL + "v = cuda.shfl_xor_sync(0xFFFFFFFF, s[32 * (t % 2)], 1)\nif t % 2:\n    x[i] = v",
        "unused_read",
    ),
    "a vote of other lanes": (
        FILL + "v = cuda.any_sync(0xFFFFFFFF, s[t] > 0)\nx[i] = 1.0 if t < 32 and v else 0.0",
        "unused_read",
    ),
    "a vote of a block that nobody asks for": (
        FILL
        + "v = cuda.syncthreads_count(1 if s[t] != s[t] else 0) if n < 0 else 0\nv = cuda.syncthreads_or(int(s[t]))\n"
        "x[i] = t",
        "unused_read",
    ),
    "a match that nobody asks for": (
        FILL + "v = cuda.match_any_sync(0xFFFFFFFF, s[t])\nx[i] = v if t < 32 else 0",
        "unused_read",
    ),
    "in a sum that is kept for others, and not used": (
        FILL + "s[t] = s[t] + 1.0\ncuda.syncthreads()\nx[i] = s[t] if t < 32 else 0.0",
        "unused_read",
    ),
    "doubled again and again, and not used": (
        FILL + "v = s[t]\nfor j in range(60):\n    v = v + v\nif t < 32:\n    x[i] = v",
        "unused_read",
    ),
    "in local memory": ("q = cuda.local.array(4, float64)\nv = q[t % 4]\nx[i] = t", "unused_read"),
}


def helper(text):
    """Return a device function by its text."""
    return Kernel.from_source(text, text[4 : text.index("(")], {"cuda": cuda}, device=True)


HELPERS = {
    "meet": helper("def meet():\n    cuda.syncthreads()\n"),
    "both": helper("def both(v, w):\n    return v, w\n"),
    "part": helper("def part(i, n):\n    if i < n:\n        cuda.syncthreads()\n"),
}


@pytest.mark.parametrize("name", NOTED)
def test_what_does_no_harm_is_a_note(name):
    body, kind = NOTED[name]
    hazards, notes = found_by(body, **HELPERS)
    assert hazards == [] and set(notes) == {kind}
    x = np.ones(128)
    launch_of(body, **HELPERS)(x, N)  # and a plain launch does not stop


SLIPS = {
    "a result in a number": ("n += x[i]", "lost_store", 5, "n"),
    "a result in a number, written out": ("if t > 3:\n    n = n + x[i]", "lost_store", 6, "n"),
    "one branch sets it": ("if t < 3:\n    v = 2.0 * t\nx[i] = v", "unset_variable", 7, "v"),
    "one branch sets it to a constant": ("if t < 3:\n    v = 1\nx[i] = v", "unset_variable", 7, "v"),
    "a loop sets it": (
        "for j in range(t):\n    v = 2.0 * j\nx[i] = v",
        "unset_variable",
        7,
        "v",
    ),
}
NO_SLIPS = {
    "a number that is used": "n = min(n, 30)\nif i < n:\n    x[i] = t",
    "a number that another statement uses": "n -= 1\nx[i] = n",
    "set in both branches": "if t < 3:\n    v = 2.0\nelse:\n    v = 3.0 * t\nx[i] = v",
    "read only where it is set": "if t < 3:\n    v = 2.0 * t\nif t < 3:\n    x[i] = v",
    "others have left": "if t >= 3:\n    return\nv = 2.0 * t\nx[i] = v",
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_with_a_variable_is_noted_with_its_line(name):
    body, kind, line, variable = SLIPS[name]
    found = simt.profile(launch_of(body), np.ones(128), N)
    assert [(n.kind, n.line, n.array) for n in found.notes] == [(kind, line, variable)]
    assert found.hazards == [] and f"line {line}: " in found.notes[0].message
    assert [n.kind for n in simt.profile(launch_of(body), np.ones(128), N).notes] == [kind], (
        "again, once compiled"
    )


@pytest.mark.parametrize("name", NO_SLIPS)
def test_what_looks_like_a_slip_is_none(name):
    assert not {"unset_variable", "lost_store"} & set(found_by(NO_SLIPS[name])[1])


def test_no_kernel_of_the_package_has_a_slip():
    from course_pkg.witness.cases import all_cases

    trees = {case.kernel.program.name: case.kernel.program.tree for case in all_cases().values()}
    assert len(trees) > 100
    assert {name: lost for name, tree in trees.items() if (lost := lost_stores(tree))} == {}


HARMFUL = {
    "something follows the branch": (f"if i < n:\n{INSIDE}\nx[0] += t", "divergent_barrier"),
    "the others do something": (f"if i < n:\n{INSIDE}\nelse:\n    x[i] = 3.0 * t", "divergent_barrier"),
    "the branch is in a loop": (
        "for j in range(2):\n    if i < n:\n        cuda.syncthreads()",
        "divergent_barrier",
    ),
    "some have left a loop in the branch": (
        "if i < n:\n    for j in range(1 + t % 2):\n        cuda.syncthreads()",
        "divergent_barrier",
    ),
    "the branch ends a device function": ("part(i, n)\nx[i] = t", "divergent_barrier"),
    "a barrier of some lanes": (
        "b = cuda.ballot_sync(0xFFFFFFFF, t % 3 == 0)\ns[t] = x[i]\nif t % 3 == 0:\n"
        "    cuda.syncwarp(b)\n    x[i] = s[(t + 2) % 30]",
        "race",
    ),
    "a shuffle": ("if t < 8:\n    x[i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)", "divergent_barrier"),
    "two constants": ("if t == 3:\n    x[0] = 2\nif t == 5:\n    x[0] = 3", "race"),
    "a constant over the same one": ("x[0] = 1\nif t == 0:\n    x[0] = 2", "race"),
    "the same number by luck": ("x[0] = x[t] + x[1]", "race"),
    "a number of the loop": ("for j in range(n):\n    x[100] = j", "race"),
    "one reads what the others write": ("x[i] = x[127]\nx[127] = 7", "race"),
    "one updates what the others write": ("x[0] = 1\nif i == 0:\n    cuda.atomic.add(x, 0, 1)", "race"),
    "an element that one thread uses": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\nif t < 33:\n    x[i] = v",
        "uninitialised",
    ),
    "a conditional expression that takes it in one thread": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\nx[i] = v if t < 33 else 0.0",
        "uninitialised",
    ),
    "two conditional expressions": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\n"
        "x[i] = (v if t < 32 else 0.0) + (0.0 if t < 60 else v)",
        "uninitialised",
    ),
    "a conditional expression that it decides": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nx[i] = 2.0 if s[t] > 3 else 1.0",
        "uninitialised",
    ),
    "a conditional expression, and its product with nothing": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\nw = v if t < 32 else 0.0\nx[i] = w + 0.0 * v",
        "uninitialised",
    ),
    "a conditional expression in a loop, in the last trip": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nw = 0.0\nfor j in range(n):\n    v = s[t]\n"
        "    w += v if t < 32 or j == n - 1 else 0.0\nx[i] = w",
        "uninitialised",
    ),
    "a condition that another one decides too late": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv = s[t]\nif t < 33 and v > 3:\n    x[i] = 2.0 * t",
        "uninitialised",
    ),
    "a condition that it decides first": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nif s[t] > 3 and t < 32:\n    x[i] = 2.0 * t",
        "uninitialised",
    ),
    "a choice of it": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nx[i] = cuda.selp(t < 33, s[t], 0.0)",
        "uninitialised",
    ),
    "a name that one thread too many gets": (
        "if t < 32:\n    s[t] = t\ncuda.syncthreads()\nv, w = s[t], 0.0\nif t < 33:\n    w = 2.0 * v\nx[i] = w",
        "uninitialised",
    ),
    "an element that only decides": (
        "if s[t] > 0:\n    x[i] = 2.0 * t\nelse:\n    x[i] = t",
        "uninitialised",
    ),
    "an element that comes by a local array": (FILL + "l[0] = s[t]\nx[i] = l[0]", "uninitialised"),
    "an element of a local array that is overwritten in others": (
        FILL + "l[0] = s[t]\nif t < 60:\n    l[0] = 1.0\nx[i] = l[0]",
        "uninitialised",
    ),
    "an element that goes through two local arrays": (
        FILL
        + "r = cuda.local.array(4, float64)\nfor j in range(4):\n    l[j] = s[16 * j]\nfor j in range(4):\n"
        "    r[j] = 2.0 * l[j]\nx[i] = r[2]",
        "uninitialised",
    ),
    "an element that goes to other shared memory": (
        FILL + "r = cuda.shared.array(64, float64)\nr[t] = s[t]\ncuda.syncthreads()\nx[i] = r[63 - t]",
        "uninitialised",
    ),
    "an element that is seen as bytes": (
        FILL + "l[0] = s[t]\nx[i] = l.view(int8)[7]",
        "uninitialised",
    ),
    "an element that an atomic updates elsewhere": (
        FILL + "r = cuda.shared.array(64, int64)\nr[t] = int(s[t])\ncuda.atomic.add(r, t, 3)\nx[i] = t",
        "uninitialised",
    ),
    "an element that an atomic takes": (
        FILL + "r = cuda.shared.array(64, int64)\nr[t] = 3\ncuda.atomic.exch(r, t, int(s[t]))\nx[i] = t",
        "uninitialised",
    ),
    "an item of a tuple that one thread chooses": (
        FILL + "x[i] = (s[t], 0.0)[int(t >= 33)]",
        "uninitialised",
    ),
    "an index of a tuple": (FILL + "x[i] = (1.0, 2.0)[int(s[t] > 0)]", "uninitialised"),
    "an item of a tuple of a function, used": (
        FILL + "v, w = both(s[t], 2.0)\nx[i] = v + w",
        "uninitialised",
    ),
    "a shuffle to a lane that uses it": (
        FILL + "v = cuda.shfl_sync(0xFFFFFFFF, s[t], 3)\nif t < 33:\n    x[i] = v",
        "uninitialised",
    ),
    "a shuffle by way of a local array": (
        FILL + "l[1] = cuda.shfl_down_sync(0xFFFFFFFF, s[63 - t], 1)\nx[i] = l[1]",
        "uninitialised",
    ),
    "a vote that one lane asks for": (
        FILL + "v = cuda.any_sync(0xFFFFFFFF, s[t] > 0)\nx[i] = 1.0 if t < 33 and v else 0.0",
        "uninitialised",
    ),
    "a ballot that one lane stores": (
        FILL + "v = cuda.ballot_sync(0xFFFFFFFF, s[t] > 0)\nif t == 40:\n    x[i] = v",
        "uninitialised",
    ),
    "a vote of a block": (
        FILL + "v = cuda.syncthreads_or(int(s[t]))\nif t == 3:\n    x[i] = v",
        "uninitialised",
    ),
    "a match": (
        FILL + "v = cuda.match_any_sync(0xFFFFFFFF, s[t])\nx[i] = v if t < 33 else 0",
        "uninitialised",
    ),
    "in a sum that is kept for others": (
        FILL + "s[t] = s[t] + 1.0\ncuda.syncthreads()\nx[i] = s[63 - t] if t < 32 else 0.0",
        "uninitialised",
    ),
    "doubled again and again": (
        FILL + "v = s[t]\nfor j in range(60):\n    v = v + v\nif t < 33:\n    x[i] = v",
        "uninitialised",
    ),
    "an element that is an index": ("x[int(s[t]) % 64] = t", "uninitialised"),
    "an element that is updated": ("cuda.atomic.add(s, t, 1.0)", "uninitialised"),
    "an element that goes by a shuffle": ("x[i] = cuda.shfl_xor_sync(0xFFFFFFFF, s[t], 1)", "uninitialised"),
    "an element that is voted on": ("x[i] = cuda.any_sync(0xFFFFFFFF, s[t] > 0)", "uninitialised"),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_what_may_do_harm_stays_a_hazard(name):
    body, kind = HARMFUL[name]
    assert kind in found_by(body, **HELPERS)[0]


@pytest.mark.parametrize("kind", ["skipped_barrier", "same_value", "unused_read"])
def test_a_note_names_kernel_line_and_threads(kind):
    body = next(body for body, of in NOTED.values() if of == kind)
    found = simt.profile(launch_of(body), np.ones(128), N)
    (note,) = found.notes
    assert str(note).startswith(f"k, line {note.line}: thread ") and str(note).endswith(".")
    assert all(str(thread) in str(note) for thread in note.threads)
    words = " ".join(repr(found).split())
    assert "no hazards found" in words and f"note, {kind.replace('_', ' ')}: {note}" in words
    assert str(note) in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()["notes"]))[0]["kind"] == kind


@pytest.mark.parametrize(
    "name", ["the rest of the kernel in a branch", "a flag that all set", "in local memory"]
)
def test_a_grade_fails_for_notes_only_if_the_exercise_says_so(name):
    launch = launch_of(NOTED[name][0])
    JudgedLaunch(launch.kernel, launch.grid, launch.block)(np.ones(128), N)
    found = simt.profile(launch, np.ones(128), N)
    check.no_hazards(found)
    with pytest.raises(check.Failed, match=r"^k, line \d+: ") as failed:
        check.no_hazards(found, notes=True)
    assert (
        failed.value.verdict.startswith("In one of the launches, ") and "disturb" not in failed.value.verdict
    )


def test_the_judge_finds_what_is_used():
    launch = launch_of(HARMFUL["an element that one thread uses"][0])
    with pytest.raises(
        HazardError, match=r"^k, line 8: thread 32 of block 0 reads s\[32\], which nobody has written"
    ):
        JudgedLaunch(launch.kernel, launch.grid, launch.block)(np.ones(128), N)


@pytest.mark.parametrize(
    "name, line, thread",
    [
        ("an element that goes through two local arrays", 11, 0),
        ("an element that goes to other shared memory", 10, 63),
        ("a shuffle to a lane that uses it", 9, 35),
        ("a shuffle by way of a local array", 9, 1),
        ("a vote that one lane asks for", 9, 32),
        ("a vote of a block", 9, 32),
    ],
)
def test_what_is_used_elsewhere_is_reported_where_it_was_read(name, line, thread):
    (hazard,) = simt.profile(launch_of(HARMFUL[name][0]), np.ones(128), N).hazards
    assert (hazard.line, str(hazard.threads[0])) == (line, f"thread {thread} of block 0")


def test_many_reads_of_one_statement_are_one_hazard(monkeypatch):
    monkeypatch.setattr("course_pkg.simt.memory.unwritten.MOST_READS", 3)
    body = "v = 0.0\nfor j in range(50):\n    w = s[t]\n    v = w + 1.0 if j > 40 else 0.0\nx[i] = v"
    assert found_by(body) == (["uninitialised"], [])


def test_threads_that_write_the_same_are_all_remembered():
    # the thread that wrote last writes something else: the other one may still come after it
    body = "if i == 0 or i == 70:\n    x[0] = 1\nif i == 70:\n    x[0] = 2"
    assert found_by(body) == (["race"], ["same_value"])


def test_blocks_that_did_the_same_and_then_do_not_keep_their_records():
    body = "s[t] = t\nif i < n:\n    x[i] = s[63 - t]"
    assert found_by(body)[0] == ["race"]
    body = "s[t] = t\ncuda.syncthreads()\nv = s[63 - t]\nif i == 70:\n    s[5] = v\nx[i] = v"
    found = simt.profile(launch_of(body), np.ones(128), N).hazards
    assert [(h.kind, str(h.threads[0])) for h in found] == [("race", "thread 6 of block 1")]
    body = "if i < 64:\n    s[t] = t\ncuda.syncthreads()\nx[i] = s[t]"
    found = simt.profile(launch_of(body), np.ones(128), N).hazards
    assert [(h.kind, str(h.threads[0])) for h in found] == [("uninitialised", "thread 0 of block 1")]


def test_the_branches_of_a_kernel_are_forgotten_with_it():
    tree = ast.parse("def k(x):\n    if x:\n        x[0] = 1").body[0]
    assert last_branches(tree) == {tree.body[0]} and last_branches(tree) is last_branches(tree)
    gone = weakref.ref(tree)
    del tree
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("align", [False, True])
def test_fields_of_records_without_alignment_are_noted_and_counted_byte_by_byte(align):
    kind = np.dtype([("x", np.float64), ("n", np.int64)], align=align)
    text = "def k(r, out):\n    i = cuda.grid(1)\n    out[i] = r[i].x\n"
    found = simt.profile(
        Kernel.from_source(text, "k", {"cuda": cuda})[1, 32], np.zeros(32, kind), np.zeros(32)
    )
    assert found.global_load.requests == (1 if align else 8)
    if align:
        assert found.notes == []
        return
    (note,) = found.notes
    assert (note.kind, note.line, note.array) == ("packed_record", 3, "r")
    assert str(note).endswith(
        "x byte by byte: 8 requests instead of one. Make their type by numpy.dtype([…], align=True)."
    )
