"""What `course bench stencil` measures, tested on grids too small for real timings."""

import functools

import numpy as np
import pytest

from course_pkg.bench import Measurement, cpu, gpu
from course_pkg.core import CourseError, Implementation, Library
from course_pkg.stencil import cost, cpu_numba, suite, suite_steps
from course_pkg.stencil.variants import VARIANTS
from course_pkg.vector import cost as stream_cost
from course_pkg.vector import cpu_numba as streams


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(suite, "QUICK", ((3, 4, 5), (6, 7)))
    options = {"samples": 1, "warmup": 0, "min_sample_s": 0}
    for module in (suite, suite_steps):
        original = module.compare
        monkeypatch.setattr(
            module, "compare", lambda *a, original=original, **k: original(*a, **{**k, **options})
        )


CPU, NUMPY, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMPY, Library.NUMBA_CUDA, Library.CUPY
EXPECTED = {
    Implementation("triad", "", CPU): ((3, 4, 5), lambda shape: stream_cost.triad(60)),
    Implementation("laplacian", "", NUMPY): ((3, 4, 5), cost.laplacian_arrays),
    Implementation("laplacian", "", CPU): ((3, 4, 5), cost.laplacian),
    Implementation("diffusion_step_2d", "four_statements", NUMPY): ((6, 7), cost.diffusion_step_2d_arrays),
    Implementation("diffusion_step_2d", "", CPU): ((6, 7), cost.diffusion_step),
    Implementation("diffusion_step_2d", "four_statements", CPU): (
        (6, 7),
        cost.diffusion_step_2d_four_statements,
    ),
    Implementation("diffusion_step_3d", "", CPU): ((3, 4, 5), cost.diffusion_step),
}


def test_the_suite_measures_each_variant_with_its_cost(tiny):
    found = list(suite.run("cpu", quick=True))
    assert [m.what for m in found] == list(EXPECTED)
    for m in found:
        shape, its_cost = EXPECTED[m.what]
        assert m.parameters == {"shape": list(shape), "dtype": "float64"}
        assert m.cost == its_cost(shape)
        assert m.device == cpu()


def test_every_step_that_a_gpu_has_is_measured():
    """A new variant is, too, without a word here; only the one-formula steps by array statements are not."""
    for step in ("diffusion_step_2d", "diffusion_step_3d"):
        measured = suite_steps.implementations("gpu", step)
        listed = [(v, lib) for lib in (CUPY, CUDA) for v in VARIANTS.of(step, lib)]
        assert [pair for pair in listed if pair not in measured] == [(VARIANTS[step], CUPY)]


@pytest.mark.parametrize(
    "operation", ["laplacian", "diffusion_step_2d_four_statements", "diffusion_step_2d", "diffusion_step_3d"]
)
def test_a_wrong_variant_is_not_timed(tiny, monkeypatch, operation):
    right = getattr(cpu_numba, operation)

    @functools.wraps(right)
    def wrong(*args):
        right(*args)
        out = next(a for a in reversed(args) if isinstance(a, np.ndarray))
        out.flat[-1] += 1e-6

    monkeypatch.setattr(cpu_numba, operation, wrong)
    measured = []
    with pytest.raises(AssertionError):
        measured.extend(suite.run("cpu", quick=True))


@pytest.mark.parametrize("factor", [0, 1 + 1e-6])
def test_a_wrong_bound_is_not_timed(tiny, monkeypatch, factor):
    monkeypatch.setattr(
        streams,
        "triad",
        lambda a, b, s, out: np.multiply(factor, a + s * b, out=out) if factor else None,
    )
    measured = []
    with pytest.raises(AssertionError):
        measured.extend(suite.run("cpu", quick=True))
    assert measured == []


@pytest.mark.parametrize(
    "operation", ["laplacian", "diffusion_step_2d_four_statements", "diffusion_step_2d", "diffusion_step_3d"]
)
def test_a_variant_that_writes_nothing_is_not_timed(tiny, monkeypatch, operation):
    """Not even on the result of the variant before it, which writes to the same grid."""
    nothing = functools.wraps(getattr(cpu_numba, operation))(lambda *args: None)
    monkeypatch.setattr(cpu_numba, operation, nothing)
    with pytest.raises(AssertionError):
        list(suite.run("cpu", quick=True))


def test_the_variants_of_one_grid_take_turns(monkeypatch):
    calls = []

    def noting(name):
        right = getattr(cpu_numba, name)

        @functools.wraps(right)
        def call(*args):
            calls.append(name)
            right(*args)

        monkeypatch.setattr(cpu_numba, name, call)

    names = ["diffusion_step_2d", "diffusion_step_2d_four_statements"]
    for name in names:
        noting(name)
    list(
        suite_steps.run("cpu", {"diffusion_step_2d": (6, 7)}, {"samples": 3, "warmup": 0, "min_sample_s": 0})
    )
    assert calls[-6:] == names * 3


def test_the_gpu_suite_needs_a_gpu():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="needs an NVIDIA GPU: none was found; use --device cpu"):
        next(suite.run("gpu"))


def test_the_measured_grids_exceed_every_cache():
    for device, cache_bytes in (("cpu", 384 * 2**20), ("gpu", 64 * 2**20)):
        for shape in suite.SHAPES[device]:
            assert 8 * np.prod(shape) > cache_bytes


def measured(operation, variant, library, gb_s, shape=(512, 512, 512), **more):
    """Return a measurement of a Laplacian that moves so many GB/s."""
    its_cost = cost.laplacian(shape)
    return Measurement(
        what=Implementation(operation, variant, library),
        samples_s=(its_cost.a_eff_bytes / gb_s / 1e9,),
        warmup_s=(),
        calls_per_sample=1,
        cache_state="exceeds",
        cost=its_cost,
        device=cpu(),
        parameters={"shape": list(shape), "dtype": "float64", **more},
        date="2026-01-02",
    )


def test_the_best_variant_of_each_library_is_held_against_the_copy_of_the_same_grid():
    rows = suite.demands(
        [
            measured("copy", "", CUPY, 1000),
            measured("copy", "", CUPY, 5000, shape=(64, 64, 64)),
            measured("laplacian", "naive", CUDA, 400),
            measured("laplacian", "flat", CUDA, 881),
            measured("laplacian", "flat", CUDA, 999, threads_per_block=[32, 1, 1]),
            measured("laplacian", "vectorised", CUPY, 919),
            measured("laplacian", "slices", Library.JAX, 950),
        ]
    )
    assert [(r["what"], r["measured"], r["met"]) for r in rows] == [
        ("share of the copy: laplacian flat, Numba CUDA", "0.881", "yes"),
        ("share of the copy: laplacian vectorised, CuPy", "0.919", "NO"),
    ]


def test_on_a_cpu_the_bound_is_the_triad():
    shape = suite.SHAPES["cpu"][0]
    (row,) = suite.demands(
        [measured("triad", "", CPU, 100, shape), measured("laplacian", "", CPU, 79, shape)]
    )
    assert (row["demand"], row["measured"], row["met"]) == ("≥ 0.80", "0.790", "NO")


def test_without_a_bound_nothing_is_demanded():
    assert suite.demands([measured("laplacian", "flat", CUDA, 881)]) == []
