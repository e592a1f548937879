"""What `course bench permutation` measures, tested on sizes too small for real timings."""

import functools

import numpy as np
import pytest

from course_pkg.bench import gpu
from course_pkg.core import CourseError, Implementation, Library
from course_pkg.permutation import cost, cpu_numba, suite
from course_pkg.vector import cost as streams
from course_pkg.vector import cpu_numba as stream_loops

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY


@pytest.fixture
def tiny(monkeypatch):
    """Two sizes, one short sample; windows and strides that fit them."""
    monkeypatch.setattr(suite, "QUICK", (5, 8))
    compare = suite.compare
    monkeypatch.setattr(
        suite,
        "compare",
        lambda *args, samples, **options: compare(*args, samples=1, warmup=0, min_sample_s=0, **options),
    )


def test_the_suite_measures_gather_and_scatter_in_each_order_and_a_copy_of_the_same_size(tiny):
    found = list(suite.run("cpu", quick=True))
    wanted = []
    for n in (32, 256):
        parameters = {"n": n, "dtype": "float64"}
        wanted.append((Implementation("copy", "", CPU), parameters, streams.copy(n)))
        for order in ("identity", "local", "strided", "random"):
            for operation in ("permute_vector", "unpermute_vector"):
                ordered = {**parameters, "index": "int32", "order": order}
                wanted.append((Implementation(operation, "", CPU), ordered, getattr(cost, operation)(n)))
    assert [(m.what, m.parameters, m.cost) for m in found] == wanted


def test_the_orders_are_what_they_are_called():
    n = 4096
    orders = {name: make(n) for name, make in suite.ORDERS.items()}
    for perm in orders.values():
        np.testing.assert_array_equal(np.sort(perm), np.arange(n))
    away = {name: np.abs(np.diff(perm.astype(int))) for name, perm in orders.items()}
    assert (away["identity"] == 1).all()
    assert (orders["local"] // suite.WINDOW == orders["identity"] // suite.WINDOW).all()
    assert np.median(away["local"]) > 100
    assert np.median(away["strided"]) == suite.STRIDE
    assert np.median(away["random"]) > 1000


@pytest.mark.parametrize("operation", ["permute_vector", "unpermute_vector"])
def test_a_wrong_variant_is_not_timed(tiny, monkeypatch, operation):
    right = getattr(cpu_numba, operation)

    @functools.wraps(right)
    def wrong(perm, x, out):
        right(perm, x, out)
        out[-1] += 1e-6

    monkeypatch.setattr(cpu_numba, operation, wrong)
    with pytest.raises(AssertionError):
        list(suite.run("cpu", quick=True))


@pytest.mark.parametrize(
    ("module", "operation"),
    [(cpu_numba, "permute_vector"), (cpu_numba, "unpermute_vector"), (stream_loops, "copy")],
)
def test_a_variant_that_writes_nothing_is_not_timed(tiny, monkeypatch, module, operation):
    """Not even on the result of the variant before it, which writes to the same vector."""
    monkeypatch.setattr(module, operation, functools.wraps(getattr(module, operation))(lambda *args: None))
    measured = []
    with pytest.raises(AssertionError):
        measured.extend(m.operation for m in suite.run("cpu", quick=True))
    assert operation not in measured


def test_a_scatter_does_not_pass_for_a_gather(tiny, monkeypatch):
    monkeypatch.setattr(cpu_numba, "permute_vector", cpu_numba.unpermute_vector)
    with pytest.raises(AssertionError):
        list(suite.run("cpu", quick=True))


def test_large_results_are_compared_in_a_sample(tiny, monkeypatch):
    monkeypatch.setattr(suite, "CHECKED", 20)
    assert len(list(suite.run("cpu", quick=True))) == 18


def test_the_bound_is_the_fastest_copy_of_the_largest_size(tiny):
    found = list(suite.run("cpu", quick=True))
    bound = suite.bounding_stream(found)
    assert (bound.operation, bound.parameters["n"]) == ("copy", 256)
    assert suite.bounding_stream([m for m in found if m.operation != "copy"]) is None


def test_the_gpu_suite_needs_a_gpu():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="needs an NVIDIA GPU: none was found; use --device cpu"):
        next(suite.run("gpu"))


def test_vectors_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(suite, "EXPONENTS", (50,))
    with pytest.raises(
        CourseError, match=r"Vectors of 1125899906842624 doubles .* need 27021597.8 GB .* --quick"
    ):
        next(suite.run("cpu"))


def test_the_measured_vectors_exceed_every_cache():
    assert 2 * 8 * 2 ** max(suite.EXPONENTS) > 4 * 384 * 2**20
    assert tuple(suite.EXPONENTS) == (24, 25, 26, 27)
