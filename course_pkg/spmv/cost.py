"""Bytes and flops of a sparse product in each format, and the sectors that the loads of x ask for.

``values`` is the precision of the matrix, by default that of the vectors, ``dtype``. Each cost counts the matrix as it
is stored, x once, and y once. A_eff is the same for all formats: the nonzeros with their column indices, x and y. So
padding, row pointers and a permutation show as redundancy. How often a product really fetches parts of x depends on the
columns: :func:`gather` counts the sectors that are asked for, and :func:`with_gather` returns a cost with this number.
"""

from dataclasses import dataclass, replace

import numpy as np

from course_pkg.core import Cost
from course_pkg.core.access import SECTOR_BYTES, WARP
from course_pkg.permutation.measures import distinct
from course_pkg.spmv.formats import CsrBalanced, Ell, EllR, SellCSigma
from course_pkg.spmv.tuning import CHUNK, SIGMA, THREADS_PER_BLOCK, TILE, unroll_for

INDEX = 4  # bytes of a column index and of a row pointer
TOGETHER = 4  # trips that an unrolled loop groups together, see simt/counting/compiler.py


def csr(rows, columns, nonzeros, dtype="float64", values=None) -> Cost:
    """Cost of the product by CSR: values, columns, row pointers, x and y.

    Examples
    --------
    >>> found = csr(rows=1000, columns=1000, nonzeros=7000)
    >>> found.bytes, found.flops, round(found.redundancy, 3)
    (104004, 14000, 1.04)
    """
    return _product(rows, columns, nonzeros, dtype, values, nonzeros, INDEX * (rows + 1))


