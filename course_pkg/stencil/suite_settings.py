"""Settings with which the Laplacian's kernels are timed on a GPU; the same launches are counted (``traffic.py``)."""

BLOCKS = (
    (32, 4, 2), (32, 8, 1), (32, 2, 4), (64, 4, 1), (128, 2, 1), (256, 1, 1), (16, 4, 4), (8, 8, 4), (4, 8, 8),
    (1, 16, 16), (32, 1, 1), (32, 32, 1),
)  # fmt: skip
REGISTERS = (
    "free",
    32,
    24,
)  # registers for which two kernels are compiled: the compiler's choice, or at most this many
BLOCKS_PER_SM = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32)  # blocks of threads that stride through the grid
