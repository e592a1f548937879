"""Poisson's problem: its matrix in compressed rows (CSR)."""

import numpy as np
import pytest

from course_pkg.cg.problem import PoissonProblem
from course_pkg.core import CourseError


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(3, 3, 3), (3, 4, 5), (6, 3, 4)], ids=str)
def test_the_matrix_is_the_stencil(shape, dtype):
    problem = PoissonProblem.ones(shape, dtype)
    A, n = problem.matrix(), problem.b.size
    columns = np.stack([problem.matvec(row) for row in np.eye(n, dtype=dtype)], axis=1)
    np.testing.assert_array_equal(A.toarray(), columns)
    assert (A.dtype, A.indices.dtype, A.indptr.dtype) == (dtype, np.int32, np.int32)
    assert A.has_canonical_format
    assert A.nnz == np.count_nonzero(columns)


def test_the_matrix_multiplies_as_the_stencil_does():
    problem = PoissonProblem(np.random.default_rng(3).random((9, 17, 12)))
    found = problem.matrix() @ problem.b.reshape(-1)
    np.testing.assert_allclose(found, problem.matvec(problem.b).reshape(-1), rtol=0, atol=1e-14)


def test_a_matrix_of_too_many_entries_is_refused_before_memory_is_taken():
    large = PoissonProblem(np.broadcast_to(1.0, (1000, 1000, 1000)))
    with pytest.raises(
        CourseError, match="A has 6994000000 entries, too many for 32-bit indices: use matvec"
    ):
        large.matrix()
