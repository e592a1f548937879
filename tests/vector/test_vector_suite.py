"""What `course bench vector` measures, tested on sizes too small for real timings."""

import functools

import numpy as np
import pytest

from course_pkg.bench import cpu, gpu
from course_pkg.core import CourseError, Implementation, Library
from course_pkg.vector import cost, cpu_c, cpu_numba, suite
from course_pkg.vector.tuning import THREADS_PER_BLOCK
from course_pkg.vector.variants import VARIANTS

CPU, NUMPY, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMPY, Library.NUMBA_CUDA, Library.CUPY


@pytest.fixture
def tiny(monkeypatch):
    """Sizes 2^3 and 2^5 instead of up to 2^30, two degrees, one short sample."""
    monkeypatch.setattr(suite, "range", lambda *_: [3, 5], raising=False)
    monkeypatch.setattr(suite, "DEGREES_CPU", (1, 4))
    compare = suite.compare
    monkeypatch.setattr(
        suite,
        "compare",
        lambda *args, samples, **options: compare(*args, samples=1, warmup=0, min_sample_s=0, **options),
    )


def by(operation, *libraries):
    return [Implementation(operation, "", library) for library in libraries]


def test_the_suite_measures_each_variant_at_each_size(tiny):
    found = list(suite.run("cpu", quick=True))
    variants = {what for op in suite.STREAMS for what in by(op, CPU, NUMPY)}
    variants |= set(by("triad", Library.C)) if cpu_c.available() else set()
    strided = [m for m in found if m.operation == "copy_strided"]
    assert [(m.what, m.parameters["stride"]) for m in strided] == [
        (what, stride) for stride in suite.STRIDES for what in by("copy_strided", CPU, NUMPY)
    ]
    assert all(m.cost == cost.copy(1) for m in strided), "what is fetched besides is not counted as useful"
    found = [m for m in found if m not in strided]
    on_square = [m for m in found if m.parameters.get("shape") or m.parameters["n"] == 25]
    streams = [m for m in found if "degree" not in m.parameters and m not in on_square]
    assert {(m.what, m.parameters["n"]) for m in streams} == {(v, n) for v in variants for n in (8, 32)}
    assert len(streams) == 2 * len(variants)
    assert all(m.parameters["dtype"] == "float64" for m in found)
    horner = [m for m in found if "degree" in m.parameters]
    assert [(m.what, m.parameters["n"], m.parameters["degree"]) for m in horner] == [
        (*by("horner", CPU), 4, 1),
        (*by("horner", CPU), 4, 4),
    ]
    assert [m.cost for m in horner] == [cost.horner(4, 1), cost.horner(4, 4)]
    for m in streams:
        two_passes = (m.operation, m.library) == ("triad", NUMPY)
        expected = cost.triad_two_passes if two_passes else getattr(cost, m.operation)
        assert m.cost == expected(m.parameters["n"])
        assert m.device == cpu()
    square = {"shape": [5, 5], "dtype": "float64"}  # as many elements as 32 have room for
    expected = {
        "reduce_sum": ({"n": 25, "dtype": "float64"}, cost.reduce_sum(25)),
        "cumsum_columns": (square, cost.cumsum_columns((5, 5))),
        "cumsum_rows": (square, cost.cumsum_rows((5, 5))),
    }
    expected["transpose"] = expected["copy"] = square, cost.transpose((5, 5))
    wanted = [what for op in suite.ON_SQUARE for what in by(op, CPU, NUMPY)] + by("copy", CPU)
    assert [(m.what, m.parameters, m.cost) for m in on_square] == [
        (what, *expected[what.operation]) for what in wanted
    ]


@pytest.mark.parametrize("operation", [*suite.STREAMS, "horner", "copy_strided", *suite.ON_SQUARE])
def test_a_wrong_variant_is_not_timed(tiny, monkeypatch, operation):
    def wrong(*args):
        right(*args)
        args[-1][-1] += 1e-6

    right = getattr(cpu_numba, operation)
    monkeypatch.setattr(cpu_numba, operation, wrong)
    measured = []
    with pytest.raises(AssertionError):
        measured.extend(m.what for m in suite.run("cpu", quick=True))
    assert by(operation, CPU)[0] not in measured


