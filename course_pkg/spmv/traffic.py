"""Sparse products with a matrix larger than any cache: the bytes that move from and to GPU memory, beside the cost.

The cost counts x once. More bytes move for two reasons: caches evict parts of x before they are needed again, and only
a part of some sectors is used. The matrix is made when a launch needs it, but its sizes follow from the grid. The
results are not checked, so x and y are not initialised. ``traffic_meshes.py`` adds launches on meshes and networks.
"""

from functools import lru_cache

import numpy as np

from course_pkg.core import Cost
from course_pkg.device.case import Cases, Sliced, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.permutation.problem import problem
from course_pkg.spmv import cost
from course_pkg.spmv import gpu_numba as spmv
from course_pkg.spmv.formats import CsrBalanced, Ell, EllR, SellCSigma
from course_pkg.spmv.traffic_meshes import add_cases
from course_pkg.spmv.tuning import CHUNK, ITEMS, LANES, TILE
from course_pkg.stencil.problem import SMALL_EDGE

large = Cases()
EDGES = (
    160,
    SMALL_EDGE,
)  # cubes of 4.1 million rows, 343 MB of values and columns, and of the 15.6 million that are timed
THREADS, SOME_LANES = spmv.THREADS_PER_BLOCK, 4


def sizes(edge: int) -> dict[str, int]:
    """Return rows, columns and nonzeros of Poisson's matrix on a cube; points on a face lack a neighbour."""
    return {"rows": edge**3, "columns": edge**3, "nonzeros": 7 * edge**3 - 6 * edge**2}


def stored_in_slices(edge: int) -> int:
    """Return how many values SELL stores without sorting, if the edge is a multiple of the rows per slice.

    The rows of a slice lie along x. Some of them have both neighbours along x, so a slice is as wide as an inner row,
    except at the boundaries in y and z, where all its rows lack a neighbour.
    """
    return edge * (7 * edge**2 - 4 * edge)


def _add(edge, name, kernel, blocks, make, its_cost):
    """Add a launch; ``make`` takes the matrix and returns the arguments before x."""

    def arguments():
        before = make(_matrix(edge))
        arrays = (Sliced(a, 0) if isinstance(a, np.ndarray) and a.size else a for a in before)
        return *arrays, Unwritten(edge**3), Unwritten(edge**3)

    idea = f"Poisson's matrix on {edge}³ points, {its_cost.redundancy:.2f} times the bytes of its nonzeros, x and y"
    large.add(kernel, blocks, THREADS, arguments, idea, name=f"spmv_{name}_{edge}", cost=its_cost)


@lru_cache(maxsize=1)
def _matrix(edge):
    return problem("poisson_3d", size=edge).matrix


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


def _add_all(edge):
    """Add the launch of every format on a cube; on the one that is timed, by any number of lanes."""
    whole = sizes(edge)
    blocks, padding = blocks_for(whole["rows"], THREADS), 7 * whole["rows"] - whole["nonzeros"]
    _add(edge, "csr_scalar", spmv.spmv_csr_scalar_kernel, blocks, _csr, cost.csr(**whole))
    for lanes in LANES if edge == max(EDGES) else (SOME_LANES,):
        shared = blocks_for(whole["rows"], THREADS // lanes)
        _add(edge, f"csr_vector_{lanes}", spmv.spmv_csr_vector_kernel(lanes), shared, _csr, cost.csr(**whole))
    columns = Cost(bytes_read=cost.INDEX * padding)  # the values of the padding need not move
    _add(edge, "ell", spmv.spmv_ell_kernel, blocks, _tables, cost.ell(**whole) + columns)
    _add(edge, "ellr", spmv.spmv_ellr_kernel, blocks, _tables_with_lengths, cost.ellr(**whole))
    stored = stored_in_slices(edge) if edge % CHUNK == 0 else whole["nonzeros"]
    in_slices = cost.sell(**whole, stored=stored, sigma=1)
    _add(edge, "sell", spmv.spmv_sell_kernel(CHUNK, 7, False), blocks, _slices, in_slices)

    def with_carries():
        """Return the arguments of the kernel on tiles; the last one is memory for the sums that are carried over."""
        M = CsrBalanced.from_scipy(_matrix(edge))
        arrays = (Sliced(a, 0) for a in (M.indptr, M.indices, M.data, M.tile_rows))
        return *arrays, Unwritten(edge**3), Unwritten(edge**3), Unwritten(2 * (M.tile_rows.size - 1))

    large.add(
        spmv.spmv_csr_balanced_kernel(ITEMS),
        -(-(whole["rows"] + whole["nonzeros"]) // TILE),
        THREADS,
        with_carries,
        f"Poisson's matrix on {edge}³ points by tiles, without the launch that adds what they carry over",
        name=f"spmv_csr_balanced_{edge}",
        cost=cost.csr(**whole),
    )


for edge in EDGES:
    _add_all(edge)
add_cases(large)
