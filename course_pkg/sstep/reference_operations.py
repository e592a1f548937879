"""The operations of s-step conjugate gradient in plain NumPy. Tests compare others with them.

A pass does the work of s iterations with one reduction. It works on *blocks* of 2 s vectors of n numbers: row j of a
block is Q_j, and row s + j is A Q_j. Two blocks are kept: ``old`` from the last pass, and ``fresh``.

====================  ==================================================================================
operation             what it does, for every point
====================  ==================================================================================
laplacian_recurrence  product = A current, out = a (product - c current) - g previous; A the Laplacian
recurrence            out = a (product - c current) - g previous; the product is an argument
moments               2 s + 1 sums: Q_k·r, Q_k·A Q_{s-1}, r·r
gram                  the sums of all Z_i·A Z_j, Z_i·r and r·r, where Z are the vectors of both blocks
update_block          out = P = Q + P_old beta (Q fresh, P_old old); x += P alpha, r -= A P alpha
project_block         out = Z C; x += Z a, r -= A Z a
====================  ==================================================================================

Blocks, x and r are all float64 or all float32; sums and coefficients are float64. ``out`` may be ``fresh``
or ``old``, because each point is read before it is written.
"""

import numpy as np

from course_pkg.sstep.checks import check_block, check_gram, check_moments, check_recurrence
from course_pkg.stencil import reference as stencil


def recurrence(previous, current, product, a, c, g, out):
    """Compute ``out = a (product - c current) - g previous``: the next vector of a basis.

    Parameters
    ----------
    previous, current, product, out : ndarray, of one shape
        ``previous`` is not read if g is 0. ``out`` may be one of the others.
    a, c, g : float

    Examples
    --------
    >>> out = np.empty(2)
    >>> recurrence(np.ones(2), np.ones(2), np.array([3.0, 5.0]), 2.0, 1.0, 1.0, out); out
    array([3., 7.])
    """
    check_recurrence(previous, current, product, out, device=False)
    real = out.dtype.type
    found = real(a) * (product - real(c) * current)
    out[...] = found if g == 0 else found - real(g) * previous


def laplacian_recurrence(previous, current, a, c, g, product, out=None):
    """Compute ``product = A current`` and ``out = a (product - c current) - g previous``, A the 7-point Laplacian.

    Parameters
    ----------
    previous, current, product, out : ndarray, shape (nz, ny, nx)
        Without ``out``, only the product is computed, and ``previous`` is not read.
    a, c, g : float

    Examples
    --------
    >>> u = np.ones((3, 3, 3))
    >>> product, out = np.empty_like(u), np.empty_like(u)
    >>> laplacian_recurrence(u, u, 1.0, 1.0, 0.0, product, out); product[1, 1], out[1, 1]
    (array([1., 0., 1.]), array([ 0., -1.,  0.]))
    """
    stencil.laplacian(current, product)
    if out is not None:
        recurrence(previous, current, product, a, c, g, out)


def moments(block, r, out):
    """Compute 2 s + 1 sums: ``out[k] = Q_k·r``, ``out[s + k] = Q_k·A Q_{s-1}``, ``out[2 s] = r·r``.

    For the monomial basis, the first 2 s are the moments of r. The last sum gives the norm of the residual.

    Parameters
    ----------
    block : ndarray, shape (2 s, n)
    r : ndarray, shape (n,)
    out : ndarray, shape (2 s + 1,), float64

    Examples
    --------
    >>> out = np.empty(3)
    >>> moments(np.array([[1.0, 1.0], [2.0, 4.0]]), np.array([1.0, 3.0]), out); out
    array([ 4.,  6., 10.])
    """
    s = check_moments(block, r, out, device=False)
    Q, last, r = block[:s].astype(np.float64), block[-1].astype(np.float64), r.astype(np.float64)
    out[:s], out[s : 2 * s], out[2 * s] = Q @ r, Q @ last, r @ r


