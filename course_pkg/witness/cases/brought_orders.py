"""Kernels of the kinds that learners bring: sorting, searching, collecting, and the largest of many."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
BLOCK, TWICE = 128, 256


@cuda.jit
def brought_bitonic_step(values, j, k):
    i = cuda.grid(1)
    other = i ^ j
    if other > i:
        if (i & k) == 0:
            if values[i] > values[other]:
                values[i], values[other] = values[other], values[i]
        else:
            if values[i] < values[other]:
                values[i], values[other] = values[other], values[i]


@cuda.jit
def brought_bitonic_sort(values):
    part = cuda.shared.array(BLOCK, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = values[i]
    cuda.syncthreads()
    k = 2
    while k <= BLOCK:
        j = k // 2
        while j > 0:
            other = t ^ j
            if other > t:
                upwards = (t & k) == 0
                if (part[t] > part[other]) == upwards:
                    part[t], part[other] = part[other], part[t]
            cuda.syncthreads()
            j //= 2
        k *= 2
    values[i] = part[t]


@cuda.jit
def brought_odd_even_step(values, phase):
    i = 2 * cuda.grid(1) + phase
    if i + 1 < values.size and values[i] > values[i + 1]:
        kept = values[i]
        values[i] = values[i + 1]
        values[i + 1] = kept


cases.add(
    brought_bitonic_step,
    4,
    64,
    lambda: (numbers(256, "float32"), 4, 16),
    "one step of a sorting network: exchange in both directions",
    data_dependent=True,
)
cases.add(
    brought_bitonic_sort,
    2,
    BLOCK,
    lambda: (numbers(TWICE, "float32"),),
    "a sorting network in shared memory: two nested while loops",
    data_dependent=True,
)
cases.add(
    brought_odd_even_step,
    2,
    64,
    lambda: (numbers(201, "int32"), 1),
    "neighbours change places",
    data_dependent=True,
)


@cuda.jit
def brought_search(table, wanted, places):
    i = cuda.grid(1)
    if i < wanted.size:
        low, high = 0, table.size
        while low < high:
            middle = (low + high) // 2
            if table[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = low


@cuda.jit
def brought_compaction(x, limit, out, count):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > limit:
            place = cuda.atomic.add(count, 0, 1)
            out[place] = x[i]


@cuda.jit
def brought_largest(x, values, places):
    """The largest number of a block and its place."""
    value = cuda.shared.array(BLOCK, np.float32)
    place = cuda.shared.array(BLOCK, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    value[t] = x[i]
    place[t] = i
    cuda.syncthreads()
    step = BLOCK // 2
    while step > 0:
        if t < step and value[t + step] > value[t]:
            value[t] = value[t + step]
            place[t] = place[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        values[cuda.blockIdx.x] = value[0]
        places[cuda.blockIdx.x] = place[0]


@cuda.jit
def brought_primes(is_prime):
    n = cuda.grid(1)
    if n < 2 or n >= is_prime.size:
        return
    is_prime[n] = 1
    d = 2
    while d * d <= n:
        if n % d == 0:
            is_prime[n] = 0
            break
        d += 1


cases.add(
    brought_search,
    2,
    64,
    lambda: (np.arange(0, 200, 2.0), numbers(100, "int32").astype("float64"), zeros(100, "int32")),
    "binary search: the wanted number stays in a register",
    data_dependent=True,
)
cases.add(
    brought_compaction,
    1,
    32,
    lambda: (numbers(180, "float32"), np.float32(1.6), zeros(180, "float32"), zeros(1, "int32")),
    "numbers above a limit are collected, by one warp: more would store in another order each time",
    data_dependent=True,
)
cases.add(
    brought_largest,
    2,
    BLOCK,
    lambda: (numbers(TWICE, "float32"), zeros(2, "float32"), zeros(2, "int32")),
    "the largest number and its place",
    data_dependent=True,
)
cases.add(
    brought_primes,
    3,
    64,
    lambda: (zeros(180, "int8"),),
    "trial division: a while loop with a break",
    data_dependent=True,
)
