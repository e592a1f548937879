"""Settings of the kernels, which do not change any result but its last digits."""

THREADS = 256
BLOCKS = 528  # blocks of kernels that take sums: 4 for each of an H200's 132 multiprocessors
TILE = 4  # a thread of the Gram kernel owns TILE × TILE sums: 8 loads from shared memory for 16 products
STAGED = 4  # numbers that a thread starts to load before it puts one into shared memory
# (most vectors, points): the Gram kernel stages so many points of each vector at a time, in 48 KB of shared memory
STAGES = ((8, 256), (20, 128), (40, 64), (68, 32))
MOST_BY_THREADS = 16  # up to this s, each thread has its own row of a block; above, a warp shares rows
TOGETHER = 4  # rows that a warp computes at the same time, so that no sum waits for the one before it
BLOCKS_WARPS = 1188  # blocks of one warp, 9 for each multiprocessor; with s = 32, each has 25 KB shared
EDGE = 7  # edge of the largest tile of a warp of the Gram kernel: 49 sums, 14 loads from shared memory
WARPS = 6  # warps of a block that has fewer tiles: several warps then share a tile
REGISTERS = 168  # registers of a thread of such a warp: 12 warps fit on a multiprocessor
MOST_BY_WARPS = 28  # up to so many vectors, whole warps compute a tile: four tiles along a row
THREADS_PASS = (
    128  # of the block that does the scalar work of a pass: more than 2 s + 1, the columns of its matrix
)
