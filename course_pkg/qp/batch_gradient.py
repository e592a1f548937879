"""Accelerated projected gradients for many small problems at once, on whole arrays of NumPy or CuPy."""


def gradients_of_a_batch(xp, Q, h, out, norms, taken, rtol, maxiter) -> None:
    """Take steps of all problems together, until the last of them meets the tolerance; a product with all Q each.

    The step length is one over the largest sum of a row of abs(Q), which no eigenvalue exceeds. A problem that has met
    its tolerance keeps its x, though later products still read its Q.

    Examples
    --------
    >>> import numpy as np
    >>> Q, h, out = np.full((2, 1, 1), 2.0), np.array([[-3.0], [1.0]]), np.empty((2, 1))
    >>> gradients_of_a_batch(np, Q, h, out, np.empty(2), np.empty(2, np.uint32), 1e-6, 10)
    >>> out.T
    array([[1.5, 0. ]])
    """
    target = rtol * xp.abs(h).max(axis=1)
    largest = xp.abs(Q).sum(axis=2).max(axis=1)[:, None]
    length = 1 / xp.where(largest > 0, largest, 1)
    x = y = Qx = Qy = xp.zeros_like(h)
    since, running = xp.zeros_like(length), xp.ones_like(length, dtype=bool)
    taken[...] = 0
    for _ in range(maxiter):
        new = xp.maximum(y - length * (Qy + h), 0)
        product = xp.matmul(Q, new[..., None])[..., 0]
        since = xp.where(((y - new) * (new - x)).sum(axis=1, keepdims=True) > 0, 0, since)
        momentum = since / (since + 3)
        y, Qy = new + momentum * (new - x), product + momentum * (product - Qx)
        x, Qx, since = new, product, since + 1
        residual = xp.abs(xp.minimum(x, Qx + h)).max(axis=1)
        norms[...] = xp.where(running[:, 0], residual, norms)
        out[...] = xp.where(running, x, out)
        taken += running[:, 0].astype(taken.dtype)
        running = running & (residual > target)[:, None]
        if not bool(running.any()):
            return
