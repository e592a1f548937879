"""One matrix in several orders: times of the same kernels, beside the sectors of x that they ask for."""

from collections.abc import Iterator

from course_pkg.bench import Measurement, progress
from course_pkg.permutation import measures, reference
from course_pkg.permutation.problem import problem
from course_pkg.spmv.cost import gather
from course_pkg.spmv.variants import FORMATS, VARIANTS

MATRIX, MATRIX_QUICK = ("tetrahedral", 128), ("tetrahedral", 8)
ORDERS = {
    "natural": lambda A: None,
    "rcm": reference.reverse_cuthill_mckee,
    "random": lambda A: reference.random_permutation(A.shape[0]),
}
# variant, arguments that make its format, arguments of its launcher
KERNELS = (
    ("spmv_csr_scalar", {}, {}),
    ("spmv_csr_vector", {}, {"lanes": 8}),
    ("spmv_sell", {"sigma": 1}, {}),
    ("spmv_sell", {"sigma": 256}, {}),
)


def ordered(A, order: str):
    """Return a matrix with rows and columns in an order of ``ORDERS``.

    Examples
    --------
    >>> A = problem("tetrahedral", size=4).matrix
    >>> B = ordered(A, "random")
    >>> B.nnz == A.nnz, measures.bandwidth(B) > measures.bandwidth(ordered(A, "rcm"))
    (True, True)
    """
    perm = ORDERS[order](A)
    return A if perm is None else reference.permute_symmetric(perm, A)


def counted(function: str, A, made, called, dtype="float64") -> dict:
    """Return requests and sectors of the loads of x in one of ``KERNELS``, for a given matrix.

    Examples
    --------
    >>> A = problem("tetrahedral", size=6).matrix
    >>> in_turn, at_random = (counted("spmv_csr_scalar", ordered(A, order), {}, {}) for order in ("natural", "random"))
    >>> in_turn["requests"], at_random["sectors"] > in_turn["sectors"]
    (105, True)
    """
    found = gather(FORMATS[function].from_scipy(A, **made), dtype, **called)
    return {"requests": found.requests, "sectors": found.sectors}


def in_orders(*, quick: bool) -> Iterator[Measurement]:
    """Yield cuSPARSE's product, PyTorch's and three of ours for each order, in double precision; needs a GPU."""
    from course_pkg.spmv.suite_gpu import Setting, Vectors, libraries, ours, sampling

    (name, size), options = MATRIX_QUICK if quick else MATRIX, sampling(quick)
    A = problem(name, size).matrix
    with progress(len(ORDERS)) as step:
        for order in ORDERS:
            step(f"{name}, {order}")
            B, more = ordered(A, order), {"order": order}
            vectors = Vectors(B, "float64", "float64")
            seen = {"bandwidth": measures.bandwidth(B), "profile": measures.profile(B)}
            yield from libraries(name, B, vectors, options, more, seen)
            for function, made, called in KERNELS:
                M, setting = (
                    FORMATS[function].from_scipy(B, **made),
                    Setting(*(tuple(d.items()) for d in (made, called))),
                )
                found = seen | counted(function, B, made, called)
                yield ours(name, B, M, VARIANTS[function], setting, vectors, options, more, found)
