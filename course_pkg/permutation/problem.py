"""Sparse matrices to permute and to multiply, in compressed rows, each with its source; none needs a download."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.permutation.checks import check_entries
from course_pkg.permutation.mesh import tetrahedral_laplacian

PYAMG = (
    "PyAMG's gallery: N. Bell, L. N. Olson, J. Schroder, B. Southworth, PyAMG: Algebraic Multigrid Solvers in Python, "
    "Journal of Open Source Software 8(87), 5495, 2023"
)
DIFFERENCES = "Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, SIAM, 2003, section 2.2"
ELEMENTS = (
    "linear finite elements: A. Ern, J.-L. Guermond, Theory and Practice of Finite Elements, Springer, 2004, "
    "chapters 3 and 8; obtuse angles: D. Kuzmin, S. Turek, Journal of Computational Physics 175, 525–558, 2002"
)
SCALE_FREE = (
    "expected degrees: F. Chung, L. Lu, The average distances in random graphs with given expected degrees, PNAS "
    "99(25), 15879–15882, 2002; usual exponents: A. Clauset, C. R. Shalizi, M. E. J. Newman, SIAM Review 51(4), 2009"
)
EXPONENT = 2.7  # of the power law: the share of rows with k entries falls as k^-2.7
MEAN_DEGREE = 8  # mean entries per row without the diagonal, before repetitions are dropped


@dataclass(frozen=True)
class SparseProblem:
    """A sparse matrix and its source.

    Attributes
    ----------
    name : str
        Name in :func:`problem`.
    matrix : scipy.sparse.csr_array
        float64 numbers, int32 indices that rise in each row, no duplicates; host memory.
    source : str
        A citation.
    spd : bool
        True if the matrix is symmetric (up to rounding) and positive definite.
    size : int or None
        The size that was asked for; None if the matrix has a fixed size.
    seed : int or None
        Seed of the random numbers; None if there are none.

    Examples
    --------
    >>> p = problem("poisson_2d", size=3)
    >>> p.name, p.matrix.shape, p.spd
    ('poisson_2d', (9, 9), True)
    """

    name: str
    matrix: csr_array
    source: str
    spd: bool
    size: int | None = None
    seed: int | None = None


@dataclass(frozen=True)
class _Entry:
    """How to make one matrix: by ``make(size, seed)``, without the arguments that the matrix does not have."""

    make: Callable[..., csr_array]
    source: str
    spd: bool
    size: int | None = None
    seeded: bool = False


def problem(name: str, size: int | None = None, seed: int = 0) -> SparseProblem:
    """Make the matrix with the given name.

    ============================== ======================= =========================================================
    name                           size                    matrix
    ============================== ======================= =========================================================
    poisson_2d, poisson_3d         points along an edge    5-point and 7-point Laplacian, zero outside the grid
    tetrahedral                    points along an edge    P1 Laplacian of an irregular mesh, :mod:`.mesh`
    power_law, power_law_symmetric rows                    a scale-free graph: few long rows, many short ones
    airfoil, bar, …                fixed                   from PyAMG's gallery, only the real ones
    ============================== ======================= =========================================================

    Raises
    ------
    CourseError
        If there is no such name, or the size does not fit.

    Examples
    --------
    >>> problem("airfoil").matrix.nnz
    1682
    >>> problem("power_law_symmetric", size=1000, seed=1).matrix.shape
    (1000, 1000)
    """
    if name not in _ENTRIES:
        raise CourseError(f"There is no problem {name!r}: choose from {', '.join(_ENTRIES)}.")
    entry = _ENTRIES[name]
    if entry.size is None and size is not None:
        raise CourseError(f"size is {size}, but {name} has a fixed size: leave it out.")
    size = entry.size if size is None else size
    if size is not None:
        require_count(size=size)
        if size < 2:
            raise CourseError(f"size is {size}: {name} needs at least 2.")
    arguments = [value for value, used in ((size, size is not None), (seed, entry.seeded)) if used]
    return SparseProblem(
        name, entry.make(*arguments), entry.source, entry.spd, size, seed if entry.seeded else None
    )


def poisson(shape: tuple[int, ...]) -> csr_array:
    """Assemble the Laplacian of a grid: twice the number of dimensions on the diagonal, -1 for each neighbour.

    Parameters
    ----------
    shape : tuple of int
        (ny, nx) or (nz, ny, nx); x is numbered fastest. Outside the grid the value is 0.

    Examples
    --------
    >>> poisson((2, 2)).toarray()
    array([[ 4., -1., -1.,  0.],
           [-1.,  4.,  0., -1.],
           [-1.,  0.,  4., -1.],
           [ 0., -1., -1.,  4.]])
    """
    n, ndim = int(np.prod(shape, dtype=np.int64)), len(shape)
    check_entries(
        (2 * ndim + 1) * n, f"A Laplacian on {' × '.join(map(str, shape))} points", "use a smaller grid"
    )
    strides = [int(np.prod(shape[d + 1 :], dtype=np.int64)) for d in range(ndim)]
    offsets = np.array([*(-s for s in strides), 0, *reversed(strides)], np.int32)  # by column
    exists = np.ones((*shape, offsets.size), bool)
    for d in range(ndim):
        first, last = (tuple(place if k == d else slice(None) for k in range(ndim)) for place in (0, -1))
        exists[(*first, d)] = exists[(*last, 2 * ndim - d)] = False
    exists = exists.reshape(n, offsets.size)
    indptr = np.zeros(n + 1, np.int32)
    np.cumsum(np.count_nonzero(exists, axis=1), out=indptr[1:])
    indices = (np.arange(n, dtype=np.int32)[:, None] + offsets)[exists]
    values = np.where(offsets == 0, 2.0 * ndim, -1.0)
    return csr_array((np.broadcast_to(values, exists.shape)[exists], indices, indptr), shape=(n, n))


def power_law(n: int, seed: int = 0, symmetric: bool = False) -> csr_array:
    """Draw a scale-free graph, and return its Laplacian plus the identity.

    An edge from i to j is the entry -1; the diagonal is 1 plus the number of edges in the row. The ends of edges are
    drawn independently. The probability of a node falls as a power of its rank, so the lengths of rows follow a power
    law with the exponent ``EXPONENT``. Ranks are in random order. In the symmetric variant each edge counts in both
    directions, and the matrix is positive definite.

    Examples
    --------
    >>> A = power_law(2000, seed=3)
    >>> lengths = np.diff(A.indptr)
    >>> int(lengths.min()), bool(lengths.max() > 20 * lengths.mean()), bool(np.allclose(A.sum(axis=1), 1))
    (1, True, True)
    """
    check_entries((MEAN_DEGREE + 1) * n, f"A graph of {n} nodes", "choose fewer rows")
    rng = np.random.default_rng(seed)
    edges = MEAN_DEGREE * n // (2 if symmetric else 1)
    node = rng.permutation(n)  # the node of each rank
    decay = 1 / (EXPONENT - 1)  # a node's expected degree falls with this power of its rank
    # uniform random numbers, mapped by the inverse of the distribution of ranks
    ranks = (n * rng.random((2, edges)) ** (1 / (1 - decay))).astype(np.int64)
    i, j = node[np.minimum(ranks, n - 1)]
    i, j = (np.concatenate([i, j]), np.concatenate([j, i])) if symmetric else (i, j)
    keys = np.concatenate([(i * n + j)[i != j], np.arange(n) * (n + 1)])  # the edges, then the diagonal
    keys.sort()  # np.unique hashes, which takes a hundred times as long
    row, column = np.divmod(keys[np.diff(keys, prepend=-1) > 0], n)
    lengths = np.bincount(row, minlength=n)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    data = np.where(row == column, lengths[row].astype(np.float64), -1.0)
    return csr_array((data, column.astype(np.int32), indptr), shape=(n, n))


def gallery(name: str) -> csr_array:
    """Return a matrix of PyAMG's gallery in compressed rows.

    Examples
    --------
    >>> gallery("unit_cube").shape
    (125, 125)
    """
    from pyamg.gallery import load_example

    A = csr_array(load_example(name)["A"])
    A.sum_duplicates()
    return csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)


_ENTRIES = {
    "poisson_2d": _Entry(lambda edge: poisson((edge, edge)), DIFFERENCES, True, size=64),
    "poisson_3d": _Entry(lambda edge: poisson((edge, edge, edge)), DIFFERENCES, True, size=16),
    "tetrahedral": _Entry(tetrahedral_laplacian, ELEMENTS, True, size=16, seeded=True),
    "power_law": _Entry(power_law, SCALE_FREE, False, size=4096, seeded=True),
    "power_law_symmetric": _Entry(
        partial(power_law, symmetric=True), SCALE_FREE, True, size=4096, seeded=True
    ),
    # unit_square has a boundary without fixed values, so it is singular
    **{
        name: _Entry(partial(gallery, name), PYAMG, spd)
        for name, spd in (
            ("airfoil", True),
            ("bar", True),
            ("knot", True),
            ("local_disc_galerkin_diffusion", True),
            ("recirc_flow", False),
            ("unit_cube", True),
            ("unit_square", False),
        )
    },
}
NAMES = tuple(_ENTRIES)
