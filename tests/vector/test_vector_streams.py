"""The streams of a machine: sizes, cache, and what is compared with the datasheet."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_vector_suite import CPU, CUDA, by

from course_pkg.bench import Device, recorded
from course_pkg.core import CourseError, Library, machine
from course_pkg.vector import cost, cpu_c, peak, suite_honest
from course_pkg.vector.problem import VectorProblem
from course_pkg.vector.variants import VARIANTS


def test_stream_measures_copy_and_triad_against_the_best():
    found = peak.stream(n=4096, samples=2)
    names = by("copy", CPU) + by("triad", CPU, *([Library.C] if cpu_c.available() else []))
    assert [m.what for m in found.measurements] == names
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
        (m for m in data.measurements if m.parameters.get("n") == 2**30 and m.operation in ("copy", "triad")),
        key=lambda m: m.t_eff_gb_s,
    )
    assert peak.recorded_t_peak(data) == best.t_eff_gb_s
    assert 0.5 < peak.recorded_t_peak(data) / machine("h200").bandwidth_gb_s < 1


def test_t_peak_passes_over_a_copy_that_was_measured_beside_transposes():
    def measured(operation, gb_s, **size):
        return SimpleNamespace(operation=operation, parameters=size, t_eff_gb_s=gb_s)

    streams = [
        measured("copy", 9, n=8),
        measured("copy", 5, n=32),
        measured("triad", 4, n=32),
    ]
    beside = [measured("copy", 7, shape=[5, 5])]
    assert peak.recorded_t_peak(SimpleNamespace(measurements=streams + beside)) == 5


def test_horner_sweep_measures_each_degree():
    found = peak.horner_sweep((1, 3), n=4096, samples=2)
    assert [m.label for m in found] == ["degree 1", "degree 3"]
    assert [m.cost for m in found] == [cost.horner(4096, 1), cost.horner(4096, 3)]
    assert [m.parameters["n"] for m in found] == [4096, 4096]


def test_live_measurements_take_vectors_that_are_there(monkeypatch):
    """A lecture draws its long vectors once."""
    p = VectorProblem.random(4096)
    monkeypatch.setattr(VectorProblem, "random", None)
    assert peak.horner_sweep((2,), problem=p, samples=1)[0].cost == cost.horner(4096, 2)
    assert {m.cost for m in peak.stream(problem=p, samples=1).measurements} == {
        cost.copy(4096),
        cost.triad(4096),
    }
    on_cpu = suite_honest.on_cpu(problem=p)
    assert on_cpu["in_cache"]().right.cost == cost.copy(4096)
    assert on_cpu["allocates"]().right.cost == cost.triad_two_passes(4096)
    few = suite_honest.on_cpu(problem=p, samples=2)
    assert [len(few[name]().wrong.samples_s) for name in ("in_cache", "allocates", "first_call")] == [2, 2, 2]


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
    monkeypatch.setattr(peak, "free_memory", lambda: free_bytes)
    assert peak.stream_size(llc_bytes) == n
    if free_bytes > GIB and llc_bytes < GIB:
        assert 2 * 8 * n >= 2 * llc_bytes


def test_the_streams_of_a_gpu_are_measured_and_checked(monkeypatch):
    """In the interpreter, which stands for the GPU here."""
    monkeypatch.setattr(peak, "gpu", lambda: Device("gpu", "A GPU", 1, 0, 0))
    found = peak.streams_here("gpu", n=4096, samples=1)
    assert [m.what for m in found] == [VARIANTS["copy_two"].by(), VARIANTS["triad"].by(CUDA)]
    assert [m.cost.bytes for m in found] == [16 * 4096, 24 * 4096]
    assert {m.parameters["n"] for m in found} == {4096}
    limits = peak.limits_of(found)
    assert limits.stream == found[0] and limits.peak in found


def test_without_a_gpu_its_streams_are_not_measured(monkeypatch):
    monkeypatch.setattr(peak, "gpu", lambda: Device("simt", "an interpreter", 0, 0, 0))
    with pytest.raises(CourseError, match="No GPU was found, so its bandwidth cannot be measured"):
        peak.streams_here("gpu")
