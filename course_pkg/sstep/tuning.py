"""Settings of the kernels, which do not change any result but its last digits."""

THREADS = 256
BLOCKS = (
    528  # of the kernels that take sums: 4 for each of an H200's 132 multiprocessors, all at the same time
)
TILE = 4  # a thread of the Gram kernel owns TILE × TILE sums: 8 loads from shared memory for 16 products
STAGED = 4  # numbers that a thread asks for before it puts one into shared memory
# up to so many vectors, the Gram kernel stages so many points of each at a time: 48 KB of shared memory
STAGES = ((8, 256), (20, 128), (40, 64), (68, 32))
MOST_BY_THREADS = 16  # s up to which a thread has a row of a block to itself; above, a warp shares its rows
TOGETHER = 4  # rows that a warp computes at the same time, so that no sum waits for the one before it
BLOCKS_WARPS = 1188  # of one warp each, 9 for each multiprocessor: with s = 32, 25 KB of shared memory
EDGE = 7  # the largest tile of a warp of the Gram kernel: 49 sums, 14 loads from shared memory
WARPS = 6  # of a block whose tiles are fewer
REGISTERS = 168  # of a thread that owns such a tile: 12 warps have room on a multiprocessor
MOST_BY_WARPS = 28  # vectors up to which a tile belongs to a warp: four tiles along a row
