"""Idioms that hand numbers over between barriers: tickets, locks and flags, each with its fence."""

import numpy as np

from course_pkg import cuda


def sum_by_last_block(a, partial, ticket, out):
    last = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        total = 0.0
        for k in range(cuda.blockDim.x):
            total += a[cuda.blockIdx.x * cuda.blockDim.x + k]
        partial[cuda.blockIdx.x] = total
        cuda.threadfence()
        last[0] = cuda.atomic.inc(ticket, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1
    cuda.syncthreads()  # all know whether they are last
    if last[0] and t == 0:
        total = 0.0
        for k in range(cuda.gridDim.x):
            total += partial[k]
        out[0] = total


def sum_by_last_block_reset(a, partial, count, out):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[i] = a[i]
    cuda.threadfence()
    cuda.syncthreads()  # the block's part is there
    mine = 0
    if t == 0:
        mine = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    if cuda.syncthreads_or(mine):
        total = 0.0
        for b in range(cuda.gridDim.x):
            total += partial[b * cuda.blockDim.x + t]
        out[t] = total
        if t == 0:
            count[0] = 0


def chained_scan(a, flag, total, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        running = 0.0
        for k in range(cuda.blockDim.x):
            running += a[b * cuda.blockDim.x + k]
            out[b * cuda.blockDim.x + k] = running
        if b == 0:
            total[1] = running
            cuda.threadfence()
            cuda.atomic.exch(flag, 1, 1)
    for turn in range(1, cuda.gridDim.x):
        if t == 0 and b == turn:
            while cuda.atomic.add(flag, b, 0) == 0:
                pass
            before = total[b]
            for k in range(cuda.blockDim.x):
                out[b * cuda.blockDim.x + k] += before
            total[b + 1] = before + running
            cuda.threadfence()  # before the flag
            cuda.atomic.exch(flag, b + 1, 1)


def add_under_a_lock(a, lock, out):
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            out[0] += a[cuda.grid(1)]
            cuda.threadfence()  # what it wrote, before it lets go
            cuda.atomic.exch(lock, 0, 0)
            done = True


def grid_barrier(a, half, arrived, out):
    i = cuda.grid(1)
    half[i] = 2.0 * a[i]
    cuda.syncthreads()  # the whole block has written
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        while cuda.atomic.add(arrived, 0, 0) < cuda.gridDim.x:
            pass
    cuda.syncthreads()  # thread 0 has seen all blocks
    out[i] = half[half.size - 1 - i]


def ordered_by_a_flag(a, out):
    number = cuda.shared.array(64, np.float64)
    ready = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    ready[t] = 0
    cuda.syncthreads()
    number[t] = a[t]
    cuda.threadfence_block()
    cuda.atomic.exch(ready, t, 1)
    while cuda.atomic.add(ready, t ^ 32, 0) == 0:
        pass
    out[t] = number[t ^ 32]
