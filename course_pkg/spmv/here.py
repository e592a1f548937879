"""Measure one product with a matrix in several orders on this machine's GPU, in a few seconds."""

from functools import partial

import numpy as np

from course_pkg.bench import Measurement, measure
from course_pkg.core import Library
from course_pkg.permutation.problem import problem
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.suite_orders import ORDERS, ordered
from course_pkg.spmv.suite_products import described, tolerance
from course_pkg.spmv.variants import VARIANTS
from course_pkg.vector.here import require_free_memory

BYTES_PER_NODE = 16 * 12 + 3 * 8  # on average a node has fewer than 16 nonzeros
PRODUCT = VARIANTS["spmv_csr_vector"]


def on_this_gpu(*orders: str, edge: int = 96, lanes: int = 8, samples: int = 10) -> list[Measurement]:
    """Measure the product by CSR with a mesh of edge³ nodes, numbered in different orders.

    Parameters
    ----------
    orders : str
        Names from ``suite_orders.ORDERS``; by default, all of them.
    lanes : int
        Number of lanes that share a row.

    Raises
    ------
    CourseError
        If there is no GPU, or the matrix does not fit in its memory.

    Examples
    --------
    >>> from course_pkg.bench import gpu
    >>> found = on_this_gpu("natural", edge=16) if gpu().kind == "gpu" else []
    """
    require_free_memory(BYTES_PER_NODE * edge**3, f"The matrix and vectors of {edge}³ nodes")
    A = problem("tetrahedral", size=edge).matrix
    return [product_in(order, A, lanes=lanes, samples=samples) for order in orders or ORDERS]


def product_in(order: str, A, *, lanes: int = 8, samples: int = 10) -> Measurement:
    """Measure the product by CSR with a matrix in one order; without a GPU, the interpreter runs it.

    Examples
    --------
    >>> m = product_in("random", problem("tetrahedral", size=4).matrix, samples=2)
    >>> m.parameters["order"], m.parameters["n"], m.parameters["lanes"]
    ('random', 64, 8)
    """
    from course_pkg import cuda

    B = ordered(A, order)
    M, x = Csr.from_scipy(B), np.random.default_rng(0).uniform(-1, 1, B.shape[1])
    y = cuda.to_device(np.full(B.shape[0], np.nan))
    expected, largest = B @ x, tolerance(B, x, "float64")

    def check():
        if not (abs(y.copy_to_host() - expected) <= largest).all():
            raise AssertionError(f"The product in {order} order is wrong.")

    return measure(
        partial(PRODUCT.function(Library.NUMBA_CUDA), lanes=lanes),
        M.to_device(),
        cuda.to_device(x),
        y,
        cost=PRODUCT.cost(**M.sizes()),
        check=check,
        name=PRODUCT.by(Library.NUMBA_CUDA),
        parameters={**described("tetrahedral", B, "float64", "float64"), "lanes": lanes, "order": order},
        samples=samples,
    )
