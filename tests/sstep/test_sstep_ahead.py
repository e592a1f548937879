"""Iterations and passes queued ahead of the host: their scalar work is the host's, and they stop by themselves."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from test_sstep_methods import SHAPE, random_right_side, spd

from course_pkg import cuda
from course_pkg.core import Status
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import jacobi
from course_pkg.spmv.formats import Csr
from course_pkg.sstep import gpu_numba, pace, passes, projection, reference, scalar_work, scalars
from course_pkg.sstep.gpu_numba.passes import gram_pass_kernel, moments_pass_kernel
from course_pkg.sstep.gpu_numba.room import DeviceRoom
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.tuning import THREADS_PASS

pytestmark = pytest.mark.slow(110)

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


# ---- passes of several iterations

PASSES = [("pcg_sstep", 2), ("pcg_sstep", 4), ("pcg_sstep_moments", 3)]


def made(kernel, *arrays):
    """Return the arrays as a kernel of one block leaves them."""
    there = [cuda.to_device(array) for array in arrays]
    kernel[1, THREADS_PASS](*there)
    return [array.copy_to_host() for array in there]


def sums(s, A=None, dropped=False):
    """Return the Gram matrix of 2 s random directions and r, and that of the host's projection."""
    A, Z = spd(40, 50.0) if A is None else A, np.random.default_rng(3).standard_normal((2 * s + 1, 40))
    Z[s] = Z[2 * s] + 0.1 * Z[s]  # r·Mr is positive
    if dropped:
        Z[1] = 0.0
    G = Z @ A @ Z.T
    G[:, -1] = G[-1] = Z @ Z[-1]
    return G, np.zeros((8, 2 * s + 1, 2 * s + 1)), np.ones((2 * s, s)), np.ones(2 * s)


@pytest.mark.parametrize("s", [2, 3, 8, 32])
@pytest.mark.parametrize("dropped", [False, True])
def test_a_block_of_threads_computes_what_the_host_projects(s, dropped):
    """For s = 32, 64 directions in 80 dimensions."""
    A = spd(80, 50.0) if s == 32 else spd(40, 50.0)
    Z = np.random.default_rng(3).standard_normal((2 * s + 1, len(A)))
    Z[s] = Z[2 * s] + 0.1 * Z[s]  # r·Mr is positive
    Z[1] *= not dropped
    G = Z @ A @ Z.T
    G[:, -1] = G[-1] = Z @ Z[-1]
    state, history = started(limit=100)
    arrays = np.triu(G), state, history, np.zeros((8, *G.shape)), np.ones((2 * s, s)), np.ones(2 * s)
    _, state, history, grams, C, a = made(gram_pass_kernel(s), *arrays)
    found = projection.projected(G[:-1, :-1], G[:-1, -1], s)
    np.testing.assert_allclose(C, found.C, rtol=1e-7, atol=1e-9 * np.abs(found.C).max())
    np.testing.assert_allclose(a, found.a, rtol=1e-7, atol=1e-9 * np.abs(found.a).max())
    np.testing.assert_array_equal(np.triu(grams[0]), np.triu(G))
    assert state[scalars.ITERATION] == s and history[0] == G[-1, -1]


@pytest.mark.parametrize("s", [1, 2, 3])
def test_a_block_of_threads_computes_the_step_of_moments(s):
    A, r = spd(40, 50.0), random_right_side(40)
    first = scalar_work.first([r @ np.linalg.matrix_power(A / 50, k) @ r for k in range(2 * s)])
    mu = np.array([r @ np.linalg.matrix_power(A / 50, k) @ r for k in range(2 * s)]) * 0.1
    mu[1:] *= 1.01
    step = scalar_work.following(mu, first)
    state, history = started(limit=100)
    arrays = np.r_[mu, 3.0], state, history, first.W, first.alpha, np.ones((s, s))
    _, state, history, W, alpha, beta = made(moments_pass_kernel(s), *arrays)
    for here, host in ((W, step.W), (alpha, step.alpha), (beta, step.beta)):
        np.testing.assert_allclose(here, host, rtol=1e-6, atol=1e-9 * np.abs(host).max())
    assert state[scalars.ITERATION] == s and history[0] == 3.0


def spoilt(what):
    G, *outs = sums(2)
    G = np.triu(G)
    G[what[0]] = what[1]
    return G, *started(), *outs


