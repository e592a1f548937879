"""Shorter passes near the end: how many iterations they save, what wrong guesses cost, and that they compute CG's x."""

from itertools import takewhile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_sstep_methods import SHAPE, ones, random_right_side, relative

from course_pkg import cuda
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import jacobi
from course_pkg.spmv.formats import Csr
from course_pkg.sstep import cpu_numba, gpu_numba, projection, reference, stable
from course_pkg.sstep.pace import SPARE, Pace
from course_pkg.sstep.problem import Laplacian

WITHIN = 1.05


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_at_most_5_percent_more_iterations_than_pcg(rtol):
    """On 32³ points, for each s up to 16, with at most three more reductions than whole passes would take."""
    A, b = ones(32)
    least = cpu_numba.pcg(A, b, rtol=rtol).iterations
    for s in range(1, 17):
        found = cpu_numba.pcg_sstep(A, b, s=s, rtol=rtol)
        assert found.converged and relative(found, b) <= 1.01 * rtol, s
        assert least <= found.iterations <= min(WITHIN * least, -(-least // s) * s), s
        assert found.extra["reductions"] <= -(-least // s) + 3 + 3, s


def test_a_residual_that_stands_still_before_it_falls():
    """On 64³ points to 1e-7, with s = 14: seven iterations before the end, the last fall foretells more than a pass."""
    A, b = ones(64)
    least = cpu_numba.pcg(A, b, rtol=1e-7).iterations
    found = cpu_numba.pcg_sstep(A, b, s=14, rtol=1e-7)
    assert found.converged and least == 146 and found.iterations <= WITHIN * least
    assert found.extra["reductions"] <= -(-least // 14) + 3 + 3


@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize("dtype, digits", [("float64", 1e-6), ("float32", 1e-3)])
def test_the_gram_matrix_tells_the_norms_within_a_pass(monkeypatch, preconditioned, dtype, digits):
    """They are those of pcg; also with a preconditioner of equal entries: r·r over r·Mr is constant."""
    A, seen = poisson((12, 12, 12)), []
    b = np.random.default_rng(0).standard_normal(12**3).astype(dtype)
    M = jacobi(A.astype(dtype)) if preconditioned else None
    right = projection.residuals
    monkeypatch.setattr(projection, "residuals", lambda *args: seen.append(right(*args)) or seen[-1])
    found = reference.pcg_sstep(A.astype(dtype), b, s=8, M=M, rtol=1e-4)
    expected = reference.pcg(A.astype(dtype), b, M=M, rtol=1e-5).residual_norms
    assert found.converged and [len(norms) for norms in seen[:3]] == [7, 7, 7]
    for k, norms in enumerate(seen[:3]):
        np.testing.assert_allclose(norms, expected[8 * k + 1 : 8 * k + 8], rtol=digits)


@pytest.mark.parametrize("basis", ["chebyshev", "newton"])
def test_with_either_basis(basis):
    A, b = ones(28)
    least = reference.pcg(A, b, rtol=1e-8).iterations
    for s in (2, 4, 8, 12, 16):
        found = reference.pcg_sstep(A, b, s=s, basis=basis, rtol=1e-8)
        assert found.converged and found.iterations <= WITHIN * least and not found.extra["fallbacks"]


def test_a_preconditioned_solve_ends_with_a_shorter_pass():
    A = poisson((16, 16, 16))
    b, M = np.ones(16**3), jacobi(A)
    least = reference.pcg(A, b, M=M, rtol=1e-8).iterations
    found = reference.pcg_sstep(A, b, M=M, s=12, rtol=1e-8)
    assert found.converged and found.extra["lengths"][-1] < 12
    assert found.iterations <= least + 2 < -(-least // 12) * 12


# ---- what a shorter pass computes


class Fixed(Pace):
    """Passes of lengths that the test chooses."""

    chosen = ()

    def looks(self, iterations, s):
        return False

    def length(self, iterations, s):
        return self.next(iterations)[0]

    def matters(self, iterations, s):
        return True

    def surely(self, iterations, s, most):
        return len(list(takewhile(lambda length: length == s, self.next(iterations)[:most])))

    def next(self, iterations):
        done = [sum(self.chosen[:k]) for k in range(len(self.chosen))]
        return self.chosen[done.index(iterations) :]


@pytest.mark.family
@pytest.mark.parametrize("library", ["reference", "cpu_numba", "gpu_numba", "csr"])
@pytest.mark.parametrize("lengths", [(4, 2), (2, 4, 4), (4, 3, 1, 2, 4), (4, 4, 1, 4), (4, 4, 4, 2)])
def test_passes_of_other_lengths_are_iterations_of_pcg(monkeypatch, library, lengths):
    """A whole pass may follow shorter ones: they keep directions of the passes before them, so that s are known."""
    monkeypatch.setattr(stable, "Pace", Fixed)
    monkeypatch.setattr(Fixed, "chosen", lengths)
    b, k = random_right_side(), sum(lengths)
    expected = reference.pcg(Laplacian(SHAPE), b, maxiter=k, rtol=1e-12).x
    if library == "gpu_numba":
        x = gpu_numba.pcg_sstep(Laplacian(SHAPE), cuda.to_device(b), s=4, maxiter=k, rtol=1e-12).x
        x = x.copy_to_host()
    elif library == "csr":
        A = Csr.from_scipy(poisson(SHAPE)).to_device()
        found = gpu_numba.pcg_sstep(A, cuda.to_device(b.reshape(-1)), s=4, maxiter=k, rtol=1e-12)
        x = found.x.copy_to_host().reshape(SHAPE)
    else:
        module = {"reference": reference, "cpu_numba": cpu_numba}[library]
        found = module.pcg_sstep(Laplacian(SHAPE), b, s=4, maxiter=k, rtol=1e-12)
        x = found.x
        assert found.iterations == k and found.extra["lengths"] == lengths
        assert found.extra["products"] == k + 1 and found.extra["reductions"] == len(lengths) + 1
    np.testing.assert_allclose(x, expected, rtol=1e-8, atol=1e-10)


# ---- guesses


def played(norms, s, target, within=True):
    """Return iterations and reductions of a solve whose residual has these norms after 0, 1, … iterations.

    ``within``: whether a pass tells the norms after its first iterations, as it does unless rounding errors are large.
    """
    pace, iterations, reductions = Pace(target), 0, 0
    pace.note(0, norms[0])
    while True:
        here = norms[min(iterations, len(norms) - 1)]
        if pace.looks(iterations, s):
            reductions += 1
            pace.note(iterations, here)
            if here <= target:
                return iterations, reductions
        length = pace.length(iterations, s)
        reductions += 1
        pace.note(iterations, here)
        if here <= target:
            return iterations, reductions
        assert 1 <= length <= s
        if within:
            pace.note(iterations, here, *norms[iterations + 1 : iterations + length])
        iterations += length


@given(
    st.lists(st.floats(-2.0, 1.0), min_size=1, max_size=150),
    st.integers(1, 32),
    st.floats(1e-12, 0.5),
    st.booleans(),
)
def test_no_guess_costs_iterations_and_few_cost_reductions(steps, s, target, within):
    """Whatever the norms do, it ends no later than with whole passes, and asks for at most SPARE more reductions."""
    norms = [*np.exp(np.cumsum([0.0, *steps])), 0.5 * target]
    whole = next(k for k in range(0, 400, s) if norms[min(k, len(norms) - 1)] <= target)
    iterations, reductions = played(norms, s, target, within)
    assert iterations <= whole and reductions <= whole // s + 1 + SPARE


@pytest.mark.parametrize("s", [4, 8, 12, 16, 32])
def test_a_steady_fall_is_met_to_the_iteration(s):
    norms, target = [0.9**k for k in range(300)], 1e-4  # met by iteration 88
    iterations, reductions = played(norms, s, target)
    assert norms[iterations] <= target < norms[iterations - (1 if s > 4 else 4)]
    assert reductions <= iterations // s + 4


def test_long_solves_and_small_s_take_whole_passes():
    norms = [0.99**k for k in range(2000)]
    iterations, reductions = played(norms, 16, 1e-6)
    assert iterations % 16 == 0 and reductions == iterations // 16 + 1
    assert played(norms, 1, 1e-2)[1] == played(norms, 1, 1e-2)[0] + 1
