"""What `course bench vector` measures, on sizes too small to measure anything."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from course_pkg.bench import Device, cpu, gpu, recorded
from course_pkg.core import CourseError, machine
from course_pkg.vector import cost, cpu_c, gpu_numba, peak, suite


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


def test_the_suite_measures_each_variant_at_each_size(tiny):
    found = list(suite.run("cpu", quick=True))
    variants = {f"{op}, {library}" for op in suite.OPERATIONS for library in ("Numba CPU", "NumPy")}
    variants |= {"triad, C with OpenMP"} if cpu_c.available() else set()
    on_square = [m for m in found if m.parameters.get("shape") or m.parameters["n"] == 25]
    streams = [m for m in found if "degree" not in m.parameters and m not in on_square]
    assert {(m.name, m.parameters["n"]) for m in streams} == {(v, n) for v in variants for n in (8, 32)}
    assert len(streams) == 2 * len(variants)
    assert all(m.parameters["dtype"] == "float64" for m in found)
    horner = [m for m in found if "degree" in m.parameters]
    assert [(m.name, m.parameters["n"], m.parameters["degree"]) for m in horner] == [
        ("horner, Numba CPU", 4, 1),
        ("horner, Numba CPU", 4, 4),
    ]
    assert [m.cost for m in horner] == [cost.horner(4, 1), cost.horner(4, 4)]
    for m in streams:
        operation = m.name.split(",")[0]
        expected = cost.triad_two_passes if m.name == "triad, NumPy" else getattr(cost, operation)
        assert m.cost == expected(m.parameters["n"])
        assert m.device == cpu()
    square = {"shape": [5, 5], "dtype": "float64"}  # as many elements as 32 have room for
    expected = {
        "reduce_sum": ({"n": 25, "dtype": "float64"}, cost.reduce_sum(25)),
        "cumsum_columns": (square, cost.cumsum_columns((5, 5))),
        "cumsum_rows": (square, cost.cumsum_rows((5, 5))),
    }
    expected["transpose"] = expected["copy"] = square, cost.transpose((5, 5))
    names = [f"{op}, {library}" for op in suite.ON_SQUARE for library in ("Numba CPU", "NumPy")]
    assert [(m.name, m.parameters, m.cost) for m in on_square] == [
        (name, *expected[name.split(",")[0]]) for name in (*names, "copy, Numba CPU")
    ]


@pytest.mark.parametrize("operation", [*suite.OPERATIONS, "horner", *suite.ON_SQUARE])
def test_a_wrong_variant_is_not_timed(tiny, monkeypatch, operation):
    def wrong(*args):
        right(*args)
        args[-1][-1] += 1e-6

    right = getattr(suite.cpu_numba, operation)
    monkeypatch.setattr(suite.cpu_numba, operation, wrong)
    measured = []
    with pytest.raises(AssertionError):
        measured.extend(m.name for m in suite.run("cpu", quick=True))
    assert f"{operation}, Numba CPU" not in measured


@pytest.mark.parametrize("operation", [*suite.OPERATIONS, *suite.ON_SQUARE])
def test_a_variant_that_does_nothing_cannot_pass_on_the_last_ones_result(tiny, monkeypatch, operation):
    monkeypatch.setattr(suite.cpu_numba, operation, getattr(suite.reference, operation))
    oracle = getattr(suite.reference, operation)
    done = []

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
    assert f"{operation}, NumPy" not in {m.name for m in done}


def test_the_gpu_suite_has_every_variant(monkeypatch):
    cupy = SimpleNamespace(**dict.fromkeys(("dot", "copy", *suite.ON_SQUARE), sum))
    monkeypatch.setitem(sys.modules, "course_pkg.vector.gpu_cupy", cupy)
    monkeypatch.setattr("course_pkg.vector.gpu_cupy", cupy, raising=False)
    assert [list(dict(suite._variants("gpu", op))) for op in ("dot", *suite.ON_SQUARE)] == [
        ["dot, Numba CUDA", "dot, CuPy"],
        [
            "reduce_sum tree, Numba CUDA",
            "reduce_sum shuffle, Numba CUDA",
            "reduce_sum grid stride, Numba CUDA",
            "reduce_sum, CuPy",
        ],
        ["cumsum_columns, Numba CUDA", "cumsum_columns, CuPy"],
        ["cumsum_rows serial, Numba CUDA", "cumsum_rows chunked, Numba CUDA", "cumsum_rows, CuPy"],
        [
            "transpose naive, Numba CUDA",
            "transpose tiled, Numba CUDA",
            "transpose tiled padded, Numba CUDA",
            "transpose, CuPy",
            "copy, CuPy",
        ],
    ]
    transposes = dict(suite._variants("gpu", "transpose"))
    assert transposes["transpose tiled, Numba CUDA"].keywords == {"padding": 0}
    assert transposes["transpose tiled padded, Numba CUDA"] is gpu_numba.transpose_tiled
    n = {"n": 2**20, "dtype": "float64"}
    for variant in dict(suite._variants("gpu", "reduce_sum")):
        in_blocks = "tree" in variant or "shuffle" in variant
        expected = cost.reduce_sum_tree(2**20, 256) if in_blocks else cost.reduce_sum(2**20)
        assert suite._cost("reduce_sum", variant, **n) == expected


@pytest.mark.parametrize("operation", ["cumsum_columns", "cumsum_rows", "transpose"])
def test_lines_of_a_large_array_are_picked_and_compared(monkeypatch, operation):
    monkeypatch.setattr(suite, "CHECKED", 200)
    data = suite._HostData(400)
    args = data.arguments(("a", "out"), (20, 20), "a variant")
    getattr(suite.reference, operation)(*args)
    data.check(operation, args)
    assert np.all(np.isnan(data.out)), "the result stays for the next variant"
    getattr(suite.reference, operation)(*args)
    args[-1][:] += 1e-6
    with pytest.raises(AssertionError):
        data.check(operation, args)


def test_too_little_memory_is_said_before_it_is_taken():
    with pytest.raises(CourseError, match=r"need 24000000\.0 GB of memory, and .* free: run with --quick"):
        suite._HostData(10**15)


def test_the_gpu_suite_needs_a_gpu():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="needs an NVIDIA GPU: none was found; use --device cpu"):
        next(suite.run("gpu"))


def test_stream_measures_copy_and_triad_against_the_best():
    found = peak.stream(n=4096, samples=2)
    names = ["copy, Numba", "triad, Numba"] + (["triad, C with OpenMP"] if cpu_c.available() else [])
    assert [m.name for m in found.measurements] == names
    assert [m.cost.bytes for m in found.measurements] == [2 * 8 * 4096] + [3 * 8 * 4096] * (len(names) - 1)
    assert found.t_peak_gb_s == max(m.t_eff_gb_s for m in found.measurements)
    assert all(len(m.samples_s) == 2 for m in found.measurements)


@pytest.mark.parametrize(
    ("operation", "wrong"),
    [
        ("copy", lambda a, out: np.multiply(a, 2, out=out)),
        ("triad", lambda a, b, s, out: np.add(a, b, out=out)),
        ("triad", lambda a, b, s, out: np.add(a[:-1], s * b[:-1], out=out[:-1])),
    ],
)
def test_stream_refuses_a_wrong_operation(monkeypatch, operation, wrong):
    monkeypatch.setattr(peak.cpu_numba, operation, wrong)
    with pytest.raises(AssertionError):
        peak.stream(n=4096, samples=1)


def test_t_peak_of_a_record_is_the_best_stream_on_the_longest_vectors():
    data = recorded("vector")
    best = max(
        (
            m
            for m in data.measurements
            if m.parameters.get("n") == 2**30 and m.name.startswith(("copy", "triad"))
        ),
        key=lambda m: m.t_eff_gb_s,
    )
    assert peak.recorded_t_peak(data) == best.t_eff_gb_s
    assert 0.5 < peak.recorded_t_peak(data) / machine("h200").bandwidth_gb_s < 1


def test_t_peak_passes_over_a_copy_that_was_measured_beside_transposes():
    def measured(name, gb_s, **size):
        return SimpleNamespace(name=name, parameters=size, t_eff_gb_s=gb_s)

    streams = [
        measured("copy, CuPy", 9, n=8),
        measured("copy, CuPy", 5, n=32),
        measured("triad, CuPy", 4, n=32),
    ]
    beside = [measured("copy, CuPy", 7, shape=[5, 5])]
    assert peak.recorded_t_peak(SimpleNamespace(measurements=streams + beside)) == 5


def test_horner_sweep_measures_each_degree():
    found = peak.horner_sweep((1, 3), n=4096, samples=2)
    assert [m.name for m in found] == ["degree 1", "degree 3"]
    assert [m.cost for m in found] == [cost.horner(4096, 1), cost.horner(4096, 3)]
    assert [m.parameters["n"] for m in found] == [4096, 4096]


def test_horner_sweep_refuses_a_wrong_polynomial(monkeypatch):
    monkeypatch.setattr(peak.cpu_numba, "horner", lambda a, degree, out: np.copyto(out, 1 + a))
    peak.horner_sweep((1,), n=2048, samples=1)
    with pytest.raises(AssertionError):
        peak.horner_sweep((2,), n=2048, samples=1)


def test_copy_bandwidth(monkeypatch):
    monkeypatch.setattr(peak, "stream_size", lambda llc_bytes: 4096)
    assert peak.copy_bandwidth(samples=2) > 0
    with pytest.raises(CourseError, match="device is 'tpu': ask for 'cpu' or 'gpu'"):
        peak.copy_bandwidth("tpu")
    monkeypatch.setattr(peak, "gpu", lambda: Device("simt", "", 0, 0, 0))
    with pytest.raises(CourseError, match="No GPU was found"):
        peak.copy_bandwidth("gpu")


def test_copy_bandwidth_refuses_a_wrong_copy(monkeypatch):
    monkeypatch.setattr(peak, "stream_size", lambda llc_bytes: 4096)
    monkeypatch.setattr(peak.cpu_numba, "copy", lambda a, out: None)
    with pytest.raises(AssertionError):
        peak.copy_bandwidth(samples=1)


GIB = 2**30


@pytest.mark.parametrize(
    ("llc_bytes", "free_bytes", "n"),
    [
        (0, 100 * GIB, 2**23),  # no cache is known
        (2**26, 100 * GIB, 2**24),  # 64 MiB of cache, two vectors of 128 MiB
        (2**30, 100 * GIB, 2**27),  # never more than 2^27
        (2**26, 2**24, 2**17),  # three vectors in a quarter of 16 MiB
        (2**26, 0, 1024),
    ],
)
def test_the_streams_exceed_the_cache_twice_if_memory_allows(monkeypatch, llc_bytes, free_bytes, n):
    class Memory:
        available = free_bytes

    monkeypatch.setattr(peak.psutil, "virtual_memory", Memory)
    assert peak.stream_size(llc_bytes) == n
    if free_bytes > GIB and llc_bytes < GIB:
        assert 2 * 8 * n >= 2 * llc_bytes