@pytest.mark.parametrize(
    ("what", "spoil"),
    [
        ("directions that are nearly dependent", ((0, 1), None)),
        ("a matrix that is not definite", ((0, 1), 1e6)),
        ("an old direction of negative length", ((0, 0), -1.0)),
        ("a fresh direction of length zero", ((3, 3), 0.0)),
        ("a negative curvature", ((2, 2), -1.0)),
        ("a preconditioner that is not definite", ((2, 4), -1.0)),
        ("an overflow", ((1, 1), np.inf)),
        ("an overflow beside the diagonal", ((1, 3), np.inf)),
        ("a number that is none", ((1, 1), np.nan)),
        ("products with r that overflow", ((0, 4), np.inf)),
        ("a residual that grew", ((4, 4), 1e22)),
    ],
)
def test_the_host_is_asked_where_a_sum_of_a_pass_is_not_as_it_must_be(what, spoil):
    G, *others = spoilt(spoil)
    if spoil[1] is None:
        G[0, 1] = np.sqrt(G[0, 0] * G[1, 1]) * (1 - 1e-11)
        G[0, 2:], G[1, 2:] = 0.0, 0.0
    _, state, _, _, C, a = made(gram_pass_kernel(2), G, *others)
    assert state[scalars.STOPPED] == scalars.ASKED and state[scalars.ITERATION] == 0, what
    assert not C.any() and not a.any()


@pytest.mark.parametrize(
    ("mu", "W", "stopped"),
    [
        ((1.0, 1.0, -9.0, 1.0, 1.0), 1.0, scalars.BROKEN),
        ((1.0, 1.0, 1.0, 9.0, 1.0), -1.0, scalars.BROKEN),
        ((1.0, -1.0, 1.0, 9.0, 1.0), 1.0, scalars.ASKED),
        ((-1.0, 1.0, 1.0, 9.0, 1.0), 1.0, scalars.ASKED),
        ((1.0, 1.0, 1.0, np.inf, 1.0), 1.0, scalars.BROKEN),
        ((1.0, 1.0, np.nan, 9.0, 1.0), 1.0, scalars.BROKEN),
        ((1.0, 1.0, 1.0, 9.0, 1e22), 1.0, scalars.ASKED),
        ((1.0, 1.0, 1.0, 9.0, 1e-30), 1.0, scalars.CONVERGED),
    ],
)
def test_a_pass_by_moments_stops_where_a_moment_is_not_as_it_must_be(mu, W, stopped):
    state, history = started()
    state[scalars.TARGET] = 1e-20
    arrays = np.array(mu), state, history, W * np.eye(2), np.array([1.0, 0.5]), np.ones((2, 2))
    _, state, _, _, alpha, beta = made(moments_pass_kernel(2), *arrays)
    assert state[scalars.STOPPED] == stopped and not alpha.any() and not beta.any()


@cache
def ahead_of_the_host(name, s, **options):
    """The solution with passes queued, which two tests look at: it is computed once."""
    return getattr(gpu_numba, name)(Laplacian(SHAPE), cuda.to_device(random_right_side()), s=s, **options)


def by_host(monkeypatch, solver, *arguments, **options):
    """Return the solution with no pass queued."""
    with monkeypatch.context() as patched:
        patched.setattr(DeviceRoom, "most_ahead", 0)
        return solver(*arguments, **options)