def csr_balanced(rows, columns, nonzeros, dtype="float64", values=None, tile=TILE) -> Cost:
    """Cost of the product by tiles of equal work: as for CSR, plus one row number and two carried numbers per tile.

    Examples
    --------
    >>> csr_balanced(1000, 1000, 7000).bytes - csr(1000, 1000, 7000).bytes  # of 5 tiles
    208
    """
    tiles = -(-(rows + nonzeros) // tile)
    rest = Cost(bytes_read=2 * INDEX * (tiles + 1) + 16 * tiles, bytes_written=16 * tiles)
    whole = csr(rows, columns, nonzeros, dtype, values)
    return (whole + rest).with_fields(unknown_bytes=0, known_bytes=whole.a_eff_bytes)


def ell(rows, columns, nonzeros, dtype="float64", values=None, stored=None) -> Cost:
    """Cost of the product by a table that holds ``stored`` values and columns, padding included.

    For padding, a kernel reads the column index, but not the value. The cost counts both, because the value moves, too,
    if its sector also holds a value that is needed. So fewer bytes may move than the cost says.

    Examples
    --------
    >>> ell(1000, 1000, 7000, stored=8000).bytes
    112000
    """
    return _product(rows, columns, nonzeros, dtype, values, nonzeros if stored is None else stored, 0)


def ellr(rows, columns, nonzeros, dtype="float64", values=None) -> Cost:
    """Cost of the product by a table with row lengths: 4 bytes per row for the lengths are read, but no padding.

    Examples
    --------
    >>> csr(1000, 1000, 7000).bytes - ellr(1000, 1000, 7000).bytes
    4
    """
    return _product(rows, columns, nonzeros, dtype, values, nonzeros, INDEX * rows)


def sell(
    rows, columns, nonzeros, dtype="float64", values=None, stored=None, chunk=CHUNK, sigma=SIGMA
) -> Cost:
    """Cost of the product by SELL-C-sigma: an offset per slice and, if rows are sorted, the permutation.

    Examples
    --------
    >>> sell(1000, 1000, 7000, sigma=1).bytes, sell(1000, 1000, 7000, sigma=64).bytes
    (100132, 104132)
    """
    more = INDEX * (-(-rows // chunk) + 1) + (INDEX * rows if sigma > 1 else 0)
    return _product(rows, columns, nonzeros, dtype, values, nonzeros if stored is None else stored, more)


def _product(rows, columns, nonzeros, dtype, values, stored, more) -> Cost:
    vector = np.dtype(dtype).itemsize
    entry = INDEX + np.dtype(values or dtype).itemsize
    moved = Cost(stored * entry + more + columns * vector, rows * vector, 2 * nonzeros)
    return moved.with_fields(unknown_bytes=0, known_bytes=nonzeros * entry + (rows + columns) * vector)


@dataclass(frozen=True)
class Gather:
    """Requests and sectors of the loads of x in one product.

    Attributes
    ----------
    requests : int
        Load instructions for x, counted once per warp.
    sectors : int
        Sectors of 32 bytes in these requests. This many sectors move if no cache keeps a sector for a later request.

    Examples
    --------
    >>> Gather(requests=10, sectors=80).per_request
    8.0
    """

    requests: int
    sectors: int

    @property
    def per_request(self) -> float:
        """Mean number of sectors per request."""
        return self.sectors / max(1, self.requests)


def with_gather(cost: Cost, columns: int, dtype, gathered: Gather) -> Cost:
    """Return a cost in which the bytes of x are those of all requested sectors, instead of each element once.

    Examples
    --------
    >>> once = csr(32, 32, 64)
    >>> with_gather(once, 32, "float64", Gather(4, 40)).bytes_read - once.bytes_read  # 40 sectors instead of 8
    1024
    """
    more = SECTOR_BYTES * gathered.sectors - columns * np.dtype(dtype).itemsize
    return replace(cost, bytes_read=cost.bytes_read + more)


def gather(A, dtype="float64", lanes=1, unroll=None) -> Gather:
    """Count the sectors that the kernel of a format requests when it loads x; they follow from the matrix's columns.

    The count assumes the order in which the compiled loops run. If rows differ in length, the trips that do not fill a
    group of four come first. So lanes that run together may be at different positions in their rows.

    Parameters
    ----------
    A : a format of ``formats.py``, in host memory
    dtype
        Precision of x; x begins at a multiple of 32 bytes.
    lanes : int
        Lanes that share a row of CSR: 1 for ``spmv_csr_scalar``.
    unroll : int, optional
        Number of nonzeros that ``spmv_sell`` loads at a time; by default, the number that it chooses itself.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.formats import Csr
    >>> gather(Csr.from_scipy(sp.csr_array(sp.diags_array(np.ones(64)))))  # a request of 32 doubles: 8 sectors
    Gather(requests=2, sectors=16)
    """
    by_format = {CsrBalanced: _of_tiles, EllR: _of_lengths, Ell: _of_table, SellCSigma: _of_slices}
    count = by_format.get(type(A), _of_rows)
    requests, columns = count(A, unroll if count is _of_slices else lanes)
    sectors_of_x = -(-A.shape[1] * np.dtype(dtype).itemsize // SECTOR_BYTES)
    sectors = columns // (SECTOR_BYTES // np.dtype(dtype).itemsize)
    return Gather(distinct(requests), distinct(requests * sectors_of_x + sectors))


def _of_rows(A, lanes):
    """Return for each nonzero the number of its request, and its column."""
    lengths = np.diff(A.indptr)
    row = np.repeat(np.arange(A.shape[0], dtype=np.int64), lengths)
    place = np.arange(A.nonzeros) - A.indptr[row]
    lane, trip = place % lanes, place // lanes
    trips = -(-(lengths[row] - lane) // lanes)
    rest = trips % TOGETHER
    at = np.where(trip < rest, trip, TOGETHER + trip - rest)
    return _numbered((row * lanes + lane) // WARP, at), A.indices


def _of_lengths(A, lanes):
    line, trip = _table(A)
    trips = A.lengths[line].astype(np.int64)
    used = A.indices >= 0
    full = trips - trips % TOGETHER  # this loop starts at a constant, so whole groups come first
    at = np.where(trip < full, trip, A.width + TOGETHER + trip - full)
    return _numbered(line[used] // WARP, at[used]), A.indices[used]


def _of_table(A, lanes):
    line, trip = _table(A)
    used = A.indices >= 0
    return _numbered(line[used] // WARP, trip[used]), A.indices[used]


def _table(A):
    """Return row and column of each table element; elements that only fill up the pitch are given the last row."""
    at = np.arange(A.stored)
    return np.minimum(at % A.pitch, A.shape[0] - 1), at // A.pitch


def _of_slices(A, unroll):
    unroll = unroll_for(A) if unroll is None else unroll
    widths = np.diff(A.offsets).astype(np.int64) // A.chunk
    padded = -(-widths // unroll) * unroll  # the kernel loads whole groups
    first = np.repeat(np.cumsum(padded * A.chunk) - padded * A.chunk, padded * A.chunk)
    piece = np.repeat(np.arange(widths.size), padded * A.chunk)
    place, lane = np.divmod(np.arange(piece.size) - first, A.chunk)
    line = piece * A.chunk + lane
    place_read = np.minimum(place, widths[piece] - 1)
    used = line < A.shape[0]
    columns = A.indices[(A.offsets[piece] + place_read * A.chunk + lane)[used]]
    return _numbered((line // WARP)[used], place[used]), np.maximum(columns, 0)


def _of_tiles(A, lanes):
    tiles = A.tile_rows.size - 1
    begins = np.minimum(np.arange(tiles + 1) * A.tile, A.shape[0] + A.nonzeros) - A.tile_rows
    some = np.flatnonzero(begins[:-1] < begins[1:])  # a tile without nonzeros loads nothing
    slot = np.arange(A.tile)
    k = np.minimum(begins[some, None] + slot, begins[some + 1, None] - 1)
    warps = THREADS_PER_BLOCK // WARP
    warp = some[:, None] * warps + slot % THREADS_PER_BLOCK // WARP
    trip = np.broadcast_to(slot // THREADS_PER_BLOCK, k.shape)
    return _numbered(warp.reshape(-1), trip.reshape(-1)), A.indices[k.reshape(-1)]


def _numbered(warp, trip):
    """Return a number for each pair of warp and trip."""
    return warp * (int(trip.max(initial=0)) + 1) + trip
