"""Load or store two neighbouring numbers by one access: 128 bits per thread in double precision.

Kernels call ``load_pair`` and ``store_pair``. CUDA C++ has ``double2`` for this purpose; Numba has nothing similar. On
a GPU, this package makes Numba's compiler emit such accesses; without a GPU, the interpreter knows the two names. A
vector in GPU memory begins at a multiple of 256 bytes, so a pair must begin at an even index. If a grid is treated as a
vector, its rows must therefore have an even length.

Source: CUDA C++ Programming Guide, "Device Memory Accesses": a load of 4, 8 or 16 bytes that begins at a multiple of
its size is one instruction.
"""

from course_pkg import cuda

LOAD = "load_pair(array, index): return elements index and index + 1; index is even."
STORE = "store_pair(array, index, first, second): write elements index and index + 1; index is even."

if getattr(cuda, "BACKEND", "") == "simt":
    from course_pkg.simt.front.stubs import KernelName

    load_pair = KernelName("load_pair", LOAD, owner="")
    store_pair = KernelName("store_pair", STORE, owner="")
else:
    from course_pkg.device.pairs_numba import load_pair, store_pair

    # the names by which the interpreter knows them, also on a machine with a GPU
    load_pair.simt_name, store_pair.simt_name = "load_pair", "store_pair"
