"""Solves that ``course bench sstep`` times, on a CPU as on a GPU: the methods, the tolerances, and one solve."""

from math import prod

from course_pkg.bench import Measurement, measure
from course_pkg.sstep.problem import Laplacian

METHODS = (  # method and its keyword arguments
    ("pcg", {}),
    ("pfcg", {}),
    ("pcg_sstep_moments", {"s": 1}),
    ("pcg_sstep_moments", {"s": 2}),
    ("pcg_sstep_moments", {"s": 3}),
    ("pcg_sstep_moments", {"s": 4}),
    ("pcg_sstep", {"s": 4}),
    ("pcg_sstep", {"s": 8}),
    ("pcg_sstep", {"s": 10}),
    ("pcg_sstep", {"s": 16}),
)
RTOLS = (1e-6, 1e-8)


def one_solve(variant, library, system, options, rtol, samples=1, wait=None) -> Measurement:
    """Time a whole solve, and record how it ended; without a stored matrix and M, also the bytes of an iteration.

    The cost of a method is that of its vectors and of a matrix-free product; it knows no matrix and no preconditioner.
    """
    found, (A, b) = {}, system
    size = {"shape": list(A.shape)} if isinstance(A, Laplacian) else {"matrix": "poisson_3d", "n": b.size}
    chosen = {k: v for k, v in options.items() if k != "M"}
    known = isinstance(A, Laplacian) and "M" not in options
    iteration = variant.cost_by(library)(prod(b.shape), **({"s": chosen["s"]} if "s" in chosen else {}))

    def call(b):
        found["solution"] = variant.function(library)(A, b, rtol=rtol, **options)

    def confirm():
        if not found["solution"].converged:
            raise AssertionError(f"{variant.title}: {found['solution']}")

    def observe():
        solution = found["solution"]
        told = ("reductions", "products", "true_residual", "s_last", "growth", "looks")
        return {
            "iterations": solution.iterations,
            **({"bytes_iteration": iteration.bytes} if known else {}),
            **{k: solution.extra[k] for k in told if k in solution.extra},
        }

    return measure(
        call,
        b,
        check=confirm,
        name=variant.by(library),
        parameters={
            **size, "dtype": "float64", "rtol": rtol, **chosen, **({"M": "vcycle"} if "M" in options else {}),
        },
        samples=samples,
        warmup=0,
        min_sample_s=0,
        wait=wait,
        observe=observe,
    )  # fmt: skip
