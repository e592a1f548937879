"""What ``course bench qp`` measures on a GPU."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from course_pkg import cuda
from course_pkg.bench import Measurement, measure, progress
from course_pkg.core import Library
from course_pkg.qp import gpu_cupy, gpu_numba
from course_pkg.qp.gpu_cupy import cp
from course_pkg.qp.solver import READMIT_EVERY
from course_pkg.qp.suite_batch import batch, batch_on_cpu
from course_pkg.qp.suite_solves import (
    APG,
    BATCH,
    CUDA,
    CUPY,
    INACTIVE,
    MOST_PLAIN,
    ON_CPU,
    PQP,
    SETTINGS,
    drawn,
    one_solve,
    rival_solve,
)
from course_pkg.qp.variants import VARIANTS
from course_pkg.vector.suite_gpu import COPIED, COPIED_QUICK, measured_copy

SPARSE = ("rows", "skip", "compacted", "packed")  # variants that are measured where most x are 0
PACK, PRODUCTS = VARIANTS["pack"], VARIANTS.of("split_product", CUDA)


def kernels(size, batched, *, quick: bool) -> Iterator[Measurement]:
    """Yield a copy, updates in two precisions, updates with zeros, and batches."""
    options = {"samples": 3 if quick else 20, "hold": True}
    copied = COPIED_QUICK if quick else COPIED
    yield measured_copy(copied, {"n": copied}, **options)
    with progress(4) as step:
        for dtype in ("float64", "float32"):
            step(f"updates of {size} unknowns, {dtype}")
            yield from updates(size, dtype, options)
        step(f"updates with {INACTIVE:.0%} zeros")
        yield from with_zeros(size, quick=quick)
        step(f"{batched[0]} problems of {batched[1]} unknowns")
        yield from batches(*batched, options)


def with_zeros(size, *, quick: bool) -> Iterator[Measurement]:
    """Yield updates and what belongs to them, where most x are 0."""
    options = {"samples": 3 if quick else 20, "hold": True}
    yield from updates(size, "float64", options, INACTIVE)
    yield from parts_with_zeros(size, options)


class Vectors:
    """The arguments of an update on the device, and the right results."""

    def __init__(self, n, dtype, inactive):
        self.host = drawn(n, dtype, inactive)
        self.arrays = [
            cp.asarray(a) for a in (*self.host, np.full(n, np.nan, dtype), np.full(n, np.nan, dtype))
        ]
        self.eps, self.expected = float(np.finfo(dtype).eps), {}
        Q, h, shift, x = self.arrays[:4]
        halves = gpu_cupy.split(Q)
        for iterations in range(1, READMIT_EVERY + 1 if inactive else 2):
            out, parts = (cp.empty(n, dtype) for _ in range(2))
            gpu_cupy.update(Q, h, shift, x, out, parts, halves)
            self.expected[iterations], x = (out, parts), out
        self.products = [half @ self.arrays[3] for half in halves]
        del halves
        cp.get_default_memory_pool().free_all_blocks()

    @property
    def for_numba(self):
        """The same arrays as Numba knows them."""
        return [cuda.as_cuda_array(a) for a in self.arrays]

    def check(self, iterations=1):
        """Compare the results with the right ones, then overwrite them, so that the next variant writes its own."""
        self.compare(self.arrays[4:], self.expected[iterations])

    def compare(self, arrays, expected):
        """Raise unless the arrays equal others up to rounding, then overwrite them."""
        for found, right in zip(arrays, expected, strict=True):
            most = 1000 * self.eps * float(cp.abs(right).max()) * np.sqrt(right.size)
            worst = float(cp.abs(found - right).max())
            if not worst <= most:
                raise AssertionError(f"an error of {worst:.3g} is more than rounding explains")
            found.fill(cp.nan)


def updates(n, dtype, options, inactive=0.0) -> Iterator[Measurement]:
    """Yield the updates of one size and precision; where x has zeros, only of the variants that use them."""
    vectors = Vectors(n, dtype, inactive)
    common = {"n": n, "dtype": dtype} | ({"inactive": inactive} if inactive else {})
    active = int(np.count_nonzero(vectors.host[3]))
    for variant in VARIANTS.of("update", CUDA):
        if inactive and variant.name not in SPARSE:
            continue
        sized = {"active": active} if variant.name in ("skip", "compacted", "packed") else {}
        tried, given = [{}], vectors.for_numba
        ready = _ready(variant, given)
        if variant.name == "packed" and inactive:
            tried += [{"iterations": READMIT_EVERY}]
        if variant.name == "rows" and not inactive and dtype == "float64":
            default = gpu_numba.ROWS, gpu_numba.UNROLL
            tried += [{"rows": r, "unroll": u} for r, u in SETTINGS if (r, u) != default]
        for setting in tried:
            yield measure(
                partial(variant.function(CUDA), **setting, **ready),
                *given,
                cost=variant.cost(n, dtype=dtype, **sized, **_repeated(setting)),
                check=partial(vectors.check, **_repeated(setting)),
                name=variant.by(CUDA),
                parameters=common | setting,
                **options,
            )
    if not inactive:
        halves = gpu_cupy.split(vectors.arrays[0])
        variant = VARIANTS["update"]
        yield measure(
            partial(gpu_cupy.update, halves=halves),
            *vectors.arrays,
            cost=variant.cost_by(CUPY)(n, dtype=dtype),
            check=vectors.check,
            name=variant.by(CUPY),
            parameters=common,
            **options,
        )


def _repeated(setting) -> dict:
    """Return the number of updates of a setting, for costs and checks."""
    return {name: value for name, value in setting.items() if name == "iterations"}


def _ready(variant, given) -> dict:
    """Return what is there before a call: memory for a list, which each call makes anew, or the dense copy."""
    Q, h, shift, x, *_ = given
    if variant.name == "compacted":
        return dict(zip(("active", "count"), gpu_numba.lists(x.size), strict=True))
    if variant.name == "packed":
        return {"packed": _packed(Q, h, shift, x)}
    return {}


def _packed(Q, h, shift, x):
    """Return the dense copy of what belongs to unknowns that are not 0."""
    packed = gpu_numba.room_for(x)
    gpu_numba.pack(Q, h, shift, packed)
    return packed


def parts_with_zeros(n, options) -> Iterator[Measurement]:
    """Yield what solvers do beside updates where most x are 0: making the dense copy, and products with Q."""
    vectors = Vectors(n, "float64", INACTIVE)
    Q, h, shift, x, *_ = vectors.for_numba
    common = {"n": n, "dtype": "float64", "inactive": INACTIVE}
    found = np.flatnonzero(vectors.host[3])
    packed, columns = _packed(Q, h, shift, x), cp.asarray(found)

    def check():
        copied = cp.asarray(packed.Q)[: found.size, : found.size]
        cp.testing.assert_array_equal(copied, vectors.arrays[0][columns][:, columns])
        copied.fill(cp.nan)

    yield measure(
        PACK.function(CUDA),
        *(Q, h, shift, packed),
        cost=PACK.cost(n, found.size),
        check=check,
        name=PACK.by(CUDA),
        parameters=common,
        **options,
    )
    out = cp.full((2, n), cp.nan)
    for variant in PRODUCTS:
        listed = variant.name == "listed"
        lists = dict(zip(("active", "count"), gpu_numba.lists(n), strict=True)) if listed else {}
        yield measure(
            partial(variant.function(CUDA), **lists),
            *(Q, x, cuda.as_cuda_array(out)),
            cost=variant.cost(n, found.size) if listed else variant.cost(n),
            check=lambda: vectors.compare(out, vectors.products),
            name=variant.by(CUDA),
            parameters=common,
            **options,
        )


def batches(problems, n, iterations, options) -> Iterator[Measurement]:
    """Yield a batch on the GPU, which also tells the time of the same batch on all cores of the CPU, and CuPy's."""
    on_cpu = batch_on_cpu(problems, n, iterations, samples=3)
    host = batch(problems, n)
    arrays = [cp.asarray(a) for a in host] + [cp.full(host[1].shape, cp.nan) for _ in range(2)]
    out = arrays[4]

    def check():
        some, expected, parts = slice(0, 4), np.empty_like(host[1][:4]), np.empty_like(host[1][:4])
        BATCH.function(Library.NUMPY)(*(a[some] for a in host), expected, parts, iterations)
        np.testing.assert_allclose(cp.asnumpy(out[some]), expected, rtol=1e-6)
        out.fill(cp.nan)

    for library in (CUDA, CUPY):
        given = [cuda.as_cuda_array(a) for a in arrays] if library == CUDA else arrays
        yield measure(
            partial(BATCH.function(library), iterations=iterations),
            *given,
            cost=BATCH.cost_by(library)(n, problems, iterations),
            check=check,
            name=BATCH.by(library),
            parameters={"n": n, "problems": problems, "iterations": iterations, "dtype": "float64"},
            observe=lambda: {"cpu_s": on_cpu.median_s, "cpu": on_cpu.device.name},
            **(options | {"hold": library == CUDA}),  # CuPy's hundreds of launches cannot be queued ahead
        )


def solves(p, samples) -> Iterator[Measurement]:
    """Yield the time to a KKT residual of 1e-6 ‖h‖∞ by our solvers on the GPU, by MPAX, and on the CPU beside it."""
    arrays = cp.asarray(p.Q), cp.asarray(p.h)
    for variant, library, options in (
        (PQP, CUDA, {"accelerate": True}),
        (PQP, CUDA, {"accelerate": False, "maxiter": MOST_PLAIN}),
        (PQP, CUPY, {"accelerate": True}),
        (APG, CUPY, {"maxiter": MOST_PLAIN}),
    ):
        given = [cuda.as_cuda_array(a) for a in arrays] if library == CUDA else arrays
        function, wait = variant.function(library), cp.cuda.Device().synchronize
        yield one_solve(p, variant.by(library), function, options, given, samples, wait)
    for library in (Library.MPAX, *ON_CPU):
        yield from rival_solve(p, library, samples, beside_gpu=True)
