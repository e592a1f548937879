"""Arrays that differ between threads: numbers as compiled, counts of one access for all lanes, and what is refused.

Races are in ``tricks_choices.py``; what Numba compiles is in ``compiled_for_a_gpu.json``.
"""

import numpy as np
import pytest
from compiled_oracle import assert_as_compiled

from course_pkg import cuda, simt
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.kernel import Kernel

N = 48  # not a multiple of a warp
BODIES = {
    "a condition": "q = x if i % 2 else y\nout[i, 0] = q[i] + q[0]",
    "both branches": "if i % 3:\n    q = x\nelse:\n    q = y\nout[i, 0] = q[i] * q[-1]",
    "a chain": "q = x\nif i % 2:\n    q = y\nif i % 3 == 0:\n    q = z[1]\nout[i, 0] = q[i]",
    "an index": "out[i, 0] = (x, y, x)[i % 3][i]\nout[i, 1] = (x, y)[-1 - i % 2][i]",
    "rows": "q = (z, w)[i % 2]\nr = q[i % 4]\nout[i, 0] = r[i] + q[1, 2] + q.shape[0] + len(r)",
    "slices of different lengths": "q = x[i:] if i % 2 else y[: i + 1]\nout[i, 0] = q[0] + q[-1] + q.size",
    "steps": "q = x[::2] if i % 2 else y[::-1]\nout[i, 0] = q[3] + len(q)",
    "transposed": "q = z if i % 2 else w.T\nout[i, 0] = q[2, 3] + q[i % 4, 1]",
    "sums": "q = x if i % 2 else y[: i + 1]\nout[i, 0] = q.sum() - q.mean()",
    "a loop over it": "q = x[:i] if i % 2 else y\nfor v in q:\n    out[i, 0] += v\n"
    "for j, v in enumerate(q):\n    out[i, 1] += j * v",
    "names for its elements": "u, v = x[i % 8 : i % 8 + 2] if i % 2 else y[:2]\nout[i, 0] = u - v",
    "arrays that change places": "p, q = x, y\nfor j in range(i % 5):\n    p, q = q, p\nout[i, 0] = p[i] - q[i]",
    "three that go round": "p, q, r = x, y, z[0]\nfor j in range(i % 7):\n    p, q, r = q, r, p\nout[i, 0] = p[i]",
    "left at different times": "for q in (x, y, z[2]):\n    if q[i] > 0.5:\n        break\nout[i, 0] = q[i]",
    "a loop that leaves": "q = x\nfor j in range(9):\n    q = y if q[j] < 0.5 else z[3]\n"
    "    if j > i % 4:\n        break\nout[i, 0] = q[i]",
    "stores": "q = out[i] if i % 2 else more[i]\nq[0] = i\nq[1] += 2.0\nq[2:] = 7.0",
    "filled by a tuple": "q = out[i] if i % 2 else more[i]\nq[:2] = (1.0, 2.0)",
    "complex numbers": "q = c if i % 2 else d\nout[i, 0] = q[i].real + q.imag[i]",
    "tuples of arrays": "p, q = (x, y) if i % 2 else (y, x)\nout[i, 0] = p[i] - q[i]",
    "a tuple that is set in a branch": "s = (x, 1.0)\nif i % 2:\n    s = (y, 2.0)\nout[i, 0] = s[0][i] * s[1]",
    "an element that decides": "q = x if y[i] > 0.5 else y\nif q[i] > 0.5:\n    out[i, 0] = 1.0",
    "an index that is loaded": "q = k if i % 2 else k[::-1]\nout[i, 0] = x[q[i]]",
    "iterators": "e = iter(x) if i % 2 else iter(y)\nu = next(e)\nfor v in e:\n    u += v\nout[i, 0] = u",
}


def arguments():
    rng = np.random.default_rng(3)
    floats = {"x": rng.random(N), "y": rng.random(N), "z": rng.random((4, N))}
    floats["w"] = rng.random((4, N))
    others = {"c": rng.random(N) + 1j * rng.random(N), "d": 1j * rng.random(N), "k": rng.permutation(N)}
    return {**floats, **others, "more": np.zeros((N, 4)), "out": np.zeros((N, 4))}


