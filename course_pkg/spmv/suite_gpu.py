"""What ``course bench spmv`` measures on a GPU: every format in three precisions, and cuSPARSE and PyTorch."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from course_pkg import cuda
from course_pkg.bench import Measurement, measure, progress
from course_pkg.core import Library
from course_pkg.permutation.problem import problem
from course_pkg.spmv import gpu_cupy, gpu_numba
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.gpu_cupy import cp
from course_pkg.spmv.suite_products import CUDA, CUPY, PRODUCT, described, tolerance
from course_pkg.spmv.tuning import CHUNK, LANES, SIGMA, THREADS_PER_BLOCK, TILE, unroll_for
from course_pkg.spmv.variants import FORMATS, VARIANTS
from course_pkg.vector.suite_gpu import COPIED, COPIED_QUICK, measured_copy

PRECISIONS = (("float64", "float64"), ("float32", "float32"), ("float64", "float32"))  # of vectors, of values
MOST_FILL = 4  # a table is not made if it would store more values per nonzero than this
SWEPT = (
    "tetrahedral",
)  # only for these matrices all settings are tried, because each needs a conversion on the host


@dataclass(frozen=True)
class Setting:
    """How a variant is measured: the arguments that make its format, and those of its launcher."""

    made: tuple = ()
    called: tuple = ()


def _sell(sigma=SIGMA, chunk=CHUNK, unroll=None) -> Setting:
    return Setting((("sigma", sigma), ("chunk", chunk)), (("unroll", unroll),) if unroll else ())


# measured for every matrix and precision; a variant that is not named here has only one setting
SETTINGS = {
    "spmv_csr_vector": [Setting((), (("lanes", lanes),)) for lanes in LANES],
    "spmv_csr_balanced": [Setting((("tile", TILE),))],
    "spmv_sell": [_sell(sigma=1), _sell()],
}
# also measured, in double precision only, to find the numbers in tuning.py
TRIED = {
    "spmv_csr_balanced": [Setting((("tile", items * THREADS_PER_BLOCK),)) for items in (4, 8, 12, 16)],
    "spmv_sell": [
        *(_sell(sigma=sigma, unroll=unroll) for sigma in (1, SIGMA) for unroll in (1, 2, 4, 6)),
        *(_sell(sigma=sigma) for sigma in (64, 1024, 16384)),
        *(_sell(sigma=sigma, chunk=chunk) for sigma in (1, SIGMA) for chunk in (64, 128)),
    ],
}


class Vectors:
    """x and y in one precision on the device, and the right result for a matrix in a given precision."""

    def __init__(self, A, dtype: str, values: str):
        x = np.random.default_rng(0).uniform(-1, 1, A.shape[1]).astype(dtype)
        rounded = A.astype(values).astype("float64")
        self.dtype, self.values = dtype, values
        self.x, self.y = cp.asarray(x), cp.full(A.shape[0], cp.nan, dtype)
        self.expected = cp.asarray(rounded @ x.astype("float64"))
        self.largest = cp.asarray(tolerance(rounded, x.astype("float64"), dtype))
        self.for_numba = tuple(cuda.as_cuda_array(a) for a in (self.x, self.y))

    def check(self, found=None):
        """Compare a result with the right one, then overwrite it, so that the next variant must write its own."""
        found = self.y if found is None else found
        worst = float((cp.abs(found - self.expected) - self.largest).max())
        if not worst <= 0:
            raise AssertionError(f"an error is larger than rounding explains, by {worst}")
        self.y.fill(cp.nan)


def sampling(quick: bool) -> dict:
    """Return the options with which a product is timed."""
    return {"samples": 3 if quick else 20, "hold": True}


def products(matrices, *, quick: bool) -> Iterator[Measurement]:
    """Yield a copy, and then all products with each matrix."""
    options = sampling(quick)
    copied = COPIED_QUICK if quick else COPIED
    yield measured_copy(copied, {"n": copied}, **options)
    with progress(len(matrices)) as step:
        for name, size in matrices:
            step(name)
            yield from _with(name, problem(name, size).matrix, options)
            cp.get_default_memory_pool().free_all_blocks()


def launches(name: str, A) -> Iterator[tuple]:
    """Yield for a matrix each variant and setting, with the precisions in which it is measured."""
    skewed = np.diff(A.indptr).max() > MOST_FILL * A.nnz / A.shape[0]
    for variant in VARIANTS.of("spmv", CUDA):
        if variant.name in ("ell", "ellr") and skewed:
            continue
        slow = skewed and variant.name in ("csr_scalar", "sell")  # a long row delays its whole warp
        settings = SETTINGS.get(variant.function_name, [Setting()])
        measured = [(settings[-1], PRECISIONS[:1])] if slow else [(s, PRECISIONS) for s in settings]
        if name in SWEPT:
            measured += [(s, PRECISIONS[:1]) for s in TRIED.get(variant.function_name, ())]
        for setting, precisions in sorted(measured, key=lambda one: one[0].made):  # makes each format once
            yield variant, setting, precisions


def _with(name, A, options) -> Iterator[Measurement]:
    chosen = PRECISIONS if name in SWEPT else PRECISIONS[:1]
    vectors = {precisions: Vectors(A, *precisions) for precisions in chosen}
    for dtype, values in chosen:
        if dtype == values:
            yield from libraries(name, A, vectors[dtype, values], options)
    format_made, made = None, None
    for variant, setting, precisions in launches(name, A):
        wanted = FORMATS[variant.function_name], setting.made
        if wanted != format_made:  # keep the last format as long as it is needed
            format_made, made = wanted, wanted[0].from_scipy(A, **dict(setting.made))
        for one in precisions[: len(chosen)]:
            yield ours(name, A, made, variant, setting, vectors[one], options)


@lru_cache(maxsize=1)
def _on_device(made, values):
    """Return a format in GPU memory; the last one is kept for further settings of the launcher."""
    return made.astype(values).to_device()


def ours(name, A, made, variant, setting, vectors, options, more=None, observed=None) -> Measurement:
    """Measure a kernel of this package; ``more`` holds further parameters, ``observed`` further counts."""
    on_device = _on_device(made, vectors.values)
    vectors.y.fill(cp.nan)
    call = partial(variant.function(CUDA), **dict(setting.called))
    if variant.name == "csr_balanced":
        call = partial(call, carry=gpu_numba.carries(on_device))
    its_cost = variant.cost(**on_device.sizes(), dtype=vectors.dtype)
    return measure(
        call,
        on_device,
        *vectors.for_numba,
        cost=its_cost,
        check=vectors.check,
        name=variant.by(CUDA),
        parameters={
            **described(name, A, vectors.dtype, vectors.values),
            **dict(setting.made),
            **dict(setting.called),
            **(more or {}),
        },
        footprint=its_cost.bytes,
        observe=lambda: _observed(variant, setting, made) | (observed or {}),
        **options,
    )


def _observed(variant, setting, made) -> dict:
    chosen = {"unroll": unroll_for(made)} if variant.name == "sell" and not setting.called else {}
    return {"fill": round(made.fill, 4), **chosen}


def libraries(name, A, vectors, options, more=None, observed=None) -> Iterator[Measurement]:
    """Yield cuSPARSE's product, and PyTorch's if it is installed."""
    whole = Csr.from_scipy(A, vectors.values)
    matrix, its_cost = gpu_cupy.matrix(whole), PRODUCT.cost(**whole.sizes(), dtype=vectors.dtype)
    common = {
        "cost": its_cost,
        "parameters": described(name, A, vectors.dtype, vectors.values) | (more or {}),
        "footprint": its_cost.bytes,
    }
    yield measure(
        gpu_cupy.spmv,
        matrix,
        vectors.x,
        vectors.y,
        check=vectors.check,
        name=PRODUCT.by(CUPY),
        observe=lambda: dict(observed or {}),
        **common,
        **options,
    )
    for library in (Library.PYTORCH,):
        try:
            rival = PRODUCT.rival(library)(matrix, vectors.x)
        except ImportError as error:
            print(f"Not measured: {PRODUCT.by(library)} ({error}).")
            continue
        yield measure(
            lambda x, rival=rival: rival.call(),
            vectors.x,
            check=lambda rival=rival: (rival.wait(), vectors.check(rival.result())),
            name=PRODUCT.by(library),
            wait=rival.wait,
            observe=lambda rival=rival: {"version": rival.version, **(observed or {})},
            min_sample_s=0.05,
            samples=options["samples"],
            **common,
        )
