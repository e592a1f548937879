"""Settings that were found by trying them on GPUs; they do not change any result."""

THREADS_PER_BLOCK = 256
