"""Launches on the meshes and networks that are timed: lanes, formats, orders, Jacobi's method, swaps, two precisions.

A matrix is made when a launch needs it, which takes seconds. The last matrix is kept, and launches with the same matrix
follow each other. The launches must be listed before any matrix is made, so numbers that depend on a matrix are written
in this file. Padding is left out of the cost. The results are not checked, so x and y are not initialised.
"""

from functools import lru_cache

import numpy as np

from course_pkg.core import Cost
from course_pkg.device.case import Sliced, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.problem import problem
from course_pkg.spmv import cost, jacobi_cost, splitting_cost, swap_cost
from course_pkg.spmv import gpu_numba as spmv
from course_pkg.spmv.formats import CsrBalanced, Ell, EllR, SellCSigma
from course_pkg.spmv.jacobi import system_of
from course_pkg.spmv.splitting import RowSplit, split_entries, split_rows
from course_pkg.spmv.suite_jacobi import TOLERANCE, scaled
from course_pkg.spmv.suite_orders import ORDERS, ordered
from course_pkg.spmv.swap import stepping_matrix
from course_pkg.spmv.tuning import CHUNK, ITEMS, LANES, SIGMA, TILE

SIZES = {"tetrahedral": 128, "power_law": 2**21, "poisson_3d": 128}
PARTS = ("high", "low")  # the parts of a matrix in two precisions
ROWS = 2**21  # rows of each matrix
NONZEROS = {"tetrahedral": 23_435_776, "power_law": 18_866_449, "poisson_3d": 14_581_760}
MEAN_LANES = {"tetrahedral": 8, "poisson_3d": 4}  # as tuning.lanes_for chooses them
UNROLLED = {("tetrahedral", 1): 8, ("tetrahedral", SIGMA): 6}  # as tuning.unroll_for chooses it
# nonzeros that stay in float64 in the scaled matrix of the tetrahedra: split by whole rows, and by single entries
HIGH_IN_ROWS, HIGH_ENTRIES = 15_371_995, 1_431_181
THREADS = spmv.THREADS_PER_BLOCK
DOUBLE, SINGLE = 8, 4  # bytes


@lru_cache(maxsize=1)
def _matrix(name, order="natural"):
    return ordered(problem(name, SIZES[name]).matrix, order)


@lru_cache(maxsize=1)
def _system(form, order):
    A = _matrix("tetrahedral")
    return system_of(form, A, np.zeros(ROWS), None if form == "plain" else ORDERS[order](A))


@lru_cache(maxsize=1)
def _stepping(name):
    return stepping_matrix(_matrix(name))


@lru_cache(maxsize=1)
def _split(split):
    return split(scaled(_matrix("tetrahedral")), TOLERANCE)


def _on_device(*arguments) -> tuple:
    return tuple(Sliced(a, 0) if isinstance(a, np.ndarray) and a.size else a for a in arguments)


def _csr(A):
    return _on_device(A.indptr, A.indices, A.data)