def gram(old, fresh, r, out):
    """Compute the sums of a pass in the upper triangle of ``out``: ``Z_i·A Z_j``, ``Z_i·r`` and ``r·r``.

    Z are the s vectors of ``old`` followed by the s vectors of ``fresh``; without ``old``, only those of ``fresh``. The
    last column holds the sums with r. Elements below the diagonal are not written: the matrix is symmetric.

    Parameters
    ----------
    old, fresh : ndarray, shape (2 s, n)
        ``old`` may be None.
    r : ndarray, shape (n,)
    out : ndarray, shape (m + 1, m + 1), float64
        m is 2 s, or s without ``old``.

    Examples
    --------
    >>> out = np.zeros((2, 2))
    >>> gram(None, np.array([[1.0, 1.0], [2.0, 4.0]]), np.array([1.0, 3.0]), out); out
    array([[ 6.,  4.],
           [ 0., 10.]])
    """
    s = check_gram(old, fresh, r, out, device=False)
    blocks = [b for b in (old, fresh) if b is not None]
    Z = np.concatenate([b[:s] for b in blocks] + [r[None]]).astype(np.float64)
    AZ = np.concatenate([b[s:] for b in blocks] + [r[None]]).astype(np.float64)
    upper = np.triu_indices(len(Z))
    out[upper] = (Z @ AZ.T)[upper]


def update_block(old, fresh, beta, alpha, x, r, out):
    """Compute ``P = Q + P_old beta`` for both halves of a block; then ``x += P alpha`` and ``r -= A P alpha``.

    Parameters
    ----------
    old, fresh, out : ndarray, shape (2 s, n)
    beta : ndarray, shape (s, s), float64
        Column j says how much of each old vector is added to fresh vector j.
    alpha : ndarray, shape (s,), float64
    x, r : ndarray, shape (n,)

    Examples
    --------
    >>> old, fresh, x, r = np.ones((2, 3)), np.ones((2, 3)), np.zeros(3), np.ones(3)
    >>> update_block(old, fresh, np.array([[2.0]]), np.array([0.5]), x, r, fresh); fresh[0], x, r
    (array([3., 3., 3.]), array([1.5, 1.5, 1.5]), array([-0.5, -0.5, -0.5]))
    """
    s = check_block(old, r, fresh=fresh, out=out, x=x, device=False)
    for half, target, sign in ((slice(0, s), x, 1), (slice(s, None), r, -1)):
        new = fresh[half] + np.asarray(beta).T @ old[half]
        target += (sign * (np.asarray(alpha) @ new)).astype(target.dtype)
        out[half] = new


def project_block(old, fresh, C, a, x, r, out):
    """Compute ``Z C`` for both halves, where Z are the vectors of both blocks; ``x += Z a`` and ``r -= A Z a``.

    Parameters
    ----------
    old, fresh, out : ndarray, shape (2 s, n)
    C : ndarray, shape (2 s, s), float64
        Its first s rows belong to ``old``.
    a : ndarray, shape (2 s,), float64
    x, r : ndarray, shape (n,)

    Examples
    --------
    >>> old, fresh, x, r = np.ones((2, 3)), np.ones((2, 3)), np.zeros(3), np.ones(3)
    >>> project_block(old, fresh, np.array([[2.0], [1.0]]), np.array([0.5, 0.25]), x, r, fresh); fresh[0], x, r
    (array([3., 3., 3.]), array([0.75, 0.75, 0.75]), array([0.25, 0.25, 0.25]))
    """
    s = check_block(old, r, fresh=fresh, out=out, x=x, device=False)
    C, a = np.asarray(C), np.asarray(a)
    for half, target, sign in ((slice(0, s), x, 1), (slice(s, None), r, -1)):
        new = C[:s].T @ old[half] + C[s:].T @ fresh[half]
        target += (sign * (a[:s] @ old[half] + a[s:] @ fresh[half])).astype(target.dtype)
        out[half] = new
