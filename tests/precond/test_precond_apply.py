"""Preconditioners: every library against the oracle, positive definite by construction, and what moves."""

from functools import cache, partial

import counted_cases
import numpy as np
import pytest
import scipy.sparse as sp

from course_pkg import cuda
from course_pkg.cg.reference import cg
from course_pkg.core import CourseError
from course_pkg.permutation.problem import poisson
from course_pkg.precond import cost, cpu_numba, gpu_numba, reference
from course_pkg.precond.build import amg, chebyshev, identity, jacobi, l1_jacobi
from course_pkg.precond.cases import SIZES, cases
from course_pkg.precond.cycle import apply
from course_pkg.precond.preconditioners import Diagonal, Identity
from course_pkg.precond.problem import PreconditionProblem
from course_pkg.spmv import cost as products
from course_pkg.spmv import jacobi_cost

A = poisson((5, 6, 7))
MAKERS = {
    "identity": identity,
    "jacobi": jacobi,
    "l1_jacobi": l1_jacobi,
    "chebyshev_0": lambda A: chebyshev(A, 0),
    "chebyshev_4": lambda A: chebyshev(A, 4),
    "standard": lambda A: amg(A, "standard", max_coarse=10),
    "pairwise": lambda A: amg(A, max_coarse=40),
    "plain_aggregates": lambda A: amg(A, smoothed=False, smoother="l1", sweeps=2, max_coarse=10),
    "three_sweeps": lambda A: amg(A, sweeps=3, max_coarse=40),
}
DTYPES = ("float64", "float32")
EVERY = pytest.mark.parametrize("name", MAKERS)


@cache
def made(name, dtype="float64"):
    return MAKERS[name](A.astype(dtype))


def applied(module, M, r, put=lambda a: a):
    out = put(np.full_like(r, np.nan))
    apply(module, M, put(r), out)
    return out if isinstance(out, np.ndarray) else out.copy_to_host()


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_library_gives_what_the_books_say(name, dtype):
    M = made(name, dtype)
    r = np.random.default_rng(0).uniform(-1, 1, A.shape[0]).astype(dtype)
    expected = applied(reference, M, r)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    for found in (applied(cpu_numba, M, r), applied(gpu_numba, M.to_device(), r, cuda.to_device)):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@EVERY
def test_it_is_symmetric_and_positive_definite(name):
    """(x, By) = (Bx, y) and (x, Bx) > 0 for random vectors; and all eigenvalues of a small one are positive."""
    M, rng = made(name), np.random.default_rng(1)
    for _ in range(5):
        x, y = rng.standard_normal((2, A.shape[0]))
        B_x, B_y = applied(reference, M, x), applied(reference, M, y)
        assert x @ B_y == pytest.approx(B_x @ y, rel=1e-10, abs=1e-12) and x @ B_x > 0
    B = np.array([applied(reference, M, e) for e in np.eye(A.shape[0])])
    np.testing.assert_allclose(B, B.T, atol=1e-13)
    assert np.linalg.eigvalsh((B + B.T) / 2)[0] > 0


@pytest.mark.parametrize("name", ["poisson_2d", "tetrahedral"])
@pytest.mark.parametrize("maker", ["l1_jacobi", "chebyshev_4", "pairwise"])
def test_it_is_positive_definite_for_other_matrices(name, maker):
    p = PreconditionProblem.named(name, 12 if name == "poisson_2d" else 5)
    M, rng = MAKERS[maker](p.A), np.random.default_rng(2)
    for _ in range(5):
        x = rng.standard_normal(p.A.shape[0])
        assert x @ applied(reference, M, x) > 0


def test_a_v_cycle_never_enlarges_the_error():
    """The eigenvalues of B⁻¹A lie in (0, 1]: the error of a V-cycle, I - B⁻¹A, shrinks in every direction."""
    dense = A.toarray()
    for name in ("pairwise", "plain_aggregates"):
        B = np.array([applied(reference, made(name), e) for e in np.eye(A.shape[0])])
        w = np.linalg.eigvals(B @ dense).real
        assert w.min() > 0 and w.max() <= 1 + 1e-10


