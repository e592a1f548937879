"""Kernels that the tests of ``course check`` write into files."""

HEAD = "import numpy as np\nfrom numba import cuda, float32\n\n"
SAXPY = """
@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]
"""
NO_GUARD = """
@cuda.jit
def double(a):
    i = cuda.grid(1)
    a[i] *= 2
"""