def _by_rows(lanes=1) -> int:
    return blocks_for(ROWS, THREADS // lanes)


def _vectors(x="float64", *y) -> tuple:
    return tuple(Unwritten(ROWS, dtype) for dtype in (x, *(y or ("float64",))))


def _products(large, name, order="natural", formats=()):
    """Add products by CSR and by other formats with a matrix in an order."""
    sizes = {"rows": ROWS, "columns": 0 if name == "power_law" else ROWS, "nonzeros": NONZEROS[name]}

    def add(form, kernel, blocks, arrays, its_cost):
        large.add(
            kernel,
            blocks,
            THREADS,
            lambda: (*arrays(_matrix(name, order)), *_vectors()),
            f"{name}, {order} order, {form}: {ROWS:,} rows",
            name=f"spmv_{form}_{name}" + ("" if order == "natural" else f"_{order}"),
            cost=its_cost,
        )

    def table(A, form):
        M = form.from_scipy(A)
        first = M.lengths if form is EllR else np.uint32(M.width)
        return _on_device(first, M.indices, M.data, np.uint32(M.pitch))

    def slices(A, sigma):
        M = SellCSigma.from_scipy(A, chunk=CHUNK, sigma=sigma)
        return _on_device(M.offsets, M.perm, M.indices, M.data)

    whole = cost.csr(**sizes)
    if "csr_scalar" in formats:
        add("csr_scalar", spmv.spmv_csr_scalar_kernel, _by_rows(), _csr, whole)
    for lanes in LANES:
        if f"csr_vector_{lanes}" in formats:
            kernel = spmv.spmv_csr_vector_kernel(lanes)
            add(f"csr_vector_{lanes}", kernel, _by_rows(lanes), _csr, whole)
    if "ell" in formats:
        add("ell", spmv.spmv_ell_kernel, _by_rows(), lambda A: table(A, Ell), cost.ell(**sizes))
    if "ellr" in formats:
        add("ellr", spmv.spmv_ellr_kernel, _by_rows(), lambda A: table(A, EllR), cost.ellr(**sizes))
    for sigma in (1, SIGMA):
        if f"sell_{sigma}" in formats:
            kernel = spmv.spmv_sell_kernel(CHUNK, UNROLLED[name, sigma], sigma > 1)
            add(
                f"sell_{sigma}",
                kernel,
                _by_rows(),
                lambda A, sigma=sigma: slices(A, sigma),
                cost.sell(**sizes, sigma=sigma),
            )
    if "csr_balanced" in formats:
        _balanced(large, name, whole)


def _balanced(large, name, its_cost):
    def arguments():
        M = CsrBalanced.from_scipy(_matrix(name))
        arrays = _on_device(M.indptr, M.indices, M.data, M.tile_rows)
        return *arrays, *_vectors(), Unwritten(2 * (M.tile_rows.size - 1))

    large.add(
        spmv.spmv_csr_balanced_kernel(ITEMS),
        -(-(ROWS + NONZEROS[name]) // TILE),
        THREADS,
        arguments,
        f"{name} by tiles, without the launch that adds what they carry over",
        name=f"spmv_csr_balanced_{name}",
        cost=its_cost,
    )


def _swaps(large, name):
    """Add the products of the four ways to swap; naive and hybrid have the same one."""
    lanes, nonzeros = MEAN_LANES[name], NONZEROS[name]
    fused = swap_cost.swap_fused(ROWS, nonzeros, "float32")
    alone = Cost(fused.bytes_read, fused.bytes_written - SINGLE * ROWS, fused.flops)
    for way, kernel, vectors, its_cost in (
        ("product", spmv.row_product_kernel(lanes), ("float32", "float64"), alone),
        (
            "cast",
            spmv.row_product_kernel(lanes, True),
            ("float64", "float64"),
            swap_cost.swap_cast(ROWS, nonzeros, "float32"),
        ),
        ("fused", spmv.swap_product_both_kernel(lanes), ("float32", "float64", "float32"), fused),
    ):
        large.add(
            kernel,
            _by_rows(lanes),
            THREADS,
            lambda vectors=vectors: (*_csr(_stepping(name)), *_vectors(*vectors)),
            f"a step of {name} in float32, sums in float64",
            name=f"spmv_swap_{way}_{name}",
            cost=its_cost,
        )


def _copies(large):
    """Add the copies that naive and hybrid swaps need; they depend on the number of rows alone."""
    for copied, kernel, out in (
        ("both", spmv.copy_both_kernel, ("float32", "float64")),
        ("rounded", spmv.copy_rounded_kernel, ("float32",)),
    ):
        written = ROWS * sum(np.dtype(dtype).itemsize for dtype in out)
        large.add(
            kernel,
            _by_rows(),
            THREADS,
            lambda out=out: _vectors("float64", *out),
            f"a copy of {ROWS:,} numbers to {len(out)} precision(s); what is written may stay in the L2 cache",
            name=f"spmv_copy_{copied}_{ROWS}",
            cost=Cost(bytes_read=DOUBLE * ROWS, bytes_written=written),
        )


def _jacobi(large):
    """Add steps of Jacobi's method on the tetrahedra, in their own order and in two others."""
    lanes, nonzeros = MEAN_LANES["tetrahedral"], NONZEROS["tetrahedral"] - ROWS
    chosen = [("plain", "")] + [
        (form, o) for o in ("random", "rcm") for form in ("row_permuted", "symmetric")
    ]
    for form, order in chosen:
        kernel = spmv.jacobi_row_permuted_kernel if form == "row_permuted" else spmv.jacobi_plain_kernel

        def arguments(form=form, order=order):
            s = _system(form, order)
            places = (s.rows,) if form == "row_permuted" else ()
            return *_on_device(s.E.indptr, s.E.indices, s.E.data, s.d, s.b, *places), *_vectors()

        large.add(
            kernel(lanes),
            _by_rows(lanes),
            THREADS,
            arguments,
            f"a step of Jacobi's method, {form} form, {order or 'natural'} order",
            name=f"spmv_jacobi_{form}_tetrahedral" + (f"_{order}" if order else ""),
            cost=getattr(jacobi_cost, f"jacobi_{form}")(ROWS, nonzeros),
        )


def _splittings(large):
    """Add the kernels of products with the scaled tetrahedra in two precisions; the last product has two launches."""
    lanes, nonzeros = MEAN_LANES["tetrahedral"], NONZEROS["tetrahedral"]
    rows, entries = nonzeros - HIGH_IN_ROWS, nonzeros - HIGH_ENTRIES  # that are float32
    part, pointers, vector = cost.INDEX + SINGLE, cost.INDEX * ROWS, DOUBLE * ROWS
    # a part of x
    first = Cost(bytes_read=(cost.INDEX + DOUBLE) * HIGH_ENTRIES + pointers, bytes_written=vector)
    second = Cost(bytes_read=part * entries + pointers + 2 * vector, bytes_written=vector)
    both = splitting_cost.splitting_rows_together(ROWS, ROWS, nonzeros, low=rows)
    sums = splitting_cost.splitting_entries_together(ROWS, ROWS, nonzeros, low=entries)
    for name, kernel, split, parts, its_cost in (
        ("rows_together", spmv.splitting_rows_together_kernel, split_rows, PARTS, both),
        ("entries_together", spmv.splitting_entries_together_kernel, split_entries, PARTS, sums),
        ("entries_high", spmv.row_product_kernel, split_entries, ("high",), first),
        ("entries_low", spmv.splitting_add_kernel, split_entries, ("low",), second),
    ):
        large.add(
            kernel(lanes),
            _by_rows(lanes),
            THREADS,
            lambda split=split, parts=parts: (*_arrays(_split(split), parts), *_vectors()),
            f"scaled tetrahedra in two precisions, {name.replace('_', ' ')}",
            name=f"spmv_splitting_{name}_tetrahedral",
            cost=its_cost,
        )


def _arrays(M, parts):
    """Return the arrays of parts of a matrix in two precisions."""
    arrays = []
    for part in parts:
        arrays += _csr(getattr(M, part))
        arrays += _on_device(getattr(M, f"{part}_rows")) if isinstance(M, RowSplit) else ()
    return tuple(arrays)


def add_cases(large) -> None:
    """Add all launches."""
    lanes = [f"csr_vector_{lanes}" for lanes in LANES]
    every = ["csr_scalar", *lanes, "csr_balanced", "ell", "ellr", "sell_1", f"sell_{SIGMA}"]
    _products(large, "tetrahedral", formats=every)
    _swaps(large, "tetrahedral")
    _jacobi(large)
    _splittings(large)
    for order in ("rcm", "random"):
        _products(large, "tetrahedral", order, ["csr_scalar", "csr_vector_8", "sell_1"])
    _swaps(large, "poisson_3d")
    _copies(large)
    _products(large, "power_law", formats=[*lanes, "csr_balanced"])