def test_more_work_for_each_application_saves_iterations():
    matrix = poisson((14, 14, 14))
    took = {}
    for name, M in (
        ("none", identity(matrix)),
        ("chebyshev", chebyshev(matrix, 2)),
        ("standard", amg(matrix, "standard")),
        ("pairwise", amg(matrix)),
    ):
        found = cg(matrix, np.ones(14**3), M=lambda r, M=M: applied(reference, M, r), rtol=1e-8)
        assert found.converged
        took[name] = found.iterations
    assert (
        took["pairwise"] < took["standard"] < took["none"]
        and took["pairwise"] < took["chebyshev"] < took["none"]
    )


@pytest.mark.parametrize("aggregation", ["standard", "pairwise"])
def test_iterations_hardly_grow_with_the_grid(aggregation):
    took = []
    for edge in (8, 24):
        matrix = poisson((edge,) * 3)
        M = amg(matrix, aggregation)
        took.append(cg(matrix, np.ones(edge**3), M=lambda r, M=M: applied(reference, M, r)).iterations)
    assert took[1] <= 2 * took[0] and took[1] <= 18


# ---- what it is made of


def test_jacobi_and_l1_jacobi():
    np.testing.assert_array_equal(jacobi(A).d, 6.0)
    np.testing.assert_array_equal(l1_jacobi(A).d, abs(A).sum(axis=1))
    lowest = np.linalg.eigvalsh(np.diag(l1_jacobi(A).d) - A.toarray())[0]
    assert lowest > -1e-12


def test_a_chebyshev_polynomial_is_the_best_on_its_interval():
    """``1 - t p(t)`` is a Chebyshev polynomial of degree 5, scaled to 1 at 0: it is equally large at both ends."""
    M = chebyshev(A, 4, ratio=10.0)
    hi = 2.0  # Gershgorin's bound of D⁻¹A
    errors = []
    for t in (hi / 10, hi):
        z = p = 0.0
        for a, b in M.steps:
            p = a * (1 - t * z) + b * p
            z += p
        errors.append(1 - t * z)
    best = 1 / np.cosh(5 * np.arccosh((hi + hi / 10) / (hi - hi / 10)))
    np.testing.assert_allclose(np.abs(errors), best, rtol=1e-9)


def test_coarse_matrices_are_galerkin_products():
    M = made("three_sweeps")
    level = M.levels[0]
    matrices = {
        k: sp.csr_array((m.data, m.indices, m.indptr), shape=m.shape)
        for k, m in vars(level).items()
        if k != "d"
    }
    np.testing.assert_array_equal(matrices["R"].toarray(), matrices["P"].T.toarray())
    np.testing.assert_allclose((matrices["E"] + sp.diags_array(level.d)).toarray(), A.toarray(), atol=1e-12)
    coarse = matrices["R"] @ A @ matrices["P"]
    np.testing.assert_allclose(
        M.inverse.data.reshape(M.inverse.shape) @ coarse.toarray(), np.eye(coarse.shape[0]), atol=1e-9
    )
    assert M.sweeps == 3 and 1 < M.complexity < 10
    # each point in one aggregate
    np.testing.assert_array_equal(np.diff(made("plain_aggregates").levels[0].P.indptr), 1)


# ---- what moves


profile = partial(counted_cases.profile, "precond")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["divide", "scale", "add", "difference", "advance"])
def test_counted_bytes_of_maps_are_those_of_the_cost(name, size, dtype):
    counts = profile(f"precond_{name}_{size}_{dtype}").by_array.values()
    its_cost = getattr(cost, name)(SIZES[size], dtype)
    found = [sum(getattr(c, f"global_{what}").unique_bytes for c in counts) for what in ("load", "store")]
    assert found == [its_cost.bytes_read, its_cost.bytes_written]


