"""Products as ``course bench spmv`` measures them, on a CPU as on a GPU: names, parameters, and the error allowed."""

import numpy as np

from course_pkg.core import Library
from course_pkg.spmv.variants import VARIANTS

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
PRODUCT = VARIANTS["spmv"]


def described(name: str, A, dtype: str, values: str) -> dict:
    """Return the parameters of a measurement: matrix, rows, nonzeros, and precisions."""
    mixed = {} if values == dtype else {"values": values}
    return {"matrix": name, "n": A.shape[0], "nonzeros": int(A.nnz), "dtype": dtype, **mixed}


def tolerance(A, x, dtype) -> np.ndarray:
    """Return for each row the largest error that rounding can explain, in whatever order the row is summed."""
    return 64 * np.finfo(dtype).eps * (abs(A) @ abs(x)) + np.finfo(dtype).tiny
