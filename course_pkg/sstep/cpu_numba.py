"""S-step conjugate gradient by compiled loops on all cores.

Blocks are cut into chunks of points. A chunk stays in a core's cache, so each vector comes from memory only once. The
Gram matrix of a chunk is a product of small matrices by BLAS. Arguments and equations are those of ``reference.py``.
"""

import sys

import numpy as np
from numba import prange

from course_pkg.core import Solution
from course_pkg.core.parallel import parallel
from course_pkg.precond import cpu_numba as precond
from course_pkg.sstep import solver, stable
from course_pkg.sstep.checks import check_block, check_gram, check_moments, check_recurrence, check_small
from course_pkg.sstep.room import Room, room_for
from course_pkg.stencil.cpu_numba import laplacian

CHUNK = 512  # points
CHUNK_BLAS = 4096


@parallel()
def _recurrence(previous, current, product, a, c, g, out):
    for i in prange(out.size):
        found = a * (product[i] - c * current[i])
        out[i] = found - g * previous[i] if g != 0 else found


def recurrence(previous, current, product, a, c, g, out):
    """Compute ``out = a (product - c current) - g previous``.

    Examples
    --------
    >>> out = np.empty(2)
    >>> recurrence(np.ones(2), np.ones(2), np.array([3.0, 5.0]), 2.0, 1.0, 1.0, out); out
    array([3., 7.])
    """
    check_recurrence(previous, current, product, out, device=False)
    flat = [v.reshape(-1) for v in (previous, current, product, out)]
    _recurrence(*flat[:3], *map(out.dtype.type, (a, c, g)), flat[3])


def laplacian_recurrence(previous, current, a, c, g, product, out=None):
    """Compute ``product = A current`` and ``out = a (product - c current) - g previous``: two sweeps.

    Examples
    --------
    >>> u = np.ones((3, 3, 3))
    >>> product, out = np.empty_like(u), np.empty_like(u)
    >>> laplacian_recurrence(u, u, 1.0, 1.0, 0.0, product, out); product[1, 1], out[1, 1]
    (array([1., 0., 1.]), array([ 0., -1.,  0.]))
    """
    laplacian(current, product)
    if out is not None:
        recurrence(previous, current, product, a, c, g, out)


@parallel()
def _moments(block, r, sums):
    chunks, s = sums.shape[0], block.shape[0] // 2
    n = r.size
    for chunk in prange(chunks):
        first, last = chunk * n // chunks, (chunk + 1) * n // chunks
        for k in range(s):
            along, across = 0.0, 0.0
            for i in range(first, last):
                q = np.float64(block[k, i])
                along += q * np.float64(r[i])
                across += q * np.float64(block[2 * s - 1, i])
            sums[chunk, k], sums[chunk, s + k] = along, across
        total = 0.0
        for i in range(first, last):
            total += np.float64(r[i]) * np.float64(r[i])
        sums[chunk, 2 * s] = total