@pytest.mark.parametrize(("name", "s"), PASSES)
def test_queued_passes_are_those_of_the_host(name, s, monkeypatch):
    b, solver = cuda.to_device(random_right_side()), getattr(gpu_numba, name)
    for more in ({"rtol": 1e-3}, {"rtol": 1e-9}, {"rtol": 1e-9, "maxiter": 7}):
        each = by_host(monkeypatch, solver, Laplacian(SHAPE), b, s=s, **more)
        ahead = ahead_of_the_host(name, s, **more)
        assert ahead.status is each.status and ahead.iterations == each.iterations, more
        np.testing.assert_allclose(ahead.residual_norms, each.residual_norms, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(ahead.x.copy_to_host(), each.x.copy_to_host(), rtol=1e-5, atol=1e-9)
        told = (
            ("lengths", "looks", "fallbacks", "restarts", "s_last") if name == "pcg_sstep" else ("fallbacks",)
        )
        assert {k: ahead.extra[k] for k in told} == {k: each.extra[k] for k in told}
        if name == "pcg_sstep":
            np.testing.assert_allclose(ahead.extra["conditions"], each.extra["conditions"], rtol=1e-6)
            assert ahead.extra["growth"] == pytest.approx(each.extra["growth"])


def surely(pace, iterations, s, most, real=pace.Pace.surely):
    """Queue three passes where one is sure."""
    return min(3, most) if real(pace, iterations, s, most) else 0


@pytest.mark.parametrize(("name", "s"), PASSES)
def test_passes_that_are_queued_in_vain_change_nothing(name, s, monkeypatch):
    b, solver = cuda.to_device(random_right_side()), getattr(gpu_numba, name)
    for more in ({"rtol": 1e-3}, {"rtol": 1e-5, "maxiter": 11}):
        each = ahead_of_the_host(name, s, **more)
        with monkeypatch.context() as patched:
            patched.setattr(pace.Pace, "surely", surely)
            vain = solver(Laplacian(SHAPE), b, s=s, **more)
        assert vain.status is each.status and vain.iterations <= each.iterations + s
        assert vain.converged == each.converged and np.isfinite(vain.x.copy_to_host()).all()
        residual = b.copy_to_host().reshape(-1) - poisson(SHAPE) @ vain.x.copy_to_host().reshape(-1)
        assert np.linalg.norm(residual) == pytest.approx(vain.extra["true_residual"], rel=1e-6)


@pytest.mark.parametrize("name", ["pcg_sstep", "pcg_sstep_moments"])
def test_the_host_does_the_passes_after_one_for_which_it_was_asked(name, monkeypatch):
    A, b = spd(40, 10.0), random_right_side(40)
    device = Csr.from_scipy(sp.csr_array(A)).to_device(), cuda.to_device(b)
    queued, real = [], passes.Passes.read

    def asked(numbers):
        real(numbers)
        queued.append(numbers.done)
        if len(queued) == 2:
            numbers.stopped = scalars.ASKED

    solver = getattr(gpu_numba, name)
    whole = by_host(monkeypatch, solver, *device, s=2, rtol=1e-8)
    monkeypatch.setattr(passes.Passes, "read", asked)
    found = solver(*device, s=2, rtol=1e-8)
    assert len(queued) == 2 and found.converged and whole.converged
    assert whole.iterations <= found.iterations <= whole.iterations + 12
    np.testing.assert_allclose(found.x.copy_to_host(), whole.x.copy_to_host(), rtol=1e-4)


def test_moments_fall_back_to_a_smaller_s_as_with_the_host(monkeypatch):
    A = poisson((12, 12, 12))
    device = Csr.from_scipy(A).to_device(), cuda.to_device(np.random.default_rng(1).standard_normal(12**3))
    each = by_host(monkeypatch, gpu_numba.pcg_sstep_moments, *device, s=12, rtol=1e-8)
    ahead = gpu_numba.pcg_sstep_moments(*device, s=12, rtol=1e-8)
    assert each.extra["fallbacks"] and ahead.extra["fallbacks"] and ahead.status is each.status
    assert ahead.extra["s_last"] == each.extra["s_last"]


@pytest.mark.parametrize(("name", "s"), PASSES)
def test_the_host_waits_for_no_sums_of_queued_passes(name, s, monkeypatch):
    """It reads numbers when all passes that it queued are done."""
    b, copies = cuda.to_device(random_right_side()), []
    real, real_surely = DeviceRoom.to_host, pace.Pace.surely
    monkeypatch.setattr(
        DeviceRoom, "to_host", lambda room, array: (copies.append(array.shape), real(room, array))[1]
    )
    monkeypatch.setattr(pace.Pace, "surely", lambda self, *a: min(4, a[-1]) if real_surely(self, *a) else 0)
    found = getattr(gpu_numba, name)(Laplacian(SHAPE), b, s=s, rtol=1e-12, maxiter=9 * s)
    G = (2 * s + 1, 2 * s + 1)
    assert found.iterations == 9 * s and copies.count((scalars.SIZE,)) == 2
    assert copies.count(G) + copies.count((s + 1, s + 1)) + copies.count((2 * s + 1,)) == 1  # the first pass


def test_each_iteration_calls_back_in_passes_that_are_queued():
    b, seen = cuda.to_device(random_right_side()), []
    found = gpu_numba.pcg_sstep(
        Laplacian(SHAPE), b, s=2, rtol=1e-6, callback=lambda x: seen.append(x.copy_to_host())
    )
    assert len(seen) == len(found.extra["lengths"])
    np.testing.assert_array_equal(seen[-1], found.x.copy_to_host())
    assert all((one != two).any() for one, two in pairwise(seen))
