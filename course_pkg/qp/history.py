"""The plain method, iteration by iteration: x, its zeros, the residual, F, and the bytes of Q; host code.

The active-set explorer shows it. Nothing is measured: the bytes are computed from the places of the zeros.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.core.access import SECTOR_BYTES
from course_pkg.core.checks import require_count
from course_pkg.qp.problem import QuadraticProblem
from course_pkg.qp.reference import pqp, starting_guess

ZERO, FREE, ABSORBED = 0, 1, 2  # x_i = 0 as in the solution; x_i > 0; x_i = 0, but not in the solution
ROUNDING = 1e-9  # times the largest number of its vector: what is smaller counts as 0


@dataclass(frozen=True, eq=False)
class History:
    """What an explorer shows of a solve; the first row of each array is the start.

    Attributes
    ----------
    x : ndarray, shape (iterations + 1, n)
    states : ndarray of int8, shape (iterations + 1, n)
        ``ZERO``, ``FREE`` or ``ABSORBED``.
    growing : ndarray of int, shape (iterations + 1,)
        Number of zeros whose gradient is negative: those that a check of the gradient finds.
    kkt, objective : ndarray, shape (iterations + 1,)
    bytes_of_q : dict of str to ndarray, shape (iterations + 1,)
        Bytes of Q that an update of this x reads, for each way of treating zeros.
    shape : tuple of int
        ``(n,)``, or the rows and columns of a picture whose pixels are x.

    Examples
    --------
    >>> from course_pkg.qp.problem import problem
    >>> seen = history(problem("obstacle_1d", 64), 100)
    >>> seen.x.shape, [int((seen.states[100] == s).sum()) for s in (ZERO, FREE, ABSORBED)]
    ((101, 64), [2, 32, 30])
    """

    x: np.ndarray
    states: np.ndarray
    growing: np.ndarray
    kkt: np.ndarray
    objective: np.ndarray
    bytes_of_q: dict[str, np.ndarray]
    shape: tuple[int, ...]


def history(problem: QuadraticProblem, iterations: int, *, readmit=False, shape=None, **options) -> History:
    """Run the plain method and return what happened in each iteration.

    Parameters
    ----------
    problem : QuadraticProblem
        Host memory.
    iterations : int
        Most iterations; fewer if the solution is found.
    readmit : bool
        True to let zeros grow again whose gradient is negative.
    shape : tuple of int, optional
        Rows and columns, if the unknowns are the pixels of a picture.
    **options
        Further ones of :func:`~course_pkg.qp.reference.pqp`, such as ``shift`` and ``x0``.

    Raises
    ------
    CourseError
        If ``iterations`` is not a count, or an option is wrong.

    Examples
    --------
    >>> from course_pkg.qp.problem import problem
    >>> plain, mended = (history(problem("obstacle_1d", 64), 200, readmit=r) for r in (False, True))
    >>> [int((h.states[-1] == ABSORBED).sum()) for h in (plain, mended)]
    [30, 12]
    """
    require_count(iterations=iterations)
    Q, h = problem.Q, problem.h
    x0 = options.pop("x0", None)
    seen = [starting_guess(Q, h) if x0 is None else x0.copy()]
    done = pqp(
        Q,
        h,
        seen[0],
        maxiter=iterations,
        accelerate=False,
        readmit=readmit,
        callback=lambda x: seen.append(x.copy()),
        **options,
    )
    solution = pqp(Q, h, rtol=ROUNDING).x
    x = np.stack(seen)
    active, gradients = x > 0, x @ Q + h  # Q is symmetric
    wrong = ~active & (solution > ROUNDING * solution.max())
    return History(
        x,
        np.where(active, FREE, np.where(wrong, ABSORBED, ZERO)).astype(np.int8),
        (~active & (gradients < -ROUNDING * np.abs(h).max())).sum(axis=1),
        np.array(done.residual_norms),
        np.array(done.extra["objectives"]),
        bytes_of_q(active, Q.dtype.itemsize),
        shape or h.shape,
    )


def bytes_of_q(active, itemsize: int = 8) -> dict[str, np.ndarray]:
    """Return the bytes of Q that an update reads, for each row of ``active``, which says which x_i are not 0.

    Memory transfers whole sectors. So a list of the active unknowns saves whole rows; within a row, it saves only
    sectors without any active column. A copy of Q that holds active rows and columns alone has no such waste.

    Examples
    --------
    >>> bytes_of_q(np.array([[True, False, False, False, False, False, False, True]]))
    {'all of Q': array([512]), 'by a list': array([128]), 'in a dense copy': array([32])}
    """
    many, n = active.shape
    each = SECTOR_BYTES // itemsize  # entries of a sector; a row begins where a sector does if each divides n
    padded = np.zeros((many, -(-n // each) * each), bool)
    padded[:, :n] = active
    rows, sectors = active.sum(axis=1), padded.reshape(many, -1, each).any(axis=2).sum(axis=1)
    return {
        "all of Q": np.full(many, n * n * itemsize),
        "by a list": rows * sectors * SECTOR_BYTES,
        "in a dense copy": rows * rows * itemsize,
    }
