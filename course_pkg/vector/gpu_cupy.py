"""The streaming operations by CuPy, on CuPy arrays, each with as few passes as its array language allows."""

try:
    import cupy as cp
except ImportError as error:  # CuPy is an extra
    raise ImportError(
        "CuPy is not installed: `pip install 'course_pkg[gpu13]'` (or gpu12) brings it."
    ) from error


def copy(a, out):
    """Compute ``out = a`` by the driver's device-to-device copy."""
    out.data.copy_from_device_async(a.data, a.nbytes)


def scale(a, s, out):
    """Compute ``out = s * a``; one pass."""
    cp.multiply(a, a.dtype.type(s), out=out)


def add(a, b, out):
    """Compute ``out = a + b``; one pass."""
    cp.add(a, b, out=out)


def triad(a, b, s, out):
    """Compute ``out = a + s * b`` as array statements; two passes, as NumPy does it."""
    cp.multiply(b, b.dtype.type(s), out=out)
    cp.add(out, a, out=out)


_triad_fused = cp.ElementwiseKernel("T a, T b, T s", "T out", "out = a + s * b", "triad_fused")


def triad_fused(a, b, s, out):
    """Compute ``out = a + s * b`` by one element-wise kernel; one pass."""
    _triad_fused(a, b, a.dtype.type(s), out)


def dot(a, b, out):
    """Compute ``out[0] = sum(a * b)`` by cuBLAS."""
    cp.dot(a, b, out=out.reshape(()))


_horner = cp.ElementwiseKernel(
    "T a, int32 degree",
    "T out",
    "T y = 1; for (int k = 0; k < degree; ++k) y = (T)1 + a * y; out = y",
    "horner",
)


def horner(a, degree, out):
    """Compute ``out = 1 + a (1 + a (1 + …))`` by one element-wise kernel; one pass."""
    _horner(a, degree, out)
