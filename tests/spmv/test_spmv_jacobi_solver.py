"""The solver by Jacobi's method: its answers, how it ends, and what it refuses."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from test_spmv_jacobi import HOST, dominant, perm_for, vectors

from course_pkg import cuda
from course_pkg.core import CourseError, Status
from course_pkg.permutation.problem import poisson
from course_pkg.spmv import cpu_numba
from course_pkg.spmv.gpu_numba import jacobi as kernels
from course_pkg.spmv.jacobi import (
    FORMS,
    plain_system,
    row_permuted_system,
    symmetric_system,
    system_of,
)
from course_pkg.spmv.jacobi_solver import jacobi

# ---- the solver


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", HOST)
def test_it_solves_what_a_direct_method_solves(form, where):
    A = dominant()
    b, x0 = vectors(A.shape[0])
    step = getattr(HOST[where], f"jacobi_{form}")
    found = jacobi(A, b, x0, rtol=1e-12, form=form, perm=perm_for(form, b.size), step=step)
    assert found.converged, found.reason
    np.testing.assert_allclose(found.x, np.linalg.solve(A.toarray(), b), rtol=0, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_its_norms_are_those_of_the_true_residuals(form):
    A = dominant()
    b, x0 = vectors(A.shape[0])
    seen, perm = [x0], perm_for(form, b.size)
    found = jacobi(A, b, x0, form=form, perm=perm, callback=lambda x: seen.append(x.copy()))
    assert found.converged and len(seen) == len(found.residual_norms) == found.iterations + 1
    true = [np.linalg.norm(b - A @ x) for x in seen]
    np.testing.assert_allclose(found.residual_norms, true, rtol=1e-8)
    assert true[-1] <= 1e-6 * np.linalg.norm(b) < true[-2]
    np.testing.assert_array_equal(found.x, seen[-1])


def test_what_it_was_given_stays_as_it_was():
    A = dominant()
    b, x0 = vectors(A.shape[0])
    kept = A.copy(), b.copy(), x0.copy()
    for form in FORMS:
        jacobi(A, b, x0, form=form, perm=perm_for(form, b.size))
    for now, before in zip(
        (A.data, A.indices, A.indptr, b, x0),
        (kept[0].data, kept[0].indices, kept[0].indptr, *kept[1:]),
        strict=True,
    ):
        np.testing.assert_array_equal(now, before)


def test_zero_is_the_answer_to_zero():
    found = jacobi(dominant(), np.zeros(70), np.ones(70))
    assert (found.converged, found.iterations, found.x.any()) == (True, 0, False)


def test_a_solution_as_first_guess_takes_no_iteration():
    A = poisson((4, 5))
    x = vectors(20)[1]
    assert jacobi(A, A @ x, x).iterations == 0


def test_too_few_iterations_say_how_many_more_are_needed():
    """On Poisson's problem the error falls by a factor of cos(π h) per iteration, in the end."""
    A, edge = poisson((9, 9)), 9
    b = vectors(81)[0]
    short = jacobi(A, b, maxiter=100)
    assert (short.status, short.iterations) == (Status.MAXITER, 100)
    assert short.extra["rate"] == pytest.approx(np.cos(np.pi / (edge + 1)), rel=1e-3)
    whole = jacobi(A, b)
    more = np.ceil(np.log(1e-6 * np.linalg.norm(b) / short.residual_norms[-1]) / np.log(short.extra["rate"]))
    assert abs(whole.iterations - (100 + more)) <= 3
    assert f"about {more:.0f} more are needed" in short.reason
    assert "use cg if A is symmetric and positive definite" in short.reason


def test_a_single_iteration_has_no_rate_yet():
    assert jacobi(poisson((9, 9)), vectors(81)[0], maxiter=1).extra["rate"] < 1
    assert jacobi(poisson((9, 9)), vectors(81)[0], rtol=0, atol=1e300).extra == {"rate": None}


def test_divergence_is_a_result_that_names_the_first_weak_row():
    dense = np.array([[3.0, 1.0, 0.0], [2.0, 1.0, 2.0], [0.0, 2.0, 1.0]])
    found = jacobi(csr_array(dense), np.ones(3), maxiter=20)
    assert (found.status, found.iterations) == (Status.DIVERGED, 20)
    spectral_radius = np.abs(np.linalg.eigvals(np.eye(3) - dense / np.diag(dense)[:, None])).max()
    assert found.extra["rate"] == pytest.approx(spectral_radius, rel=1e-2)
    assert (
        "Row 1 is the first whose diagonal entry, 1, is smaller than the sum of the others, 4" in found.reason
    )
    assert "GMRES" in found.reason
    for_long = jacobi(csr_array(dense), np.ones(3), maxiter=10_000)
    assert for_long.status is Status.OVERFLOW
    assert for_long.extra["rate"] == pytest.approx(found.extra["rate"], rel=1e-2)


