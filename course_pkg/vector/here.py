"""Measure T_peak on this machine, on its GPU or its CPU, by copies and triads.

Calls of every length use the same vectors: a shorter call uses the first part of each.
"""

from collections.abc import Iterable, Iterator
from math import floor, log2

import numpy as np

from course_pkg.bench import Measurement, cpu, gpu
from course_pkg.bench.defence import CACHES
from course_pkg.bench.pitfalls import Work
from course_pkg.core import CourseError, Library
from course_pkg.core.host import free_memory
from course_pkg.vector import reference
from course_pkg.vector.peak import LEAST
from course_pkg.vector.problem import VectorProblem
from course_pkg.vector.variants import VARIANTS

FIRST = 2**12  # elements of the shortest call of a sweep
LEAST_GPU, STEP = 2**26, 8  # least elements of the longest call on a GPU; ratio of one length to the next
ENDS = 1000  # number of elements at each end that are compared with the reference


class Vectors:
    """Two inputs and an output in the memory of ``"cpu"`` or ``"gpu"``, either random or those of a given problem.

    Examples
    --------
    >>> work = Vectors("cpu", 4096).copy(1024)
    >>> work.cost.bytes, work.library.value
    (16384, 'Numba CPU')
    """

    def __init__(self, device: str, n: int, problem: VectorProblem | None = None):
        self.device, self.host = require_device(device), problem or VectorProblem.random(n)
        self.a, self.b, self.out = self.host.a, self.host.b, self.host.out
        if device == "gpu":
            from course_pkg import cuda

            self.a, self.b, self.out = (cuda.to_device(v) for v in (self.a, self.b, self.out))

    @property
    def library(self) -> Library:
        """The library that compiles the loops."""
        return Library.NUMBA_CUDA if self.device == "gpu" else Library.NUMBA_CPU

    def copy(self, n: int) -> Work:
        """Return the copy of n elements by the fastest of our kernels, as a ``Work`` to be timed."""
        variant = VARIANTS["copy_two" if self.device == "gpu" else "copy"]
        return self._work(variant, n, (self.a[:n], self.out[:n]), lambda part: self.host.a[part])

    def triad(self, n: int) -> Work:
        """Return the triad of n elements."""
        p = self.host
        args = (self.a[:n], self.b[:n], p.s, self.out[:n])
        return self._work(VARIANTS["triad"], n, args, lambda part: p.a[part] + p.s * p.b[part])

    def horner(self, n: int, degree: int) -> Work:
        """Return the polynomial of n elements: the bytes of a copy, and 2 ``degree`` flops per element."""

        def expected(part):
            out = np.empty_like(self.host.a[part])
            reference.horner(self.host.a[part], degree, out)
            return out

        args = (self.a[:n], degree, self.out[:n])
        return self._work(VARIANTS["horner"], n, args, expected, degree=degree)

    def _work(self, variant, n, args, expected, **more) -> Work:
        parameters = {"n": n, "dtype": "float64", **more}
        check = self.checking(args[-1], expected)
        return Work(
            variant.function(self.library), args, variant.cost(**parameters), self.library, parameters, check
        )

    def checking(self, out, expected):
        """Return a function that checks both ends of the output, then overwrites them with NaN for the next variant."""
        ends = [slice(0, min(ENDS, out.size)), slice(max(0, out.size - ENDS), out.size)]

        def check():
            for part in ends:
                found = out[part].copy_to_host() if self.device == "gpu" else out[part]
                np.testing.assert_allclose(found, expected(part), rtol=1e-12)
            for part in ends:
                spoilt = np.full(part.stop - part.start, np.nan)
                out[part].copy_to_device(spoilt) if self.device == "gpu" else out[part].fill(np.nan)

        return check


def require_device(device: str) -> str:
    """Return the device if it is ``"cpu"``, or if it is ``"gpu"`` and there is a GPU; otherwise raise an error.

    Examples
    --------
    >>> require_device("disk")
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: device is 'disk': ask for 'cpu' or 'gpu'.
    """
    if device not in ("cpu", "gpu"):
        raise CourseError(f"device is {device!r}: ask for 'cpu' or 'gpu'.")
    if device == "gpu" and gpu().kind != "gpu":
        raise CourseError("An NVIDIA GPU is needed for device 'gpu', and none was found: ask for 'cpu'.")
    return device


