"""Settings that were found by trying them on GPUs; they do not change any result but its last digits."""

THREADS_PER_BLOCK = 256
# SellCSigma: rows per slice, rows per window, and the most nonzeros that a thread loads before it uses one
CHUNK, SIGMA, UNROLL = 32, 256, 8
# CsrBalanced: nonzeros that each thread loads together, and items per tile
ITEMS = 7
TILE = ITEMS * THREADS_PER_BLOCK
LONG_ROW = 64  # a row with more nonzeros than this in a tile is added up by a whole warp
LANES = (2, 4, 8, 16, 32)  # the widths of spmv_csr_vector


def lanes_for(A) -> int:
    """Return how many lanes should share a row of CSR: the largest power of two up to the mean length of a row.

    Then few lanes have nothing to do. The number is at least 2 and at most 32, a whole warp.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.formats import Csr
    >>> lanes_for(Csr.from_scipy(sp.csr_array(np.ones((10, 7)))))
    4
    """
    mean = A.nonzeros // A.shape[0]
    return max(n for n in LANES if n <= max(mean, LANES[0]))


def unroll_for(A) -> int:
    """Return how many nonzeros of a row a thread should load at a time in the format with slices, at most 8.

    The mean width of the slices is divided into equal groups, so that few nonzeros are loaded twice.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from course_pkg.spmv.formats import SellCSigma
    >>> [unroll_for(SellCSigma.from_scipy(sp.csr_array(np.ones((32, width))))) for width in (1, 7, 8, 9)]
    [1, 7, 8, 5]
    """
    mean = max(1, round(A.stored / ((A.offsets.size - 1) * A.chunk)))
    groups = -(-mean // UNROLL)
    return -(-mean // groups)
