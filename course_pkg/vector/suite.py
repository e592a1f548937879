"""What ``course bench vector`` measures: the streams over sizes; on one size flops, sums and transposes."""

import functools
import math
from collections.abc import Iterator

import numpy as np
import psutil

from course_pkg.bench import Measurement, compare, gpu, progress
from course_pkg.core import CourseError
from course_pkg.vector import cost, cpu_c, cpu_numba, reference

# argument names of each operation, in the order of its signature
OPERATIONS = {
    "copy": ("a", "out"),
    "scale": ("a", "s", "out"),
    "add": ("a", "b", "out"),
    "triad": ("a", "b", "s", "out"),
    "dot": ("a", "b", "total"),
}
DEGREES_CPU = (1, 2, 4, 8, 16, 32, 64)
DEGREES_GPU = (*DEGREES_CPU, 128)
SUMS = {"reduce_sum": ("a", "total"), "cumsum_columns": ("a", "out"), "cumsum_rows": ("a", "out")}
ON_SQUARE = {**SUMS, "transpose": ("a", "out")}
# edge of the square array that is summed and transposed, if the vectors are as long
EDGE = {"cpu": 4096, "gpu": 16384}
# operations that the GPU's file has in several variants only
VARIANTS_GPU = {
    "reduce_sum": ("reduce_sum_tree", "reduce_sum_shuffle", "reduce_sum_grid_stride"),
    "cumsum_rows": ("cumsum_rows_serial", "cumsum_rows_chunked"),
    "transpose": ("transpose_naive", "transpose_tiled"),
}
CHECKED = 1 << 20  # elements of a large result that are compared with the oracle


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; ``quick`` takes few sizes and samples."""
    exponents = range(10, (24 if quick else 27 if device == "cpu" else 30) + 1, 4 if quick else 1)
    data = _HostData(2 ** exponents[-1]) if device == "cpu" else _DeviceData(2 ** exponents[-1])
    degrees = DEGREES_CPU if device == "cpu" else DEGREES_GPU
    samples = 5 if quick else 20
    variants = {op: dict(_variants(device, op)) for op in (*OPERATIONS, "horner", *ON_SQUARE)}
    with progress(len(exponents) + len(degrees) + len(ON_SQUARE)) as step:
        for e in exponents:
            step(f"2^{e} elements")
            for op, names in OPERATIONS.items():
                parameters = {"n": 2**e, "dtype": "float64"}
                yield from _in_turn(data, op, names, variants[op], parameters, samples)
        for degree in degrees:
            step(f"degree {degree}")
            parameters = {"n": data.n // 8, "dtype": "float64", "degree": degree}
            yield from _in_turn(data, "horner", ("a", degree, "out"), variants["horner"], parameters, samples)
        edge = min(EDGE[device], math.isqrt(data.n))
        for op, names in ON_SQUARE.items():
            step(op)
            size = {"n": edge**2} if op == "reduce_sum" else {"shape": [edge, edge]}
            parameters = {**size, "dtype": "float64"}
            yield from _in_turn(data, op, names, variants[op], parameters, samples)


def _in_turn(data, op, names, variants, parameters, samples):
    """Return the measurements of all variants of one operation, their samples taken in turn."""
    shape = tuple(parameters.get("shape") or [parameters["n"]])
    # beside the transposes stands a copy, which takes vectors
    does = {variant: "copy" if variant.startswith("copy") else op for variant in variants}
    args = {
        variant: data.arguments(names, shape if does[variant] == op else (math.prod(shape),), variant)
        for variant in variants
    }
    return compare(
        variants,
        arguments=args,
        cost={variant: _cost(op, variant, **parameters) for variant in variants},
        check={variant: lambda op=does[variant], a=a: data.check(op, a) for variant, a in args.items()},
        parameters=parameters,
        samples=samples,
    ).measurements


def _cost(op, variant, **parameters):
    if variant in ("triad, NumPy", "triad, CuPy"):
        return cost.triad_two_passes(**parameters)
    if variant.startswith(("reduce_sum tree", "reduce_sum shuffle")):
        from course_pkg.vector.gpu_numba import THREADS_PER_BLOCK

        return cost.reduce_sum_tree(**parameters, threads_per_block=THREADS_PER_BLOCK)
    return getattr(cost, op)(**parameters)


def _variants(device, op):
    """Return ``(name, function)`` of each implementation of an operation."""
    if device == "cpu":
        found = [(f"{op}, Numba CPU", getattr(cpu_numba, op))]
        if op != "horner":
            found.append((f"{op}, NumPy", getattr(reference, op)))
        if op == "triad" and cpu_c.available():
            found.append(("triad, C with OpenMP", cpu_c.triad))
        if op == "transpose":
            found.append(("copy, Numba CPU", cpu_numba.copy))
        return found
    from course_pkg.vector import gpu_cupy, gpu_numba

    found = []
    for variant in VARIANTS_GPU.get(op, (op,)):
        numba_fn = getattr(gpu_numba, variant)
        if op in ("dot", "reduce_sum"):  # memory allocated once: an allocation would be timed with the sum
            numba_fn = functools.partial(numba_fn, partial=gpu_numba.partial_sums(EDGE[device] ** 2))
        name = " ".join([op, *variant.removeprefix(op).split("_")[1:]])
        if variant == "transpose_tiled":
            found.append((f"{name}, Numba CUDA", functools.partial(numba_fn, padding=0)))
            name += " padded"
        found.append((f"{name}, Numba CUDA", numba_fn))
    found.append((f"{op}, CuPy", getattr(gpu_cupy, op)))
    if op == "copy":
        found.append(("copy, two doubles a thread", gpu_numba.copy_two))
    if op == "triad":
        found.append(("triad, CuPy fused", gpu_cupy.triad_fused))
    if op == "transpose":
        found.append(("copy, CuPy", gpu_cupy.copy))
    return found


class _HostData:
    """Two random vectors and an output of the largest size; smaller sizes are their beginnings."""

    def __init__(self, n: int):
        needed = 3 * 8 * n
        if needed > 0.7 * psutil.virtual_memory().available:
            raise CourseError(
                f"The largest vectors need {needed / 1e9:.1f} GB of memory, and "
                f"{psutil.virtual_memory().available / 1e9:.1f} GB are free: run with --quick."
            )
        rng = np.random.default_rng(0)
        self.n = n
        self.host = {"a": rng.random(n), "b": rng.random(n), "s": 3.0}
        self.out, self.total = np.full(n, np.nan), np.zeros(1)

    def arguments(self, names, shape, variant):
        """Return the named arguments cut to the elements of a shape, as the variant's library likes them."""
        whole = {"a": self.a, "b": self.b, "s": 3.0, "out": self.out, "total": self.total}
        picked = (whole[name] if isinstance(name, str) else name for name in names)
        n = math.prod(shape)
        return tuple(v[:n].reshape(shape) if getattr(v, "size", 0) > 1 else v for v in picked)

    a = property(lambda self: self.host["a"])
    b = property(lambda self: self.host["b"])

    def fetch(self, out, where):
        return out[where]

    def poison(self, out):
        out.fill(np.nan)

    def check(self, op, args):
        """Compare the result of one call with the oracle, on all elements or on a random million of them."""
        out, n = args[-1], args[0].size
        if op in ("dot", "reduce_sum"):
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
        inputs = [a, args[1]] if op == "horner" else [values[name] for name in OPERATIONS[op][:-1]]
        expected = np.empty_like(a)
        getattr(reference, op)(*inputs, expected)
        np.testing.assert_allclose(self.fetch(out, where), expected, rtol=1e-12)
        self.poison(out)  # so that the next variant cannot pass on this one's result

    def check_lines(self, op, out):
        """Compare sums or a transpose with NumPy's, in all columns or rows or in as many as have a million elements."""
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
    """The same vectors in GPU memory, as CuPy arrays: Numba takes them as they are."""

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

    def arguments(self, names, shape, variant):
        args = super().arguments(names, shape, variant)
        if "Numba" not in variant:
            return args
        from course_pkg import cuda

        # Numba looks at a foreign array anew at each launch, which costs more than a short kernel runs
        return tuple(cuda.as_cuda_array(v) if hasattr(v, "__cuda_array_interface__") else v for v in args)

    def fetch(self, out, where):
        from course_pkg.vector.gpu_cupy import cp

        out = cp.asarray(out)
        return cp.asnumpy(out[where] if isinstance(where, slice) else out[cp.asarray(where)])

    def poison(self, out):
        from course_pkg.vector.gpu_cupy import cp

        cp.asarray(out).fill(cp.nan)
