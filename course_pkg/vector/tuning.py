"""What was found by trying on GPUs, and is no part of the operations."""

THREADS_PER_BLOCK = 256