@pytest.mark.parametrize("name", BODIES)
def test_each_thread_finds_what_compiled_code_finds(name):
    assert_as_compiled(BODIES[name], arguments())


def profile(body, threads=64):
    text = "def kernel(a, b, out, n, w):\n    t = cuda.threadIdx.x\n"
    text += "".join(f"    {line}\n" for line in body.split("\n"))
    kernel = Kernel.from_source(text, "kernel", {"cuda": cuda, "np": np})
    return simt.profile(kernel[1, threads], np.arange(64.0), np.ones(64), np.zeros(64), 5, np.ones((4, 4)))


MIXED = "q = a if t % 2 else b\n"


def test_a_warp_makes_one_request_for_the_arrays_of_all_its_lanes():
    found = profile(MIXED + "out[t] = q[t]")
    # each warp reads every second of 32 elements of both arrays: 8 sectors of each
    assert (found.global_load.requests, found.global_load.sectors) == (2, 2 * (8 + 8))
    assert found.global_load.thread_accesses == 64
    assert found.global_load.unique_bytes == 64 * 8
    assert [found.by_array[name].traffic()["global_load"].thread_accesses for name in "ab"] == [32, 32]
    assert not found.doubtful


def test_warps_that_have_one_array_each_count_as_if_it_had_no_other_name():
    chosen, plain = (
        profile(body)
        for body in (
            "q = a if t < 32 else b\nout[t] = q[t]",
            "if t < 32:\n    out[t] = a[t]\nelse:\n    out[t] = b[t]",
        )
    )
    assert chosen.global_load == plain.global_load
    assert not chosen.doubtful


def test_an_element_of_a_choice_is_kept_like_any_other():
    twice, once = profile(MIXED + "out[t] = q[t] * q[t]"), profile(MIXED + "x = q[t]\nout[t] = x * x")
    assert twice.global_load == once.global_load and twice.global_load.requests == 2
    stored = profile("q = out if t % 2 else b\nq[t] = t\nout[t] = q[t] + 1.0")
    assert (stored.global_load.requests, stored.global_store.requests) == (0, 4)
    unused = profile(MIXED + "x = q[t]\nout[t] = 1.0")
    assert unused.global_load.requests == 0
    loop = profile(MIXED + "x = 0.0\nfor j in range(n):\n    x += q[0] + j\nout[t] = x")
    assert loop.global_load.requests == 2


def test_atomics_on_a_choice_make_one_request_per_warp():
    found = profile("q = out if t % 2 else b\ncuda.atomic.add(q, t // 2, 1.0)")
    assert found.global_atomics.requests == 2 and found.global_atomics.thread_accesses == 64


def test_counts_of_arrays_in_different_memories_are_said_to_be_uncertain():
    tiles = (
        "s = cuda.shared.array(64, np.float64)\nr = cuda.shared.array(64, np.float64)\ns[t] = r[t] = 1.0\n"
    )
    found = profile(tiles + "q = s if t % 2 else r\nout[t] = q[t]")
    assert (found.shared_load.requests, found.shared_load.wavefronts) == (
        2,
        4,
    )  # of one memory, so they are certain
    assert found.doubtful == {}
    found = profile(tiles + "q = s if t % 2 else b\nout[t] = q[t]")
    assert {"shared_load.requests", "global_load.requests"} <= set(found.doubtful)
    assert "different arrays" in str(next(iter(found.doubtful.values())))


@pytest.mark.parametrize(
    "choice", ["s if t % 32 == 31 else b", "b if t % 32 < 31 else s", "(b, s)[t % 32 // 31]"]
)
def test_no_request_to_one_memory_hides_behind_another_memory(choice):
    tile = "s = cuda.shared.array(64, np.float64)\ns[t] = 1.0\n"
    found = profile(f"{tile}q = {choice}\nout[t] = q[t]")
    assert (found.global_load.requests, found.shared_load.requests) == (2, 2)
    found = profile(f"{tile}q = {choice}\nq[t] = 2.0")
    assert (found.global_store.requests, found.shared_store.requests) == (2, 4)
    found = profile(f"{tile}q = {choice}\ncuda.atomic.add(q, t, 1.0)")
    assert (found.global_atomics.requests, found.shared_atomics.requests) == (2, 2)


