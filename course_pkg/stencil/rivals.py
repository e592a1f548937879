"""The Laplacian by libraries that compile array statements for a GPU: JAX and PyTorch.

Both are optional; ``course bench stencil`` measures those that are installed.
"""

import os

from course_pkg.bench.rival import Rival


def jax_slices(u) -> Rival:
    """Return ``jax.jit`` of shifted slices of a padded array; ``u`` is a CuPy array and is not copied."""
    # otherwise JAX takes most of the GPU's memory
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    jax.config.update("jax_enable_x64", True)
    grid, last = jax.dlpack.from_dlpack(u), []
    compiled = jax.jit(lambda v: of_padded(v, jax.numpy.pad(v, 1)))

    def call():
        last[:] = [compiled(grid)]

    def wait():
        for out in last:
            out.block_until_ready()

    return Rival(call, wait, lambda: _from_dlpack(last[0]), jax.__version__)


def torch_slices(u) -> Rival:
    """Return ``torch.compile`` of shifted slices of a padded array; ``u`` is a CuPy array and is not copied."""
    import torch

    grid, last = torch.from_dlpack(u), []
    compiled = torch.compile(lambda v: of_padded(v, torch.nn.functional.pad(v, (1,) * 6)))

    def call():
        last[:] = [compiled(grid)]

    return Rival(call, torch.cuda.synchronize, lambda: _from_dlpack(last[0]), torch.__version__)


def of_padded(v, p):
    """Return the 7-point Laplacian of a grid ``v`` from ``p``, the grid padded by a zero on every side."""
    inner = slice(1, -1)
    x = p[inner, inner, :-2] + p[inner, inner, 2:]
    y = p[inner, :-2, inner] + p[inner, 2:, inner]
    z = p[:-2, inner, inner] + p[2:, inner, inner]
    return 6 * v - x - y - z


def _from_dlpack(array):
    from course_pkg.stencil.gpu_cupy import cp

    return cp.from_dlpack(array)
