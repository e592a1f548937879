"""A stream with few threads: how bandwidth depends on the number of threads and on the bytes that each has in flight.

Each thread steps through the grid by the number of all threads.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.core.limits import MOST_THREADS
from course_pkg.device.pairs import load_pair, store_pair
from course_pkg.stencil.gpu_numba.indexing import flattened

THREADS_STRIDED = 64


@cuda.jit
def centre_strided_kernel(u, out):
    """As centre_flat, but with any number of threads, each of which takes many points."""
    six = u.dtype.type(6)
    for c in range(cuda.grid(1), u.size, cuda.gridsize(1)):
        out[c] = six * u[c]


def centre_strided(u, out, blocks, threads_per_block=THREADS_STRIDED):
    """Compute ``out = 6 u`` by ``blocks`` blocks; a thread takes every n-th point, where n is the number of threads.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> centre_strided(u, out, blocks=1); out.copy_to_host()[1, 1]
    array([6., 6., 6., 6.])
    """
    _launch(centre_strided_kernel, u, out, blocks, threads_per_block)


@cuda.jit
def centre_strided_pairs_kernel(u, out):
    """As centre_strided, but a thread requests two points at a time: twice the bytes in flight."""
    six = u.dtype.type(6)
    for c in range(2 * cuda.grid(1), u.size, 2 * cuda.gridsize(1)):
        first, second = load_pair(u, np.uint32(c))
        store_pair(out, np.uint32(c), six * first, six * second)


def centre_strided_pairs(u, out, blocks, threads_per_block=THREADS_STRIDED):
    """Compute ``out = 6 u`` by ``blocks`` blocks, two points at a time; nx must be even.

    Examples
    --------
    >>> u, out = cuda.to_device(np.ones((3, 3, 4))), cuda.device_array((3, 3, 4))
    >>> centre_strided_pairs(u, out, blocks=1); out.copy_to_host()[1, 1]
    array([6., 6., 6., 6.])
    """
    _launch(centre_strided_pairs_kernel, u, out, blocks, threads_per_block, width=2)


def _launch(kernel, u, out, blocks, threads_per_block, width=1):
    u_flat, _, out_flat = flattened(u, out, width)
    require_count(blocks=blocks, threads_per_block=threads_per_block)
    if blocks < 1 or not 1 <= threads_per_block <= MOST_THREADS:
        raise CourseError(
            f"blocks is {blocks} and threads_per_block {threads_per_block}: pass at least one block of 1 to "
            f"{MOST_THREADS} threads."
        )
    kernel[blocks, threads_per_block](u_flat, out_flat)
