"""What ``course bench spmv`` measures: products with matrices of several kinds, by each format and by libraries."""

from collections.abc import Iterator

import numpy as np

from course_pkg.bench import Measurement, compare, gpu, matching, progress
from course_pkg.bench.demand import demand
from course_pkg.core import CourseError, Library
from course_pkg.permutation.problem import problem
from course_pkg.spmv import suite_jacobi
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.suite_products import CPU, CUDA, CUPY, PRODUCT, described, tolerance
from course_pkg.stencil.problem import SMALL_EDGE
from course_pkg.vector.bound import bounding_stream

__all__ = ["bounding_stream", "demands", "run"]

MATRICES = {  # by device: name and size of each matrix, all with at least a million rows
    "cpu": (("poisson_3d", 100), ("tetrahedral", 100), ("power_law", 2**20)),
    "gpu": (
        ("poisson_2d", 4000),
        ("poisson_3d", SMALL_EDGE),
        ("tetrahedral", 128),
        ("power_law", 2**21),
    ),
}
QUICK = (("poisson_3d", 12), ("tetrahedral", 8), ("power_law", 2000))
# a required performance applies to matrices with at least this many rows
LARGE = 1_000_000
# speed of our best kernel relative to cuSPARSE: on every matrix, and on at least half of them
LEAST, HALF = 1.00, 1.15
RIVALS = {"cpu": (CPU, PRODUCT.by(Library.SCIPY)), "gpu": (CUDA, PRODUCT.by(CUPY))}


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of this topic on ``"cpu"`` or ``"gpu"``; with ``quick``, on small matrices."""
    matrices = QUICK if quick else MATRICES[device]
    if device == "gpu":
        if gpu().kind != "gpu":
            raise CourseError(
                "`course bench spmv --device gpu` needs an NVIDIA GPU: none was found; use --device cpu."
            )
        from course_pkg.spmv import suite_gpu, suite_orders

        yield from suite_gpu.products(matrices, quick=quick)
        yield from suite_orders.in_orders(quick=quick)
    else:
        yield from _products(matrices, quick=quick)
    yield from suite_jacobi.run(device, quick=quick)


def _products(matrices, quick) -> Iterator[Measurement]:
    """Yield our product and SciPy's for each matrix; their samples are taken in turn."""
    with progress(len(matrices)) as step:
        for name, size in matrices:
            step(name)
            yield from _in_turn(name, problem(name, size).matrix, samples=5 if quick else 20)


def _in_turn(name, A, samples) -> Iterator[Measurement]:
    ours, theirs = PRODUCT.by(CPU), PRODUCT.by(Library.SCIPY)
    x, y = np.random.default_rng(0).uniform(-1, 1, A.shape[1]), np.full(A.shape[0], np.nan)
    own, rival = Csr.from_scipy(A), PRODUCT.rival(Library.SCIPY)(A, x)
    expected, largest = A @ x, tolerance(A, x, "float64")

    def check(result):
        worst = np.max(np.abs(result() - expected) - largest)
        if not worst <= 0:
            raise AssertionError(f"{name}: an error is larger than rounding explains, by {worst}")

    its_cost = PRODUCT.cost(**own.sizes())
    yield from compare(
        {ours: PRODUCT.function(CPU), theirs: lambda *_: rival.call()},
        own,
        x,
        y,
        cost=its_cost,
        check={ours: lambda: check(lambda: y), theirs: lambda: check(rival.result)},
        parameters=described(name, A, "float64", "float64"),
        samples=samples,
        footprint=its_cost.bytes,
    ).measurements


def demands(measurements: list[Measurement]) -> list[dict]:
    """Return one table row per large matrix: our best product compared with the library's, in double precision.

    On a GPU, a further row says for how many matrices the best kernel is at least 1.15 times as fast.
    """
    device = "gpu" if measurements and measurements[0].device.kind == "gpu" else "cpu"
    library, rival = RIVALS[device]
    faster, rows = {}, []
    for theirs in matching(measurements, rival, dtype="float64", values=None, order=None):
        name, n = theirs.parameters["matrix"], theirs.parameters["n"]
        ours = _products_of(measurements, library, name, n)
        if n < LARGE or not ours:
            continue
        best = min(ours, key=lambda m: m.median_s)
        faster[name, n] = theirs.median_s / best.median_s
        what = f"{name}: {best.label} over {rival.library}"
        rows.append(demand(what, f"≥ {LEAST:.2f}×", f"{faster[name, n]:.2f}×", faster[name, n] >= LEAST))
    if device == "gpu" and faster:
        many = sum(times >= HALF for times in faster.values())
        what = f"matrices on which the best kernel is ≥ {HALF}× as fast as {rival.library}"
        rows.append(demand(what, f"≥ {len(faster) / 2:g}", f"{many}", 2 * many >= len(faster)))
    return rows


def _products_of(measurements, library, name, n) -> list[Measurement]:
    wanted = {"matrix": name, "n": n, "dtype": "float64"}
    return [
        m
        for m in measurements
        if (m.operation, m.library) == ("spmv", library)
        and not {"values", "order"} & set(m.parameters)
        and all(m.parameters.get(k) == v for k, v in wanted.items())
    ]
