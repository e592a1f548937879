"""Formats of a sparse matrix: containers of plain arrays, made from a ``scipy.sparse.csr_array``; host code.

- ``Csr``: the nonzeros row by row, and where each row begins
- ``CsrBalanced``: the same arrays, and the row in which each tile of equal work begins
- ``Ell``: a table with one line per row, stored column by column; short rows are padded
- ``EllR``: as ``Ell``, and the length of each row
- ``SellCSigma``: rows sorted by length within windows of sigma rows; slices of C rows, each padded to its longest row

A container may be in host or in GPU memory: ``to_device()`` copies it. Padding has the column index -1 and the value 0.

Sources: N. Bell and M. Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors,
SC 2009 (CSR by threads and warps, ELL); F. Vázquez, J. J. Fernández and E. M. Garzón, A new approach for sparse matrix
vector product on NVIDIA GPUs, Concurrency Computat.: Pract. Exper. 23, 2011 (ELLR); M. Kreutzer et al., A unified
sparse matrix data format for efficient general sparse matrix-vector multiplication on modern processors with wide SIMD
units, SIAM J. Sci. Comput. 36, 2014 (SELL-C-sigma); D. Merrill and M. Garland, Merge-based parallel sparse
matrix-vector multiplication, SC 2016 (tiles of equal work).
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.access import WARP
from course_pkg.core.checks import require_count
from course_pkg.permutation.reference import by_row_length
from course_pkg.spmv import placing
from course_pkg.spmv.checks import check_matrix, check_stored
from course_pkg.spmv.stored_matrix import StoredMatrix
from course_pkg.spmv.tuning import CHUNK, SIGMA, TILE


@dataclass(frozen=True, eq=False)
class Csr(StoredMatrix):
    """Compressed sparse rows: the nonzeros of row i are ``indptr[i]`` to ``indptr[i + 1]``, without the last.

    Attributes
    ----------
    indptr : array of int32, shape (rows + 1,)
    indices : array of int32, shape (nonzeros,)
        Column of each nonzero, in rising order within each row.
    data : array of float64 or float32, shape (nonzeros,)
    shape : tuple of int
        Rows and columns.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = Csr.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]])))
    >>> A.indptr, A.indices, A.data, A.fill
    (array([0, 2, 3], dtype=int32), array([0, 1, 1], dtype=int32), array([4., 1., 2.]), 1.0)
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]

    @classmethod
    def from_scipy(cls, A, dtype=None, **more):
        """Check a matrix and return it as CSR with 32-bit indices; arrays are shared, and copied only to convert them.

        Raises
        ------
        CourseError
            If column indices are unsorted, repeated or out of range, there are too many nonzeros for 32-bit indices,
            or the values are neither float64 nor float32.
        """
        check_matrix(A)
        indptr, indices = (np.ascontiguousarray(a, np.int32) for a in (A.indptr, A.indices))
        data = np.ascontiguousarray(A.data, dtype)
        return cls(indptr, indices, data, tuple(map(int, A.shape)), **more)

    @property
    def nonzeros(self) -> int:
        """Number of entries that the sparse matrix stores, stored zeros included."""
        return int(self.data.size)


