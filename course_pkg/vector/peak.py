"""Measure two limits of this machine: T_peak, by copy and triad, and its arithmetic rate, by polynomials.

As in STREAM, each element that is read or written counts once. A CPU that reads a cache line before overwriting it
(write-allocate) moves more, but this extra traffic is counted neither for the bound nor for what is compared with it.
"""

from collections.abc import Iterable
from functools import partial

import numpy as np

from course_pkg.bench import Comparison, Limits, Measurement, Recorded, compare, cpu, gpu
from course_pkg.core import CourseError, Library
from course_pkg.core.host import free_memory
from course_pkg.vector import cost, cpu_c, cpu_numba, reference
from course_pkg.vector.problem import VectorProblem
from course_pkg.vector.variants import VARIANTS

LEAST, MOST = 2**22, 2**27  # elements
WARM_UP = 1  # warm-up calls; one is enough, as each call replaces all data in the caches


def stream_size(llc_bytes: int) -> int:
    """Return a number of doubles such that two vectors are at least twice as large as the last-level cache.

    It is at most 2^27, and at most so large that three vectors fit in a quarter of the free memory.

    Examples
    --------
    >>> stream_size(llc_bytes=2**20) % 1024  # a power of two, at least 1024
    0
    """
    wanted = max(LEAST, llc_bytes // 8)
    free = free_memory() // 4 // 24
    return int(2 ** np.floor(np.log2(max(1024, min(MOST, free, 2 * wanted)))))


def stream(*, n: int | None = None, samples: int = 10, problem: VectorProblem | None = None) -> Comparison:
    """Measure copy and triad on this CPU, in Numba on all cores and, if gcc is installed, in C; the best is the bound.

    Parameters
    ----------
    n : int, optional
        Elements of each vector; by default, :func:`stream_size` of the last-level cache.
    problem : VectorProblem, optional
        Existing vectors, whose output is overwritten. If they are given, ``n`` is ignored.

    Examples
    --------
    >>> stream(n=4096, samples=2).measurements[0].label
    'copy, Numba CPU'
    """
    p = problem or VectorProblem.random(n or stream_size(cpu().llc_bytes))
    n = p.a.size
    copy, triad = VARIANTS["copy"], VARIANTS["triad"]
    copy_by_numba, triads = copy.by(Library.NUMBA_CPU), [Library.NUMBA_CPU]
    if cpu_c.available():
        triads.append(Library.C)
    by_library = {triad.by(library): library for library in triads}
    found = compare(
        {
            copy_by_numba: copy.function(Library.NUMBA_CPU),
            **{what: triad.function(library) for what, library in by_library.items()},
        },
        p.a,
        p.b,
        p.s,
        p.out,
        check={copy_by_numba: partial(_check_copy, p), **dict.fromkeys(by_library, partial(_check_triad, p))},
        arguments={copy_by_numba: (p.a, p.out)},
        cost={copy_by_numba: cost.copy(n), **dict.fromkeys(by_library, cost.triad(n))},
        parameters={"n": n, "dtype": "float64"},
        samples=samples,
        warmup=WARM_UP,
    )
    return Comparison(found.measurements, max(m.t_eff_gb_s for m in found.measurements))


def horner_sweep(
    degrees, *, n: int | None = None, samples: int = 10, problem: VectorProblem | None = None
) -> tuple[Measurement, ...]:
    """Measure the polynomials on this CPU, taking samples in turn; each result is compared with NumPy's.

    Parameters
    ----------
    degrees : iterable of int
    n, problem : optional
        As for :func:`stream`.

    Examples
    --------
    >>> [m.cost.flops for m in horner_sweep([1, 2], n=4096, samples=2)]
    [8192, 16384]
    """
    p = problem or VectorProblem.random(n or stream_size(cpu().llc_bytes))
    n = p.a.size
    names = {degree: f"degree {degree}" for degree in degrees}
    found = compare(
        dict.fromkeys(names.values(), cpu_numba.horner),
        arguments={name: (p.a, degree, p.out) for degree, name in names.items()},
        cost={name: cost.horner(n, degree) for degree, name in names.items()},
        check={name: lambda degree=degree: _check_horner(p, degree) for degree, name in names.items()},
        parameters={"n": n},
        samples=samples,
        warmup=WARM_UP,
    )
    return found.measurements


def recorded_t_peak(recorded: Recorded) -> float:
    """Return T_peak of recorded streams in GB/s: the best copy or triad on the longest vectors.

    Examples
    --------
    >>> from course_pkg.bench import recorded
    >>> recorded_t_peak(recorded("vector")) > 4000  # of the H200
    True
    """
    return fastest(recorded.measurements, "copy", "triad").t_eff_gb_s


def fastest(measurements: Iterable[Measurement], *operations: str) -> Measurement:
    """Return the stream with the highest T_eff, among those of some operations on the longest vectors.

    Examples
    --------
    >>> from course_pkg.bench import recorded
    >>> fastest(recorded("vector").measurements, "copy").label
    'copy, CuPy'
    """
    # copies that were measured together with the transposes have a shape instead of n, and are left out
    streams = [m for m in measurements if m.operation in operations and "n" in m.parameters]
    if not streams:
        raise CourseError(f"There is no measurement of {' or '.join(operations)}: run `course bench vector`.")
    longest = max(m.parameters["n"] for m in streams)
    return max((m for m in streams if m.parameters["n"] == longest), key=lambda m: m.t_eff_gb_s)


def limits_of(streams: Iterable[Measurement], own: Measurement | None = None) -> Limits:
    """Return the limits of a device from its streams.

    Parameters
    ----------
    streams : iterable of Measurement
        Copies and triads.
    own : Measurement
        A stream that was measured together with the variants to be compared. It gives the bound. If it is faster than
        the other streams, it gives T_peak, too. By default, the fastest copy gives the bound.

    Examples
    --------
    >>> from course_pkg.bench import recorded
    >>> limits_of(recorded("vector", "h100").measurements).peak.label
    'triad, Numba CUDA'
    """
    streams = list(streams)
    peak = fastest(streams, "copy", "triad")
    if own is None:
        return Limits(peak, fastest(streams, "copy"))
    return Limits(max(peak, own, key=lambda m: m.t_eff_gb_s), own)


def streams_here(device: str, *, n: int | None = None, samples: int = 5) -> tuple[Measurement, ...]:
    """Measure copies and triads of n doubles on this machine's ``"cpu"`` or ``"gpu"``, by default of long vectors.

    Examples
    --------
    >>> {m.operation for m in streams_here("cpu", n=4096, samples=2)} == {"copy", "triad"}
    True
    """
    if device == "cpu":
        return stream(n=n, samples=samples).measurements
    _require_gpu()
    from course_pkg import cuda

    n = n or 2**26
    p = VectorProblem.random(n)
    a, b, out = cuda.to_device(p.a), cuda.to_device(p.b), cuda.device_array_like(p.a)
    copy, triad = (VARIANTS[name] for name in ("copy_two", "triad"))
    arguments = {copy.by(): (a, out), triad.by(Library.NUMBA_CUDA): (a, b, p.s, out)}

    def check(expected):
        np.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-12)

    return compare(
        {what: v.function(Library.NUMBA_CUDA) for what, v in zip(arguments, (copy, triad), strict=True)},
        arguments=arguments,
        cost=dict(zip(arguments, (cost.copy(n), cost.triad(n)), strict=True)),
        check=dict(zip(arguments, (lambda: check(p.a), lambda: check(p.a + p.s * p.b)), strict=True)),
        parameters={"n": n, "dtype": "float64"},
        samples=samples,
    ).measurements


