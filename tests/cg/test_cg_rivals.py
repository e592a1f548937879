"""Conjugate gradient of other libraries: the same iterations as ours, and a clear result if a library is missing."""

import sys

import numpy as np
import pytest

from course_pkg.cg import reference, rivals
from course_pkg.cg.problem import PoissonProblem
from course_pkg.cg.variants import VARIANTS
from course_pkg.core import Library

EVERY = [pytest.param(v, library, id=v.by(library).label) for v in VARIANTS for library in v.rivals]
ON_GPU = [p for p in EVERY if p.values[1] != Library.SCIPY]


def on_its_memory(library, b):
    """Return a grid where a rival wants it; skip without its library."""
    if library == Library.SCIPY:
        return b
    cp = pytest.importorskip("cupy", reason="CuPy is not installed")
    if library == Library.JAX:
        pytest.importorskip("jax", reason="JAX is not installed")
    return cp.asarray(b)


def on_host(x):
    return x if isinstance(x, np.ndarray) else x.get()


@pytest.mark.parametrize("shape", [(6, 7, 8), (5, 4, 9)], ids=str)
@pytest.mark.parametrize(("variant", "library"), EVERY)
def test_a_rival_does_so_many_iterations_and_solves_to_a_tolerance(variant, library, shape):
    problem = PoissonProblem(np.random.default_rng(2).random(shape))
    rival = variant.rival(library)(on_its_memory(library, problem.b))
    for maxiter in (1, 7):
        rival.call(maxiter)
        rival.wait()
        expected = reference.cg(problem.matvec, problem.b, maxiter=maxiter).x
        np.testing.assert_allclose(on_host(rival.result()), expected, rtol=1e-10, atol=1e-12)
    rival.call(1000, rtol=1e-8)
    rival.wait()
    residual = problem.b - problem.matvec(on_host(rival.result()))
    assert np.linalg.norm(residual) <= 1.01e-8 * np.linalg.norm(problem.b)
    assert rival.result().shape == shape
    assert rival.version


def test_a_loose_tolerance_ends_earlier():
    problem = PoissonProblem.ones(10)
    rival = rivals.scipy_csr(problem.b)
    rival.call(1000, rtol=0.1)
    loose = problem.b - problem.matvec(rival.result())
    assert 1e-3 < np.linalg.norm(loose) / np.linalg.norm(problem.b) <= 0.101


@pytest.mark.parametrize(("variant", "library"), ON_GPU)
def test_a_library_that_is_not_installed_is_an_import_error(variant, library, monkeypatch):
    monkeypatch.delitem(sys.modules, "course_pkg.cg.gpu_cupy", raising=False)
    for module in [m for m in sys.modules if m.split(".")[0] in ("cupy", "cupyx", "jax")] + [
        "cupy",
        "cupyx",
        "jax",
    ]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError):
        variant.rival(library)(np.zeros((3, 3, 3)))
