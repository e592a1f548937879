"""``cuda.reduce``: turn a function of two numbers into a function that reduces a vector to one number."""

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.stubs import CUDA
from course_pkg.simt.front.typing import type_of
from course_pkg.simt.run.kernel import Kernel

THREADS = 256


class Reduce:
    """``cuda.reduce``: turn a function of two numbers into a function that reduces a vector to one number.

    Examples
    --------
    >>> from course_pkg.simt.run.kernel import Kernel
    >>> total = Reduce(Kernel.from_source("def plus(a, b): return a + b", "plus", {}, device=True))
    >>> int(total(np.arange(1000)))
    499500
    """

    _TEXT = """
def kernel(a, out, start, use_start):
    tile = cuda.shared.array(THREADS, dtype)
    t = cuda.threadIdx.x
    if t < a.size:
        total = a[t]
        for i in range(t + THREADS, a.size, THREADS):
            total = function(total, a[i])
        tile[t] = total
    cuda.syncthreads()
    half = THREADS // 2
    while half:
        if t < half and t + half < a.size:
            tile[t] = function(tile[t], tile[t + half])
        cuda.syncthreads()
        half //= 2
    if t == 0:
        if use_start:
            out[0] = function(start, tile[0])
        else:
            out[0] = tile[0]
"""

    def __init__(self, functor):
        self.function = functor if isinstance(functor, Kernel) else Kernel(functor, device=True)

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """Reduce a vector and ``init`` to one number, and return it; with ``res``, write it to ``res[0]`` instead.

        Raises
        ------
        SimtError
            If the array is not a vector.
        """
        host = np.asarray(getattr(arr, "host", arr))
        if host.ndim != 1:
            raise SimtError(
                f"cuda.reduce takes a vector, and the array has {host.ndim} dimensions: pass x.reshape(-1)."
            )
        host = host if size is None else host[:size]
        start = host.dtype.type(0 if init is None else init)
        if not host.size:
            return start
        names = {"cuda": CUDA, "function": self.function, "dtype": type_of(host.dtype), "THREADS": THREADS}
        kernel = Kernel.from_source(self._TEXT, "kernel", names)
        result = np.empty(1, host.dtype)
        kernel[1, THREADS](np.ascontiguousarray(host), result, start, init is not None)
        if res is None:
            return result[0]
        getattr(res, "host", res)[0] = result[0]
        return None
