"""Launches of gathers and scatters on vectors larger than any cache, in orders that need few sectors, or many.

The counters of these launches tell how many bytes move. Orders and size are those of the largest vectors that are
timed. An order is made when a launch needs it, and kept for the scatter that follows the gather. The vectors are not
initialised.
"""

from functools import lru_cache

from course_pkg.device.case import Cases, Sliced, Unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.permutation import cost
from course_pkg.permutation import gpu_numba as permutation
from course_pkg.permutation.suite import EXPONENTS, ORDERS

large = Cases()
N = 1 << max(EXPONENTS)
THREADS = permutation.THREADS_PER_BLOCK


@lru_cache(maxsize=1)
def _order(name: str) -> Sliced:
    return Sliced(ORDERS[name](N), 0)


for order in ORDERS:
    for operation, kernel in (
        ("permute", permutation.permute_vector_kernel),
        ("unpermute", permutation.unpermute_vector_kernel),
    ):
        large.add(
            kernel,
            blocks_for(N, THREADS),
            THREADS,
            lambda order=order: (_order(order), Unwritten(N), Unwritten(N)),
            f"{'a gather' if operation == 'permute' else 'a scatter'} of {N:,} doubles, {order} order",
            name=f"{operation}_vector_{order}_large",
            cost=cost.permute_vector(N),
        )
