"""Laplacians of other libraries: their formula, tested with NumPy, and a clear result if a library is missing."""

import numpy as np
import pytest

from course_pkg.stencil import reference, rivals
from course_pkg.stencil.variants import VARIANTS

SLICES = VARIANTS["laplacian_slices"]


@pytest.mark.parametrize("shape", [(3, 4, 5), (7, 3, 3)], ids=str)
def test_the_formula_of_shifted_slices_is_the_laplacian(shape):
    u = np.random.default_rng(1).random(shape)
    expected = np.empty_like(u)
    reference.laplacian(u, expected)
    np.testing.assert_allclose(rivals.of_padded(u, np.pad(u, 1)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("library", SLICES.rivals)
def test_a_library_that_is_not_installed_is_an_import_error(library, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError):
        SLICES.rival(library)(np.zeros((3, 3, 3)))
