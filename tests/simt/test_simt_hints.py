"""Loads and stores with a hint for the caches count, race and fail as plain ones do."""

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt.run.hints import LOADS, STORES

if cuda.BACKEND != "simt":
    pytest.skip("the interpreter's names of cuda", allow_module_level=True)


def profile(body, *arrays):
    """Profile a kernel of 64 threads."""
    names = "abc"[: len(arrays)]
    text = f"def kernel({', '.join(names)}):\n    i = cuda.grid(1)\n    " + body.replace("\n", "\n    ")
    kernel = simt.Kernel.from_source(text, "kernel", {"cuda": cuda})
    return simt.profile(kernel[2, 32], *arrays)


@pytest.mark.parametrize("name", LOADS)
def test_a_hinted_load_is_counted_as_a_load(name):
    a, b, c = np.arange(64.0), np.zeros(64), np.zeros(64)
    plain = profile("b[i] = a[63 - i]", a, c)
    hinted = profile(f"b[i] = cuda.{name}(a, 63 - i)", a, b)
    assert (b == a[::-1]).all()
    assert hinted.traffic() == plain.traffic() and not hinted.hazards


@pytest.mark.parametrize(
    ("once_more", "loads"),
    [("cuda.ldcv(a, i)", 1), ("cuda.ldcs(a, i)", 2), ("a[i]", 2), ("cuda.ldcs(a, i) + a[i]", 3)],
)
def test_a_load_with_another_hint_loads_again(once_more, loads):
    found = profile(f"b[i] = cuda.ldcv(a, i) + {once_more}", np.arange(64.0), np.zeros(64))
    assert found.global_load.thread_accesses == loads * 64


@pytest.mark.parametrize("name", STORES)
def test_a_hinted_store_is_counted_as_a_store(name):
    a, b, c = np.arange(64.0), np.zeros(64), np.zeros(64)
    plain = profile("b[63 - i] = a[i]", a, c)
    hinted = profile(f"cuda.{name}(b, 63 - i, a[i])", a, b)
    assert (b == a[::-1]).all()
    assert hinted.traffic() == plain.traffic() and not hinted.hazards


def test_an_index_of_two_dimensions():
    a, b = np.arange(64.0).reshape(2, 32), np.zeros((2, 32))
    profile("cuda.stcs(b, (i // 32, i % 32), cuda.ldcs(a, (i // 32, i % 32)))", a, b)
    assert (a == b).all()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("cuda.stcs(a, 0, 1.0 * i)", "race"),
        ("a[i] = cuda.ldcs(a, 63 - i)", "race"),
        ("b[i] = cuda.ldcg(a, i + 1)", "out_of_bounds"),
        ("b[i] = cuda.ldcg(a, -1 - i)", "negative_index"),
    ],
)
def test_hazards_are_found(body, kind):
    assert kind in {h.kind for h in profile(body, np.zeros(64), np.zeros(64)).hazards}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("a[i] = cuda.ldcs(a)", "cuda.ldcs takes an array and an index"),
        ("cuda.stcs(a, i)", "cuda.stcs takes an array, an index and a number"),
        ("a[i] = cuda.ldcs(3.0, i)", "works on arrays in global memory"),
        (
            "tile = cuda.local.array(2, 'float64')\ntile[0] = 1.0\na[i] = cuda.ldcs(tile, 0)",
            "in global memory",
        ),
        ("a[i] = cuda.ldcs(b, i).real", "b holds complex128"),
        ("a[i] = cuda.ldcs(a, 0.5 * i)", "indices are integers"),
    ],
)
def test_what_numba_refuses_is_refused(body, said):
    arrays = np.zeros(64), np.zeros(64, complex if "real" in body else float)
    with pytest.raises(simt.SimtError, match=said):
        profile(body, *arrays)
