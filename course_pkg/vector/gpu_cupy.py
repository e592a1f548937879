"""The streaming operations, the sums and the transpose by CuPy, each with as few sweeps over memory as CuPy allows.

Arguments are those of ``reference.py``, as CuPy arrays of float64 or float32 in GPU memory. Nothing synchronises.
"""

from course_pkg.core.checks import require_count, require_number
from course_pkg.vector.checks import (
    check_copy_strided,
    check_cumsum,
    check_dot,
    check_reduce_sum,
    check_stream,
    check_transpose,
)

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.") from error


def copy(a, out):
    """Compute ``out = a`` by the driver's device-to-device copy; one sweep.

    Examples
    --------
    >>> a = cp.arange(3.0); out = cp.empty(3)
    >>> copy(a, out); out
    array([0., 1., 2.])
    """
    check_stream(device=True, a=a, out=out)
    out.data.copy_from_device_async(a.data, a.nbytes)


def copy_strided(a, stride, out):
    """Compute ``out[i] = a[stride * i]`` as an array statement; one kernel.

    Examples
    --------
    >>> a = cp.arange(7.0); out = cp.empty(3)
    >>> copy_strided(a, 3, out); out
    array([0., 3., 6.])
    """
    check_copy_strided(a, stride, out, device=True)
    out[...] = a[: stride * (out.size - 1) + 1 : stride]


def scale(a, s, out):
    """Compute ``out = s * a``; one sweep.

    Examples
    --------
    >>> a = cp.arange(3.0); out = cp.empty(3)
    >>> scale(a, 3.0, out); out
    array([0., 3., 6.])
    """
    require_number(s=s)
    check_stream(device=True, a=a, out=out)
    cp.multiply(a, a.dtype.type(s), out=out)


def add(a, b, out):
    """Compute ``out = a + b``; one sweep.

    Examples
    --------
    >>> a = cp.arange(3.0); out = cp.empty(3)
    >>> add(a, a, out); out
    array([0., 2., 4.])
    """
    check_stream(device=True, a=a, b=b, out=out)
    cp.add(a, b, out=out)


def triad(a, b, s, out):
    """Compute ``out = a + s * b`` as array statements; two sweeps, as NumPy does it.

    Examples
    --------
    >>> a = cp.arange(3.0); out = cp.empty(3)
    >>> triad(a, a, 3.0, out); out
    array([0., 4., 8.])
    """
    require_number(s=s)
    check_stream(device=True, a=a, b=b, out=out)
    cp.multiply(b, b.dtype.type(s), out=out)
    cp.add(out, a, out=out)


_triad_fused = cp.ElementwiseKernel("T a, T b, T s", "T out", "out = a + s * b", "triad_fused")


def triad_fused(a, b, s, out):
    """Compute ``out = a + s * b`` by one element-wise kernel; one sweep.

    Examples
    --------
    >>> a = cp.arange(3.0); out = cp.empty(3)
    >>> triad_fused(a, a, 3.0, out); out
    array([0., 4., 8.])
    """
    require_number(s=s)
    check_stream(device=True, a=a, b=b, out=out)
    _triad_fused(a, b, a.dtype.type(s), out)


def dot(a, b, out):
    """Compute ``out[0] = sum(a * b)`` by cuBLAS; ``out`` has shape (1,).

    Examples
    --------
    >>> a = cp.array([3.0, 4.0]); out = cp.empty(1)
    >>> dot(a, a, out); out
    array([25.])
    """
    check_dot(a, b, out, device=True)
    cp.dot(a, b, out=out.reshape(()))


_horner = cp.ElementwiseKernel(
    "T a, int32 degree",
    "T out",
    "T y = 1; for (int k = 0; k < degree; ++k) y = (T)1 + a * y; out = y",
    "horner",
)


def horner(a, degree, out):
    """Compute ``out = 1 + a (1 + a (1 + …))`` by one element-wise kernel; one sweep.

    Examples
    --------
    >>> a = cp.array([2.0, 10.0]); out = cp.empty(2)
    >>> horner(a, 3, out); out  # 1 + 2 + 4 + 8
    array([  15., 1111.])
    """
    require_count(degree=degree)
    check_stream(device=True, a=a, out=out)
    _horner(a, degree, out)


def reduce_sum(a, out):
    """Compute ``out[0] = sum(a)``, accumulated in the precision of ``a``; one sweep. ``out`` has shape (1,).

    Examples
    --------
    >>> out = cp.empty(1)
    >>> reduce_sum(cp.arange(4.0), out); out
    array([6.])
    """
    check_reduce_sum(a, out, device=True)
    cp.sum(a, out=out.reshape(()))


def cumsum_columns(a, out):
    """Compute ``out[y, x] = sum(a[:y + 1, x])``, accumulated in the precision of ``a``.

    Examples
    --------
    >>> out = cp.empty((2, 3))
    >>> cumsum_columns(cp.ones((2, 3)), out); out[-1]
    array([2., 2., 2.])
    """
    check_cumsum(a, out, device=True)
    cp.cumsum(a, axis=0, out=out)


def cumsum_rows(a, out):
    """Compute ``out[y, x] = sum(a[y, :x + 1])``, accumulated in the precision of ``a``.

    Examples
    --------
    >>> out = cp.empty((2, 3))
    >>> cumsum_rows(cp.ones((2, 3)), out); out[-1]
    array([1., 2., 3.])
    """
    check_cumsum(a, out, device=True)
    cp.cumsum(a, axis=1, out=out)


def transpose(a, out):
    """Compute ``out[x, y] = a[y, x]`` as an array statement; one sweep, in which either reads or writes are strided.

    Examples
    --------
    >>> out = cp.empty((3, 1))
    >>> transpose(cp.array([[1.0, 2.0, 3.0]]), out); out.T
    array([[1., 2., 3.]])
    """
    check_transpose(a, out, device=True)
    out[...] = a.T
