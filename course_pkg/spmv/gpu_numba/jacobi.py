"""A step of Jacobi's method as CUDA kernels: ``lanes`` neighbouring threads share a row of a CSR matrix.

Kernels:
    jacobi_plain         x_new = (b - E x) / d, for the plain and the symmetric form
    jacobi_row_permuted  as jacobi_plain, but each row looks up where its unknown belongs: the writes are scattered
"""

from functools import cache

from course_pkg import cuda
from course_pkg.spmv.checks_jacobi import check_step
from course_pkg.spmv.gpu_numba.jacobi_rows import lanes_or, launch_rows, row_number, row_total


@cache
def jacobi_plain_kernel(lanes):
    """Return the kernel for rows that ``lanes`` threads share."""
    number_of, total_of = row_number(lanes), row_total(lanes)

    @cuda.jit
    def jacobi_plain(indptr, indices, data, d, b, x, out):
        """The first thread of a row has the row's sum, and writes it: a warp writes ``32 / lanes`` neighbours."""
        row = number_of()
        total = total_of(indptr, indices, data, x, row)
        if row < out.size and cuda.threadIdx.x % lanes == 0:
            out[row] = (b[row] - total) / d[row]

    return jacobi_plain


def jacobi_plain(system, x, out, *, lanes=None):
    """Compute ``out = (b - E x) / d`` on the GPU; one sweep, no synchronisation.

    Parameters
    ----------
    system : JacobiSystem
        In GPU memory.
    x, out : device array, shape (n,)
    lanes : int, optional
        Threads that share a row; by default, as many as suit the mean row.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from course_pkg.spmv.jacobi import plain_system
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system, out = plain_system(A, np.array([6.0, 18.0])).to_device(), cuda.device_array(2)
    >>> jacobi_plain(system, cuda.to_device(np.array([2.0, 1.0])), out); out.copy_to_host()
    array([1.25, 1.75])
    """
    check_step(system, x, out, "plain", device=True)
    _launch(jacobi_plain_kernel, system, (x, out), lanes)


def jacobi_symmetric(system, x, out, *, lanes=None):
    """Compute ``out = (b - E x) / d``, with x and out in the permuted order; the kernel is that of jacobi_plain.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from course_pkg.spmv.jacobi import system_of
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system = system_of("symmetric", A, np.array([6.0, 18.0]), np.array([1, 0]))
    >>> x, out = cuda.to_device(system.taken(np.array([2.0, 1.0]))), cuda.device_array(2)
    >>> jacobi_symmetric(system.to_device(), x, out); system.given(out.copy_to_host())
    array([1.25, 1.75])
    """
    check_step(system, x, out, "symmetric", device=True)
    _launch(jacobi_plain_kernel, system, (x, out), lanes)


@cache
def jacobi_row_permuted_kernel(lanes):
    """Return the kernel for rows that ``lanes`` threads share."""
    number_of, total_of = row_number(lanes), row_total(lanes)

    @cuda.jit
    def jacobi_row_permuted(indptr, indices, data, d, b, rows, x, out):
        """As jacobi_plain, but neighbouring threads write to distant places: up to one sector per number."""
        row = number_of()
        total = total_of(indptr, indices, data, x, row)
        if row < out.size and cuda.threadIdx.x % lanes == 0:
            out[rows[row]] = (b[row] - total) / d[row]

    return jacobi_row_permuted


def jacobi_row_permuted(system, x, out, *, lanes=None):
    """Compute ``out[rows] = (b - E x) / d`` on the GPU; one sweep, no synchronisation.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from course_pkg.spmv.jacobi import system_of
    >>> A = scipy.sparse.csr_array(np.array([[4.0, 1.0], [2.0, 8.0]]))
    >>> system = system_of("row_permuted", A, np.array([6.0, 18.0]), np.array([1, 0])).to_device()
    >>> out = cuda.device_array(2)
    >>> jacobi_row_permuted(system, cuda.to_device(np.array([2.0, 1.0])), out); out.copy_to_host()
    array([1.25, 1.75])
    """
    check_step(system, x, out, "row_permuted", device=True)
    _launch(jacobi_row_permuted_kernel, system, (system.rows, x, out), lanes)


def _launch(kernel, system, vectors, lanes):
    E, lanes = system.E, lanes_or(lanes, system.E)
    launch_rows(kernel(lanes), system.n, lanes, E.indptr, E.indices, E.data, system.d, system.b, *vectors)
