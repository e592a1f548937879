"""What ``course bench stencil`` measures of the Laplacian on a GPU: variants, sizes, blocks, registers, occupancy."""

from collections.abc import Iterator

import numpy as np

from course_pkg import cuda
from course_pkg.bench import Measurement, compiled, gpu, measure
from course_pkg.stencil import cost, gpu_cupy, gpu_numba, reference
from course_pkg.stencil.gpu_cupy import cp
from course_pkg.stencil.problem import HeatProblem
from course_pkg.stencil.rivals import RIVALS

VARIANTS = {
    "laplacian naive, Numba CUDA": gpu_numba.laplacian_naive,
    "laplacian flat, Numba CUDA": gpu_numba.laplacian_flat,
    "laplacian tiled, Numba CUDA": gpu_numba.laplacian_tiled,
    "laplacian marching, Numba CUDA": gpu_numba.laplacian_marching,
    "laplacian marching tiled, Numba CUDA": gpu_numba.laplacian_marching_tiled,
    "laplacian vectorised, Numba CUDA": gpu_numba.laplacian_vectorised,
    "laplacian, CuPy": gpu_cupy.laplacian,
    "laplacian elementwise, CuPy": gpu_cupy.laplacian_elementwise,
    "laplacian vectorised, CuPy": gpu_cupy.laplacian_vectorised,
}
RUNGS = {
    "centre flat, Numba CUDA": gpu_numba.centre_flat,
    "centre tiled, Numba CUDA": gpu_numba.centre_tiled,
    "centre tiled halo, Numba CUDA": gpu_numba.centre_tiled_halo,
    "centre pairs, Numba CUDA": gpu_numba.centre_pairs,
}
KERNELS = {  # what was compiled for the default block
    "naive": lambda: gpu_numba.laplacian_naive_kernel,
    "flat": lambda: gpu_numba.laplacian_flat_kernel,
    "tiled": lambda: gpu_numba.laplacian_tiled_kernel(gpu_numba.BLOCK_TILED),
    "marching": lambda: gpu_numba.laplacian_marching_kernel,
    "marching tiled": lambda: gpu_numba.laplacian_marching_tiled_kernel(gpu_numba.BLOCK_MARCHING),
    "vectorised": lambda: gpu_numba.laplacian_vectorised_kernel,
}
SIZES = (32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
SWEPT = (
    "laplacian naive, Numba CUDA",
    "laplacian flat, Numba CUDA",
    "laplacian marching, Numba CUDA",
    "laplacian vectorised, Numba CUDA",
    "laplacian vectorised, CuPy",
)
BLOCKS = (
    (32, 4, 2), (32, 8, 1), (32, 2, 4), (64, 4, 1), (128, 2, 1), (256, 1, 1), (16, 4, 4), (8, 8, 4), (4, 8, 8),
    (1, 16, 16), (32, 1, 1), (32, 32, 1),
)  # fmt: skip
REGISTERS = ("free", 32, 24)
BLOCKS_PER_SM = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32)


class Grids:
    """A random grid on the device, room for the result, and what it must be."""

    def __init__(self, n: int, dtype: str):
        self.u = cp.asarray(HeatProblem.random((n,) * 3, dtype).T) if n <= 512 else _random(n, dtype)
        self.out, self.expected = cp.empty_like(self.u), cp.empty_like(self.u)
        gpu_cupy.laplacian(self.u, self.expected)
        if n <= 512:
            self._confirm()
        self.for_numba = tuple(cuda.as_cuda_array(a) for a in (self.u, self.out))

    def _confirm(self):
        """The device's oracle is itself held against NumPy."""
        host, expected = self.u.get(), np.empty(self.u.shape, self.u.dtype)
        reference.laplacian(host, expected)
        np.testing.assert_allclose(self.expected.get(), expected, rtol=0, atol=_tolerance(self.u.dtype))

    def check(self, expected=None, found=None):
        """Compare the result with the oracle, and spoil it for the next variant."""
        found = self.out if found is None else found
        worst = float(cp.abs(found - (self.expected if expected is None else expected)).max())
        if not worst <= _tolerance(self.u.dtype):
            raise AssertionError(f"the result is wrong by {worst}")
        self.out.fill(cp.nan)


def _random(n, dtype):
    return cp.random.default_rng(0).random((n,) * 3, dtype=dtype)


def _tolerance(dtype):
    return 64 * np.finfo(dtype).eps


def steps(quick: bool) -> int:
    """Return how many measurements :func:`run` makes."""
    at_512 = 2 * (1 + len(VARIANTS) + len(RUNGS) + 2 * len(BLOCKS_PER_SM))
    sweep = (2 if quick else len(SIZES) - 1) * (1 + len(SWEPT))
    return at_512 + len(BLOCKS) + 2 * len(REGISTERS) + sweep


