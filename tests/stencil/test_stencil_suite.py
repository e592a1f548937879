"""What `course bench stencil` measures, on grids too small to measure anything."""

import numpy as np
import pytest

from course_pkg.bench import cpu, gpu
from course_pkg.core import CourseError
from course_pkg.stencil import cost, suite


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(suite, "QUICK", ((3, 4, 5), (6, 7)))
    options = {"samples": 1, "warmup": 0, "min_sample_s": 0}
    for name in ("measure", "compare"):
        if hasattr(suite, name):
            original = getattr(suite, name)
            monkeypatch.setattr(
                suite, name, lambda *a, original=original, **k: original(*a, **{**k, **options})
            )


EXPECTED = {
    "laplacian, NumPy": ((3, 4, 5), cost.laplacian_arrays),
    "laplacian, Numba CPU": ((3, 4, 5), cost.laplacian),
    "diffusion 2D, NumPy arrays": ((6, 7), cost.diffusion_step_2d_arrays),
    "diffusion 2D four statements, Numba CPU": ((6, 7), cost.diffusion_step_2d_four_statements),
    "diffusion 2D fused, Numba CPU": ((6, 7), cost.diffusion_step),
}


def test_the_suite_measures_each_variant_with_its_cost(tiny):
    found = list(suite.run("cpu", quick=True))
    assert [m.name for m in found] == list(EXPECTED)
    for m in found:
        shape, its_cost = EXPECTED[m.name]
        assert m.parameters == {"shape": list(shape), "dtype": "float64"}
        assert m.cost == its_cost(shape)
        assert m.device == cpu()


@pytest.mark.parametrize("operation", ["laplacian", "diffusion_step_2d_four_statements", "diffusion_step_2d"])
def test_a_wrong_variant_is_not_timed(tiny, monkeypatch, operation):
    def wrong(*args):
        right(*args)
        out = next(a for a in reversed(args) if isinstance(a, np.ndarray))
        out.flat[-1] += 1e-6

    right = getattr(suite.cpu_numba, operation)
    monkeypatch.setattr(suite.cpu_numba, operation, wrong)
    measured = []
    with pytest.raises(AssertionError):
        measured.extend(suite.run("cpu", quick=True))


def test_a_variant_that_writes_nothing_is_not_timed(tiny, monkeypatch):
    monkeypatch.setattr(suite.cpu_numba, "laplacian", lambda u, out: None)
    with pytest.raises(AssertionError):
        list(suite.run("cpu", quick=True))


def test_the_gpu_suite_needs_a_gpu():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="needs an NVIDIA GPU: none was found; use --device cpu"):
        next(suite.run("gpu"))


def test_the_measured_grids_exceed_every_cache():
    for device, cache_bytes in (("cpu", 384 * 2**20), ("gpu", 64 * 2**20)):
        for shape in suite.SHAPES[device]:
            assert 8 * np.prod(shape) > cache_bytes
