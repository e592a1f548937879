"""Streams that no cache holds: how many bytes move between the GPU and its memory, of those that must?

A stride leaves gaps between the elements that are read. Counters of L1 tell how many sectors a request asks for; only
here is it seen in what pieces memory answers. Nobody looks at the results, so that memory stays as it is found.
"""

from course_pkg.device.case import Cases, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.vector import gpu_numba as vector
from course_pkg.vector.suite import STRIDES

large = Cases()
N, N_STRIDED = 1 << 27, 1 << 24
THREADS = vector.THREADS_PER_BLOCK


def _stream(name, kernel, make, reads, per_thread=1):
    blocks = blocks_for(N // per_thread, THREADS)
    large.add_traffic(kernel, blocks, THREADS, make, N, reads, 1, f"vector_{name}_large")


_stream("copy", vector.copy_kernel, lambda: (Unwritten(N), Unwritten(N)), 1)
_stream("copy_two", vector.copy_two_kernel, lambda: (Unwritten(N), Unwritten(N)), 1, per_thread=2)
_stream("triad", vector.triad_kernel, lambda: (Unwritten(N), Unwritten(N), 3.0, Unwritten(N)), 2)

for stride in STRIDES:
    large.add_traffic(
        vector.copy_strided_kernel,
        blocks_for(N_STRIDED, THREADS),
        THREADS,
        lambda stride=stride: (Unwritten(stride * N_STRIDED), stride, Unwritten(N_STRIDED)),
        N_STRIDED,
        1,
        1,
        f"vector_copy_strided_{stride}_large",
    )
