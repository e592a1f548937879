"""Test launches of every kernel of this topic, at sizes that fill the blocks and at others, except spmv's products."""

import numpy as np

from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.precond import gpu_numba as precond

cases = Cases()
SIZES = {"4096": 4096, "odd": 3001}


def _add(name, kernel, make, idea):
    for size, n in SIZES.items():
        for dtype in ("float64", "float32"):
            cases.add(
                kernel,
                blocks_for(n, precond.THREADS, width=2),
                precond.THREADS,
                lambda n=n, dtype=dtype: make(n, dtype, np.dtype(dtype).type),
                f"{idea}; {n} numbers, {dtype}",
                name=f"precond_{name}_{size}_{dtype}",
            )


def _drawn(n, dtype, count):
    return [numbers(n, dtype, seed) for seed in range(count)]


_add(
    "divide", precond.divide_kernel, lambda n, dtype, real: (*_drawn(n, dtype, 2), zeros(n, dtype)),
    "a map of pairs with a division",
)  # fmt: skip
_add(
    "scale", precond.scale_kernel, lambda n, dtype, real: (real(0.5), numbers(n, dtype), zeros(n, dtype)),
    "a map of pairs with a number for all",
)  # fmt: skip
_add("add", precond.add_kernel, lambda n, dtype, real: (*_drawn(n, dtype, 2),), "a map of pairs in place")
_add(
    "difference", precond.difference_kernel, lambda n, dtype, real: (*_drawn(n, dtype, 3), zeros(n, dtype)),
    "a map of three vectors",
)  # fmt: skip
_add(
    "advance", precond.advance_kernel,
    lambda n, dtype, real: (numbers(n, dtype, 0), real(0.5), real(0.25), *(numbers(n, dtype, k) for k in (1, 2))),
    "two vectors in place",
)  # fmt: skip
