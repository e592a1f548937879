"""A map whose coefficient is in GPU memory, so that the host need not know it (``sstep/scalars.py``).

Kernels:
    follow_kernel   v + a w
"""

import numpy as np

from course_pkg import cuda
from course_pkg.core.checks import require_arrays
from course_pkg.device.launch import blocks_for
from course_pkg.sstep.checks import check_recurrence
from course_pkg.sstep.tuning import THREADS


@cuda.jit
def follow_kernel(v, number, w, out):
    """As recurrence, but the coefficient comes from GPU memory; if it is zero, w is not read."""
    i = np.uint32(cuda.grid(1))
    if i < out.size:
        factor, found = out.dtype.type(number[0]), v[i]
        if factor != out.dtype.type(0):
            found += factor * w[i]
        out[i] = found


def follow(v, number, w, out, stream=0):
    """Compute ``out = v + number[0] w`` on the GPU; no synchronisation.

    Parameters
    ----------
    v, w, out : device array, shape (n,)
        ``out`` may be one of the others.
    number : device array, shape (1,), float64
    stream : stream, optional
        By default, the default stream.

    Examples
    --------
    >>> v, w, out, number = (cuda.to_device(np.array(a)) for a in ([1.0, 1.0], [3.0, 5.0], [0.0, 0.0], [2.0]))
    >>> follow(v, number, w, out); out.copy_to_host()
    array([ 7., 11.])
    """
    check_recurrence(v, w, w, out, device=True)
    require_arrays(device=True, number=number)
    follow_kernel[blocks_for(out.size, THREADS), THREADS, stream](v, number, w, out)
