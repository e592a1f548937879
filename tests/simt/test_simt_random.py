"""Random numbers are Numba's: its functions, compiled for the CPU, draw the same ones from the same states."""

import numba.cuda.random as theirs
import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.core.errors import CourseError
from course_pkg.simt import random
from course_pkg.simt.run.draws import DRAWS
from course_pkg.simt.run.kernel import Kernel, jit

DRAWN = ("uniform_float32", "uniform_float64", "normal_float32", "normal_float64")


@pytest.mark.parametrize(
    ("n", "seed", "start"), [(1, 0, 0), (5, 42, 0), (33, -5, 1), (64, 2**40 + 7, 3), (0, 1, 0)]
)
def test_states_are_numbas(n, seed, start):
    expected = np.empty(n, theirs.xoroshiro128p_dtype)
    theirs.init_xoroshiro128p_states_cpu(expected, seed, start)
    made = random.create_xoroshiro128p_states(n, seed, start)
    np.testing.assert_array_equal(made.copy_to_host(), expected)
    again = cuda.device_array(n, random.xoroshiro128p_dtype)
    random.init_xoroshiro128p_states(again, seed, start)
    np.testing.assert_array_equal(again.copy_to_host(), expected)


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("module", [random, theirs], ids=["the course's", "Numba's"])
def test_numbers_are_numbas(kind, module):
    draw = getattr(module, f"xoroshiro128p_{kind}")

    @jit
    def kernel(states, out):
        i = cuda.grid(1)
        for k in range(3):
            out[i, k] = draw(states, i)

    states, out = random.create_xoroshiro128p_states(40, 7), np.zeros((40, 3))
    host = states.copy_to_host()
    assert simt.profile(kernel[2, 20], states, out).hazards == []
    compiled = getattr(theirs, f"xoroshiro128p_{kind}")
    expected = [[compiled(host, i) for _ in range(3)] for i in range(40)]
    if kind.startswith("uniform"):
        np.testing.assert_array_equal(out, expected)
    else:  # the logarithm of float32 is NumPy's here and the C library's there
        np.testing.assert_allclose(out, expected, rtol=2e-6, atol=1e-7)
    np.testing.assert_array_equal(states.copy_to_host(), host)


@pytest.mark.parametrize("name", DRAWS)
def test_what_is_computed_at_once_is_what_the_text_says(name):
    text = "def kernel(states, out):\n    i = cuda.grid(1)\n    out[i] = draw(states, i) + draw(states, i)\n"
    at_once = getattr(random, name)
    written = Kernel(at_once.py_func, device=True)  # no draw, so that its statements are run
    found = []
    for draw in (at_once, written):
        states, out = random.create_xoroshiro128p_states(32, 5), np.zeros(32)
        kernel = Kernel.from_source(text, "kernel", {"cuda": cuda, "draw": draw})
        profile = simt.profile(kernel[1, 32], states, out)
        found.append(
            (out.tolist(), states.copy_to_host().tolist(), profile.global_load, profile.global_store)
        )
    assert found[0] == found[1]


def test_a_jump_leads_to_the_next_state():
    @jit
    def kernel(states):
        random.xoroshiro128p_jump(states, 0)

    two = random.create_xoroshiro128p_states(2, 9).copy_to_host()
    kernel[1, 1](two)
    assert two[0] == two[1]


def test_two_threads_with_one_state_race():
    @jit
    def kernel(states, out):
        i = cuda.grid(1)
        out[i] = random.xoroshiro128p_uniform_float32(states, i // 2)

    found = simt.profile(kernel[1, 32], random.create_xoroshiro128p_states(16, 1), np.zeros(32)).hazards
    assert {h.kind for h in found} == {"race"} and "states[0]" in found[0].message


def test_bad_input_is_refused():
    with pytest.raises(CourseError, match="states is no vector of random states"):
        random.init_xoroshiro128p_states(cuda.device_array(3), 1)
    with pytest.raises(CourseError, match="neither may be negative"):
        random.create_xoroshiro128p_states(-1, 1)

    @jit
    def kernel(x):
        x[0] = random.xoroshiro128p_uniform_float32(x, 0)

    with pytest.raises(
        CourseError, match=r"line \d+: xoroshiro128p_uniform_float32 takes an array of states"
    ):
        kernel[1, 1](np.zeros(3))
