"""A matrix in several orders of its unknowns, and the requests and sectors of its product in each; host code.

The permutation explorer shows them. Nothing is measured: requests and sectors follow from the columns.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.core.access import SECTOR_BYTES
from course_pkg.permutation import measures, reference
from course_pkg.spmv.cost import gather
from course_pkg.spmv.formats import Csr
from course_pkg.spmv.suite_orders import ORDERS
from course_pkg.spmv.tuning import LANES

WIDTHS = (1, *LANES)  # 1: a thread per row
CHOICES = {
    **{("RCM" if name == "rcm" else name): order for name, order in ORDERS.items()},
    "by row length": reference.by_row_length,
}


@dataclass(frozen=True)
class Loads:
    """Requests and sectors of a product in double precision, with a given number of lanes per row.

    Attributes
    ----------
    requests : int
        Load instructions for x, counted once per warp.
    x_sectors, matrix_sectors : int
        Sectors that the requests for x touch, and sectors that those for values and columns touch.

    Examples
    --------
    >>> Loads(requests=10, x_sectors=80, matrix_sectors=120).x_sectors
    80
    """

    requests: int
    x_sectors: int
    matrix_sectors: int


@dataclass(frozen=True, eq=False)
class View:
    """A matrix in one order.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array
    bandwidth, profile : int
    least_sectors : int
        Number of sectors of values, columns and x together, if each sector is asked for once.
    loads : dict of int to Loads
        The loads, by the number of lanes that share a row.

    Examples
    --------
    >>> from course_pkg.permutation.problem import problem
    >>> seen = view(problem("poisson_2d", size=4).matrix)
    >>> seen.least_sectors, seen.loads[1]
    (28, Loads(requests=7, x_sectors=21, matrix_sectors=111))
    """

    matrix: object
    bandwidth: int
    profile: int
    least_sectors: int
    loads: dict


def entry_sectors(A: Csr, lanes: int = 1) -> int:
    """Return how many sectors of values and columns the product asks for, if ``lanes`` lanes share a row.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = Csr.from_scipy(sp.csr_array(np.ones((32, 8))))
    >>> entry_sectors(A, 1), entry_sectors(A, 8)  # 12 bytes of 256 entries are 96 sectors
    (512, 96)
    """
    in_order = Csr(A.indptr, np.arange(A.nonzeros, dtype=np.int32), A.data, (A.shape[0], max(1, A.nonzeros)))
    return sum(gather(in_order, dtype, lanes).sectors for dtype in (A.dtype, A.indices.dtype))


def view(A) -> View:
    """Count what the products with a matrix in double precision ask for, with 1 to 32 lanes per row.

    Examples
    --------
    >>> from course_pkg.permutation.problem import problem
    >>> seen = view(problem("poisson_2d", size=16).matrix)
    >>> seen.bandwidth, seen.loads[1].requests, seen.loads[32].requests
    (16, 44, 256)
    """
    format_, loads = Csr.from_scipy(A), {}
    for lanes in WIDTHS:
        found = gather(format_, lanes=lanes)
        loads[lanes] = Loads(found.requests, found.sectors, entry_sectors(format_, lanes))
    arrays = (A.data.nbytes, A.indices.nbytes, A.data.itemsize * A.shape[1])
    least = sum(-(-size // SECTOR_BYTES) for size in arrays)
    return View(A, measures.bandwidth(A), measures.profile(A), least, loads)


def views(A) -> dict[str, View]:
    """Return the views of a matrix in its natural order, by reverse Cuthill–McKee, at random, and by row length.

    Parameters
    ----------
    A : scipy.sparse.csr_array, square
        Values in float64, indices sorted.

    Examples
    --------
    >>> from course_pkg.permutation.problem import problem
    >>> [*views(problem("poisson_2d", size=4).matrix)]
    ['natural', 'RCM', 'random', 'by row length']
    """
    found = {}
    for name, order in CHOICES.items():
        perm = order(A)
        found[name] = view(A if perm is None else reference.permute_symmetric(perm, A))
    return found
