"""Two neighbouring numbers by one access: 128 bits a thread in double precision.

``load_pair`` and ``store_pair`` are for kernels. CUDA C++ writes ``double2``; Numba has no such load, so on a GPU they
are compiled to it here, and without one the interpreter knows them. A vector in GPU memory begins at a multiple of
256 bytes, so its pairs begin at elements of even number; where a grid is seen as a vector, each row must have an even
length.

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

    # by these names the interpreter knows them, also on a machine with a GPU
    load_pair.simt_name, store_pair.simt_name = "load_pair", "store_pair"