@pytest.mark.parametrize("sweeps", [1, 2])
def test_the_cost_of_a_v_cycle_is_that_of_its_launches(sweeps, monkeypatch):
    """Every launch of an application, counted, against the sum."""
    M = amg(A, sweeps=sweeps, max_coarse=5)
    counted = []
    tools = gpu_numba.apply._Tools

    def watch(name, its_cost):
        original = getattr(tools, name)
        monkeypatch.setattr(
            tools, name, staticmethod(lambda *a: (counted.append(its_cost(*a).bytes), original(*a))[1])
        )

    watch("divide", lambda d, r, out: cost.divide(out.size))
    watch("difference", lambda d, y, x, out: cost.difference(out.size))
    watch("add", lambda change, x: cost.add(x.size))
    watch("scale", lambda a, r, out: cost.scale(out.size))
    watch("jacobi_plain", lambda system, x, out: jacobi_cost.jacobi_plain(system.n, system.E.nonzeros))
    watch("spmv", lambda matrix, x, y: products.csr(*matrix.shape, matrix.nonzeros))
    applied(gpu_numba, M.to_device(), np.ones(A.shape[0]), cuda.to_device)
    assert len(M.levels) > 1 and sum(counted) == cost.vcycle(**M.sizes()).bytes


def test_the_cost_of_a_polynomial():
    M = made("chebyshev_4")
    step = jacobi_cost.jacobi_plain(A.shape[0], A.nnz).bytes + cost.advance(A.shape[0]).bytes
    first = cost.chebyshev(A.shape[0], A.nnz, degree=0).bytes
    assert cost.chebyshev(**M.sizes()).bytes == first + 4 * step


@pytest.mark.parametrize("case", list(cases), ids=lambda case: case.name)
def test_no_kernel_has_a_hazard(case):
    assert profile(case.name).hazards == []


# ---- bad input


def test_matrices_that_are_not_positive_definite_are_named():
    for wrong, message in (
        (-A, "A has -6 on the diagonal of row 0, so it is not positive definite"),
        (sp.csr_array(np.array([[1.0, 2.0], [0.0, 1.0]])), "A is not symmetric: the largest difference"),
        (sp.csr_array(np.ones((2, 3))), r"A has shape \(2, 3\): it must be square"),
        (np.eye(3).tolist(), "A is a list: pass a scipy.sparse.csr_array"),
    ):
        for make in (identity, jacobi, l1_jacobi, chebyshev, amg):
            with pytest.raises(CourseError, match=message):
                make(wrong)
    indefinite = sp.csr_array(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(CourseError, match="A is not positive definite: its coarsest matrix is not"):
        amg(indefinite)


def test_wrong_arguments_are_named():
    for options, message in (
        ({"aggregation": "lucky"}, "aggregation is 'lucky'"),
        ({"smoother": "sor"}, "smoother 'sor'"),
        ({"sweeps": 0}, "sweeps is 0"),
        ({"max_coarse": 1, "most_levels": 1}, "unknowns are left on the coarsest level"),
    ):
        with pytest.raises(CourseError, match=message):
            amg(A, **options)
    with pytest.raises(CourseError, match="ratio is 1"):
        chebyshev(A, ratio=1)
    n = A.shape[0]
    out = np.empty(n)
    with pytest.raises(CourseError, match="M is of the kind int"):
        apply(reference, 3, out, out)
    with pytest.raises(CourseError, match="but this function takes a Identity"):
        reference.precondition_identity(Diagonal(np.ones(n)), np.ones(n), out)
    with pytest.raises(CourseError, match="r and out share memory"):
        apply(reference, jacobi(A), out, out)
    with pytest.raises(CourseError, match="M has dtype float64, expected float32"):
        apply(cpu_numba, jacobi(A), np.ones(n, "float32"), np.ones(n, "float32"))
    with pytest.raises(CourseError, match="M lives in host memory"):
        apply(gpu_numba, jacobi(A), cuda.to_device(np.ones(n)), cuda.to_device(out))
    with pytest.raises(CourseError, match="r begins inside a pair of numbers"):
        apply(gpu_numba, Identity(4), cuda.to_device(np.ones(5))[1:], cuda.to_device(np.ones(4)))
    with pytest.raises(CourseError, match="is not symmetric positive definite: choose another"):
        PreconditionProblem.named("power_law", 30)
