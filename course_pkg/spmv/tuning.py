"""Settings that were found by trying them on GPUs; they do not change any result but its last digits."""

THREADS_PER_BLOCK = 256
# SellCSigma: rows of a slice, rows of a window, and nonzeros of a row that a thread asks for before it uses one
CHUNK, SIGMA, UNROLL = 32, 256, 4
# CsrBalanced: nonzeros per thread, of which all are asked for together, and the items of a block's tile
ITEMS = 8
TILE = ITEMS * THREADS_PER_BLOCK
LONG_ROW = 32  # nonzeros of a row in a tile from which a whole warp adds it up
LANES = (2, 4, 8, 16, 32)  # the widths of spmv_csr_vector
