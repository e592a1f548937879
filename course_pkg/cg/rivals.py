"""Conjugate gradient by other libraries: SciPy on a CPU, CuPy and JAX on a GPU; with a sparse matrix or a stencil.

Each function returns a ``Rival`` for one right-hand side, which starts from x = 0. ``call(maxiter, rtol=0.0)`` runs the
method until ``‖r‖ ≤ rtol ‖b‖``, for at most ``maxiter`` iterations; with ``rtol=0.0`` it always does all of them. JAX
and CuPy are optional; ``course bench cg`` measures those that are installed.
"""

import os

from course_pkg.bench.rival import Rival
from course_pkg.cg.problem import PoissonProblem
from course_pkg.stencil.rivals import of_padded


def scipy_csr(b) -> Rival:
    """Return ``scipy.sparse.linalg.cg`` on a CSR matrix of 32-bit indices; ``b`` is a grid in host memory.

    Examples
    --------
    >>> rival = scipy_csr(np.ones((2, 2, 2)))
    >>> rival.call(1)
    >>> rival.result()[0, 0]  # each point of so small a grid has three neighbours, so x = 1 / (6 - 3)
    array([0.33333333, 0.33333333])
    """
    import scipy
    from scipy.sparse.linalg import cg

    A, last = PoissonProblem(b).matrix(), []

    def call(maxiter, rtol=0.0):
        last[:] = [cg(A, b.reshape(-1), rtol=rtol, atol=0.0, maxiter=maxiter)[0]]

    return Rival(call, lambda: None, lambda: last[0].reshape(b.shape), scipy.__version__)


def cupy_csr(b) -> Rival:
    """Return ``cupyx.scipy.sparse.linalg.cg`` on a CSR matrix of 32-bit indices; ``b`` is a CuPy array."""
    from cupyx.scipy.sparse import csr_matrix

    from course_pkg.cg.gpu_cupy import cp

    host = PoissonProblem(b).matrix()
    parts = tuple(cp.asarray(part) for part in (host.data, host.indices, host.indptr))
    return _cupyx(csr_matrix(parts, shape=host.shape), b)


def cupy_matrix_free(b) -> Rival:
    """Return ``cupyx.scipy.sparse.linalg.cg`` with our CuPy stencil instead of a matrix; ``b`` is a CuPy array."""
    from cupyx.scipy.sparse.linalg import LinearOperator

    from course_pkg.cg.gpu_cupy import cp, matvec

    def multiply(p):
        s = cp.empty_like(p)
        matvec(p.reshape(b.shape), s.reshape(b.shape))
        return s

    return _cupyx(LinearOperator((b.size, b.size), matvec=multiply, dtype=b.dtype), b)


def _cupyx(A, b) -> Rival:
    import inspect

    from cupyx.scipy.sparse.linalg import cg

    from course_pkg.cg.gpu_cupy import cp

    tolerance = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"  # "tol" before CuPy 14
    last = []

    def call(maxiter, rtol=0.0):
        last[:] = [cg(A, b.reshape(-1), **{tolerance: rtol}, atol=0.0, maxiter=maxiter)[0]]

    wait = cp.cuda.Device().synchronize
    return Rival(call, wait, lambda: last[0].reshape(b.shape), cp.__version__)


def jax_slices(b) -> Rival:
    """Return ``jax.scipy.sparse.linalg.cg`` with shifted slices of a padded array instead of a matrix.

    ``b`` is a CuPy array and is not copied. The first call with a pair of ``maxiter`` and ``rtol`` compiles.
    """
    # otherwise JAX takes most of the GPU's memory
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    from jax.scipy.sparse.linalg import cg

    jax.config.update("jax_enable_x64", True)
    grid, last = jax.dlpack.from_dlpack(b), []

    def solve(v, maxiter, rtol):
        return cg(lambda u: of_padded(u, jax.numpy.pad(u, 1)), v, tol=rtol, atol=0.0, maxiter=maxiter)[0]

    compiled = jax.jit(solve, static_argnums=(1, 2))

    def call(maxiter, rtol=0.0):
        last[:] = [compiled(grid, maxiter, rtol)]

    def wait():
        for x in last:
            x.block_until_ready()

    return Rival(call, wait, lambda: _like(b, last[0]), jax.__version__)


def _like(b, x):
    """Return a JAX array as an array of the library of ``b``."""
    import numpy as np

    if isinstance(b, np.ndarray):
        return np.asarray(x)
    from course_pkg.cg.gpu_cupy import cp

    return cp.from_dlpack(x)
