"""What ``course bench vector`` measures: streams of many sizes; polynomials, sums and transposes of one size."""

import functools
import inspect
import math
from collections.abc import Iterator

import numpy as np

from course_pkg.bench import Measurement, compare, gpu, progress
from course_pkg.core import CourseError, Library
from course_pkg.core.host import free_memory
from course_pkg.vector import cpu_c, reference
from course_pkg.vector.variants import VARIANTS

STREAMS = ("copy", "scale", "add", "triad", "dot")
ON_SQUARE = ("reduce_sum", "cumsum_columns", "cumsum_rows", "transpose")
STRIDES = (1, 2, 4, 8, 16, 32, 64)
TOTALS = ("dot", "reduce_sum")  # their result is one number
DEGREES_CPU = (1, 2, 4, 8, 16, 32, 64)
DEGREES_GPU = (*DEGREES_CPU, 128)
LIBRARIES = {
    "cpu": (Library.NUMBA_CPU, Library.NUMPY, Library.C),
    "gpu": (Library.NUMBA_CUDA, Library.CUPY),
}
TOO_SLOW = {("horner", Library.NUMPY)}  # not measured, because it makes two sweeps for each degree
COPY_BY = {"cpu": Library.NUMBA_CPU, "gpu": Library.CUPY}  # the copy with which the transposes are compared
SETTINGS = {"transpose_tiled": ({"padding": 0}, {"padding": 1})}  # measured with each of these
# rows of the square array that is summed and transposed, if the vectors are long enough
EDGE = {"cpu": 4096, "gpu": 16384}
CHECKED = 1 << 20  # number of elements of a large result that are compared with the reference


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; with ``quick``, of few sizes and samples."""
    exponents = range(10, (24 if quick else 27 if device == "cpu" else 30) + 1, 4 if quick else 1)
    data = _HostData(2 ** exponents[-1]) if device == "cpu" else _DeviceData(2 ** exponents[-1])
    degrees = DEGREES_CPU if device == "cpu" else DEGREES_GPU
    samples = 5 if quick else 20
    measured = {op: implementations(device, op) for op in (*STREAMS, "horner", "copy_strided", *ON_SQUARE)}
    with progress(len(exponents) + len(degrees) + len(STRIDES) + len(ON_SQUARE)) as step:
        for e in exponents:
            step(f"2^{e} elements")
            for op in STREAMS:
                yield from _in_turn(data, measured[op], {"n": 2**e, "dtype": "float64"}, samples)
        for degree in degrees:
            step(f"degree {degree}")
            parameters = {"n": data.n // 8, "dtype": "float64", "degree": degree}
            yield from _in_turn(data, measured["horner"], parameters, samples)
        for stride in STRIDES:
            step(f"stride {stride}")
            parameters = {"n": max(1, data.n // STRIDES[-1]), "dtype": "float64", "stride": stride}
            yield from _in_turn(data, measured["copy_strided"], parameters, samples)
        edge = min(EDGE[device], math.isqrt(data.n))
        for op in ON_SQUARE:
            step(op)
            size = {"n": edge**2} if op == "reduce_sum" else {"shape": [edge, edge]}
            yield from _in_turn(data, measured[op], {**size, "dtype": "float64"}, samples)


def implementations(device: str, op: str) -> list[tuple]:
    """Return the pairs of a variant and a library that are measured for an operation."""
    found = [
        (variant, library)
        for library in LIBRARIES[device]
        for variant in VARIANTS.of(op, library)
        if (op, library) not in TOO_SLOW and (library != Library.C or cpu_c.available())
    ]
    return found + ([(VARIANTS["copy"], COPY_BY[device])] if op == "transpose" else [])


def arguments_of(op: str) -> tuple[str, ...]:
    """Return the names of an operation's arguments in its reference; an output of one number is called ``total``."""
    names = tuple(inspect.signature(getattr(reference, op)).parameters)
    return (*names[:-1], "total") if op in TOTALS else names


def _in_turn(data, chosen, parameters, samples):
    """Yield the measurements of implementations, sampled in turn; those with several settings come last, one by one."""
    together = [(v, library) for v, library in chosen if v.function_name not in SETTINGS]
    yield from _compare(data, together, parameters, {}, samples)
    for variant, library in chosen:
        for settings in SETTINGS.get(variant.function_name, ()):
            yield from _compare(data, [(variant, library)], parameters, settings, samples)


def _compare(data, chosen, parameters, settings, samples):
    shape = tuple(parameters.get("shape") or [parameters["n"]])
    fns, args, costs, checks = {}, {}, {}, {}
    for variant, library in chosen:
        what, op = variant.by(library), variant.operation
        fns[what] = functools.partial(_launched(variant, library), **settings)
        # a copy takes vectors, also when the transposes are compared with it
        flat = op == "copy"
        size = {"n": math.prod(shape), "dtype": parameters["dtype"]} if flat else parameters
        args[what] = data.arguments(
            arguments_of(op), (math.prod(shape),) if flat else shape, library, parameters
        )
        costs[what] = variant.cost_by(library)(**size)
        checks[what] = lambda op=op, a=args[what]: data.check(op, a)
    parameters = {**parameters, **settings}
    return compare(
        fns, arguments=args, cost=costs, check=checks, parameters=parameters, samples=samples
    ).measurements


