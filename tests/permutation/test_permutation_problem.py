"""The matrices: assembled a second time by other means, symmetric and definite where they claim it, in good form."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.spatial import Delaunay

from course_pkg.cg.problem import PoissonProblem
from course_pkg.core import CourseError
from course_pkg.permutation import mesh
from course_pkg.permutation.checks import check_csr
from course_pkg.permutation.problem import NAMES, SparseProblem, poisson, power_law, problem
from course_pkg.stencil import reference as stencil

MILLION = {"poisson_2d": 1000, "poisson_3d": 100, "tetrahedral": 100, "power_law_symmetric": 10**6}
SMALL = {"poisson_2d": 20, "poisson_3d": 9, "tetrahedral": 9, "power_law": 700, "power_law_symmetric": 700}


@pytest.mark.parametrize("name", NAMES)
def test_every_matrix_is_in_good_form_and_is_what_it_claims(name):
    p = problem(name, SMALL.get(name))
    A = p.matrix
    check_csr(A, square=True)
    assert isinstance(p, SparseProblem) and p.name == name and A.dtype == np.float64
    assert (p.size is None) == (name not in SMALL)
    assert len(p.source) > 60 and any(year in p.source for year in ("2002", "2003", "2004", "2023")), (
        "a citation"
    )
    dense = A.toarray()
    assert (A.diagonal() > 0).all()
    symmetric = np.abs(dense - dense.T).max() <= 1e-13 * np.abs(dense).max()
    smallest = np.linalg.eigvalsh((dense + dense.T) / 2)[0]
    assert p.spd == bool(symmetric and smallest > 1e-4 * np.abs(dense).max() / A.shape[0])


@pytest.mark.parametrize("name", [name for name in SMALL if name != "power_law"])
def test_what_is_assembled_here_is_symmetric_to_the_last_bit_and_dominated_by_its_diagonal(name):
    A = problem(name, SMALL[name]).matrix
    assert abs(A - A.T).max() == 0
    excess = 2 * A.diagonal() - abs(A).sum(axis=1)
    assert excess.min() > -1e-12 and excess.max() > 0.5
    assert A.data.max() == A.diagonal().max() and (A.data[A.data != 0] < 0).sum() == A.nnz - A.shape[0]


def test_seeds_are_kept_and_matter():
    for name in ("tetrahedral", "power_law", "power_law_symmetric"):
        one, same, other = (problem(name, 8, seed) for seed in (1, 1, 2))
        assert one.seed == 1 and abs(one.matrix - same.matrix).max() == 0
        assert abs(one.matrix - other.matrix).max() > 0
    assert problem("poisson_2d", 8, seed=3).seed is None


@pytest.mark.parametrize("name", MILLION)
def test_a_million_rows(name):
    A = problem(name, MILLION[name]).matrix
    assert A.shape == (10**6, 10**6)
    check_csr(A)
    assert (A.diagonal() > 0).all()


# ---- Poisson


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 4, 5), (2, 6, 3), (7, 7, 7)])
def test_the_7_point_matrix_is_the_stencil(shape, rng):
    A = poisson(shape)
    check_csr(A)
    if min(shape) > 2:
        u = rng.random(shape)
        out = np.empty_like(u)
        stencil.laplacian(u, out)
        np.testing.assert_allclose(A @ u.reshape(-1), out.reshape(-1), atol=1e-14)
        assert abs(A - PoissonProblem.ones(shape).matrix()).max() == 0


@pytest.mark.parametrize("shape", [(1, 4), (2, 2), (3, 5), (5, 3)])
def test_the_5_point_matrix_has_minus_one_for_each_neighbour(shape):
    expected = np.zeros((np.prod(shape),) * 2)
    points = list(np.ndindex(shape))
    for i, (y, x) in enumerate(points):
        for j, (v, u) in enumerate(points):
            expected[i, j] = {0: 4, 1: -1}.get(abs(y - v) + abs(x - u), 0)
    A = poisson(shape)
    check_csr(A)
    np.testing.assert_array_equal(A.toarray(), expected)
    assert A.nnz == np.count_nonzero(expected)


# ---- the mesh


@pytest.fixture
def small_tile(monkeypatch):
    monkeypatch.setattr(mesh, "TILE", 5)
    mesh._tile.cache_clear()
    yield
    mesh._tile.cache_clear()


def test_the_mesh_equals_one_that_is_triangulated_as_a_whole(small_tile):
    """The box and its surroundings, of several tiles, as one mesh; gradients from the inverse of [1 x y z]."""
    edge, around = 7, 5
    moves = np.random.default_rng(3).uniform(-mesh.JITTER, mesh.JITTER, (5, 5, 5, 3))
    cells = np.array(list(np.ndindex((edge + 2 * around,) * 3))) - around
    points = cells + np.array([moves[tuple(c % 5)] for c in cells])
    tetrahedra = Delaunay(points).simplices
    corners = np.concatenate([np.ones((len(tetrahedra), 4, 1)), points[tetrahedra]], axis=2)
    flat = np.abs(np.linalg.det(corners)) < 1e-9  # only far outside, at the hull
    tetrahedra, corners = tetrahedra[~flat], corners[~flat]
    volumes = np.abs(np.linalg.det(corners)) / 6
    gradients = np.linalg.inv(corners)[:, 1:]
    couplings = volumes[:, None, None] * np.einsum("tdi,tdj->tij", gradients, gradients)
    rows, columns = np.repeat(tetrahedra, 4, axis=1).reshape(-1), np.tile(tetrahedra, 4).reshape(-1)
    K = coo_array((couplings.reshape(-1), (rows, columns))).toarray()
    inside = ((cells >= 0) & (cells < edge)).all(axis=1)
    off = np.minimum(K - np.diag(K.diagonal()), 0)
    # all of K counts for the diagonal, also neighbours outside the box
    expected = off - np.diag(off.sum(axis=1))
    A = mesh.tetrahedral_laplacian(edge, seed=3)
    np.testing.assert_allclose(A.toarray(), expected[np.ix_(inside, inside)], rtol=0, atol=1e-11)
    assert (off[inside][:, inside] < -1e-11).sum() <= A.nnz - edge**3


def test_the_mesh_is_irregular():
    lengths = np.diff(problem("tetrahedral", 12).matrix.indptr)
    inner = lengths.reshape(12, 12, 12)[2:-2, 2:-2, 2:-2]
    assert len(np.unique(inner)) >= 8 and 9 < inner.mean() < 14


# ---- power laws


@pytest.mark.parametrize("symmetric", [True, False])
def test_row_lengths_follow_a_power_law(symmetric):
    A = power_law(100_000, seed=5, symmetric=symmetric)
    lengths = np.diff(A.indptr)
    assert lengths.min() == 1 and 2000 < lengths.max() < 20_000
    k = np.array([30, 60, 120, 240])
    longer = [np.count_nonzero(lengths >= n) for n in k]
    slope = np.polyfit(np.log(k), np.log(longer), 1)[0]
    assert -1.9 < slope < -1.5, "of k^-2.7, summed from k on: k^-1.7"
    np.testing.assert_array_equal(A.diagonal(), lengths)
    np.testing.assert_allclose(A.sum(axis=1), 1)
    assert abs(abs(A - A.T).sum() > 0) != symmetric


# ---- wrong arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: problem("helmholtz_2D"),
            "There is no problem 'helmholtz_2D': choose from poisson_2d, poisson_3d, ",
        ),
        (lambda: problem("airfoil", 300), "size is 300, but airfoil has a fixed size: leave it out"),
        (lambda: problem("poisson_2d", 1), "size is 1: poisson_2d needs at least 2"),
        (lambda: problem("poisson_2d", -5), "size is -5: it must be an integer of at least 0"),
        (
            lambda: problem("poisson_3d", 700),
            "A Laplacian on 700 × 700 × 700 points has 2,401,000,000 entries, more",
        ),
        (
            lambda: problem("poisson_2d", 30_000),
            "A Laplacian on 30000 × 30000 points has 4,500,000,000 entries",
        ),
        (
            lambda: problem("tetrahedral", 600),
            "A mesh of 600³ nodes has .* entries, more than the 2,147,483,647",
        ),
        (lambda: problem("power_law", 2**30), "A graph of 1073741824 nodes has 9,663,676,416 entries"),
    ],
)
def test_what_cannot_be_made_is_refused_before_memory_is_taken(call, message):
    with pytest.raises(CourseError, match=message):
        call()
