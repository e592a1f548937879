"""What ``course bench permutation`` measures: gather and scatter in four orders, and a copy that gives the bound."""

from collections.abc import Iterator

import numpy as np

from course_pkg.bench import Measurement, compare, gpu, progress
from course_pkg.core import CourseError, Library
from course_pkg.core.host import free_memory
from course_pkg.permutation import reference
from course_pkg.permutation.variants import VARIANTS
from course_pkg.vector.variants import VARIANTS as STREAMS

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
LIBRARIES = {"cpu": (CPU,), "gpu": (CUDA, CUPY)}
OPERATIONS = ("permute_vector", "unpermute_vector")
COPY = STREAMS["copy"]
EXPONENTS = range(24, 28)
QUICK = (16, 20)
WINDOW, STRIDE = 1024, 32
ORDERS = {
    "identity": lambda n: np.arange(n, dtype=np.int32),
    "local": lambda n: reference.local_permutation(n, WINDOW),
    "strided": lambda n: reference.strided_permutation(n, STRIDE),
    "random": lambda n: reference.random_permutation(n),
}
CHECKED = 1 << 20  # number of elements of a large result that are compared with the input
BYTES_PER_ELEMENT = 8 + 8 + 2 * 4  # input, result, and two orders: one in use while the next is made


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield copy, gather and scatter on ``"cpu"`` or ``"gpu"``, for each size and order; ``quick``: small sizes."""
    exponents = QUICK if quick else tuple(EXPONENTS)
    _require_room(device, 2 ** max(exponents))
    put = _to_device if device == "gpu" else np.asarray
    with progress(len(exponents) * (1 + len(ORDERS))) as step:
        for exponent in exponents:
            n = 2**exponent
            step(f"2^{exponent} elements, copy")
            vectors = _Vectors(n, put)
            parameters = {"n": n, "dtype": "float64"}
            samples = 5 if quick else 20
            yield from _compare(
                vectors, [(COPY, library) for library in LIBRARIES[device]], parameters, samples
            )
            for order, make in ORDERS.items():
                step(f"2^{exponent} elements, {order}")
                vectors.perm = make(n)
                chosen = [
                    (v, library)
                    for library in LIBRARIES[device]
                    for op in OPERATIONS
                    for v in VARIANTS.of(op, library)
                ]
                yield from _compare(
                    vectors, chosen, {**parameters, "index": "int32", "order": order}, samples
                )


def bounding_stream(measurements: list[Measurement]) -> Measurement | None:
    """Return the fastest copy of the largest size; None if none was measured."""
    copies = [m for m in measurements if m.operation == COPY.operation]
    return max(copies, key=lambda m: (m.parameters["n"], m.t_eff_gb_s), default=None)


def _compare(vectors, chosen, parameters, samples):
    """Yield the measurements of all implementations in one order; their samples are taken in turn."""
    # earlier results may still be in memory, and could be taken for results of this implementation
    vectors.out.fill(np.nan)
    size = {name: parameters[name] for name in ("n", "dtype", "index") if name in parameters}
    whats = {variant.by(library): (variant, library) for variant, library in chosen}
    return compare(
        {what: variant.function(library) for what, (variant, library) in whats.items()},
        arguments={what: vectors.arguments(variant, library) for what, (variant, library) in whats.items()},
        cost={what: variant.cost_by(library)(**size) for what, (variant, library) in whats.items()},
        check={what: lambda op=variant.operation: vectors.check(op) for what, (variant, _) in whats.items()},
        parameters=parameters,
        samples=samples,
    ).measurements


class _Vectors:
    """A random vector, a result vector and the current order, on the host and on the device that is measured."""

    def __init__(self, n, put):
        self.put, self.host = put, np.random.default_rng(0).random(n)
        self.x, self.out = put(self.host), put(np.full(n, np.nan))

    @property
    def perm(self):
        return self._perm

    @perm.setter
    def perm(self, perm):
        self._perm, self.there = perm, self.put(perm)

    def arguments(self, variant, library):
        """Return the arguments of a function: the order (not for a copy), the vector and the result."""
        arrays = (self.x, self.out) if variant == COPY else (self.there, self.x, self.out)
        if library != CUDA:
            return arrays
        from course_pkg import cuda

        # Numba inspects another library's array at each launch, which takes longer than a short kernel
        return tuple(cuda.as_cuda_array(a) for a in arrays)

    def check(self, operation):
        """Compare the result of a call with the input, in all or in a million elements, and then clear it."""
        n = self.host.size
        where = np.arange(n) if n <= CHECKED else np.random.default_rng(1).integers(0, n, CHECKED)
        come_from, go_to = where, where
        if operation == "permute_vector":
            come_from = self.perm[where]
        elif operation == "unpermute_vector":
            go_to = self.perm[where]
        found = self.out[self.put(go_to)]
        np.testing.assert_array_equal(found.get() if hasattr(found, "get") else found, self.host[come_from])
        self.out.fill(np.nan)  # so that this result cannot pass as that of the next variant


def _to_device(array):
    from course_pkg.permutation.gpu_cupy import cp

    return cp.asarray(array)


def _require_room(device, n) -> None:
    needed = n * BYTES_PER_ELEMENT
    if device == "cpu":
        there = 0.7 * free_memory()
    elif gpu().kind != "gpu":
        raise CourseError(
            "`course bench permutation --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
        )
    else:
        there = 0.9 * gpu().memory_bytes
    if needed > there:
        raise CourseError(
            f"Vectors of {n} doubles and their orders need {needed / 1e9:.1f} GB of memory, but {there / 1e9:.1f} GB "
            "can be used: run with --quick."
        )
