"""What ``course bench stencil`` measures of the Laplacian on a GPU: variants, sizes, blocks, registers, occupancy."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from course_pkg import cuda
from course_pkg.bench import Measurement, compiled, gpu, measure
from course_pkg.core import Library
from course_pkg.stencil import gpu_cupy, gpu_numba, reference, suite_tiles
from course_pkg.stencil.gpu_cupy import cp
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.suite_settings import BLOCKS, BLOCKS_PER_SM, REGISTERS
from course_pkg.stencil.variants import VARIANTS
from course_pkg.vector.suite_gpu import copy_by_driver
from course_pkg.vector.variants import VARIANTS as STREAMS

CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
COPY = (STREAMS["copy"], CUPY)
LAPLACIANS = [(v, library) for library in (CUDA, CUPY) for v in VARIANTS.of("laplacian", library)]
STRIDED = (VARIANTS["centre_strided"], VARIANTS["centre_strided_pairs"])  # these run with few threads
RUNGS = [(v, CUDA) for v in VARIANTS.of("centre", CUDA) if v not in STRIDED]
EDGE, QUICK = 512, 64
EDGES = (32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
EDGES_QUICK = (16, 32)
SWEPT = [
    *((VARIANTS[f"laplacian_{name}"], CUDA) for name in ("naive", "flat", "marching", "vectorised")),
    (VARIANTS["laplacian_vectorised"], CUPY),
]


class Grids:
    """A random grid on the device, memory for the result, and the right result of each operation."""

    def __init__(self, edge: int, dtype: str):
        small = edge <= EDGE  # the host can make such a grid within seconds
        self.u = cp.asarray(HeatProblem.random((edge,) * 3, dtype).T) if small else _random(edge, dtype)
        self.out, self.expected = cp.empty_like(self.u), cp.empty_like(self.u)
        gpu_cupy.laplacian(self.u, self.expected)
        if small:
            self._confirm()
        self.for_numba = tuple(cuda.as_cuda_array(a) for a in (self.u, self.out))

    def _confirm(self):
        """Compare the right result that was computed on the device with NumPy's."""
        host, expected = self.u.get(), np.empty(self.u.shape, self.u.dtype)
        reference.laplacian(host, expected)
        np.testing.assert_allclose(self.expected.get(), expected, rtol=0, atol=_tolerance(self.u.dtype))

    def result_of(self, operation: str):
        """Return the right result of an operation on u."""
        if operation == "laplacian":
            return self.expected
        return 6 * self.u if operation == "centre" else self.u  # otherwise the operation is the copy

    def check(self, operation: str, found=None):
        """Compare the result with the right one, then overwrite it, so that the next variant must write its own."""
        found = self.out if found is None else found
        worst = float(cp.abs(found - self.result_of(operation)).max())
        if not worst <= _tolerance(self.u.dtype):
            raise AssertionError(f"the largest error of the result is {worst}")
        self.out.fill(cp.nan)


def _random(edge, dtype):
    return cp.random.default_rng(0).random((edge,) * 3, dtype=dtype)


def _tolerance(dtype):
    return 64 * np.finfo(dtype).eps


def steps(quick: bool) -> int:
    """Return how many measurements :func:`run` makes."""
    at_one_edge = 2 * (1 + len(LAPLACIANS) + len(RUNGS) + len(STRIDED) * len(BLOCKS_PER_SM))
    tiles = len(list(suite_tiles.chosen(suite_tiles.BOX, suite_tiles.TILES_3D, set(BLOCKS))))
    return at_one_edge + tiles + len(BLOCKS) + 2 * len(REGISTERS) + len(_swept(quick)) * (1 + len(SWEPT))


def _swept(quick: bool) -> list[int]:
    """Return the edges of the sweep, without the one at which everything is measured."""
    return [edge for edge in (EDGES_QUICK if quick else EDGES) if edge != (QUICK if quick else EDGE)]


def run(*, quick: bool) -> Iterator[Measurement]:
    """Yield the measurements."""
    options = {"samples": 3 if quick else 20, "hold": True}
    for dtype in ("float64", "float32"):
        grids = Grids(QUICK if quick else EDGE, dtype)
        yield from _each(grids, [*LAPLACIANS, *RUNGS], options)
        if dtype == "float64":
            yield from _blocks(grids, options)
            yield from _tiles(grids, options)
            yield from _registers(grids, options)
        yield from _occupancy(grids, options)
        del grids
        cp.get_default_memory_pool().free_all_blocks()
    for edge in _swept(quick):
        grids = Grids(edge, "float64")
        yield from _each(grids, SWEPT, options)
        del grids
        cp.get_default_memory_pool().free_all_blocks()