@pytest.mark.parametrize("operation", [*suite.STREAMS, *suite.ON_SQUARE])
def test_a_variant_that_does_nothing_cannot_pass_on_the_last_ones_result(tiny, monkeypatch, operation):
    monkeypatch.setattr(cpu_numba, operation, getattr(suite.reference, operation))
    oracle = getattr(suite.reference, operation)
    done = []

    @functools.wraps(oracle)
    def lazy(*args):  # works for the first variant and for the oracle, not as the variant that is measured
        if args[-1] is not data.out and args[-1].base is not data.out and args[-1] is not data.total:
            oracle(*args)

    data = None
    host_data = suite._HostData

    def remember(n):
        nonlocal data
        data = host_data(n)
        return data

    monkeypatch.setattr(suite, "_HostData", remember)
    monkeypatch.setattr(suite.reference, operation, lazy)
    with pytest.raises(AssertionError):
        done.extend(suite.run("cpu", quick=True))
    assert by(operation, NUMPY)[0] not in {m.what for m in done}


def test_the_gpu_suite_has_every_variant():
    """Whatever a topic lists for a GPU is measured; a new variant is, too, without a word here."""
    operations = (*suite.STREAMS, "horner", "copy_strided", *suite.ON_SQUARE)
    chosen = {op: suite.implementations("gpu", op) for op in operations}
    for op, pairs in chosen.items():
        wanted = [(v, lib) for lib in (CUDA, CUPY) for v in VARIANTS.of(op, lib)]
        assert pairs == wanted + ([(VARIANTS["copy"], CUPY)] if op == "transpose" else [])
    assert {v for pairs in chosen.values() for v, _ in pairs} == {
        v for v in VARIANTS if {CUDA, CUPY} & set(v.libraries)
    }


def test_the_gpu_suite_measures_each_setting_with_its_cost(monkeypatch):
    """The launches are noted, not made: kernels are tested elsewhere."""
    launched = []

    def noting(variant, library):
        def call(*args, **settings):
            launched.append((variant.function_name, library, tuple(settings.items())))
            getattr(suite.reference, variant.operation)(*args)

        return call

    monkeypatch.setattr(suite, "_launched", noting)
    monkeypatch.setattr(suite, "compare", functools.partial(suite.compare, warmup=0, min_sample_s=0))
    data, found = suite._HostData(64), []
    for op in suite.ON_SQUARE:
        parameters = {**({"n": 64} if op == "reduce_sum" else {"shape": [8, 8]}), "dtype": "float64"}
        found += suite._in_turn(data, suite.implementations("gpu", op), parameters, samples=1)
    tiled = Implementation("transpose", "tiled", CUDA)
    assert [m.parameters.get("padding") for m in found if m.what == tiled] == [0, 1]
    assert all("padding" not in m.parameters for m in found if m.what != tiled)
    assert ("transpose_tiled", CUDA, (("padding", 0),)) in launched
    costs = {(m.variant, m.library): m.cost for m in found if m.operation == "reduce_sum"}
    assert costs[("tree", CUDA)] == costs[("shuffle", CUDA)] == cost.reduce_sum_tree(64, THREADS_PER_BLOCK)
    assert costs[("grid_stride", CUDA)] == costs[("", CUPY)] == cost.reduce_sum(64)
    assert [m.cost for m in found if m.operation == "copy"] == [cost.copy(64)]


@pytest.mark.parametrize("operation", ["cumsum_columns", "cumsum_rows", "transpose"])
def test_lines_of_a_large_array_are_picked_and_compared(monkeypatch, operation):
    monkeypatch.setattr(suite, "CHECKED", 200)
    data = suite._HostData(400)
    args = data.arguments(("a", "out"), (20, 20), NUMPY)
    getattr(suite.reference, operation)(*args)
    data.check(operation, args)
    assert np.all(np.isnan(data.out)), "the result stays for the next variant"
    getattr(suite.reference, operation)(*args)
    args[-1][:] += 1e-6
    with pytest.raises(AssertionError):
        data.check(operation, args)


def test_too_little_memory_is_said_before_it_is_taken():
    with pytest.raises(CourseError, match=r"need 24000000\.0 GB of memory, but .* free: run with --quick"):
        suite._HostData(10**15)


def test_the_gpu_suite_needs_a_gpu():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="needs an NVIDIA GPU: none was found; use --device cpu"):
        next(suite.run("gpu"))
