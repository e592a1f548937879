"""What `course bench cg` measures, on a grid too small to measure anything."""

from dataclasses import replace

import numpy as np
import pytest

from course_pkg.bench import Measurement, cpu, gpu
from course_pkg.cg import cost, suite
from course_pkg.core import CourseError
from course_pkg.vector import cost as stream_cost

SHAPE, N = (6, 7, 8), 4


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(suite, "QUICK", SHAPE)
    monkeypatch.setattr(suite, "ITERATIONS", N)
    options = {"samples": 1, "warmup": 0, "min_sample_s": 0}
    original = suite.compare
    monkeypatch.setattr(suite, "compare", lambda *a, **k: original(*a, **{**k, **options}))


EXPECTED = {
    "triad, Numba CPU": N * stream_cost.triad(336),
    "cg baseline, Numba CPU": N * cost.iteration("cg_baseline", SHAPE),
    "cg map-stencil fused, Numba CPU": N * cost.iteration("cg_map_stencil_fused", SHAPE),
    "cg fused dots, Numba CPU": N * cost.iteration("cg_fused_dots", SHAPE),
    "cg two-kernel, Numba CPU": N * cost.iteration("cg_two_kernel", SHAPE),
    "cg CSR, SciPy": N * suite.matrix_iteration(SHAPE),
}


def test_the_suite_measures_each_variant_with_its_cost(tiny):
    found = list(suite.run("cpu", quick=True))
    assert [m.name for m in found] == list(EXPECTED)
    for m in found:
        assert m.parameters == {"shape": list(SHAPE), "dtype": "float64", "iterations": N}
        assert m.cost == EXPECTED[m.name]
        assert m.device == cpu()


def test_a_matrix_moves_its_entries_besides_the_fields():
    found, plain = suite.matrix_iteration((3, 3, 3)), cost.iteration("cg_baseline", (3, 3, 3))
    entries = 27 + 2 * 54  # the diagonal, and both directions of every pair of neighbours
    assert found.bytes_read - plain.bytes_read == 12 * entries + 4 * 27
    assert found.bytes_written == plain.bytes_written
    assert found.flops == 2 * entries + 10 * 27


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.startswith("cg")])
def test_a_wrong_variant_is_not_timed(tiny, monkeypatch, name):
    table = suite.VARIANTS if name in suite.VARIANTS else suite.CPU_RIVALS
    right = table[name]

    def wrong(b, **options):
        found = right(b, **options)
        if name in suite.VARIANTS:
            return replace(found, x=found.x * (1 + 1e-6))
        return replace(found, result=lambda: found.result() * (1 + 1e-6))

    wrong.__name__ = right.__name__
    monkeypatch.setitem(table, name, wrong)
    with pytest.raises(AssertionError):
        list(suite.run("cpu", quick=True))


def test_the_gpu_suite_needs_a_gpu():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="needs an NVIDIA GPU: none was found; use --device cpu"):
        next(suite.run("gpu"))


def measured(name, seconds, shape=suite.SHAPE):
    return Measurement(
        name=name,
        samples_s=(seconds,),
        warmup_s=(),
        calls_per_sample=1,
        cache_state="exceeds",
        cost=cost.iteration("cg_baseline", shape),
        device=cpu(),
        parameters={"shape": list(shape), "dtype": "float64", "iterations": N},
        date="2026-01-02",
    )


@pytest.mark.parametrize(("scipy_s", "measured_x", "met"), [(6.4, "3.20×", "yes"), (5.8, "2.90×", "NO")])
def test_the_best_of_ours_is_held_against_scipy(scipy_s, measured_x, met):
    (row,) = suite.demands(
        [
            measured("triad, Numba CPU", 0.1),
            measured("cg baseline, Numba CPU", 3.0),
            measured("cg two-kernel, Numba CPU", 2.0),
            measured("cg two-kernel, Numba CPU", 0.001, (32, 32, 32)),
            measured("cg CSR, SciPy", scipy_s),
        ]
    )
    assert row["what"] == "cg two-kernel, Numba CPU: faster than cg CSR, SciPy"
    assert (row["demand"], row["measured"], row["met"]) == ("≥ 3×", measured_x, met)


def test_without_a_rival_or_at_another_size_nothing_is_demanded():
    assert suite.demands([measured("cg two-kernel, Numba CPU", 1.0)]) == []
    assert suite.demands([measured(name, 1.0, (32, 32, 32)) for name in EXPECTED]) == []


def test_the_measured_grid_is_that_of_the_course():
    assert suite.SHAPE == (250, 250, 250)
    assert np.prod(suite.QUICK) < 10**5
