"""Iterations queued ahead of the host: their scalar work is that of the host, and they stop by themselves."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from test_sstep_methods import SHAPE, random_right_side, spd

from course_pkg import cuda
from course_pkg.core import Status
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import jacobi
from course_pkg.spmv.formats import Csr
from course_pkg.sstep import gpu_numba, projection, reference, scalar_work, scalars
from course_pkg.sstep.gpu_numba.room import DeviceRoom
from course_pkg.sstep.problem import Laplacian

QUEUED = {
    "pcg": {},
    "pfcg": {},
    "pcg_sstep_moments": {"s": 1},
    "pcg_sstep": {"s": 1},
}  # for which the host never waits


def started(limit=9):
    state = np.zeros(scalars.SIZE)
    state[[scalars.LIMIT, scalars.LEAST]] = limit, 1e9
    return state, np.zeros(scalars.KEPT)


@pytest.mark.parametrize("name", QUEUED)
def test_iterations_that_are_queued_after_the_last_one_change_nothing(name, monkeypatch):
    """Where the host looks only now and then, the device stops by itself; the interpreter otherwise looks each time."""
    b, solver = random_right_side(), getattr(gpu_numba, name)
    for more in ({"rtol": 1e-3}, {"rtol": 1e-9, "maxiter": 11}, {"rtol": 1e-9, "maxiter": 1}):
        each = solver(Laplacian(SHAPE), cuda.to_device(b), **more, **QUEUED[name])
        with monkeypatch.context() as patched:
            patched.setattr(DeviceRoom, "looks", lambda room, queued: queued % 5 == 0)
            seldom = solver(Laplacian(SHAPE), cuda.to_device(b), **more, **QUEUED[name])
        assert seldom.status is each.status and seldom.residual_norms == each.residual_norms
        assert seldom.iterations == each.iterations and seldom.extra["products"] % 5 == 1 + (
            name == "pcg_sstep" and each.converged
        )  # it confirms by itself
        np.testing.assert_array_equal(seldom.x.copy_to_host(), each.x.copy_to_host())


@pytest.mark.parametrize("name", QUEUED)
def test_the_device_stops_where_a_matrix_is_not_definite_or_a_preconditioner_is_not(name, monkeypatch):
    A, b = poisson((4, 4, 4)), cuda.to_device(np.ones(64))
    negative = jacobi(A).to_device()
    negative = replace(negative, d=cuda.to_device(-negative.d.copy_to_host()))
    monkeypatch.setattr(DeviceRoom, "looks", lambda room, queued: queued % 5 == 0)
    solver = getattr(gpu_numba, name)
    found = solver(Csr.from_scipy(A - 4 * sp.eye_array(64)).to_device(), b, **QUEUED[name])
    assert found.status is Status.NOT_DEFINITE and np.isfinite(found.x.copy_to_host()).all()
    found = solver(Csr.from_scipy(A).to_device(), b, M=negative, **QUEUED[name])
    assert found.status is Status.M_NOT_DEFINITE and found.iterations == 0 and "r·Mr = -" in found.reason
    assert not found.x.copy_to_host().any()


def test_two_moments_give_what_any_number_of_them_gives():
    mus, step, (state, history) = [(9.0, 4.0), (3.0, 2.0), (1.5, 5.0)], None, started()
    for mu in mus:
        beta, alpha = np.zeros((1, 1)), np.zeros(1)
        scalars.moments_scalars(np.array([*mu, mu[0]]), state, history, beta, alpha)
        step = scalar_work.first(mu) if step is None else scalar_work.following(mu, step)
        np.testing.assert_allclose((alpha, beta[0]), (step.alpha, step.beta[0]), rtol=1e-14)
    assert state[scalars.ITERATION] == 3 and history[:3].tolist() == [9.0, 3.0, 1.5]


@pytest.mark.parametrize("old", [True, False])
def test_a_gram_matrix_of_two_vectors_gives_what_a_projection_gives(old):
    A, r = spd(20, 50.0), random_right_side(20)
    Z = np.array([random_right_side(20, 1), r] if old else [r])
    G = np.block([[Z @ A @ Z.T, (Z @ r)[:, None]], [Z @ r, r @ r]])
    C, a = np.zeros((2, 1)), np.zeros(2)
    scalars.gram_scalars(np.triu(G), *started(), C, a)
    found = projection.projected(G[:-1, :-1], G[:-1, -1], 1)
    np.testing.assert_allclose(C[-len(Z) :], found.C, rtol=1e-13)
    np.testing.assert_allclose(a[-len(Z) :], found.a, rtol=1e-13)
    assert old or (C[0, 0], a[0]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("what", "G"),
    [
        ("directions that are nearly dependent", [[1.0, 1.0 - 1e-10, 1.0], [0, 1.0, 1.0], [0, 0, 1.0]]),
        ("a matrix that is not definite", [[1.0, 2.0, 1.0], [0, 1.0, 1.0], [0, 0, 1.0]]),
        ("an old direction of negative length", [[-1.0, 0.0, 1.0], [0, 1.0, 1.0], [0, 0, 1.0]]),
        ("a negative curvature", [[1.0, 0.0, 1.0], [0, -1.0, 1.0], [0, 0, 1.0]]),
        ("a preconditioner that is not definite", [[1.0, 0.0, 1.0], [0, 1.0, -1.0], [0, 0, 1.0]]),
        ("an overflow", [[1.0, 0.0, 1.0], [0, np.inf, 1.0], [0, 0, 1.0]]),
        ("a number that is none", [[1.0, np.nan, 1.0], [0, 1.0, 1.0], [0, 0, 1.0]]),
        ("a residual that grew", [[1.0, 0.0, 1.0], [0, 1.0, 1.0], [0, 0, 1e22]]),
    ],
)
def test_the_host_is_asked_where_a_number_is_not_as_it_must_be(what, G):
    (state, history), C, a = started(), np.ones((2, 1)), np.ones(2)
    scalars.gram_scalars(np.array(G), state, history, C, a)
    assert state[scalars.STOPPED] == scalars.ASKED and state[scalars.ITERATION] == 0, what
    assert not C.any() and not a.any()


@pytest.mark.parametrize(
    "mu", [(1.0, -1.0, 1.0), (-1.0, 1.0, 1.0), (1.0, np.inf, 1.0), (1.0, np.nan, 1.0), (1.0, 1.0, 1e22)]
)
def test_the_host_is_asked_where_a_moment_is_not_as_it_must_be(mu):
    (state, history), beta, alpha = started(), np.ones((1, 1)), np.ones(1)
    scalars.moments_scalars(np.array(mu), state, history, beta, alpha)
    assert state[scalars.STOPPED] == scalars.ASKED and not alpha.any() and not beta.any()


def test_the_host_goes_on_where_it_was_asked(monkeypatch):
    """Asked in the third pass, the host does all that follow; it takes as many iterations as if each pass asked."""
    A, b, asked = spd(40, 1e3), random_right_side(40), []

    def seldom(G, state, history, C, a, real=scalars.gram_scalars):
        real(G, state, history, C, a)
        asked.append(state[scalars.ITERATION])
        if state[scalars.ITERATION] == 3:
            state[scalars.STOPPED], C[:], a[:] = scalars.ASKED, 0.0, 0.0

    whole = reference.pcg_sstep(A, b, s=1, rtol=1e-8)
    monkeypatch.setattr("course_pkg.sstep.stable.gram_scalars", seldom)
    found = reference.pcg_sstep(A, b, s=1, rtol=1e-8)
    assert len(asked) == 3 and found.converged and whole.converged
    assert whole.iterations <= found.iterations <= whole.iterations + 6
    np.testing.assert_allclose(found.x, whole.x, rtol=1e-5)


def test_nothing_is_copied_to_the_host_between_two_looks(monkeypatch):
    b, copies = cuda.to_device(random_right_side()), []
    monkeypatch.setattr(DeviceRoom, "looks", lambda room, queued: queued % 7 == 0)
    real = DeviceRoom.to_host
    monkeypatch.setattr(
        DeviceRoom, "to_host", lambda room, array: (copies.append(array.shape), real(room, array))[1]
    )
    for name, options in QUEUED.items():
        copies.clear()
        found = getattr(gpu_numba, name)(Laplacian(SHAPE), b, rtol=1e-9, maxiter=21, **options)
        looks = copies.count((scalars.SIZE,))
        assert found.iterations == 21 and looks == copies.count((scalars.KEPT,)) == 3, name
        assert len(copies) - 2 * looks <= 4, (
            name,
            copies,
        )  # the first residual, the last one, and one u·r of pcg
