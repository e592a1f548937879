"""Measures of a sparse matrix that are small for a good order: bandwidth, profile, and sectors of x per warp."""

from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.access import SECTOR_BYTES
from course_pkg.core.checks import require_count
from course_pkg.permutation.checks import check_csr

SECTORS_PER_LINE = 4
ENTRIES_AT_A_TIME = 1 << 22  # numbers that are sorted together; they fit in a cache


def bandwidth(A) -> int:
    """Return the largest distance ``|i - j|`` of an entry (i, j) from the diagonal; 0 for a diagonal matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> bandwidth(csr_array(np.array([[1.0, 0, 5], [0, 1, 0], [0, 0, 1]])))
    2
    """
    check_csr(A)
    first, last, filled = _ends(A)
    return int(max(np.max(filled - first, initial=0), np.max(last - filled, initial=0)))


def profile(A) -> int:
    """Return the size of the envelope: the sum over all rows of the distance from the first entry to the diagonal.

    Rows that begin at the diagonal, or behind it, count as 0. A factorisation of a symmetric matrix fills at most the
    envelope.

    Source: A. George, J. W. Liu, Computer Solution of Large Sparse Positive Definite Systems, Prentice-Hall, 1981.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> profile(csr_array(np.array([[1.0, 0, 0], [1, 1, 0], [1, 0, 1]])))
    3
    """
    check_csr(A)
    first, _, filled = _ends(A)
    return int(np.sum(np.maximum(filled - first, 0)))


def _ends(A):
    """Return the first and last column of each row that is not empty, and the number of that row."""
    filled = np.flatnonzero(np.diff(A.indptr))
    return (
        A.indices[A.indptr[filled]].astype(np.int64),
        A.indices[A.indptr[filled + 1] - 1].astype(np.int64),
        filled,
    )


@dataclass(frozen=True)
class XFootprint:
    """The part of x that a product with a sparse matrix reads.

    Attributes
    ----------
    sectors_per_warp, lines_per_warp : float
        Sectors (32 bytes) and cache lines (128 bytes) of x that one warp touches, each counted once; mean over warps.
    warps : int
    sectors : int
        Sectors of x that the whole product touches, each counted once.

    Examples
    --------
    >>> found = XFootprint(sectors_per_warp=8.0, lines_per_warp=2.0, warps=10, sectors=16)
    >>> found.sectors_of_warps, found.reuse
    (80.0, 5.0)
    """

    sectors_per_warp: float
    lines_per_warp: float
    warps: int
    sectors: int

    @property
    def sectors_of_warps(self) -> float:
        """Total sectors that all warps fetch if no warp finds a sector in a cache that another warp has fetched."""
        return self.sectors_per_warp * self.warps

    @property
    def reuse(self) -> float:
        """Mean number of warps that need a sector of x."""
        return self.sectors_of_warps / self.sectors if self.sectors else 0.0


def x_footprint(A, dtype="float64", rows_per_warp: int = 32) -> XFootprint:
    """Count which sectors and lines of x the warps of ``A x`` touch, from the actual columns.

    Parameters
    ----------
    dtype
        Precision of x; x begins at a multiple of 128 bytes.
    rows_per_warp : int
        Consecutive rows that a warp multiplies: 32 with a thread per row, 1 with a warp per row.

    Examples
    --------
    >>> from scipy.sparse import csr_array, diags_array
    >>> found = x_footprint(csr_array(diags_array(np.ones(64)), dtype="float64"))
    >>> found.sectors_per_warp, found.lines_per_warp, found.warps, found.sectors
    (8.0, 2.0, 2, 16)
    """
    check_csr(A)
    require_count(rows_per_warp=rows_per_warp)
    if rows_per_warp < 1:
        raise CourseError("rows_per_warp is 0: a warp multiplies at least 1 row.")
    rows, columns = A.shape
    itemsize = np.dtype(dtype).itemsize
    warps = -(-rows // rows_per_warp)
    sectors_of_x = -(-columns * itemsize // (SECTORS_PER_LINE * SECTOR_BYTES)) * SECTORS_PER_LINE
    seen = np.zeros(sectors_of_x, bool)
    sectors = lines = 0
    ends = A.indptr[np.minimum(np.arange(warps + 1) * rows_per_warp, rows)].astype(np.int64)
    begin = 0
    while begin < warps:
        # process as many warps at a time as have ENTRIES_AT_A_TIME entries together, but at least one
        end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + ENTRIES_AT_A_TIME, side="right")) - 1)
        entries = slice(ends[begin], ends[end])
        warp = np.repeat(np.arange(end - begin), np.diff(ends[begin : end + 1]))
        sector = A.indices[entries] // (SECTOR_BYTES // itemsize)
        seen[sector] = True
        touched = np.sort(warp * sectors_of_x + sector)  # different warps have different numbers
        sectors += distinct_sorted(touched)
        lines += distinct_sorted(touched // SECTORS_PER_LINE)
        begin = end
    least = max(warps, 1)
    return XFootprint(sectors / least, lines / least, warps, int(np.count_nonzero(seen)))


def distinct_sorted(numbers) -> int:
    """Return how many different numbers a sorted array holds.

    Examples
    --------
    >>> distinct_sorted(np.array([1, 1, 4]))
    2
    """
    return int(np.count_nonzero(numbers[1:] != numbers[:-1])) + bool(numbers.size)


def distinct(numbers) -> int:
    """Return how many different numbers an array holds, by sorting it; np.unique uses hashing, which is much slower.

    Examples
    --------
    >>> distinct(np.array([4, 1, 4]))
    2
    """
    return distinct_sorted(np.sort(numbers, axis=None))
