"""Permutations of vectors as CUDA kernels: one element per thread, by gather or by scatter.

``perm`` says either where each result comes from, or where each input goes. One of the two accesses is in order; the
other one goes to the places in ``perm``. If their order is random, each lane of a warp needs another sector.
"""

from course_pkg import cuda
from course_pkg.core.checks import require_arrays, require_distinct
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.checks import INTEGERS, check_index_vector, check_permute_vector
from course_pkg.vector.tuning import THREADS_PER_BLOCK


@cuda.jit
def permute_vector_kernel(perm, x, out):
    """Gather: neighbouring threads write neighbours, and read wherever ``perm`` leads."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[perm[i]]


def permute_vector(perm, x, out):
    """Compute ``out[i] = x[perm[i]]`` on the GPU; reads ``perm`` and ``x``, writes ``out``; no synchronisation.

    Examples
    --------
    >>> perm, x = cuda.to_device(np.array([2, 0, 1])), cuda.to_device(np.array([10.0, 20.0, 30.0]))
    >>> out = cuda.device_array(3)
    >>> permute_vector(perm, x, out); out.copy_to_host()
    array([30., 10., 20.])
    """
    check_permute_vector(perm, x, out, device=True)
    permute_vector_kernel[blocks_for(x.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](perm, x, out)


@cuda.jit
def unpermute_vector_kernel(perm, x, out):
    """Scatter: neighbouring threads read neighbours, and write wherever ``perm`` leads."""
    i = cuda.grid(1)
    if i < out.size:
        out[perm[i]] = x[i]


def unpermute_vector(perm, x, out):
    """Compute ``out[perm[i]] = x[i]`` on the GPU; reads ``perm`` and ``x``, writes ``out``; no synchronisation.

    With the inverse for ``perm``, this is :func:`permute_vector` by scatter.

    Examples
    --------
    >>> perm, x = cuda.to_device(np.array([2, 0, 1])), cuda.to_device(np.array([30.0, 10.0, 20.0]))
    >>> out = cuda.device_array(3)
    >>> unpermute_vector(perm, x, out); out.copy_to_host()
    array([10., 20., 30.])
    """
    check_permute_vector(perm, x, out, device=True)
    unpermute_vector_kernel[blocks_for(x.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](perm, x, out)


@cuda.jit
def invert_kernel(perm, inverse):
    """Scatter the numbers 0, 1, 2, …. A thread knows its number, so it does not have to read it."""
    i = cuda.grid(1)
    if i < perm.size:
        inverse[perm[i]] = i


def invert(perm, inverse):
    """Compute ``inverse[perm[i]] = i`` on the GPU; one read and one write per element, no synchronisation.

    Examples
    --------
    >>> perm = cuda.to_device(np.array([2, 0, 1], "int32")); inverse = cuda.device_array(3, np.int32)
    >>> invert(perm, inverse); inverse.copy_to_host()
    array([1, 2, 0], dtype=int32)
    """
    check_index_vector(perm)
    check_index_vector(inverse, perm.shape[0], "inverse")
    for name, array in (("perm", perm), ("inverse", inverse)):
        require_arrays(device=True, dtypes=INTEGERS, **{name: array})
    require_distinct(perm=perm, inverse=inverse)
    invert_kernel[blocks_for(perm.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](perm, inverse)
