"""Chains of loads as CUDA kernels: one thread follows the links of a ring, and each load gives the next address.

These kernels are not variants of an operation, but an instrument. No load can start before the previous one has
returned, so the time of a step is the latency of the memory. In the machine code of both kernels (compute capability
9.0), a step is one multiply-add, which computes the address, and one load. Links are unsigned 32-bit numbers, because
for a signed index Numba would add a test to the chain: a negative index counts from the end.
"""

import numpy as np

from course_pkg import cuda
from course_pkg.vector.checks import check_chase

SHARED_LINKS = 4096  # most elements of a ring in shared memory: 16 KiB


@cuda.jit
def chase_kernel(ring, steps, at):
    """Follow ``steps`` links in global memory with one thread, starting at link ``at[0]``."""
    i = at[0]
    for _ in range(steps):
        i = ring[i]
    at[0] = i


def chase(ring, steps, at):
    """Follow the links of a ring on the GPU: ``steps`` times ``at[0] = ring[at[0]]``; no synchronisation.

    A second call continues where the first one stopped. L1 is empty when a kernel starts. So even for a ring that fits
    in L1, the loads of the first lap are served by L2 or memory.

    Parameters
    ----------
    ring : device array, uint32, shape (n,)
        Each link is less than n; see :class:`~course_pkg.vector.problem.Ring`.
    steps : int
    at : device array, uint32, shape (1,)
        The element at which the chain starts, less than n. It is overwritten with the element at which the chain ends.

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
    """As chase, but the thread first copies the ring to shared memory, and follows the links there."""
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
