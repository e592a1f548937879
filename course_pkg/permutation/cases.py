"""Launches of every kernel of the permutation topic, in orders for which a warp needs few sectors, or many."""

from functools import cache

import numpy as np

from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.permutation import gpu_numba as permutation
from course_pkg.permutation import reference
from course_pkg.permutation.problem import problem

cases = Cases()
THREADS = permutation.THREADS_PER_BLOCK
FITTING, ODD = 8192, 10_007

ORDERS = {
    "identity": lambda n: np.arange(n, dtype=np.int32),
    "local": lambda n: reference.local_permutation(n, 64, seed=1),
    "strided": lambda n: reference.strided_permutation(n, 32),
    "random": lambda n: reference.random_permutation(n, seed=1),
}
VECTORS = {
    "permute": (permutation.permute_vector_kernel, "a gather"),
    "unpermute": (permutation.unpermute_vector_kernel, "a scatter"),
}
SIZES = ((FITTING, "float64", "int32"), (ODD, "float32", "int32"), (ODD, "float64", "int64"))
for operation, (kernel, what) in VECTORS.items():
    for n, dtype, index in SIZES:
        for order, make in ORDERS.items():
            cases.add(
                kernel,
                blocks_for(n, THREADS),
                THREADS,
                lambda n=n, dtype=dtype, index=index, make=make: (
                    make(n).astype(index),
                    numbers(n, dtype),
                    zeros(n, dtype),
                ),
                f"{what} of {n} elements, {order} order, {dtype} by {index}",
                name=f"{operation}_vector_{order}_{n}_{dtype}_{index}",
            )
for n, index in ((FITTING, "int32"), (ODD, "int64")):
    cases.add(
        permutation.invert_kernel,
        blocks_for(n, THREADS),
        THREADS,
        lambda n=n, index=index: (ORDERS["random"](n).astype(index), zeros(n, "int32")),
        f"a scatter of numbers that threads know, {n} elements, {index}",
        name=f"invert_{n}_{index}",
    )

# one matrix has short rows of similar length; the other has a few rows that are longer than a warp
MATRICES = {  # problem, its size, its rows, dtype
    "mesh": ("tetrahedral", 8, 8**3, "float64"),
    "power": ("power_law", 700, 700, "float32"),
}


@cache
def _matrix(name, size):
    return problem(name, size).matrix


def _arguments(name, size, dtype, inverse):
    """Return the arguments of a permutation in random order, with the row pointers of the result."""
    A = _matrix(name, size)
    perm = reference.random_permutation(A.shape[0], seed=1)
    indptr = reference.permute_rows(perm, A).indptr
    given = (perm, reference.invert(perm)) if inverse else (perm,)
    made = zeros(A.nnz, "int32"), zeros(A.nnz, dtype)
    return *given, A.indptr.copy(), A.indices.copy(), A.data.astype(dtype), indptr, *made


for label, (name, size, rows, dtype) in MATRICES.items():
    cases.add(
        permutation.row_lengths_kernel,
        blocks_for(rows, THREADS),
        THREADS,
        lambda name=name, size=size, rows=rows: (
            *_arguments(name, size, "float64", inverse=False)[:2],
            zeros(rows, "int32"),
        ),
        f"lengths of rows in random order, {name}",
        name=f"row_lengths_{label}",
    )
    for kernel, inverse in (
        (permutation.permute_rows_kernel, False),
        (permutation.permute_symmetric_kernel, True),
    ):
        cases.add(
            kernel,
            blocks_for(rows, permutation.BLOCK_ROWS[1]),
            permutation.BLOCK_ROWS,
            lambda name=name, size=size, dtype=dtype, inverse=inverse: _arguments(name, size, dtype, inverse),
            f"a warp per row, lanes beyond its end, {name}, {dtype}",
            name=f"permute_{'symmetric' if inverse else 'rows'}_{label}",
            data_dependent=True,
        )
