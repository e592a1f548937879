"""The methods: what they converge to, and in how many iterations; bases and bounds; what they say about bad input."""

import numpy as np
import pytest
import scipy.sparse as sp

from course_pkg import cuda
from course_pkg.core import CourseError, Status
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg, chebyshev, jacobi
from course_pkg.spmv.formats import Csr
from course_pkg.sstep import bases, bounds, cpu_numba, gpu_numba, outcome, reference
from course_pkg.sstep.problem import Laplacian

SHAPE = (4, 5, 7)
METHODS = (
    ("pcg", {}),
    ("pfcg", {}),
    ("pcg_sstep_moments", {"s": 3}),
    ("pcg_sstep_moments", {"s": 1}),
    ("pcg_sstep", {"s": 4}),
    ("pcg_sstep", {"s": 1}),
    ("pcg_sstep", {"s": 4, "basis": "newton", "replace": 2}),
)
EVERY = pytest.mark.parametrize(
    ("name", "options"), METHODS, ids=[f"{n}-{o.get('s', '')}{o.get('basis', '')}" for n, o in METHODS]
)


def ones(edge):
    return Laplacian((edge,) * 3), np.ones((edge,) * 3)


def random_right_side(shape=SHAPE, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def spd(n, condition, seed=0):
    """Return a dense matrix with eigenvalues from 1 to its condition."""
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    A = V @ np.diag(np.geomspace(1, condition, n)) @ V.T
    return (A + A.T) / 2


def solve(name, A, b, options, module=reference, **more):
    return getattr(module, name)(A, b, **options, **more)


def relative(found, b):
    return found.extra["true_residual"] / np.linalg.norm(b)


# ---- every method, in every library


@EVERY
def test_a_method_solves_in_every_library(name, options):
    b = random_right_side()
    expected = np.linalg.solve(poisson(SHAPE).toarray(), b.reshape(-1)).reshape(SHAPE)
    exact = solve(name, Laplacian(SHAPE), b, options, rtol=1e-9)
    assert exact.converged
    np.testing.assert_allclose(exact.x, expected, rtol=1e-7, atol=1e-8)
    plain = solve(name, Laplacian(SHAPE), b, options, rtol=1e-3)  # few iterations are enough to compare
    compiled = solve(name, Laplacian(SHAPE), b, options, cpu_numba, rtol=1e-3)
    on_device = solve(name, Laplacian(SHAPE), cuda.to_device(b), options, gpu_numba, rtol=1e-3)
    for found, x in ((compiled, compiled.x), (on_device, on_device.x.copy_to_host())):
        assert found.converged and found.iterations == plain.iterations
        assert found.extra["reductions"] == plain.extra["reductions"]
        assert found.extra["products"] == plain.extra["products"]
        np.testing.assert_allclose(x, plain.x, rtol=1e-9, atol=1e-10)


@EVERY
def test_a_method_solves_with_a_matrix_and_a_preconditioner(name, options):
    A, b = poisson((6, 6, 6)), random_right_side(216)
    M = amg(A, max_coarse=30)
    plain = solve(name, A, b, options, M=M)
    without = solve(name, A, b, options)
    on_device = solve(
        name, Csr.from_scipy(A).to_device(), cuda.to_device(b), options, gpu_numba, M=M.to_device()
    )
    assert plain.converged and on_device.converged
    assert on_device.iterations == plain.iterations < without.iterations
    np.testing.assert_allclose(on_device.x.copy_to_host(), plain.x, rtol=1e-9)


@EVERY
def test_single_precision_and_a_first_guess(name, options):
    b = random_right_side().astype("float32")
    x0 = np.full_like(b, 0.5)
    on_device = solve(
        name, Laplacian(SHAPE), cuda.to_device(b), options, gpu_numba, x0=cuda.to_device(x0), rtol=1e-2
    )
    plain = solve(name, Laplacian(SHAPE), b, options, x0=x0, rtol=1e-2)
    assert plain.converged and on_device.converged and on_device.x.dtype == "float32"
    assert np.all(x0 == 0.5)


@EVERY
def test_any_matrix(name, options):
    A, b = spd(40, 50.0), random_right_side(40)
    for operator in (A, sp.csr_array(A), lambda v: A @ v):
        more = {"bounds": "lanczos"} if callable(operator) and name == "pcg_sstep" else {}
        found = solve(name, operator, b, {**options, **more}, rtol=1e-10)
        assert found.converged
        np.testing.assert_allclose(A @ found.x, b, atol=1e-8)


@EVERY
def test_a_callback_a_limit_and_nothing_to_solve(name, options):
    seen = []
    b = random_right_side()
    found = solve(name, Laplacian(SHAPE), b, options, callback=lambda x: seen.append(x.copy()))
    assert len(seen) == len(found.residual_norms) - 1 and seen[0].shape == SHAPE
    np.testing.assert_array_equal(seen[-1], found.x)
    few = solve(name, Laplacian(SHAPE), b, options, maxiter=5)
    assert few.status is Status.MAXITER and 5 <= few.iterations < 5 + options.get("s", 1)
    nothing = solve(name, Laplacian(SHAPE), np.zeros(SHAPE), options)
    assert nothing.converged and nothing.iterations == 0 and not nothing.x.any()


# ---- iterations and reductions


@pytest.mark.parametrize("edge", [10, 24])
def test_iterations_agree_within_a_block(edge):
    A, b = ones(edge)
    plain = reference.pcg(A, b)
    assert reference.pfcg(A, b).iterations == plain.iterations
    for s in (1, 2, 3):
        found = reference.pcg_sstep_moments(A, b, s=s)
        assert abs(found.iterations - plain.iterations) < s and relative(found, b) <= 1.01e-6


def test_published_checks_of_the_corrected_loop():
    """A 10³ Poisson problem with a random right-hand side to 1e-10: each s takes whole passes of the same work."""
    A, b = Laplacian((10, 10, 10)), np.ones((10, 10, 10))
    found = [reference.pcg_sstep_moments(A, b, s=s, rtol=1e-10) for s in range(1, 6)]
    assert all(f.converged for f in found)
    assert [f.iterations for f in found] == [26, 26, 27, 28, 30]


@pytest.mark.parametrize("s", range(1, 6))
def test_the_printed_loop_does_not_converge(s):
    A, b = ones(10)
    found = reference.pcg_sstep_printed(A, b, s=s, rtol=1e-10, maxiter=100)
    assert not found.converged and relative(found, b) > 1e-3


def test_reductions_are_counted():
    A, b = ones(12)
    plain = reference.pcg(A, b)
    k = plain.iterations
    assert plain.extra["reductions"] == 2 * k + 2  # the first u·r, and the true residual
    # that of the iteration that finds it has converged
    assert reference.pfcg(A, b).extra["reductions"] == k + 2
    for s in (2, 4, 8):
        found = reference.pcg_sstep(A, b, s=s)
        lengths, in_vain = found.extra["lengths"], found.extra["products"] - 2 - found.iterations
        assert found.iterations == sum(lengths) and found.extra["setup_reductions"] == 0
        assert 0 <= in_vain <= s  # products of the block whose reduction finds that the last pass was enough
        assert found.extra["reductions"] == len(lengths) + found.extra["looks"] + bool(in_vain) + 2
        moments = reference.pcg_sstep_moments(A, b, s=s)
        assert moments.extra["reductions"] == moments.iterations // s + 2


def test_the_monomial_basis_loses_what_the_others_keep():
    A, b = ones(28)
    of = {name: reference.pcg_sstep(A, b, s=12, basis=name, rtol=1e-8) for name in bases.BASES}
    condition = {name: max(found.extra["conditions"]) for name, found in of.items()}
    assert condition["chebyshev"] < condition["newton"] < condition["monomial"]
    assert of["monomial"].iterations > 1.3 * of["chebyshev"].iterations
    drifts = reference.pcg_sstep_moments(A, b, s=8, rtol=1e-8)
    assert not drifts.converged or relative(drifts, b) > relative(of["chebyshev"], b)


def test_an_upper_bound_costs_iterations_if_it_is_far_too_high():
    A, b = ones(28)
    took = [
        reference.pcg_sstep(A, b, s=16, bounds=(0.0, hi), rtol=1e-8).iterations for hi in (12.0, 12.6, 60.0)
    ]
    assert took[0] == took[1] < took[2]


# ---- bad input


@pytest.mark.parametrize("name", ["pcg_sstep", "pcg_sstep_moments", "pcg_sstep_printed"])
@pytest.mark.parametrize("s", [0, -1, 33, 2.0, True])
def test_s_is_1_to_32(name, s):
    A, b = ones(4)
    with pytest.raises(CourseError, match="a pass does the work of 1 to 32 iterations"):
        getattr(reference, name)(A, b, s=s)


def test_every_s_up_to_32_converges():
    A, b = ones(9)
    for s in range(1, 33):
        found = reference.pcg_sstep(A, b, s=s)
        assert found.converged and relative(found, b) <= 1.01e-6, s


def test_a_breakdown_of_w_falls_back_to_a_smaller_s_and_says_so():
    A, b = ones(16)
    found = reference.pcg_sstep_moments(A, b, s=20, rtol=1e-8)
    assert found.converged and found.extra["s"] == 20 and found.extra["s_last"] < 20
    assert found.extra["fallbacks"][0] == (0, 20)
    assert outcome.fell(20, found.extra["s_last"], found.extra["fallbacks"])[0] in found.reason
    printed = reference.pcg_sstep_printed(A, b, s=20, rtol=1e-8)
    assert printed.status is Status.STAGNATED


@EVERY
def test_a_preconditioner_that_is_not_positive_definite_is_named(name, options):
    b = random_right_side()
    more = {"bounds": (0.0, 12.0)} if name == "pcg_sstep" else {}
    negative = solve(name, Laplacian(SHAPE), b, {**options, **more}, M=lambda r: -r)
    assert negative.status is Status.M_NOT_DEFINITE
    signs = np.where(np.arange(b.size) < 30, -1.0, 1.0).reshape(SHAPE)
    mixed = solve(name, Laplacian(SHAPE), b, {**options, **more}, M=lambda r: signs * r, maxiter=200)
    assert not mixed.converged and mixed.status in (Status.M_NOT_DEFINITE, Status.NOT_DEFINITE)


@EVERY
def test_an_indefinite_matrix_is_named(name, options):
    A = np.diag(np.linspace(-0.5, 3, 50))
    found = solve(name, A, np.ones(50), options, maxiter=300)
    # moments cannot tell rounding errors from negative eigenvalues
    assert found.status is (Status.STAGNATED if name == "pcg_sstep_moments" else Status.NOT_DEFINITE)


def test_wrong_arguments_are_named():
    A, b = ones(4)
    for options, message in (
        ({"basis": "legendre"}, "basis is 'legendre': choose from chebyshev, newton, monomial"),
        ({"bounds": (3.0, 1.0)}, r"bounds is \(3.0, 1.0\): pass \(lo, hi\)"),
        ({"bounds": "guess"}, "bounds is 'guess': pass gershgorin or lanczos"),
        ({"bounds": "gershgorin", "M": lambda r: r}, "which knows A alone"),
        ({"replace": -1}, "replace is -1"),
        ({"rtol": -1.0}, "rtol is -1.0"),
    ):
        with pytest.raises(CourseError, match=message):
            reference.pcg_sstep(A, b, **options)
    with pytest.raises(CourseError, match="A is a function, which has no rows"):
        reference.pcg_sstep(lambda v: v, b, bounds="gershgorin")
    b[0, 0, 0] = np.nan
    with pytest.raises(CourseError, match="b has 1 value"):
        reference.pcg_sstep(A, b)
    on_device = cuda.to_device(np.ones((4, 4, 4)))
    with pytest.raises(CourseError, match="on a GPU, pass a Laplacian or a Csr"):
        gpu_numba.pcg(np.eye(64), on_device)
    with pytest.raises(CourseError, match="With M, pass A as a Csr"):
        gpu_numba.pcg(A, on_device, M=jacobi(poisson((4, 4, 4))).to_device())
    with pytest.raises(CourseError, match=r"b has shape \(4, 4, 4\), expected \(4, 4, 5\)"):
        gpu_numba.pcg(Laplacian((4, 4, 5)), on_device)


def test_a_polynomial_preconditioner_is_bounded_by_lanczos():
    A, b = poisson((8, 8, 8)), random_right_side(512)
    found = reference.pcg_sstep(A, b, s=4, M=chebyshev(A, 2))
    assert found.converged and found.extra["growth"] <= 1.01
    assert found.extra["setup_reductions"] == 2 * bounds.STEPS + 1
