"""Conjugate gradient by JAX on several GPUs: one process, and arrays that are divided along z.

The program is that for one GPU. XLA divides it among the GPUs, and adds the messages that the shifted slices need
(GSPMD).
"""

import os

from course_pkg.bench.rival import Rival
from course_pkg.core import CourseError
from course_pkg.stencil.rivals import of_padded


def jax_sharded(grid, gpus: int) -> Rival:
    """Return ``jax.scipy.sparse.linalg.cg`` for b = 1 on a grid that is divided among the first GPUs of this host.

    The first call of ``call(maxiter, rtol=0.0)`` with given arguments compiles the solver.

    Raises
    ------
    CourseError
        If there are fewer GPUs, or if the planes cannot be divided evenly, because JAX needs equal parts.
    """
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # as in ``cg/rivals.py``
    import jax
    from jax.scipy.sparse.linalg import cg
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    if len(jax.devices()) < gpus:
        raise CourseError(f"JAX sees {len(jax.devices())} GPUs, not {gpus}.")
    if grid[0] % gpus:
        raise CourseError(f"{grid[0]} planes cannot be divided into {gpus} equal parts.")
    jax.config.update("jax_enable_x64", True)
    parts = NamedSharding(Mesh(jax.devices()[:gpus], ("z",)), PartitionSpec("z"))
    b, last = jax.device_put(jax.numpy.ones(grid), parts), []

    def solve(v, maxiter, rtol):
        return cg(lambda u: of_padded(u, jax.numpy.pad(u, 1)), v, tol=rtol, atol=0.0, maxiter=maxiter)[0]

    compiled = jax.jit(solve, static_argnums=(1, 2), out_shardings=parts)

    def call(maxiter, rtol=0.0):
        last[:] = [compiled(b, maxiter, rtol)]

    def wait():
        for x in last:
            x.block_until_ready()

    return Rival(call, wait, lambda: last[0], jax.__version__)
