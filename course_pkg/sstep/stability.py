"""How stable the s-step methods are: true and updated residuals, and conditions, pass after pass; host code.

The stability explorer shows them. Nothing is timed: the bytes are those of the cost of a method.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.sstep import cost, projection, reference, scalar_work, solver, stable
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.room import Room

BASES = ("monomial", "Newton", "Chebyshev")
CG = "cg"


@dataclass(frozen=True)
class Study:
    """What one solve did. Residuals are relative to ‖b‖; tuples have an entry for each reduction that computes r·r.

    Attributes
    ----------
    method : str
        ``"cg"``, or the name of a basis.
    s : int
        Number of iterations that a whole pass does; 1 for CG.
    unknowns : int
    iterations : tuple of int
        Number of iterations of conjugate gradient before each entry.
    updated, true : tuple of float
        ``‖r‖ / ‖b‖``, where r is the residual that the method updates, or ``b - A x``.
    basis_condition, w_condition : tuple of float
        Condition of ``QᵀAQ``, the Gram matrix of the new basis, and of W, the Gram matrix of the new directions. Both
        are scaled to unit diagonal; the condition is infinite if a matrix is not positive definite. Empty for CG. There
        is no last entry if a dot product of its own found that the solve was done.
    reductions, bytes : int
    target : float
    converged : bool
    reason : str
    cg : Study or None
        Conjugate gradient on the same system; None for CG itself.

    Examples
    --------
    >>> found = study(Laplacian((6, 6, 6)), "monomial", 2)
    >>> found.iterations[:3], found.converged, found.reductions < found.cg.reductions
    ((0, 2, 4), True, True)
    """

    method: str
    s: int
    unknowns: int
    iterations: tuple[int, ...]
    updated: tuple[float, ...]
    true: tuple[float, ...]
    basis_condition: tuple[float, ...]
    w_condition: tuple[float, ...]
    reductions: int
    bytes: int
    target: float
    converged: bool
    reason: str
    cg: "Study | None" = None


class _Watched(Room):
    """A room that notes residuals and conditions at each reduction of a pass, without counting the work for them."""

    def __init__(self, A, b, rtol):
        super().__init__(reference, A, b, None, None, rtol, 0.0, None)
        self.done, self.notes, self.conditions, self._before = 0, [], [], None
        self.length = self.squared = None

    def note(self, squared) -> None:
        true = np.linalg.norm(self.b - self.A @ self.x)
        self.notes.append((self.done, np.sqrt(max(squared, 0.0)), true))

    def moments(self, block, r):
        sums = super().moments(block, r)
        self.note(sums[-1])
        mu = sums[:-1]
        try:
            step = scalar_work.following(mu, self._before) if self._before else scalar_work.first(mu)
            W, self._before = step.W, step
        except scalar_work.Breakdown:
            W = np.full((1, 1), np.nan)
        self.conditions.append((_condition(scalar_work.hankel(mu)), _condition(W)))
        return sums

    def dots(self, *pairs):
        found = super().dots(*pairs)
        self.squared = found[-1]
        return found

    def gram(self, old, fresh, r, length=None):
        G = super().gram(old, fresh, r, length)
        self.note(G[-1, -1])
        m, s = len(G) - 1, length or len(fresh) // 2
        self.length = s
        W = G[m - s : m, m - s : m]
        if old is not None:
            among, between = G[: m - s, : m - s], G[: m - s, m - s : m]
            W = W - between.T @ np.linalg.pinv(among, hermitian=True) @ between
        self.conditions.append((_condition(G[m - s : m, m - s : m]), _condition(W)))
        return G

    def update(self, old, fresh, beta, alpha, out):
        super().update(old, fresh, beta, alpha, out)
        self.done += len(alpha)

    def project(self, old, fresh, C, a, out):
        super().project(old, fresh, C, a, out)
        self.done += self.length


def study(A: Laplacian, basis: str, s: int, *, rtol=1e-10, cg=None) -> Study:
    """Solve ``A x = 1`` by an s-step method and note how stable it is.

    The monomial basis is studied with the method by moments, which ends when W is no longer positive definite. The
    other bases are studied with the stable method, which uses the Gram matrix.

    Parameters
    ----------
    A : Laplacian
    basis : str
        ``"monomial"``, ``"Newton"`` or ``"Chebyshev"``.
    s : int
    rtol : float
    cg : Study, optional
        The study of conjugate gradient on the same system, if there is one already.

    Examples
    --------
    >>> found = study(Laplacian((6, 6, 6)), "Chebyshev", 4)
    >>> found.converged, len(found.true) == len(found.updated) == len(found.w_condition)
    (True, True)
    """
    cg = cg or conjugate_gradient(A, rtol=rtol)
    room = _Watched(A, np.ones(A.n), rtol)
    most = 3 * cg.iterations[-1]
    if basis == "monomial":
        found = solver.moments(room, s, rtol, 0.0, most, None, fall_back=False)
        moved = cost.pcg_sstep_moments(A.n, s).bytes * found.iterations
    else:
        found = stable.solve(room, s, basis.lower(), None, 0, rtol, 0.0, most, None)
        moved = sum(cost.pcg_sstep_pass(A.n, s, length).bytes for length in found.extra["lengths"])
        if found.converged and room.notes[-1][0] < room.done:
            room.note(room.squared)
    return _study(basis, s, A, room.notes, room.conditions, found, moved, rtol, cg)


def conjugate_gradient(A: Laplacian, *, rtol=1e-10) -> Study:
    """Solve ``A x = 1`` by conjugate gradient, and note both residuals after each iteration.

    Examples
    --------
    >>> conjugate_gradient(Laplacian((6, 6, 6))).method
    'cg'
    """
    room, trues = _Watched(A, np.ones(A.n), rtol), [np.sqrt(A.n)]
    found = solver.pcg(room, rtol, 0.0, None, lambda x: trues.append(np.linalg.norm(room.b - A @ x)))
    notes = list(zip(range(len(trues)), found.residual_norms, trues, strict=True))
    return _study(CG, 1, A, notes, [], found, cost.pcg(A.n).bytes * found.iterations, rtol, None)


def studies(sizes=(12, 20), bases=BASES, steps=(4, 8, 16), *, rtol=1e-10) -> dict:
    """Return a nested dict of studies: ``found[size][basis][s]``, where size is the edge of the grid.

    Examples
    --------
    >>> found = studies((6,), ("Chebyshev",), (2, 4))
    >>> found[6]["Chebyshev"][4].s
    4
    """
    found = {}
    for edge in sizes:
        A = Laplacian((edge, edge, edge))
        cg = conjugate_gradient(A, rtol=rtol)
        found[edge] = {basis: {s: study(A, basis, s, rtol=rtol, cg=cg) for s in steps} for basis in bases}
    return found


def _study(method, s, A, notes, conditions, found, moved, rtol, cg):
    iterations, updated, true = zip(*notes, strict=True)
    norm = np.sqrt(A.n)
    of_basis, of_w = zip(*conditions, strict=True) if conditions else ((), ())
    return Study(
        method, s, A.n, iterations, tuple(u / norm for u in updated), tuple(t / norm for t in true), of_basis, of_w,
        found.extra["reductions"], round(moved), rtol, found.converged, found.reason, cg,
    )  # fmt: skip


def _condition(H) -> float:
    d = np.diag(H)
    if not (np.isfinite(H).all() and (d > 0).all()):
        return float("inf")
    return projection.condition(H / np.sqrt(np.outer(d, d)))
