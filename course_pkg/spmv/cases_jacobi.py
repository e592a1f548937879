"""Launches of the kernels of Jacobi's method, of the swaps in two precisions, and of matrices in two precisions."""

import numpy as np

from course_pkg.device.case import SEED, numbers, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.reference import random_permutation
from course_pkg.spmv import gpu_numba as spmv
from course_pkg.spmv.jacobi import system_of
from course_pkg.spmv.splitting import split_entries, split_rows
from course_pkg.spmv.swap import stepping_matrix

THREADS = spmv.THREADS_PER_BLOCK
MATRICES, PRECISIONS = ("fitting", "odd"), ("float64", "float32")
LANES = 4
TOLERANCE = 1e-8  # with this tolerance about half of the values stay in double precision


def add_cases(cases, matrix) -> None:
    """Add all launches; ``matrix(name)`` returns a small matrix."""
    for name in MATRICES:
        A = matrix(name)
        for dtype in PRECISIONS:
            for form in ("plain", "row_permuted"):
                _jacobi(cases, A, form, name, dtype)
        _swaps(cases, stepping_matrix(A), name)
        _splittings(cases, A, name)


def _add(cases, kernel, rows, lanes, make, idea, name):
    blocks = blocks_for(rows, THREADS // lanes)

    def new():
        return tuple(array.copy() for array in make())

    # lanes with fewer nonzeros leave the loop earlier than their neighbours
    cases.add(kernel, blocks, THREADS, new, idea, name=f"spmv_{name}", data_dependent=True)


def _jacobi(cases, A, form, name, dtype):
    n = A.shape[0]

    def make():
        perm = None if form == "plain" else random_permutation(n, SEED)
        s = system_of(form, A.astype(dtype), numbers(n, dtype, seed=1), perm)
        places = () if form == "plain" else (s.rows,)
        return s.E.indptr, s.E.indices, s.E.data, s.d, s.b, *places, numbers(n, dtype), zeros(n, dtype)

    kernel = getattr(spmv, f"jacobi_{form}_kernel")(LANES)
    what = "a quotient per row" if form == "plain" else "a quotient per row, written to distant places"
    _add(cases, kernel, n, LANES, make, f"{what}; {name} matrix, {dtype}", f"jacobi_{form}_{name}_{dtype}")


def _swaps(cases, A, name):
    n, arrays = A.shape[0], (A.indptr, A.indices, A.data)
    single = ("x in float32, sums in float64", "float32", 1, False)
    wide = ("x in float32, sums in float64", "float32", 32, False)
    cast = ("x in float64, cast to float32", "float64", LANES, True)
    for what, dtype, lanes, rounded in (single, wide, cast):
        _add(
            cases,
            spmv.row_product_kernel(lanes, rounded),
            n,
            lanes,
            lambda dtype=dtype: (*arrays, numbers(n, dtype), zeros(n)),
            f"{what}; {name} matrix",
            f"row_product_{lanes}_{name}_{dtype}",
        )
    _add(
        cases,
        spmv.swap_product_both_kernel(LANES),
        n,
        LANES,
        lambda: (*arrays, numbers(n, "float32"), zeros(n), zeros(n, "float32")),
        f"the same number written in two precisions; {name} matrix",
        f"swap_product_both_{name}",
    )
    for copied, kernel, out in (
        ("both", spmv.copy_both_kernel, ("float32", "float64")),
        ("rounded", spmv.copy_rounded_kernel, ("float32",)),
    ):
        cases.add(
            kernel,
            blocks_for(n, THREADS),
            THREADS,
            lambda out=out: (numbers(n), *(zeros(n, dtype) for dtype in out)),
            f"a copy from one precision to {len(out)}, {n} numbers",
            name=f"spmv_copy_{copied}_{name}",
        )


def _splittings(cases, A, name):
    A = A.copy()
    A.data = numbers(A.data.size)  # not all of them whole, unlike the values of Poisson's matrix
    A.data[: A.data.size // 2] = A.data[: A.data.size // 2].astype(np.float32)
    rows, entries = split_rows(A, 0.0), split_entries(A, TOLERANCE)
    n = A.shape[0]

    def of(*arrays):
        return lambda: (*arrays, numbers(n), zeros(n))

    (high, low), (some, others) = (
        ((p.indptr, p.indices, p.data) for p in (split.high, split.low)) for split in (rows, entries)
    )
    together = of(*high, rows.high_rows, *low, rows.low_rows)
    for kernel, launched, make, what in (
        (spmv.splitting_rows_together_kernel, n, together, "a branch between two precisions"),
        (spmv.splitting_rows_kernel, rows.high_rows.size, of(*high, rows.high_rows), "rows in float64"),
        (spmv.splitting_entries_together_kernel, n, of(*some, *others), "two loops per row"),
        (spmv.splitting_add_kernel, n, of(*others), "y is read and written"),
    ):
        title = kernel(LANES).py_func.__name__
        _add(cases, kernel(LANES), launched, LANES, make, f"{what}; {name} matrix", f"{title}_{name}")