def copy_bandwidth(device: str = "cpu", *, samples: int = 10) -> float:
    """Return the measured copy bandwidth of ``"cpu"`` or ``"gpu"`` in GB/s, read plus written.

    Examples
    --------
    >>> copy_bandwidth("disk")
    Traceback (most recent call last):
    course_pkg.core.errors.CourseError: device is 'disk': ask for 'cpu' or 'gpu'.
    """
    if device == "cpu":
        p = VectorProblem.random(stream_size(cpu().llc_bytes))
        check = partial(_check_copy, p)
        found = compare(
            {"copy": cpu_numba.copy}, p.a, p.out, cost=cost.copy(p.a.size), check=check, samples=samples
        )
        return found["copy"].t_eff_gb_s
    if device != "gpu":
        raise CourseError(f"device is {device!r}: ask for 'cpu' or 'gpu'.")
    _require_gpu()
    from course_pkg import cuda
    from course_pkg.vector import gpu_numba

    n = 2**26
    host = VectorProblem.random(n).a
    a = cuda.to_device(host)
    out = cuda.device_array_like(a)

    def check():
        np.testing.assert_array_equal(out.copy_to_host(), host)

    found = compare({"copy": gpu_numba.copy_two}, a, out, cost=cost.copy(n), check=check, samples=samples)
    return found["copy"].t_eff_gb_s


def _require_gpu():
    if gpu().kind != "gpu":
        raise CourseError("No GPU was found, so its bandwidth cannot be measured: ask for device='cpu'.")


def _check_copy(p):
    _check(p, lambda part, expected: reference.copy(p.a[part], expected))


def _check_triad(p):
    _check(p, lambda part, expected: reference.triad(p.a[part], p.b[part], p.s, expected))


def _check_horner(p, degree):
    _check(p, lambda part, expected: reference.horner(p.a[part], degree, expected))


def _check(p, compute):
    """Compare the first and last elements of the output with NumPy's, then overwrite them with NaN."""
    for part in (slice(0, 1000), slice(-1000, None)):
        expected = np.empty_like(p.out[part])
        compute(part, expected)
        np.testing.assert_allclose(p.out[part], expected, rtol=1e-12)
        p.out[part].fill(np.nan)  # so that the next variant cannot pass on this one's result
