"""The product of a sparse matrix and a vector by libraries: SciPy on a CPU, PyTorch on a GPU.

PyTorch is optional; ``course bench spmv`` measures it if it is installed.
"""

import warnings

from course_pkg.bench.rival import Rival


def scipy_csr(A, x) -> Rival:
    """Return ``A @ x`` of a ``scipy.sparse.csr_array``; ``x`` is in host memory."""
    import scipy

    last = []

    def call():
        last[:] = [A @ x]

    return Rival(call, lambda: None, lambda: last[0], scipy.__version__)


def torch_csr(A, x) -> Rival:
    """Return ``torch.sparse_csr_tensor @ x`` of a CuPy matrix and vector, which are not copied."""
    import torch

    with warnings.catch_warnings():
        # PyTorch warns for each matrix that sparse CSR is a beta feature
        warnings.simplefilter("ignore", UserWarning)
        matrix = torch.sparse_csr_tensor(*map(torch.from_dlpack, (A.indptr, A.indices, A.data)), size=A.shape)
    vector, last = torch.from_dlpack(x), []

    def call():
        last[:] = [matrix @ vector]

    return Rival(call, torch.cuda.synchronize, lambda: _as_cupy(last[0]), torch.__version__)


def _as_cupy(array):
    from course_pkg.spmv.gpu_cupy import cp

    return cp.from_dlpack(array)
