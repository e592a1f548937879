"""S-step conjugate gradient by CuPy: the work of a pass in calls of cuBLAS.

For cuBLAS, a block is a matrix whose columns are the vectors: the transpose of a C-contiguous array of shape (2 s, n).
In single precision, cuBLAS also sums in single precision. Arguments and equations are those of ``reference.py``.
"""

import sys

import numpy as np

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error

from cupy import cublas

from course_pkg.core import Solution
from course_pkg.core.checks import require_arrays
from course_pkg.core.systems import check_stops
from course_pkg.precond import cycle
from course_pkg.precond import gpu_cupy as precond
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.gpu_cupy import matrix, spmv
from course_pkg.sstep import solver, stable
from course_pkg.sstep.checks import check_block, check_gram, check_moments, check_recurrence, check_small
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.room import Room
from course_pkg.stencil.gpu_cupy import laplacian_elementwise

_recurrence = cp.ElementwiseKernel(
    "T previous, T current, T product, T a, T c, T g", "T out",
    "T found = a * (product - c * current); out = g != 0 ? found - g * previous : found", "recurrence",
)  # fmt: skip


def recurrence(previous, current, product, a, c, g, out):
    """Compute ``out = a (product - c current) - g previous`` by one element-wise kernel.

    Examples
    --------
    >>> out = cp.empty(2)
    >>> recurrence(cp.ones(2), cp.ones(2), cp.array([3.0, 5.0]), 2.0, 1.0, 1.0, out); out
    array([3., 7.])
    """
    check_recurrence(previous, current, product, out, device=True)
    _recurrence(previous, current, product, *map(out.dtype.type, (a, c, g)), out)


def laplacian_recurrence(previous, current, a, c, g, product, out=None):
    """Compute ``product = A current``, and ``out`` from it by a second kernel.

    Examples
    --------
    >>> u = cp.ones((3, 3, 4))
    >>> product, out = cp.empty_like(u), cp.empty_like(u)
    >>> laplacian_recurrence(u, u, 1.0, 1.0, 0.0, product, out); out[1, 1]
    array([ 0., -1., -1.,  0.])
    """
    laplacian_elementwise(current, product)
    if out is not None:
        recurrence(previous, current, product, a, c, g, out)


def moments(block, r, out):
    """Compute 2 s + 1 sums by three calls: two products of a matrix and a vector, and a dot product.

    Examples
    --------
    >>> out = cp.empty(3)
    >>> moments(cp.array([[1.0, 1.0], [2.0, 4.0]]), cp.array([1.0, 3.0]), out); out
    array([ 4.,  6., 10.])
    """
    s = check_moments(block, r, out, device=True)
    out[:s], out[s : 2 * s], out[2 * s] = block[:s] @ r, block[:s] @ block[-1], cp.dot(r, r)


def gram(old, fresh, r, out):
    """Compute the Gram matrix of a pass: a product of matrices for each pair of halves, and products with r.

    Examples
    --------
    >>> out = cp.zeros((2, 2))
    >>> gram(None, cp.array([[1.0, 1.0], [2.0, 4.0]]), cp.array([1.0, 3.0]), out); out
    array([[ 6.,  4.],
           [ 0., 10.]])
    """
    s = check_gram(old, fresh, r, out, device=True)
    blocks = [b for b in (old, fresh) if b is not None]
    for i, left in enumerate(blocks):
        rows = slice(i * s, (i + 1) * s)
        for j, right in list(enumerate(blocks))[i:]:
            out[rows, j * s : (j + 1) * s] = cublas.gemm("N", "T", left[:s], right[s:])
        out[rows, -1] = left[:s] @ r
    out[-1, -1] = cp.dot(r, r)
    for j in range(len(out)):  # so the lower triangle is zero, as with the other libraries
        out[j + 1 :, j] = 0


def update_block(old, fresh, beta, alpha, x, r, out):
    """Compute ``P = Q + P_old beta`` by a product for each half, then ``x += P alpha`` and ``r -= A P alpha``.

    Examples
    --------
    >>> old, fresh, x, r = cp.ones((2, 3)), cp.ones((2, 3)), cp.zeros(3), cp.ones(3)
    >>> update_block(old, fresh, cp.array([[2.0]]), cp.array([0.5]), x, r, fresh); fresh[0], x
    (array([3., 3., 3.]), array([1.5, 1.5, 1.5]))
    """
    s = check_block(old, r, fresh=fresh, out=out, x=x, device=True)
    check_small(s, device=True, beta=beta, alpha=alpha)
    beta, alpha = _small(beta, alpha, dtype=x.dtype)
    if out is old:
        old = old.copy()
    if out is not fresh:
        out[...] = fresh
    for half, target, sign in ((slice(0, s), x, 1.0), (slice(s, None), r, -1.0)):
        cublas.gemm("N", "N", old[half].T, beta, out=out[half].T, alpha=1.0, beta=1.0)
        cublas.gemv("N", sign, out[half].T, alpha, 1.0, target)