def moments(block, r, out):
    """Compute 2 s + 1 sums: ``out[k] = Q_k·r``, ``out[s + k] = Q_k·A Q_{s-1}``, ``out[2 s] = r·r``; one sweep.

    Examples
    --------
    >>> out = np.empty(3)
    >>> moments(np.array([[1.0, 1.0], [2.0, 4.0]]), np.array([1.0, 3.0]), out); out
    array([ 4.,  6., 10.])
    """
    s = check_moments(block, r, out, device=False)
    sums = np.empty((-(-r.size // CHUNK), 2 * s + 1))
    _moments(block, r, sums)
    out[:] = sums.sum(axis=0)


def gram(old, fresh, r, out):
    """Compute the Gram matrix of a pass in the upper triangle of ``out``, by one sweep over chunks of points.

    Examples
    --------
    >>> out = np.zeros((2, 2))
    >>> gram(None, np.array([[1.0, 1.0], [2.0, 4.0]]), np.array([1.0, 3.0]), out); out
    array([[ 6.,  4.],
           [ 0., 10.]])
    """
    s = check_gram(old, fresh, r, out, device=False)
    blocks = [b for b in (old, fresh) if b is not None]
    count, total = out.shape[0], np.zeros_like(out)
    Z, AZ = (np.empty((count, CHUNK_BLAS)) for _ in range(2))
    for first in range(0, r.size, CHUNK_BLAS):
        points = slice(first, first + CHUNK_BLAS)
        width = r[points].size
        for k, block in enumerate(blocks):
            Z[k * s : (k + 1) * s, :width] = block[:s, points]
            AZ[k * s : (k + 1) * s, :width] = block[s:, points]
        Z[-1, :width] = AZ[-1, :width] = r[points]
        total += Z[:, :width] @ AZ[:, :width].T
    upper = np.triu_indices(count)
    out[upper] = total[upper]


@parallel()
def _combine(old, fresh, C, a, along_new, alpha, x, r, out):
    s = old.shape[0] // 2
    n = x.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        first, last = chunk * CHUNK, min(n, (chunk + 1) * CHUNK)
        made, move = np.empty((s, CHUNK)), np.empty(CHUNK)
        for half in range(2):
            move[:] = 0.0
            for j in range(s):
                for i in range(last - first):
                    made[j, i] = 0.0
                for k in range(s):
                    from_old, from_fresh = C[k, j], C[s + k, j]
                    if from_fresh == 0.0:
                        for i in range(last - first):
                            made[j, i] += from_old * old[half * s + k, first + i]
                    else:
                        for i in range(last - first):
                            made[j, i] += (
                                from_old * old[half * s + k, first + i]
                                + from_fresh * fresh[half * s + k, first + i]
                            )
            for k in range(s):
                for i in range(last - first):
                    if along_new:
                        move[i] += alpha[k] * made[k, i]
                    else:
                        move[i] += (
                            a[k] * old[half * s + k, first + i] + a[s + k] * fresh[half * s + k, first + i]
                        )
            for j in range(s):
                for i in range(last - first):
                    out[half * s + j, first + i] = made[j, i]
            for i in range(last - first):
                if half == 0:
                    x[first + i] += move[i]
                else:
                    r[first + i] -= move[i]


def update_block(old, fresh, beta, alpha, x, r, out):
    """Compute ``P = Q + P_old beta`` for both halves of a block; then ``x += P alpha`` and ``r -= A P alpha``.

    Examples
    --------
    >>> old, fresh, x, r = np.ones((2, 3)), np.ones((2, 3)), np.zeros(3), np.ones(3)
    >>> update_block(old, fresh, np.array([[2.0]]), np.array([0.5]), x, r, fresh); fresh[0], x, r
    (array([3., 3., 3.]), array([1.5, 1.5, 1.5]), array([-0.5, -0.5, -0.5]))
    """
    s = check_block(old, r, fresh=fresh, out=out, x=x, device=False)
    check_small(s, device=False, beta=beta, alpha=alpha)
    C = np.concatenate([beta, np.eye(s)])
    _combine(old, fresh, C, np.zeros(2 * s), True, alpha, x, r, out)


def project_block(old, fresh, C, a, x, r, out):
    """Compute ``Z C`` for both halves, where Z are the vectors of both blocks; ``x += Z a`` and ``r -= A Z a``.

    Examples
    --------
    >>> old, fresh, x, r = np.ones((2, 3)), np.ones((2, 3)), np.zeros(3), np.ones(3)
    >>> project_block(old, fresh, np.array([[2.0], [1.0]]), np.array([0.5, 0.25]), x, r, fresh); fresh[0], x, r
    (array([3., 3., 3.]), array([0.75, 0.75, 0.75]), array([0.25, 0.25, 0.25]))
    """
    s = check_block(old, r, fresh=fresh, out=out, x=x, device=False)
    check_small(s, device=False, C=C, a=a)
    _combine(old, fresh, C, a, False, np.zeros(s), x, r, out)


class _CpuRoom(Room):
    """A room whose preconditioners run on all cores."""

    preconditioners = precond


def _room(*arguments) -> Room:
    return room_for(_CpuRoom, sys.modules[__name__], *arguments)


def pcg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by preconditioned conjugate gradients; arguments as in ``reference.pcg``.

    Examples
    --------
    >>> from course_pkg.sstep.problem import Laplacian
    >>> found = pcg(Laplacian((4, 4, 4)), np.ones((4, 4, 4)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    return solver.pcg(_room(A, b, x0, M, rtol, atol, maxiter), rtol, atol, maxiter, callback)


def pfcg(A, b, x0=None, *, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None) -> Solution:
    """Solve ``A x = b`` by flexible conjugate gradients; arguments as in ``reference.pfcg``.

    Examples
    --------
    >>> from course_pkg.sstep.problem import Laplacian
    >>> found = pfcg(Laplacian((4, 4, 4)), np.ones((4, 4, 4)))
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    return solver.pfcg(_room(A, b, x0, M, rtol, atol, maxiter), rtol, atol, maxiter, callback)


def pcg_sstep_moments(
    A, b, x0=None, *, s=4, rtol=1e-6, atol=0.0, maxiter=None, M=None, callback=None
) -> Solution:
    """Solve ``A x = b`` by the s-step method of Chronopoulos and Gear; arguments as in the reference.

    Examples
    --------
    >>> from course_pkg.sstep.problem import Laplacian
    >>> found = pcg_sstep_moments(Laplacian((4, 4, 4)), np.ones((4, 4, 4)), s=2)
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
    """Solve ``A x = b`` by the stable s-step method; arguments as in ``reference.pcg_sstep``.

    Examples
    --------
    >>> from course_pkg.sstep.problem import Laplacian
    >>> found = pcg_sstep(Laplacian((4, 4, 4)), np.ones((4, 4, 4)), s=2)
    >>> found.status.name, found.iterations
    ('CONVERGED', 4)
    """
    room = _room(A, b, x0, M, rtol, atol, maxiter)
    return stable.solve(room, s, basis, bounds, replace, rtol, atol, maxiter, callback)
