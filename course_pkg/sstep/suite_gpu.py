"""What ``course bench sstep`` measures on a GPU: operations beside cuBLAS, solves by every method, and a V-cycle."""

from collections.abc import Iterator
from functools import partial

from course_pkg import cuda
from course_pkg.bench import Measurement, measure, progress
from course_pkg.core import Library
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg
from course_pkg.spmv.formats import Csr
from course_pkg.sstep import gpu_numba
from course_pkg.sstep.demands import LARGE, OPERATIONS, SMALL
from course_pkg.sstep.gpu_cupy import cp
from course_pkg.sstep.problem import Laplacian
from course_pkg.sstep.suite_solves import METHODS, RTOLS, one_solve
from course_pkg.sstep.variants import VARIANTS
from course_pkg.vector.suite_gpu import measured_copy

CUDA, CUPY = Library.NUMBA_CUDA, Library.CUPY
EDGES, QUICK_EDGES = (SMALL, 128, LARGE), (32,)
STEPS, QUICK_STEPS = tuple(range(1, 11)), (1, 4, 20)
BY_LIBRARIES = (("pcg", {}), ("pcg_sstep_moments", {"s": 3}), ("pcg_sstep", {"s": 8}))


def run(*, quick: bool) -> Iterator[Measurement]:
    """Yield the measurements; with ``quick``, of small problems."""
    edges, steps = (QUICK_EDGES, QUICK_STEPS) if quick else (EDGES, STEPS)
    options = {"samples": 3 if quick else 20, "hold": True}
    with progress(1 + len(steps) + 2 * len(edges)) as step:
        step("copy")
        yield measured_copy(edges[-1] ** 3, {"n": edges[-1] ** 3}, **options)
        for s in steps:
            step(f"operations, s = {s}")
            yield from operations(edges[-1] ** 3, s, options)
            cp.get_default_memory_pool().free_all_blocks()
        for edge in edges:
            step(f"solves, {edge}³")
            yield from solves(edge, samples=1 if quick or edge == LARGE else 3)
        for edge in edges:
            step(f"V-cycle, {edge}³")
            yield from with_vcycle(edge, samples=1)
            cp.get_default_memory_pool().free_all_blocks()


class Blocks:
    """Blocks, coefficients, x and r, drawn at random in GPU memory."""

    def __init__(self, n, s, seed=0):
        draw = cp.random.default_rng(seed)

        def drawn(*shape):
            return draw.random(shape) * 2 - 1

        self.n, self.s = n, s
        self.old, self.fresh = drawn(2 * s, n), drawn(2 * s, n)
        self.beta, self.alpha, self.C, self.a = (
            drawn(*shape) / (8 * s) for shape in ((s, s), (s,), (2 * s, s), (2 * s,))
        )
        self.x, self.r = drawn(n), drawn(n)

    def arguments(self, name, library) -> tuple:
        """Return the arguments of an operation; an update's blocks and vectors are copies.

        A projection by a library gets a third block to write to, so that it needs no copy.
        """
        m = 2 * self.s + 1
        if name == "moments":
            return self.fresh, self.r, cp.zeros(m)
        if name == "gram":
            return self.old, self.fresh, self.r, cp.zeros((m, m))
        small = (getattr(self, c) for c in VARIANTS[name].coefficients)
        fresh = self.fresh.copy()
        out = cp.empty_like(fresh) if (name, library) == ("project_block", CUPY) else fresh
        return self.old, fresh, *small, self.x.copy(), self.r.copy(), out


def operations(n, s, options) -> Iterator[Measurement]:
    """Yield each operation for one s by our kernels and by cuBLAS; the results have to agree."""
    blocks = Blocks(n, s)
    for name in OPERATIONS:
        variant, expected = VARIANTS[name], []
        for library in (CUPY, CUDA):
            arguments = blocks.arguments(name, library)
            found = variant.results(arguments)

            def check(found=found, library=library, expected=expected, name=name):
                if library == CUPY:
                    expected[:] = [a.copy() for a in found]
                for a, right in zip(found, expected, strict=True):
                    worst = float(abs(a - right).max() / abs(right).max())
                    if not worst <= 1e-9:
                        raise AssertionError(f"{name}: our kernel and cuBLAS differ by {worst:.1e}")

            if library == CUDA:
                there = {id(a): cuda.as_cuda_array(a) for a in arguments}
                arguments = tuple(there[id(a)] for a in arguments)
            yield measure(
                partial(variant.function(library), **_memory(variant, library, s)),
                *arguments,
                cost=variant.cost_by(library)(n, s),
                check=check,
                name=variant.by(library),
                parameters={"n": n, "s": s, "dtype": "float64"},
                **(options | {"hold": library == CUDA}),  # CuPy's many calls cannot be queued ahead
            )


def _memory(variant, library, s) -> dict:
    """Return memory for the blocks' parts of sums. If each call allocated it, the call would wait for the GPU."""
    if library == CUDA and not variant.coefficients:
        return {"partial": gpu_numba.parts(s)}
    return {}


def solves(edge, samples) -> Iterator[Measurement]:
    """Yield whole solves of Poisson's problem by every method, and by CuPy's for comparison."""
    A, b = Laplacian((edge,) * 3), cp.ones((edge,) * 3)
    for rtol in RTOLS:
        for name, chosen in METHODS:
            yield one_solve(
                VARIANTS[name], CUDA, (A, cuda.as_cuda_array(b)), chosen, rtol, samples, cuda.synchronize
            )
    for name, chosen in BY_LIBRARIES:
        wait = cp.cuda.Device().synchronize
        yield one_solve(VARIANTS[name], CUPY, (A, b), chosen, RTOLS[0], samples, wait)


def with_vcycle(edge, samples) -> Iterator[Measurement]:
    """Yield solves with a stored matrix, without and with a V-cycle; the set-up of the V-cycle is not timed."""
    matrix = poisson((edge,) * 3)
    M, A = amg(matrix).to_device(), Csr.from_scipy(matrix).to_device()
    b = cuda.as_cuda_array(cp.ones(edge**3))
    for name, chosen in (("pcg", {}), ("pfcg", {}), ("pcg_sstep_moments", {"s": 3}), ("pcg_sstep", {"s": 4})):
        for more in ({}, {"M": M}):
            yield one_solve(
                VARIANTS[name], CUDA, (A, b), {**chosen, **more}, RTOLS[0], samples, cuda.synchronize
            )
