"""Bytes and flops of the streaming operations: each input read once, each output written once.

``n`` is the number of elements, ``dtype`` anything that ``numpy.dtype`` takes.
"""

import numpy as np

from course_pkg.core import Cost


def copy(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a``."""
    return _stream(n, dtype, reads=1, writes=1, flops=0)


def scale(n: int, dtype="float64") -> Cost:
    """Cost of ``out = s * a``."""
    return _stream(n, dtype, reads=1, writes=1, flops=1)


def add(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a + b``."""
    return _stream(n, dtype, reads=2, writes=1, flops=1)


def triad(n: int, dtype="float64") -> Cost:
    """Cost of ``out = a + s * b``."""
    return _stream(n, dtype, reads=2, writes=1, flops=2)


def triad_two_passes(n: int, dtype="float64") -> Cost:
    """Cost of NumPy's triad: ``out = s * b`` is written, then read again for ``out += a``."""
    two_passes = scale(n, dtype) + add(n, dtype)
    return two_passes.with_fields(unknown_bytes=0, known_bytes=triad(n, dtype).bytes)


def dot(n: int, dtype="float64") -> Cost:
    """Cost of the inner product: both vectors are read, the partial sums of the blocks are not counted."""
    return _stream(n, dtype, reads=2, writes=0, flops=2)


def horner(n: int, degree: int, dtype="float64") -> Cost:
    """Cost of the polynomial: the traffic of a copy, and ``degree`` multiply-adds an element."""
    return _stream(n, dtype, reads=1, writes=1, flops=2 * degree)


def _stream(n, dtype, *, reads, writes, flops):
    size = n * np.dtype(dtype).itemsize
    return Cost(bytes_read=reads * size, bytes_written=writes * size, flops=flops * n)
