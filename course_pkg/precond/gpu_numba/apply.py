"""Preconditioners on a GPU: the products are those of ``spmv/gpu_numba``, with maps between them."""

import numpy as np

from course_pkg import cuda
from course_pkg.precond import cycle
from course_pkg.precond.checks import check_apply
from course_pkg.precond.gpu_numba import maps
from course_pkg.precond.preconditioners import Identity
from course_pkg.spmv.gpu_numba import jacobi_plain, spmv_csr_vector


class _Tools:
    """What ``cycle.py`` needs."""

    jacobi_plain, spmv = staticmethod(jacobi_plain), staticmethod(spmv_csr_vector)

    @staticmethod
    def empty(n, like):
        return cuda.device_array(n, np.dtype(like.dtype))

    @staticmethod
    def divide(d, r, out):
        maps.launch(maps.divide_kernel, out.size, d, r, out)

    @staticmethod
    def scale(a, r, out):
        maps.launch(maps.scale_kernel, out.size, np.dtype(out.dtype).type(a), r, out)

    @staticmethod
    def add(change, x):
        maps.launch(maps.add_kernel, x.size, change, x)

    @staticmethod
    def difference(d, y, x, out):
        maps.launch(maps.difference_kernel, out.size, d, y, x, out)

    @staticmethod
    def advance(y, a, b, p, x):
        real = np.dtype(x.dtype).type
        maps.launch(maps.advance_kernel, x.size, y, real(a), real(b), p, x)


def precondition_identity(M, r, out):
    """Compute ``out = r`` on the GPU; no synchronisation.

    Examples
    --------
    >>> out = cuda.device_array(2)
    >>> precondition_identity(Identity(2), cuda.to_device(np.ones(2)), out); out.copy_to_host()
    array([1., 1.])
    """
    check_apply(M, r, out, Identity, device=True)
    _Tools.scale(1.0, r, out)


def precondition_diagonal(M, r, out):
    """Compute ``out = r / d`` on the GPU; no synchronisation.

    Examples
    --------
    >>> from course_pkg.precond.preconditioners import Diagonal
    >>> M, out = Diagonal(np.array([4.0, 2.0])).to_device(), cuda.device_array(2)
    >>> precondition_diagonal(M, cuda.to_device(np.ones(2)), out); out.copy_to_host()
    array([0.25, 0.5 ])
    """
    cycle.diagonal(_Tools, M, r, out, device=True)


def precondition_chebyshev(M, r, out):
    """Compute some steps of Chebyshev's method for ``A z = r`` on the GPU, from z = 0; no synchronisation.

    Examples
    --------
    >>> import scipy.sparse
    >>> from course_pkg.precond.build import chebyshev
    >>> M, out = chebyshev(scipy.sparse.csr_array(4 * np.eye(2)), degree=3).to_device(), cuda.device_array(2)
    >>> precondition_chebyshev(M, cuda.to_device(np.ones(2)), out); out.copy_to_host().round(2)
    array([0.14, 0.14])
    """
    cycle.chebyshev(_Tools, M, r, out, device=True)


def precondition_vcycle(M, r, out):
    """Compute a V-cycle for ``A z = r`` on the GPU, from z = 0; no synchronisation.

    Examples
    --------
    >>> from course_pkg.permutation.problem import poisson
    >>> from course_pkg.precond.build import amg
    >>> A = poisson((4, 4, 4))
    >>> x, out = np.ones(64), cuda.device_array(64)
    >>> precondition_vcycle(amg(A, max_coarse=100).to_device(), cuda.to_device(A @ x), out)
    >>> bool(np.allclose(out.copy_to_host(), x))  # one level is exact
    True
    """
    cycle.vcycle(_Tools, M, r, out, device=True)