def project_block(old, fresh, C, a, x, r, out):
    """Compute ``Z C`` for both halves of the blocks, ``x += Z a`` and ``r -= A Z a``, by eight calls.

    If ``out`` is one of the blocks, this also needs a copy.

    Examples
    --------
    >>> old, fresh, x, r = cp.ones((2, 3)), cp.ones((2, 3)), cp.zeros(3), cp.ones(3)
    >>> project_block(old, fresh, cp.array([[2.0], [1.0]]), cp.array([0.5, 0.25]), x, r, fresh); fresh[0], x
    (array([3., 3., 3.]), array([0.75, 0.75, 0.75]))
    """
    s = check_block(old, r, fresh=fresh, out=out, x=x, device=True)
    check_small(s, device=True, C=C, a=a)
    C, a = _small(C, a, dtype=x.dtype)
    above, below = (cp.asfortranarray(part) for part in (C[:s], C[s:]))
    for half, target, sign in ((slice(0, s), x, 1.0), (slice(s, None), r, -1.0)):
        cublas.gemv("N", sign, old[half].T, a[:s], 1.0, target)
        cublas.gemv("N", sign, fresh[half].T, a[s:], 1.0, target)
        new = cp.empty_like(out[half]) if out is old or out is fresh else out[half]
        cublas.gemm("N", "N", old[half].T, above, out=new.T, alpha=1.0, beta=0.0)
        cublas.gemm("N", "N", fresh[half].T, below, out=new.T, alpha=1.0, beta=1.0)
        if out is old or out is fresh:
            out[half] = new


def _small(*coefficients, dtype):
    return [cp.asfortranarray(c.astype(dtype)) for c in coefficients]


class _CupyRoom(Room):
    """The vectors of a solve as CuPy arrays; ``sstep/room.py`` says what a room is."""

    def __init__(self, ops, A, b, x0, M, rtol, atol, maxiter):
        self.host_rows = A
        A = matrix(A) if isinstance(A, Csr) else A
        M = None if M is None else precond.on_cupy(M)
        super().__init__(ops, A, b, x0, M, rtol, atol, maxiter)

    def check(self, b, x0, rtol, atol, maxiter) -> None:
        check_stops(rtol, atol, maxiter)
        require_arrays(device=True, b=b, **({} if x0 is None else {"x0": x0}))

    def zeros(self, shape, dtype=None):
        return cp.zeros(shape, dtype or self.dtype)

    def take(self, array):
        return cp.array(array).reshape(-1)

    def to_host(self, array) -> np.ndarray:
        return array.get()

    def put(self, array):
        return cp.asarray(np.ascontiguousarray(array, np.float64))

    @property
    def rows(self):
        if isinstance(self.host_rows, Laplacian):
            return self.host_rows
        return Csr(*(cp.asnumpy(p) for p in (self.A.indptr, self.A.indices, self.A.data)), self.A.shape)

    def multiply(self, v, out) -> None:
        if isinstance(self.A, Laplacian):
            super().multiply(v, out)
            return
        self.products += 1
        spmv(self.A, v, out)

    def precondition(self, v, out) -> None:
        cycle.apply(precond, self.M, v, out)

    def dots(self, *pairs) -> list[float]:
        self.reductions += 1
        return cp.stack([cp.dot(u, v).astype(np.float64) for u, v in pairs]).get().tolist()

    def residual(self, x, out) -> float:
        self.multiply(x, out)
        self.combine(1.0, self.b, -1.0, out, out)
        return float(np.sqrt(self.dots((out, out))[0]))


def _room(*arguments) -> Room:
    return _CupyRoom(sys.modules[__name__], *arguments)


def pcg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by preconditioned conjugate gradients; A is a Laplacian, or a Csr in GPU memory.

    Examples
    --------
    >>> found = pcg(Laplacian((4, 4, 4)), cp.ones((4, 4, 4)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    return solver.pcg(_room(A, b, x0, M, rtol, atol, maxiter), rtol, atol, maxiter, callback)


def pfcg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by flexible conjugate gradients; arguments as in :func:`pcg`.

    Examples
    --------
    >>> found = pfcg(Laplacian((4, 4, 4)), cp.ones((4, 4, 4)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    return solver.pfcg(_room(A, b, x0, M, rtol, atol, maxiter), rtol, atol, maxiter, callback)


def pcg_sstep_moments(
    A, b, x0=None, *, s=4, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None
) -> Solution:
    """Solve ``A x = b`` by the s-step method of Chronopoulos and Gear; arguments as in :func:`pcg`.

    Examples
    --------
    >>> found = pcg_sstep_moments(Laplacian((4, 4, 4)), cp.ones((4, 4, 4)), s=2)
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    return solver.moments(_room(A, b, x0, M, rtol, atol, maxiter), s, rtol, atol, maxiter, callback)


def pcg_sstep(
    A,
    b,
    x0=None,
    *,
    s=8,
    basis="chebyshev",
    bounds=None,
    replace=0,
    rtol=1e-6,
    atol=0.0,
    maxiter=None,
    M=None,
    callback=None,
) -> Solution:
    """Solve ``A x = b`` by the stable s-step method; arguments as in :func:`pcg` and ``reference.pcg_sstep``.

    Examples
    --------
    >>> found = pcg_sstep(Laplacian((4, 4, 4)), cp.ones((4, 4, 4)), s=2)
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    room = _room(A, b, x0, M, rtol, atol, maxiter)
    return stable.solve(room, s, basis, bounds, replace, rtol, atol, maxiter, callback)
