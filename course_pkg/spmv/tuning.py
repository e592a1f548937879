"""Settings that were found by trying them on GPUs; they do not change any result but its last digits."""

THREADS_PER_BLOCK = 256
# SellCSigma: rows of a slice, rows of a window, and the most nonzeros that a thread asks for before it uses one
CHUNK, SIGMA, UNROLL = 32, 256, 8
# CsrBalanced: nonzeros per thread, of which all are asked for together, and the items of a block's tile
ITEMS = 6
TILE = ITEMS * THREADS_PER_BLOCK
LONG_ROW = 64  # nonzeros of a row in a tile from which a whole warp adds it up
LANES = (2, 4, 8, 16, 32)  # the widths of spmv_csr_vector


def lanes_for(A) -> int:
    """Return how many lanes should share a row of CSR: the largest power of two that is no longer than the mean row.

    Then few lanes have nothing to do. It is at least 2 and at most 32, a whole warp.

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
    """Return how many nonzeros of a row in slices a thread should ask for at a time, at most 8.

    The mean width of the slices is divided into equal groups, so that few are asked for twice.

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
