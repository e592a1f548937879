"""Laplacians on this machine's GPU; in these tests the interpreter replaces it, on a grid too small to time."""

import numpy as np
import pytest

from course_pkg.bench import gpu
from course_pkg.core import CourseError
from course_pkg.stencil import cost, gpu_numba, here
from course_pkg.stencil.variants import VARIANTS
from course_pkg.vector import here as vector_here

FLAT, NAIVE, TILED = (VARIANTS[f"laplacian_{name}"] for name in ("flat", "naive", "tiled"))


@pytest.mark.parametrize("edge", [5, 20])  # the ends overlap; they do not
def test_variants_are_measured_under_the_names_of_a_record(interpreted, edge):
    found = here.on_this_gpu(NAIVE, FLAT, edge=edge, samples=1)
    assert [m.label for m in found] == ["laplacian naive, Numba CUDA", "laplacian flat, Numba CUDA"]
    for m in found:
        assert m.cost == cost.laplacian((edge,) * 3)
        assert m.parameters == {"shape": [edge] * 3, "dtype": "float64"}


@pytest.mark.parametrize("plane", [0, 7, -8, -1])
def test_a_wrong_plane_at_either_end_is_not_timed(interpreted, monkeypatch, plane):
    right = gpu_numba.laplacian_flat

    def wrong(u, out):
        right(u, out)
        k = plane % 20
        out[k : k + 1].copy_to_device(out[k : k + 1].copy_to_host() + 1e-6)

    monkeypatch.setattr(gpu_numba, "laplacian_flat", wrong)
    with pytest.raises(AssertionError):
        here.on_this_gpu(FLAT, edge=20, samples=1)


def test_a_variant_that_does_nothing_cannot_pass_on_the_last_ones_result(interpreted, monkeypatch):
    monkeypatch.setattr(gpu_numba, "laplacian_tiled", lambda u, out: None)
    with pytest.raises(AssertionError):
        here.on_this_gpu(FLAT, TILED, edge=20, samples=1)


def test_what_cannot_be_measured_is_said(monkeypatch):
    with pytest.raises(CourseError, match="Pass variants of the Laplacian"):
        here.on_this_gpu(VARIANTS["diffusion_step_2d"])
    with pytest.raises(CourseError, match="Pass variants of the Laplacian"):
        here.on_this_gpu()
    if gpu().kind != "gpu":
        with pytest.raises(CourseError, match="An NVIDIA GPU is needed"):
            here.on_this_gpu(FLAT)
    monkeypatch.setattr(vector_here, "free_bytes", lambda device: 10**9)
    with pytest.raises(CourseError, match=r"Two grids of 512³ points need 2\.1 GB\. .* pass a smaller size"):
        here.on_this_gpu(FLAT)


def test_numpy_is_the_oracle():
    """The check itself: right planes pass until they are spoilt."""
    from course_pkg import cuda
    from course_pkg.stencil import reference

    host = np.random.default_rng(0).random((20,) * 3)
    expected = np.empty_like(host)
    reference.laplacian(host, expected)
    out = cuda.to_device(expected)
    here._check(host, out)
    here._spoil(out)
    left = out.copy_to_host()
    assert np.isnan(left[:8]).all() and np.isnan(left[-8:]).all() and not np.isnan(left[8:-8]).any()