def _each(grids, chosen, options):
    """Measure the copy, then each pair of a variant and a library."""
    yield _measure(grids, *COPY, copy_by_driver, options)
    dtype = grids.u.dtype.name
    for variant, library in chosen:
        observe = partial(_compiled, variant, dtype) if library == CUDA else None
        yield _measure(grids, variant, library, variant.function(library), options, observe=observe)


def _compiled(variant, dtype) -> dict[str, int]:
    """Return registers and memory of the kernel as compiled for the default block."""
    return compiled(variant.kernel_objects()[0], dtype)


def _parameters(grids) -> dict:
    return {"shape": list(grids.u.shape), "dtype": grids.u.dtype.name}


def _cost(grids, variant, library):
    u = grids.u
    if variant.operation == "copy":
        return variant.cost(u.size, u.dtype)
    return variant.cost_by(library)(u.shape, u.dtype)


def _measure(grids, variant, library, fn, options, *, observe=None, more=None) -> Measurement:
    u, out = grids.for_numba if library == CUDA else (grids.u, grids.out)
    grids.out.fill(cp.nan)  # it still holds the right result of the variant before
    return measure(
        fn,
        u,
        out,
        cost=_cost(grids, variant, library),
        check=lambda: grids.check(variant.operation),
        name=variant.by(library),
        parameters={**_parameters(grids), **(more or {})},
        observe=observe,
        **options,
    )


def rivals(*, quick: bool) -> Iterator[Measurement]:
    """Yield the Laplacians of other libraries. Measure them last, because these libraries keep threads and memory.

    If a library is not installed, or finds no GPU, its name is printed, and the other measurements go on.
    """
    grids, options = Grids(QUICK if quick else EDGE, "float64"), {"samples": 3 if quick else 20}
    for variant in VARIANTS:
        for library in variant.rivals:
            try:
                yield _rival(grids, variant, library, variant.rival(library)(grids.u), options)
            except AssertionError:
                raise  # a wrong result is not an installation problem
            except Exception as error:
                print(f"Not measured: {variant.by(library)} ({type(error).__name__}: {error}).")


def _rival(grids, variant, library, rival, options) -> Measurement:
    return measure(
        lambda u: rival.call(),
        grids.u,
        cost=_cost(grids, variant, library),
        check=lambda: (rival.wait(), grids.check(variant.operation, rival.result())),
        name=variant.by(library),
        parameters=_parameters(grids),
        wait=rival.wait,
        observe=lambda: {"version": rival.version},
        min_sample_s=0.05,
        **options,
    )


def _blocks(grids, options):
    """Yield measurements of the flat kernel with blocks of many shapes."""
    flat = VARIANTS["laplacian_flat"]
    for block in BLOCKS:
        yield _measure(
            grids,
            flat,
            CUDA,
            partial(flat.function(CUDA), threads_per_block=block),
            options,
            more={"threads_per_block": list(block)},
        )


def _tiles(grids, options):
    """Yield measurements of the tiled kernel with tiles of many sizes, and of the flat kernel for comparison."""
    for variant, launch, tile in suite_tiles.chosen(suite_tiles.BOX, suite_tiles.TILES_3D, set(BLOCKS)):
        yield _measure(grids, variant, CUDA, launch, options, more=tile)


def _registers(grids, options):
    """Yield measurements of two kernels that are compiled with fewer registers than the compiler would choose."""
    for name, launch in (
        ("laplacian_marching", gpu_numba.launch_marching),
        ("laplacian_vectorised", gpu_numba.launch_vectorised),
    ):
        (kernel,) = VARIANTS[name].kernel_objects()
        for most in REGISTERS:
            own = cuda.jit(max_registers=None if most == "free" else most)(kernel.py_func)
            yield _measure(
                grids,
                VARIANTS[name],
                CUDA,
                partial(launch, own),
                options,
                observe=partial(compiled, own),
                more={"max_registers": most},
            )


def _occupancy(grids, options):
    """Yield measurements of a stream with few threads per multiprocessor; the GPU assigns blocks one by one."""
    for variant in STRIDED:
        for blocks in BLOCKS_PER_SM:
            yield _measure(
                grids,
                variant,
                CUDA,
                partial(variant.function(CUDA), blocks=blocks * gpu().units),
                options,
                more={"threads_per_block": gpu_numba.THREADS_STRIDED, "blocks_per_sm": blocks},
            )