def free_bytes(device: str) -> int:
    """Return the free memory of ``"cpu"`` or ``"gpu"``, in bytes.

    Examples
    --------
    >>> free_bytes("cpu") > 2**20
    True
    """
    if require_device(device) == "cpu":
        return free_memory()
    from course_pkg import cuda

    return int(cuda.current_context().get_memory_info()[0])


def require_free_memory(needed: int, what: str) -> None:
    """Check that there is a GPU, and that ``needed`` bytes are at most half of its free memory.

    Examples
    --------
    >>> if gpu().kind == "gpu":
    ...     require_free_memory(8, "One double")
    """
    if needed > free_bytes("gpu") // 2:
        raise CourseError(
            f"{what} need {needed / 1e9:.1f} GB. The GPU has {free_bytes('gpu') / 1e9:.1f} GB free, and at most half "
            "of that may be used: pass a smaller size."
        )


def defensible_size(device: str) -> int:
    """Return how many doubles a vector must have, so that a copy moves four times the last-level cache.

    The number is a power of two. It is smaller if three such vectors would take more than a quarter of the free memory.

    Examples
    --------
    >>> n = defensible_size("cpu")
    >>> n & (n - 1)
    0
    """
    llc_bytes, least = (cpu().llc_bytes, LEAST) if device == "cpu" else (gpu().llc_bytes, LEAST_GPU)
    wanted = max(least, 2 ** (-(-CACHES * llc_bytes // 16) - 1).bit_length()) if llc_bytes else least
    return min(wanted, max(FIRST, 2 ** floor(log2(max(1, free_bytes(device) // 4 // 24)))))


def sweep(device: str | None = None, *, n: int | None = None, samples: int = 7) -> Iterator[Measurement]:
    """Yield measurements of copy and triad on this machine for several sizes; each result is checked first.

    Parameters
    ----------
    device : str, optional
        ``"gpu"`` or ``"cpu"``; if left out, the GPU if there is one.
    n : int, optional
        Number of doubles in the longest vectors; if left out, :func:`defensible_size`.

    Examples
    --------
    >>> [(m.operation, m.parameters["n"]) for m in sweep("cpu", n=32768, samples=2)]
    [('copy', 4096), ('triad', 4096), ('copy', 32768), ('triad', 32768)]
    """
    device = device or ("gpu" if gpu().kind == "gpu" else "cpu")
    n = n or defensible_size(require_device(device))
    sizes = [n]
    while sizes[0] // STEP >= FIRST:
        sizes.insert(0, sizes[0] // STEP)
    vectors = Vectors(device, n)
    for size in sizes:
        yield from _copy_and_triad(vectors, size, samples)


def on_this_gpu(n: int = 2**26) -> list[Measurement]:
    """Measure copy and triad of n doubles on this machine's GPU, in the same way as the records.

    Examples
    --------
    >>> on_this_gpu(1024) if gpu().kind == "gpu" else []  # without a GPU there is nothing to measure
    [...]
    """
    require_free_memory(24 * n, f"Three vectors of {n} doubles")
    return list(_copy_and_triad(Vectors("gpu", n), n, samples=10))


def flops_on_this_gpu(degrees: Iterable[int], n: int = 2**26) -> list[Measurement]:
    """Measure the polynomials of some degrees on this machine's GPU, in the same way as the records.

    Examples
    --------
    >>> flops_on_this_gpu([1, 2], 1024) if gpu().kind == "gpu" else []  # without a GPU there is nothing to measure
    [...]
    """
    require_free_memory(24 * n, f"Three vectors of {n} doubles")
    vectors, what = Vectors("gpu", n), VARIANTS["horner"].by(Library.NUMBA_CUDA)
    return [vectors.horner(n, degree).measure(what, samples=10, hold=True) for degree in degrees]


def _copy_and_triad(vectors, n, samples) -> Iterator[Measurement]:
    copy = VARIANTS["copy_two" if vectors.device == "gpu" else "copy"].by(vectors.library)
    for what, work in ((copy, vectors.copy(n)), (VARIANTS["triad"].by(vectors.library), vectors.triad(n))):
        yield work.measure(what, samples=samples, hold=True)
