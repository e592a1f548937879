"""Studies of stability: what they note is what happens, with each basis, and where a method breaks down."""

import numpy as np
import pytest

from course_pkg.sstep import reference
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.stability import studies, study

A = Laplacian((10, 10, 10))


@pytest.fixture(scope="module")
def found():
    return studies((10,), ("monomial", "Chebyshev"), (2, 8))[10]


@pytest.mark.parametrize("basis", ["monomial", "Chebyshev"])
def test_a_study_is_the_solve_it_watches(found, basis):
    method = {
        "monomial": reference.pcg_sstep_moments,
        "Chebyshev": lambda *of, **more: reference.pcg_sstep(*of, basis="chebyshev", **more),
    }[basis]
    b, xs = np.ones(A.n), [np.zeros(A.n)]
    solution = method(A, b, s=2, rtol=1e-10, callback=lambda x: xs.append(x.copy()))
    seen = found[basis][2]
    assert seen.converged and seen.reductions == solution.extra["reductions"]
    assert seen.iterations == tuple(range(0, solution.iterations + 1, 2))
    assert seen.true == pytest.approx([np.linalg.norm(b - A @ x) / np.linalg.norm(b) for x in xs])
    assert seen.updated[0] == pytest.approx(1)
    assert len(seen.updated) == len(seen.basis_condition) == len(seen.w_condition) == len(seen.true)


def test_conditions_are_those_of_the_basis_and_of_w():
    seen = study(A, "monomial", 2)
    r = np.ones(A.n)
    Q = np.array([r, A @ r])
    G = Q @ np.array([A @ q for q in Q]).T
    d = np.sqrt(np.diag(G))
    assert (
        seen.basis_condition[0]
        == seen.w_condition[0]
        == pytest.approx(np.linalg.cond(G / np.outer(d, d)), rel=1e-6)
    )
    chebyshev = study(A, "Chebyshev", 2)
    S = np.array([r, (A @ r - 6 * r) / 6])
    G = S @ np.array([A @ v for v in S]).T
    d = np.sqrt(np.diag(G))
    assert chebyshev.basis_condition[0] == pytest.approx(np.linalg.cond(G / np.outer(d, d)), rel=1e-6)


def test_the_monomial_basis_breaks_down_and_the_other_does_not(found):
    assert not found["monomial"][8].converged
    assert found["monomial"][8].w_condition[-1] == float("inf") or found["monomial"][8].true[-1] > 1e-10
    assert found["Chebyshev"][8].converged
    assert found["Chebyshev"][8].true[-1] <= 1.01e-10


def test_reductions_and_bytes_are_beside_those_of_cg(found):
    seen = found["monomial"][2]
    assert seen.cg.method == "cg" and seen.cg.iterations[-1] == len(seen.cg.true) - 1
    assert seen.cg.reductions == 2 * seen.cg.iterations[-1] + 2
    assert 0 < seen.bytes < seen.cg.bytes
