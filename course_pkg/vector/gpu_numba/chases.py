"""Chains of loads as CUDA kernels: one thread follows the links of a ring, and each load says where the next one reads.

They are no variants of an operation, but an instrument: no load can start before the one before it has answered, so the
time of a step is the time in which a memory answers. A step is one multiply-add, which makes the address, and one load;
we read this in the machine code of both kernels (compute capability 9.0). Links are 32-bit and unsigned, because Numba
would ask of a signed index whether it counts from the end, within the chain.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.vector.checks import check_chase

SHARED_LINKS = 4096  # room of the ring in shared memory: 16 KiB


@cuda.jit
def chase_kernel(ring, steps, at):
    """Follow ``steps`` links in global memory, from where ``at`` says; one thread."""
    i = at[0]
    for _ in range(steps):
        i = ring[i]
    at[0] = i


def chase(ring, steps, at):
    """Follow the links of a ring on the GPU: ``steps`` times ``at[0] = ring[at[0]]``; no synchronisation.

    A second call goes on where the first one stopped. L1 is empty when a kernel starts, so the first lap of each call
    is answered by L2 or memory, also on a ring that fits in L1.

    Parameters
    ----------
    ring : device array, uint32, shape (n,)
        Each link is less than n; see :class:`~course_pkg.vector.problem.Ring`.
    steps : int
    at : device array, uint32, shape (1,)
        Where to start, less than n; overwritten with where the chain ends.

    Examples
    --------
    >>> ring, at = cuda.to_device(np.array([2, 0, 1], np.uint32)), cuda.to_device(np.zeros(1, np.uint32))
    >>> chase(ring, 4, at); at.copy_to_host()  # 0 -> 2 -> 1 -> 0 -> 2
    array([2], dtype=uint32)
    """
    check_chase(ring, steps, at, device=True)
    chase_kernel[1, 1](ring, steps, at)


@cuda.jit
def chase_shared_kernel(ring, steps, at):
    """As the chase, but the thread first copies the ring to shared memory, and follows the links there."""
    tile = cuda.shared.array(SHARED_LINKS, np.uint32)
    for k in range(ring.size):
        tile[k] = ring[k]
    i = at[0]
    for _ in range(steps):
        i = tile[i]
    at[0] = i


def chase_shared(ring, steps, at):
    """Follow the links of a ring of at most 4096 elements in shared memory; arguments as for :func:`chase`.

    Examples
    --------
    >>> ring, at = cuda.to_device(np.array([2, 0, 1], np.uint32)), cuda.to_device(np.zeros(1, np.uint32))
    >>> chase_shared(ring, 5, at); at.copy_to_host()
    array([1], dtype=uint32)
    """
    check_chase(ring, steps, at, device=True, most=SHARED_LINKS)
    chase_shared_kernel[1, 1](ring, steps, at)
