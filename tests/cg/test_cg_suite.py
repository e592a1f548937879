"""What `course bench cg` measures, tested on a grid too small for real timings."""

from dataclasses import replace

import numpy as np
import pytest

from course_pkg.bench import Device, Measurement, cpu, gpu
from course_pkg.cg import cost, cpu_numba, rivals, suite
from course_pkg.cg.problem import PUBLISHED
from course_pkg.cg.variants import MIXED, VARIANTS
from course_pkg.core import CourseError, Implementation, Library
from course_pkg.vector import cost as stream_cost

SHAPE, N = (6, 7, 8), 4


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(suite, "QUICK", SHAPE)
    monkeypatch.setattr(suite, "ITERATIONS", N)
    options = {"samples": 1, "warmup": 0, "min_sample_s": 0}
    original = suite.compare
    monkeypatch.setattr(suite, "compare", lambda *a, **k: original(*a, **{**k, **options}))


CPU = Library.NUMBA_CPU
TRIAD, SCIPY = Implementation("triad", "", CPU), Implementation("cg", "csr", Library.SCIPY)
OURS = {Implementation("cg", v.name, CPU): v for v in VARIANTS if CPU in v.libraries}
EXPECTED = {
    TRIAD: N * stream_cost.triad(336),
    **{what: N * v.cost(SHAPE) for what, v in OURS.items()},
    SCIPY: N * cost.with_matrix(SHAPE),
}


def test_the_suite_measures_each_variant_with_its_cost(tiny):
    found = list(suite.run("cpu", quick=True))
    assert len(OURS) == 5
    assert [m.what for m in found] == list(EXPECTED)
    for m in found:
        assert m.parameters == {"shape": list(SHAPE), "dtype": "float64", "iterations": N}
        assert m.cost == EXPECTED[m.what]
        assert m.device == cpu()


@pytest.mark.parametrize("variant", OURS.values(), ids=lambda v: v.name)
def test_a_wrong_variant_is_not_timed(tiny, monkeypatch, variant):
    right = variant.function(CPU)

    def wrong(b, **options):
        found = right(b, **options)
        return replace(found, x=found.x * (1 + (1e-4 if variant is MIXED else 1e-6)))

    monkeypatch.setattr(cpu_numba, variant.function_name, wrong)
    with pytest.raises(AssertionError):
        list(suite.run("cpu", quick=True))


def test_a_wrong_rival_is_not_timed(tiny, monkeypatch):
    right = rivals.scipy_csr

    def wrong(b):
        found = right(b)
        return replace(found, result=lambda: found.result() * (1 + 1e-6))

    monkeypatch.setattr(rivals, "scipy_csr", wrong)
    with pytest.raises(AssertionError):
        list(suite.run("cpu", quick=True))


def test_the_gpu_suite_needs_a_gpu():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="needs an NVIDIA GPU: none was found; use --device cpu"):
        next(suite.run("gpu"))


def measured(what, seconds, shape=suite.SHAPE):
    return Measurement(
        what=what,
        samples_s=(seconds,),
        warmup_s=(),
        calls_per_sample=1,
        cache_state="exceeds",
        cost=VARIANTS["cg_baseline"].cost(shape),
        device=cpu(),
        parameters={"shape": list(shape), "dtype": "float64", "iterations": N},
        date="2026-01-02",
    )


BASELINE, TWO_KERNEL = (VARIANTS[f"cg_{name}"].by(CPU) for name in ("baseline", "two_kernel"))


@pytest.mark.parametrize(("scipy_s", "measured_x", "met"), [(6.4, "3.20×", "yes"), (5.8, "2.90×", "NO")])
def test_the_best_of_ours_is_held_against_scipy(scipy_s, measured_x, met):
    (row,) = suite.demands(
        [
            measured(TRIAD, 0.1),
            measured(BASELINE, 3.0),
            measured(TWO_KERNEL, 2.0),
            measured(TWO_KERNEL, 0.001, (32, 32, 32)),
            measured(SCIPY, scipy_s),
        ]
    )
    assert row["what"] == "cg two kernel, Numba CPU: faster than cg csr, SciPy"
    assert (row["demand"], row["measured"], row["met"]) == ("≥ 3×", measured_x, met)


def test_without_a_rival_or_at_another_size_nothing_is_demanded():
    assert suite.demands([measured(TWO_KERNEL, 1.0)]) == []
    assert suite.demands([measured(what, 1.0, (32, 32, 32)) for what in EXPECTED]) == []


def test_the_measured_grid_is_that_of_the_course():
    assert suite.SHAPE == (250, 250, 250) == (min(PUBLISHED),) * 3
    assert np.prod(suite.QUICK) < 10**5


CUDA = Library.NUMBA_CUDA
H200 = Device("gpu", "NVIDIA H200", 132, 1, 1)


def solved(name, seconds, true, edge=250):
    found = measured(VARIANTS[name].by(CUDA), seconds, (edge,) * 3)
    parameters = {"shape": [edge] * 3, "dtype": "float64", "rtol": 1e-6}
    observed = {"iterations": 514, "true_residual": true}
    return replace(found, device=H200, parameters=parameters, observed=observed)


@pytest.mark.parametrize(
    ("seconds", "true", "expected"),
    [
        (0.6, 9.9e-7, [("≤ 1e-06", "9.9e-07", "yes"), ("≥ 1.5×", "1.67×", "yes")]),
        (0.7, 1.1e-6, [("≤ 1e-06", "1.1e-06", "NO"), ("≥ 1.5×", "1.43×", "NO")]),
    ],
)
def test_two_precisions_are_held_against_two_kernels_to_the_same_residual(seconds, true, expected):
    rows = suite.demands([solved("cg_two_kernel", 1.0, 9.7e-7), solved("cg_mixed", seconds, true)])
    assert [(row["demand"], row["measured"], row["met"]) for row in rows] == expected
    assert rows[1]["what"] == "cg mixed, Numba CUDA, 250³: faster than cg two kernel, Numba CUDA"


@pytest.mark.parametrize(
    ("device", "seconds", "iterations", "met"),
    [
        ("NVIDIA H200", 32.0, 2101, ["yes", "yes", "yes"]),
        ("NVIDIA H200", 32.1, 2102, ["NO", "yes", "NO"]),
        ("NVIDIA H200 NVL", 99.0, 2101, ["yes", "yes"]),
    ],
)
def test_a_large_solve_of_deferred_x_is_timed_on_the_device_of_its_demand(device, seconds, iterations, met):
    found = solved("cg_deferred_x", seconds, 9.9e-7, 1000)
    observed = {**found.observed, "iterations": iterations}
    rows = suite.demands([replace(found, device=replace(H200, name=device), observed=observed)])
    assert [row["met"] for row in rows] == met


def test_a_large_solve_in_two_precisions_is_measured_whatever_it_gives():
    rows = suite.demands([solved("cg_two_kernel", 1.0, 9.7e-7, 1000), solved("cg_mixed", 2.0, 9.9e-7, 1000)])
    assert [row["demand"] for row in rows] == ["≤ 1e-06"]
    assert suite.demands([solved("cg_mixed", 0.1, 9.9e-7)]) == []