def test_a_hazard_names_the_array_and_the_element_of_the_thread():
    found = profile("q = out if t < 32 else b\nq[t // 2] = t")
    assert [(h.kind, h.array) for h in found.hazards] == [("race", "out"), ("race", "b")]
    found = profile("q = out[:8] if t < 8 else b\nq[t + 1] = t")
    assert {h.array for h in found.hazards} == {"out", "b"}
    assert {h.kind for h in found.hazards} == {"out_of_bounds"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("q = a if t % 2 else n\nq[t] = 1", "a choice between things of different types"),
        ("q = a if t % 2 else b\nprint(q)", "q is an array, and print takes numbers"),
        ("q = a if t % 2 else b\nout[t] = q + 1", "q is a whole array"),
        ("q = a if t % 2 else b\nout[:] = q", "cannot copy an array into a slice"),
        ("q = a if t % 2 else b\nq[1, 2] = 3", "has 1 dimension"),
        ("(a, out, b)[t % 5][t] = 1", "some threads choose a part that the tuple of 3 does not have"),
        ("if t < 3:\n    q = a\nelif t < 9:\n    q = b\nout[t] = q[t]", "without having assigned 'q'"),
        (
            "q = a if t % 2 else b\nfor v in np.nditer(q):\n    out[t] = v.item()",
            "nditer of arrays that differ",
        ),
    ],
)
def test_what_does_not_run_is_refused_with_its_line(body, said):
    with pytest.raises(SimtError, match=rf"line [0-9]+: .*{said}"):
        profile(body)


LAYOUTS = {  # bodies that Numba refuses, and their twins that it compiles
    "q = (a, b[::2])[t % 2]\nout[t] = q[t % 8]": "q = (a[::2], b[::2])[t % 2]\nout[t] = q[t % 8]",
    "q = (a[::-1], b)[t % 2]\nout[t] = q[t % 8]": "q = (a[2:20], b)[t % 2]\nout[t] = q[t % 8]",
    "q = (w[:, 0], b)[t % 2]\nout[t] = q[t % 4]": "q = (w[0], b)[t % 2]\nout[t] = q[t % 4]",
    "q = (w, w.T)[t % 2]\nout[t] = q[0, t % 4]": "q = (w.T, w.T)[t % 2]\nout[t] = q[0, t % 4]",
    "q = ((a, 1), (b[::2], 2))[t % 2]\nout[t] = q[0][t % 8]": "q = ((a, 1), (b, 2))[t % 2]\nout[t] = q[0][t % 8]",
    "for q in (a, b[::2]):\n    out[t] += q[t % 8]": "for q in (a[::2], b[::2]):\n    out[t] += q[t % 8]",
    "it = iter((a, b[::2]))\nq = next(it)\nout[t] = q[t % 8]": "q = a if t % 2 else b[::2]\nout[t] = q[t % 8]",
    "q = (a[::2], a)[t % 2]\nout[t] = q[t % 8]": "q = (a[::2], a)[1]\nout[t] = q[t % 8]",
    "q = (b[::2], a)[t % 2]\nout[t] = q[t % 8]": "q = a if n else b[::2]\nr = (q, b[::2])[t % 2]\nout[t] = r[t % 8]",
    "s = cuda.local.array(16, np.float64)\ns[t % 8] = 1.0\nq = (s[::2], b)[t % 2]\nout[t] = q[0]": (
        "q = (w, a.reshape(n - 1, 16))[t % 2]\nout[t] = q[0, t % 4]"
    ),
}


@pytest.mark.parametrize("body", LAYOUTS)
def test_a_variable_chooses_only_among_arrays_that_lie_alike_in_memory(body):
    """As numba.njit does with each of these bodies."""
    with pytest.raises(
        SimtError, match=r"lie differently in memory, such as x and y.*nothing that Numba compiles"
    ) as one:
        profile(body)
    assert one.value.refusal.way
    assert not profile(LAYOUTS[body]).hazards


def test_a_read_only_array_among_the_chosen_ones_is_not_written():
    kernel = Kernel.from_source(
        "def kernel(a, b):\n    q = a if cuda.threadIdx.x else b\n    q[0] = 1.0", "kernel", {"cuda": cuda}
    )
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(SimtError, match="b cannot be written: the NumPy array is read-only"):
        kernel[1, 2](np.zeros(3), fixed)
