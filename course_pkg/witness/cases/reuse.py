"""Loads and stores that a compiler may leave out, and the memories that it chooses itself: local and constant."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N = 1024
WEIGHTS = np.array([0.25, 0.5, 0.25, 1.0, 2.0, 4.0, 8.0, 16.0])


@cuda.jit
def loaded_twice(a, out):
    i = cuda.grid(1)
    out[i] = a[i] * a[i] + a[i]


cases.add(
    loaded_twice, 8, 128, lambda: (numbers(N), zeros(N)), "one element three times in one statement: one load"
)


@cuda.jit
def loaded_in_two_statements(a, out):
    i = cuda.grid(1)
    x = a[i] + 1.0
    y = a[i] + 2.0
    out[i] = x * y


cases.add(
    loaded_in_two_statements,
    8,
    128,
    lambda: (numbers(N), zeros(N)),
    "one element in two statements, no store between",
)


@cuda.jit
def load_after_a_store_elsewhere(a, b, out):
    i = cuda.grid(1)
    x = a[i]
    b[i] = x + 1.0
    out[i] = a[i] * x


cases.add(
    load_after_a_store_elsewhere,
    8,
    128,
    lambda: (numbers(N), zeros(N), zeros(N)),
    "a store to another array, which might be the same memory: the element is loaded again",
)


@cuda.jit
def load_after_store(a, out):
    i = cuda.grid(1)
    out[i] = a[i]
    out[i] = out[i] + 1.0


cases.add(
    load_after_store,
    8,
    128,
    lambda: (numbers(N), zeros(N)),
    "what was just stored is loaded, and stored over",
)


@cuda.jit
def in_place(a):
    i = cuda.grid(1)
    a[i] += 1.0


cases.add(in_place, 8, 128, lambda: (numbers(N),), "one load and one store of one element")


@cuda.jit
def unused_load(a, out):
    i = cuda.grid(1)
    x = a[i]
    y = a[i + 1]
    x = y
    out[i] = x


cases.add(unused_load, 8, 128, lambda: (numbers(N + 1), zeros(N)), "a value that nobody uses is not loaded")


@cuda.jit
def loop_invariant(a, b, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(4):
        total += a[i] * b[k]
    out[i] = total


cases.add(
    loop_invariant,
    8,
    128,
    lambda: (numbers(N), numbers(4), zeros(N)),
    "a load that is the same at every turn: hoisted",
)


@cuda.jit
def accumulate_in_memory(a, out):
    i = cuda.grid(1)
    for k in range(4):
        out[i] += a[k, i]


cases.add(
    accumulate_in_memory,
    4,
    64,
    lambda: (numbers((4, 256)), zeros(256)),
    "a sum kept in global memory: stored at every turn",
)


@cuda.jit
def local_in_registers(a, out):
    i = cuda.grid(1)
    window = cuda.local.array(4, np.float64)
    for k in range(4):
        window[k] = a[4 * i + k]
    out[i] = window[0] + window[1] * window[2] - window[3]


cases.add(
    local_in_registers,
    2,
    64,
    lambda: (numbers(512), zeros(128)),
    "a local array with known indices lives in registers",
)


@cuda.jit
def local_by_index(a, index, out):
    i = cuda.grid(1)
    window = cuda.local.array(8, np.float64)
    for k in range(8):
        window[k] = a[k]
    out[i] = window[index[i]]


cases.add(
    local_by_index,
    2,
    64,
    lambda: (numbers(8), numbers(128, "int32") % 8, zeros(128)),
    "a local array indexed by data lives in local memory",
)


@cuda.jit
def constant_for_all(a, out):
    weights = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    total = 0.0
    for k in range(3):
        total += weights[k] * a[i + k]
    out[i] = total


cases.add(
    constant_for_all, 8, 128, lambda: (numbers(N + 2), zeros(N)), "constant weights, the same for all lanes"
)


@cuda.jit
def constant_by_lane(a, out):
    weights = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    out[i] = a[i] * weights[i % 8]


cases.add(constant_by_lane, 8, 128, lambda: (numbers(N), zeros(N)), "eight constants a warp: eight requests")


@cuda.jit(device=True)
def midpoint(a, i):
    return 0.5 * (a[i] + a[i + 1])


@cuda.jit(device=True)
def clamped(a, i):
    if i < 0:
        return a[0]
    if i >= a.size:
        return a[a.size - 1]
    return a[i]


@cuda.jit
def by_device_functions(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = midpoint(a, i) - midpoint(a, i + 1)


cases.add(
    by_device_functions,
    8,
    128,
    lambda: (numbers(N + 2), zeros(N)),
    "two calls that share one element: loaded once",
)


@cuda.jit
def by_a_branching_device_function(a, out):
    i = cuda.grid(1)
    out[i] = clamped(a, i - 1) + clamped(a, i + 1)


cases.add(
    by_a_branching_device_function,
    8,
    128,
    lambda: (numbers(N), zeros(N)),
    "early returns within a device function, at the ends only",
)
