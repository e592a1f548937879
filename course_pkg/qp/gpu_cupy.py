"""Updates and solvers by CuPy: vectors as whole arrays, and products by cuBLAS, which need Q⁺ and Q⁻ apart."""

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error

from course_pkg.core import Solution
from course_pkg.core.checks import require_count
from course_pkg.qp.arrays import Arrays
from course_pkg.qp.batch_gradient import gradients_of_a_batch
from course_pkg.qp.checks import (
    check_options,
    check_problem,
    check_solved_batch,
    check_split_product,
    check_update,
)
from course_pkg.qp.reference import diagonal_shift, starting_guess
from course_pkg.qp.solver import accelerated_gradient, check_stops, minimise
from course_pkg.qp.tuning import MOST_GRADIENT_STEPS

_update_x = cp.ElementwiseKernel(
    "T h, T shift, T x, T plus, T minus",
    "T out, T part",
    """
    T shifted = shift * x, above = max(-h, (T)0) + minus + shifted, below = max(h, (T)0) + plus + shifted;
    part = x * ((T)0.5 * (plus - minus) + h);
    out = x > 0 ? x * (above / below) : (T)0
    """,
    "update_x",
)


def split(Q):
    """Return Q⁺ and Q⁻ as two matrices; make them once, and pass them to many calls.

    Examples
    --------
    >>> split(cp.array([[1.0, -2.0], [-2.0, 4.0]]))[1]
    array([[0., 2.],
           [2., 0.]])
    """
    return cp.maximum(Q, 0), cp.maximum(-Q, 0)


def update(Q, h, shift, x, out, parts, halves=None):
    """Compute one update of x and the parts F_i; ``halves`` are Q⁺ and Q⁻, made here if they are not given.

    Examples
    --------
    >>> Q, h, x = cp.array([[2.0, -1.0], [-1.0, 2.0]]), cp.array([-1.0, 1.0]), cp.ones(2)
    >>> out, parts = cp.empty(2), cp.empty(2)
    >>> update(Q, h, cp.zeros(2), x, out, parts); out, float(parts.sum())
    (array([1.        , 0.33333333]), 1.0)
    """
    check_update(Q, h, shift, x, out, parts, device=True)
    Q_plus, Q_minus = halves or split(Q)
    _update_x(h, shift, x, Q_plus @ x, Q_minus @ x, out, parts)


def update_batch(Q, h, shift, x, out, parts, iterations=1):
    """Compute ``iterations`` updates of each of many problems, by batched products.

    Examples
    --------
    >>> Q, h, x = cp.ones((2, 1, 1)), cp.full((2, 1), -3.0), cp.ones((2, 1))
    >>> out, parts = cp.empty((2, 1)), cp.empty((2, 1))
    >>> update_batch(Q, h, cp.zeros((2, 1)), x, out, parts, iterations=2); out.T
    array([[3., 3.]])
    """
    check_update(Q, h, shift, x, out, parts, device=True, batch=True)
    require_count(iterations=iterations)
    Q_plus, Q_minus = split(Q)
    now = x.copy()
    for _ in range(iterations):
        plus, minus = (cp.matmul(half, now[..., None])[..., 0] for half in (Q_plus, Q_minus))
        _update_x(h, shift, now, plus, minus, out, parts)
        now[...] = out


def split_product(Q, x, out, halves=None):
    """Compute ``out[0] = Q⁺x`` and ``out[1] = Q⁻x``; ``halves`` are Q⁺ and Q⁻, made here if they are not given.

    Examples
    --------
    >>> out = cp.empty((2, 2))
    >>> split_product(cp.array([[2.0, -1.0], [-1.0, 2.0]]), cp.array([1.0, 3.0]), out); out
    array([[2., 6.],
           [3., 1.]])
    """
    check_split_product(Q, x, out, device=True)
    for half, product in zip(halves or split(Q), out, strict=True):
        cp.matmul(half, x, out=product)


def pqp(
    Q,
    h,
    x0=None,
    *,
    rtol=1e-6,
    atol=0.0,
    maxiter=None,
    callback=None,
    shift="descent",
    accelerate=True,
    readmit=True,
) -> Solution:
    """Minimise ``½ xᵀQx + hᵀx`` over x ≥ 0; arguments and result are those of ``reference.pqp``, in GPU memory.

    Each iteration synchronises host and device for its sums.

    Examples
    --------
    >>> found = pqp(cp.array([[2.0, -1.0], [-1.0, 2.0]]), cp.array([-1.0, 1.0]))
    >>> found.status.name, found.x.round(6)
    ('CONVERGED', array([0.5, 0. ]))
    """
    check_problem(Q, h, x0, cp)
    check_stops(rtol, atol)
    check_options(maxiter, accelerate=accelerate, readmit=readmit)
    halves = split(Q)
    start = starting_guess(Q, h, cp) if x0 is None else x0.copy()
    work = Arrays(cp, lambda v: (halves[0] @ v, halves[1] @ v), Q, h, diagonal_shift(Q, shift, cp), start)
    return minimise(work, rtol, atol, maxiter, callback, accelerate, readmit)


def apg(Q, h, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, callback=None) -> Solution:
    """Minimise ``½ xᵀQx + hᵀx`` over x ≥ 0 by accelerated projected gradients; as ``reference.apg``, in GPU memory.

    Examples
    --------
    >>> found = apg(cp.array([[2.0, -1.0], [-1.0, 2.0]]), cp.array([-1.0, 1.0]))
    >>> found.status.name, found.x.round(6)
    ('CONVERGED', array([0.5, 0. ]))
    """
    check_problem(Q, h, x0, cp, positive=False)
    check_stops(rtol, atol)
    check_options(maxiter)
    start = starting_guess(Q, h, cp) if x0 is None else x0.copy()
    return accelerated_gradient(cp, lambda v: Q @ v, h, start, rtol, atol, maxiter, callback)


def apg_batch(Q, h, out, norms, taken, rtol=1e-6, maxiter=MOST_GRADIENT_STEPS):
    """Solve many problems by batched products; as ``reference.apg_batch``, in GPU memory.

    Each step synchronises host and device, to know whether a problem is left.

    Examples
    --------
    >>> Q, h, out = cp.full((2, 1, 1), 2.0), cp.array([[-3.0], [1.0]]), cp.empty((2, 1))
    >>> apg_batch(Q, h, out, cp.empty(2), cp.empty(2, "uint32")); out.T
    array([[1.5, 0. ]])
    """
    check_solved_batch(Q, h, out, norms, taken, rtol, maxiter, device=True)
    gradients_of_a_batch(cp, Q, h, out, norms, taken, rtol, maxiter)