def _launched(variant, library):
    """Return the function of an implementation; memory for the blocks' sums is allocated before it is timed."""
    function = variant.function(library)
    if library == Library.NUMBA_CUDA and variant.operation in TOTALS:
        from course_pkg.vector import gpu_numba

        return functools.partial(function, partial=gpu_numba.partial_sums(EDGE["gpu"] ** 2))
    return function


class _HostData:
    """Two random vectors and an output of the largest size; smaller sizes use their first elements."""

    def __init__(self, n: int):
        needed = 3 * 8 * n
        if needed > 0.7 * free_memory():
            raise CourseError(
                f"The largest vectors need {needed / 1e9:.1f} GB of memory, but "
                f"only {free_memory() / 1e9:.1f} GB are free: run with --quick."
            )
        rng = np.random.default_rng(0)
        self.n = n
        self.host = {"a": rng.random(n), "b": rng.random(n), "s": 3.0}
        self.out, self.total = np.full(n, np.nan), np.zeros(1)

    def arguments(self, names, shape, library, parameters=()):
        """Return the named arguments, cut to the elements of a shape, as arrays of the library."""
        parameters, n = dict(parameters), math.prod(shape)
        stride = parameters.get("stride", 1)
        cut = {"a": self.a[: n * stride], "b": self.b[:n], "out": self.out[:n]}
        if stride == 1:
            cut = {name: vector.reshape(shape) for name, vector in cut.items()}
        whole = {"s": 3.0, "total": self.total, **cut, **parameters}
        return tuple(whole[name] for name in names)

    a = property(lambda self: self.host["a"])
    b = property(lambda self: self.host["b"])

    def fetch(self, out, where):
        return out[where]

    def poison(self, out):
        out.fill(np.nan)

    def check(self, op, args):
        """Compare the result of one call with the reference, in all elements or in a million of them."""
        out, n = args[-1], args[0].size
        if op == "copy_strided":
            self.check_strided(args)
            return
        if op in TOTALS:
            a, b = self.host["a"][:n], self.host["b"][:n]
            expected = np.dot(a, b) if op == "dot" else np.sum(a)
            np.testing.assert_allclose(self.fetch(out, slice(None)), [expected], rtol=1e-11)
            self.poison(out)
            return
        if op in ON_SQUARE:
            self.check_lines(op, out)
            return
        where = slice(None) if n <= CHECKED else np.random.default_rng(1).integers(0, n, CHECKED)
        a, b = self.host["a"][:n][where], self.host["b"][:n][where]
        values = {"a": a, "b": b, "s": 3.0}
        inputs = [a, args[1]] if op == "horner" else [values[name] for name in arguments_of(op)[:-1]]
        expected = np.empty_like(a)
        getattr(reference, op)(*inputs, expected)
        np.testing.assert_allclose(self.fetch(out, where), expected, rtol=1e-12)
        self.poison(out)  # so that the next variant cannot pass on this one's result

    def check_strided(self, args):
        """Compare a copy with gaps with the oracle, all elements of it."""
        a, stride, out = args
        expected = np.empty(out.size)
        reference.copy_strided(self.host["a"][: a.size], stride, expected)
        np.testing.assert_array_equal(self.fetch(out, slice(None)), expected)
        self.poison(out)

    def check_lines(self, op, out):
        """Compare sums or a transpose with NumPy's, in all rows or columns, or in enough for a million elements."""
        edge = out.shape[0]
        some = np.random.default_rng(1).integers(0, edge, CHECKED // edge)
        lines = np.arange(edge) if out.size <= CHECKED else some
        a = self.host["a"][: out.size].reshape(out.shape)
        if op == "transpose":
            np.testing.assert_array_equal(self.fetch(out, lines), a.T[lines])
        else:
            a, found = (a.T, out.T) if op == "cumsum_columns" else (a, out)
            np.testing.assert_allclose(self.fetch(found, lines), np.cumsum(a[lines], axis=1), rtol=1e-11)
        self.poison(out)


class _DeviceData(_HostData):
    """The same vectors in GPU memory, as CuPy arrays, which Numba accepts as well."""

    def __init__(self, n: int):
        if gpu().kind != "gpu":
            raise CourseError(
                "`course bench vector --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
            )
        from course_pkg.vector.gpu_cupy import cp

        if 3 * 8 * n > 0.9 * gpu().memory_bytes:
            raise CourseError(
                f"Vectors of {n} doubles need {24 * n / 1e9:.0f} GB of GPU memory: use --quick."
            )
        super().__init__(n)
        self.device = {name: cp.asarray(self.host[name]) for name in ("a", "b")}
        self.out, self.total = cp.full(n, cp.nan), cp.zeros(1)

    a = property(lambda self: self.device["a"])
    b = property(lambda self: self.device["b"])

    def arguments(self, names, shape, library, parameters=()):
        args = super().arguments(names, shape, library, parameters)
        if library != Library.NUMBA_CUDA:
            return args
        from course_pkg import cuda

        # Numba inspects another library's array at each launch, which takes longer than a short kernel
        return tuple(cuda.as_cuda_array(v) if hasattr(v, "__cuda_array_interface__") else v for v in args)

    def fetch(self, out, where):
        from course_pkg.vector.gpu_cupy import cp

        out = cp.asarray(out)
        return cp.asnumpy(out[where] if isinstance(where, slice) else out[cp.asarray(where)])

    def poison(self, out):
        from course_pkg.vector.gpu_cupy import cp

        cp.asarray(out).fill(cp.nan)
