"""Settings of the kernels; they do not change any result but its last digits."""

THREADS_PER_BLOCK = 256
ROWS = 2  # of Q that a block reads together: each x_j is loaded once for all of them
UNROLL = 1  # columns of each row that a thread loads before it uses one
GATHERED = 4  # numbers of a row that a thread of the compacted kernel asks for before it uses one
BLOCKS_COMPACTED = 1056  # 8 for each multiprocessor of an H200
THREADS_COMPACTION = 1024  # of the one block that lists the unknowns that are not 0
COLUMNS = (8, 16, 32, 64)  # of Q that a thread of the batched kernel may keep in registers
LISTED_TOGETHER = 16  # numbers that a thread of that block loads before it tests one
PACKED_MULTIPLE = 8  # the size of a dense copy is a multiple of this: its rows begin where a sector does
ROWS_AHEAD = 8  # rows of a list of which a warp asks for its columns before it uses one
LISTED_FROM = 8192  # unknowns: a smaller Q is read whole in less time than the host needs to count zeros
LISTED_AT_MOST = 0.75  # share of a vector that is not 0, up to which the solver multiplies by a list
MOST_GRADIENT_STEPS = 10_000  # of each problem of a batch
