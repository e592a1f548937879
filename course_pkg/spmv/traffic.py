"""Sparse products with a matrix larger than any cache: the bytes that move from and to GPU memory, beside the cost.

The cost counts x once. More bytes move for two reasons: caches lose parts of x before they are needed again, and only a
part of some sectors is used. The matrix is made when a launch needs it, but its sizes follow from the grid. The results
are not checked, so x and y are not initialised.
"""

from functools import cache

import numpy as np

from course_pkg.core import Cost
from course_pkg.device.case import Cases, Sliced, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.problem import problem
from course_pkg.spmv import cost
from course_pkg.spmv import gpu_numba as spmv
from course_pkg.spmv.formats import CsrBalanced, Ell, EllR, SellCSigma
from course_pkg.spmv.tuning import CHUNK, ITEMS, TILE

large = Cases()
EDGE = 160  # a cube of 4.1 million rows: 343 MB of values and columns
THREADS, LANES = spmv.THREADS_PER_BLOCK, 4


def sizes(edge: int) -> dict[str, int]:
    """Return rows, columns and nonzeros of Poisson's matrix on a cube; points on a face lack a neighbour."""
    return {"rows": edge**3, "columns": edge**3, "nonzeros": 7 * edge**3 - 6 * edge**2}


def stored_in_slices(edge: int) -> int:
    """Return how many values SELL stores without sorting, if the edge is a multiple of the rows per slice.

    The rows of a slice lie along x. Some of them have both neighbours along x, so a slice is as wide as an inner row,
    except at the boundaries in y and z, where all its rows lack a neighbour.
    """
    return edge * (7 * edge**2 - 4 * edge)


def _add(name, kernel, blocks, make, its_cost):
    """Add a launch; ``make`` takes the matrix and returns the arguments before x."""

    def arguments():
        before = make(_matrix())
        arrays = (Sliced(a, 0) if isinstance(a, np.ndarray) and a.size else a for a in before)
        return *arrays, Unwritten(EDGE**3), Unwritten(EDGE**3)

    idea = f"Poisson's matrix on {EDGE}³ points, {its_cost.redundancy:.2f} times the bytes of its nonzeros, x and y"
    large.add(kernel, blocks, THREADS, arguments, idea, name=f"spmv_{name}_{EDGE}", cost=its_cost)


@cache
def _matrix():
    return problem("poisson_3d", size=EDGE).matrix


def _csr(A):
    return A.indptr, A.indices, A.data


def _tables(A):
    M = Ell.from_scipy(A)
    return np.uint32(M.width), M.indices, M.data, np.uint32(M.pitch)


def _tables_with_lengths(A):
    M = EllR.from_scipy(A)
    return M.lengths, M.indices, M.data, np.uint32(M.pitch)


def _slices(A):
    M = SellCSigma.from_scipy(A, chunk=CHUNK, sigma=1)
    return M.offsets, M.perm, M.indices, M.data


WHOLE = sizes(EDGE)
BLOCKS = blocks_for(WHOLE["rows"], THREADS)
_add("csr_scalar", spmv.spmv_csr_scalar_kernel, BLOCKS, _csr, cost.csr(**WHOLE))
_add(
    f"csr_vector_{LANES}",
    spmv.spmv_csr_vector_kernel(LANES),
    blocks_for(WHOLE["rows"], THREADS // LANES),
    _csr,
    cost.csr(**WHOLE),
)
PADDING = Cost(bytes_read=cost.INDEX * (7 * WHOLE["rows"] - WHOLE["nonzeros"]))  # its values need not move
_add("ell", spmv.spmv_ell_kernel, BLOCKS, _tables, cost.ell(**WHOLE) + PADDING)
_add("ellr", spmv.spmv_ellr_kernel, BLOCKS, _tables_with_lengths, cost.ellr(**WHOLE))
_add(
    "sell",
    spmv.spmv_sell_kernel(CHUNK, 7, False),
    BLOCKS,
    _slices,
    cost.sell(**WHOLE, stored=stored_in_slices(EDGE), sigma=1),
)


def _with_carries():
    """Return the arguments of the kernel on tiles; the last one is memory for the sums that are carried over."""
    M = CsrBalanced.from_scipy(_matrix())
    arrays = (Sliced(a, 0) for a in (M.indptr, M.indices, M.data, M.tile_rows))
    return *arrays, Unwritten(EDGE**3), Unwritten(EDGE**3), Unwritten(M.tile_rows.size - 1)


large.add(
    spmv.spmv_csr_balanced_kernel(ITEMS),
    -(-(WHOLE["rows"] + WHOLE["nonzeros"]) // TILE),
    THREADS,
    _with_carries,
    f"Poisson's matrix on {EDGE}³ points by tiles, without the launch that adds what they carry over",
    name=f"spmv_csr_balanced_{EDGE}",
    cost=cost.csr(**WHOLE),
)