def run(*, quick: bool) -> Iterator[tuple[str, Measurement]]:
    """Yield what is being measured, then the measurement."""
    n, options = (64, {"samples": 3, "hold": True}) if quick else (512, {"samples": 20, "hold": True})
    for dtype in ("float64", "float32"):
        grids = Grids(n, dtype)
        yield from _variants(grids, {**VARIANTS, **RUNGS}, options)
        if dtype == "float64":
            yield from _blocks(grids, options)
            yield from _registers(grids, options)
        yield from _occupancy(grids, options)
        del grids
        cp.get_default_memory_pool().free_all_blocks()
    for size in (16, 32) if quick else SIZES:
        if size == n:
            continue  # measured above
        grids = Grids(size, "float64")
        yield from _variants(grids, {name: VARIANTS[name] for name in SWEPT}, options)
        del grids
        cp.get_default_memory_pool().free_all_blocks()


def _variants(grids, variants, options):
    dtype = grids.u.dtype.name
    yield _measure(grids, "copy, CuPy", _copy, options, expected=grids.u)
    for name, fn in variants.items():
        kernel = KERNELS.get(name.removeprefix("laplacian ").removesuffix(", Numba CUDA"))
        observe = (lambda kernel=kernel: compiled(kernel(), dtype)) if kernel and "Numba" in name else None
        centre = 6 * grids.u if name.startswith("centre") else None
        yield _measure(grids, name, fn, options, expected=centre, observe=observe)


def _copy(u, out):
    out.data.copy_from_device_async(u.data, u.nbytes)


def _measure(grids, name, fn, options, *, expected=None, observe=None, more=None):
    u, out = grids.for_numba if "Numba" in name else (grids.u, grids.out)
    return name, measure(
        fn,
        u,
        out,
        cost=_cost(name, grids.u),
        check=lambda: grids.check(expected),
        name=name,
        parameters={"shape": list(grids.u.shape), "dtype": grids.u.dtype.name, **(more or {})},
        observe=observe,
        **options,
    )


def _cost(name, u):
    if name == "laplacian, CuPy":
        return cost.laplacian_arrays(u.shape, u.dtype)
    made = {"copy": cost.copy, "centre": cost.centre}.get(name.split(",")[0].split()[0], cost.laplacian)
    return made(u.shape, u.dtype)


def rivals(*, quick: bool) -> Iterator[tuple[str, Measurement]]:
    """Yield the Laplacians of other libraries; to be taken last, for they keep threads and memory of their own.

    What is not installed, or finds no GPU, is named and left out: it must not cost what was measured before.
    """
    n, options = (64, {"samples": 3}) if quick else (512, {"samples": 20})
    grids = Grids(n, "float64")
    for name, make in RIVALS.items():
        try:
            yield name, _rival(grids, name, make(grids.u), options)
        except AssertionError:
            raise  # a wrong result is no trouble of installation
        except Exception as error:
            print(f"Not measured: {name} ({type(error).__name__}: {error}).")


def _rival(grids, name, rival, options) -> Measurement:
    return measure(
        lambda u: rival.call(),
        grids.u,
        cost=cost.laplacian(grids.u.shape, grids.u.dtype),
        check=lambda: (rival.wait(), grids.check(found=rival.result())),
        name=name,
        parameters={"shape": list(grids.u.shape), "dtype": grids.u.dtype.name},
        wait=rival.wait,
        observe=lambda: {"version": rival.version},
        min_sample_s=0.05,
        **options,
    )


def _blocks(grids, options):
    """The flat kernel under blocks of many shapes."""
    for block in BLOCKS:
        yield _measure(
            grids,
            "laplacian flat, Numba CUDA",
            lambda u, out, block=block: gpu_numba.laplacian_flat(u, out, threads_per_block=block),
            options,
            more={"threads_per_block": list(block)},
        )


def _registers(grids, options):
    """Two kernels with fewer registers than they want."""
    for name, kernel, launch in (
        ("laplacian marching, Numba CUDA", gpu_numba.laplacian_marching_kernel, gpu_numba.launch_marching),
        (
            "laplacian vectorised, Numba CUDA",
            gpu_numba.laplacian_vectorised_kernel,
            gpu_numba.launch_vectorised,
        ),
    ):
        for most in REGISTERS:
            own = cuda.jit(max_registers=None if most == "free" else most)(kernel.py_func)
            yield _measure(
                grids,
                name,
                lambda u, out, own=own, launch=launch: launch(own, u, out),
                options,
                observe=lambda own=own: compiled(own),
                more={"max_registers": most},
            )


def _occupancy(grids, options):
    """A stream by few threads on each multiprocessor: blocks go to the multiprocessors in turn."""
    for name, fn in (
        ("centre strided, Numba CUDA", gpu_numba.centre_strided),
        ("centre strided pairs, Numba CUDA", gpu_numba.centre_strided_pairs),
    ):
        for blocks in BLOCKS_PER_SM:
            yield _measure(
                grids,
                name,
                lambda u, out, fn=fn, blocks=blocks: fn(u, out, blocks * gpu().units),
                options,
                expected=6 * grids.u,
                more={"threads_per_block": gpu_numba.THREADS_STRIDED, "blocks_per_sm": blocks},
            )