@dataclass(frozen=True, eq=False)
class CsrBalanced(Csr):
    """CSR in tiles of equal work: a tile has ``tile`` items, where each nonzero and each end of a row is one item.

    So several tiles share a long row, and a tile may consist of the ends of empty rows alone.

    Attributes
    ----------
    tile_rows : array of int32, shape (tiles + 1,)
        The row in which each tile begins. Before tile b there are ``tile_rows[b]`` ends of rows, and so
        ``b * tile - tile_rows[b]`` nonzeros.
    tile : int
        Number of items per tile.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = CsrBalanced.from_scipy(sp.csr_array(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 4.0]])), tile=2)
    >>> A.tile_rows  # two nonzeros | a nonzero and the end of row 0 | a nonzero and the end of row 1
    array([0, 0, 1, 2], dtype=int32)
    """

    tile_rows: np.ndarray
    tile: int

    @property
    def layout(self) -> dict[str, int]:
        """Number of items per tile."""
        return {"tile": self.tile}

    @classmethod
    def from_scipy(cls, A, dtype=None, tile: int = TILE):
        """Check a matrix and return it in tiles."""
        require_count(tile=tile)
        if tile < 1:
            raise CourseError(f"tile is {tile}: a tile needs at least 1 item.")
        check_matrix(A)
        rows, items = A.shape[0], A.shape[0] + A.nnz
        check_stored(items, "rows and nonzeros together")
        ends = np.asarray(A.indptr[1:], np.int64) + np.arange(rows)
        begins = np.minimum(np.arange(-(-items // tile) + 1) * tile, items)
        return super().from_scipy(
            A, dtype, tile_rows=np.searchsorted(ends, begins).astype(np.int32), tile=tile
        )


@dataclass(frozen=True, eq=False)
class Ell(StoredMatrix):
    """A table with one line per row, as wide as the longest row, stored column by column.

    Column j of the table is ``indices[j * pitch : j * pitch + rows]``. ``pitch`` is a multiple of 32, so that in each
    column the elements of a warp begin with a whole sector.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = Ell.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]])))
    >>> A.width, A.pitch, A.indices[:2], A.indices[32:34], A.nonzeros
    (2, 32, array([0, 1], dtype=int32), array([ 1, -1], dtype=int32), 3)
    """

    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]
    nonzeros: int
    pitch: int

    @classmethod
    def from_scipy(cls, A, dtype=None):
        """Check a matrix and return it as a table."""
        return cls(**placing.table(A, dtype)[0])

    @property
    def layout(self) -> dict[str, int]:
        """The values that are stored, with padding."""
        return {"stored": self.stored}

    @property
    def width(self) -> int:
        """Number of nonzeros in the longest row."""
        return self.stored // self.pitch


@dataclass(frozen=True, eq=False)
class EllR(Ell):
    """As :class:`Ell`, plus the length of each row, so that no thread reads the padding.

    Attributes
    ----------
    lengths : array of int32, shape (rows,)

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> EllR.from_scipy(sp.csr_array(np.array([[4.0, 1.0], [0.0, 2.0]]))).lengths
    array([2, 1], dtype=int32)
    """

    lengths: np.ndarray

    @property
    def layout(self) -> dict[str, int]:
        """Empty: padding is not read, so it does not change the cost."""
        return {}

    @classmethod
    def from_scipy(cls, A, dtype=None):
        """Check a matrix and return it as a table with row lengths."""
        table, lengths = placing.table(A, dtype)
        return cls(**table, lengths=lengths.astype(np.int32))


@dataclass(frozen=True, eq=False)
class SellCSigma(StoredMatrix):
    """SELL-C-sigma: rows are sorted by length within windows, then cut into slices of C rows; each slice is a table.

    Line i of the sorted matrix is row ``perm[i]`` of the matrix. Its j-th nonzero is at
    ``offsets[i // chunk] + j * chunk + i % chunk``.

    Attributes
    ----------
    offsets : array of int32, shape (slices + 1,)
        Where each slice begins.
    perm : array of int32, shape (rows,), or (0,) if sigma is 1 and nothing is sorted
    nonzeros : int
    chunk, sigma : int
        Number of rows per slice (C), a multiple of 32, and number of rows per window.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> A = SellCSigma.from_scipy(sp.csr_array(np.array([[4.0, 0.0], [1.0, 2.0]])), sigma=2)
    >>> A.perm, A.offsets, A.indices[:2], A.indices[32:34]
    (array([1, 0], dtype=int32), array([ 0, 64], dtype=int32), array([0, 0], dtype=int32), array([ 1, -1], dtype=int32))
    """

    offsets: np.ndarray
    perm: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]
    nonzeros: int
    chunk: int
    sigma: int

    @property
    def layout(self) -> dict[str, int]:
        """The number of stored values with padding, and the rows per slice and per window."""
        return {"stored": self.stored, "chunk": self.chunk, "sigma": self.sigma}

    @classmethod
    def from_scipy(cls, A, dtype=None, chunk: int = CHUNK, sigma: int = SIGMA):
        """Check a matrix and return it in slices.

        Parameters
        ----------
        A : scipy.sparse.csr_array
        chunk : int
            Rows per slice: a multiple of 32, so that each warp works on one slice only.
        sigma : int
            Rows per window. 1 keeps the order of the rows; otherwise rows are sorted by falling length.
        """
        check_matrix(A)
        require_count(chunk=chunk, sigma=sigma)
        if chunk < 1 or chunk % WARP:
            raise CourseError(f"chunk is {chunk}: a slice has a multiple of {WARP} rows.")
        if sigma < 1:
            raise CourseError(f"sigma is {sigma}: a window has at least 1 row; 1 keeps the order.")
        rows, lengths = A.shape[0], np.diff(A.indptr).astype(np.int64)
        perm = by_row_length(A, sigma) if sigma > 1 else np.arange(rows)
        widths = np.maximum.reduceat(lengths[perm], np.arange(0, rows, chunk))
        offsets = np.concatenate([[0], np.cumsum(widths * chunk)])
        check_stored(offsets[-1], f"values in slices of {chunk} rows")
        line = np.empty(rows, np.int64)
        line[perm] = np.arange(rows)
        where = placing.places(A, offsets[line // chunk] + line % chunk, chunk)
        indices, data = placing.scattered(A, dtype, where, offsets[-1])
        kept = perm if sigma > 1 else perm[:0]
        shape, offsets, kept = tuple(map(int, A.shape)), offsets.astype(np.int32), kept.astype(np.int32)
        return cls(offsets, kept, indices, data, shape, int(A.nnz), chunk, sigma)