def test_single_precision_that_cannot_go_on_is_told():
    A = poisson((6, 6)).astype("float32")
    b = vectors(36, "float32")[0]
    found = jacobi(A, b, rtol=1e-12, maxiter=2000)
    assert found.status is Status.STAGNATED and "use double precision" in found.reason
    assert np.linalg.norm(b - A @ found.x) > 1e-8 * np.linalg.norm(b)
    assert jacobi(A, b, rtol=1e-5).converged


def test_a_change_that_vanishes_before_the_residual_is_no_convergence():
    """The step says that nothing changes any more, and the true residual says what is left."""

    def stuck(system, x, out):
        out[:] = x

    assert jacobi(dominant(), vectors(70)[0], step=stuck).status is Status.STAGNATED


# ---- what it refuses


def test_a_zero_on_the_diagonal_is_named_by_its_first_row():
    b = np.ones(4)
    missing = csr_array(np.array([[2.0, 1, 0, 0], [1, 2, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]]))
    with pytest.raises(
        CourseError, match="Row 2 of A has no diagonal entry, and Jacobi's method divides by it"
    ):
        jacobi(missing, b)
    stored = csr_array(np.eye(4))
    stored.data[1] = 0
    with pytest.raises(CourseError, match="Row 1 of A has a 0 on the diagonal"):
        jacobi(stored, b)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "columns"}, "form is 'columns': choose from plain, row_permuted, symmetric"),
        ({"form": "symmetric"}, "The symmetric form needs a permutation: pass perm"),
        ({"perm": np.arange(70)}, "the plain form permutes nothing"),
        ({"form": "row_permuted", "perm": np.zeros(70, int)}, r"perm\[1\] is 0, as perm\[0\] is"),
        ({"form": "row_permuted", "perm": np.arange(69)}, "perm has 69 entries, but what it permutes has 70"),
        ({"rtol": -1}, "rtol is -1"),
        ({"maxiter": 0}, "maxiter is 0"),
        ({"x0": np.ones(69)}, "x0 has shape"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(CourseError, match=message):
        jacobi(dominant(), vectors(70)[0], **options)


def test_matrices_that_do_not_fit_are_named():
    with pytest.raises(CourseError, match="A is 2 × 3"):
        jacobi(csr_array(np.ones((2, 3))), np.ones(2))
    with pytest.raises(CourseError, match=r"b has shape .*, float32: A must be square"):
        jacobi(dominant(), np.ones(70, "float32"))
    with pytest.raises(CourseError, match="Row 0 of A has column 0 behind 1"):
        indices, indptr = np.array([1, 0], np.int32), np.array([0, 2, 2], np.int32)
        jacobi(csr_array((np.ones(2), indices, indptr), shape=(2, 2)), np.ones(2))
    with pytest.raises(CourseError, match=r"b has 70 value\(s\) that are not finite"):
        jacobi(dominant(), np.full(70, np.nan))


@pytest.mark.parametrize("device", [False, True], ids=["cpu_numba", "gpu_numba"])
@pytest.mark.parametrize("form", FORMS)
def test_a_system_of_another_form_is_refused(form, device):
    A, (b, x) = dominant(), vectors(70)
    other = FORMS[FORMS.index(form) - 1]
    system, step = (
        system_of(other, A, b, perm_for(other, 70)),
        getattr(kernels if device else cpu_numba, f"jacobi_{form}"),
    )
    with pytest.raises(
        CourseError, match=rf"The system is {other}: call jacobi_{other}, or build a {form} system"
    ):
        step(*((system.to_device(), *map(cuda.to_device, (x, b))) if device else (system, x, b)))


def test_a_step_refuses_vectors_that_do_not_fit():
    A, (b, x) = dominant(), vectors(70)
    system = plain_system(A, b)
    with pytest.raises(CourseError, match="x and out share memory"):
        cpu_numba.jacobi_plain(system, x, x)
    with pytest.raises(CourseError, match="x has dtype float32"):
        cpu_numba.jacobi_plain(system, x.astype("float32"), b)
    with pytest.raises(CourseError, match="lives in host memory but this function runs on the GPU"):
        kernels.jacobi_plain(system, x, b)
    with pytest.raises(CourseError, match="out has shape"):
        cpu_numba.jacobi_plain(system, x, np.ones(71))
    with pytest.raises(CourseError, match="lanes is 3: a row is shared by"):
        kernels.jacobi_plain(system.to_device(), cuda.to_device(x), cuda.to_device(b), lanes=3)
    with pytest.raises(CourseError, match="The system is symmetric already"):
        row_permuted_system(symmetric_system(system, perm_for("symmetric", 70)), np.arange(70))
